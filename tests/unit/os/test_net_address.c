#include <arpa/inet.h>
#include <netinet/in.h>

#include "expect.h"
#include "os/net_address.h"

static bool is_public(const char *text)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    if (inet_pton(AF_INET6, text, &six.sin6_addr) == 1)
        return net_address_is_public((const struct sockaddr *)&six);
    cr_assert_eq(inet_pton(AF_INET, text, &four.sin_addr), 1, "%s", text);
    return net_address_is_public((const struct sockaddr *)&four);
}

Test(net_address, what_is_inside_is_known_in_every_dress)
{
    static const char *const OUTSIDE[] = {"1.1.1.1",        "9.255.255.255",    "11.0.0.0",
                                          "172.15.0.1",     "172.32.0.1",       "100.63.0.1",
                                          "100.128.0.1",    "223.255.255.255",  "2606:4700::1111",
                                          "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:0101:0101::"};
    static const char *const INSIDE[] = {"0.0.0.0",
                                         "10.1.2.3",
                                         "127.0.0.1",
                                         "127.255.0.9",
                                         "169.254.169.254",
                                         "172.16.0.1",
                                         "172.31.255.255",
                                         "192.168.1.1",
                                         "100.64.0.1",
                                         "224.0.0.1",
                                         "255.255.255.255",
                                         "198.19.0.1",
                                         "::",
                                         "::1",
                                         "fe80::1",
                                         "fc00::1",
                                         "fd12::1",
                                         "ff02::1",
                                         "::ffff:127.0.0.1",
                                         "::ffff:10.0.0.1",
                                         "64:ff9b::7f00:1",
                                         "2002:7f00:0001::",
                                         "::127.0.0.1"};
    for (size_t i = 0; i < sizeof OUTSIDE / sizeof OUTSIDE[0]; i++)
        cr_expect(is_public(OUTSIDE[i]), "%s", OUTSIDE[i]);
    for (size_t i = 0; i < sizeof INSIDE / sizeof INSIDE[0]; i++)
        cr_expect_not(is_public(INSIDE[i]), "%s", INSIDE[i]);
    struct sockaddr local = {.sa_family = AF_UNIX};
    cr_expect_not(net_address_is_public(&local));
}
