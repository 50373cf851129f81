#include "os/net_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "base/attrs.h"

/* clang-format off */
static const struct { uint32_t network; unsigned bits; } HIDDEN_4[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* behind a carrier's translation */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link-local: metadata services of clouds live here */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocol assignments */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* benchmarks */
    {0xe0000000, 3},  /* multicast, reserved, broadcast */
};
/* clang-format on */

static bool is_public_4(uint32_t address)
{
    for (size_t i = 0; i < ARRAY_LEN(HIDDEN_4); i++)
        if ((address ^ HIDDEN_4[i].network) >> (32 - HIDDEN_4[i].bits) == 0)
            return false;
    return true;
}

static uint32_t embedded_4(const struct in6_addr *address, size_t at)
{
    uint32_t word = 0;
    memcpy(&word, address->s6_addr + at, sizeof word);
    return ntohl(word);
}

static bool is_public_6(const struct in6_addr *address)
{
    static const uint8_t TRANSLATED[12] = {0x00, 0x64, 0xff, 0x9b}; /* 64:ff9b::/96 */
    const uint8_t *bytes = address->s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(address) || memcmp(bytes, TRANSLATED, sizeof TRANSLATED) == 0)
        return is_public_4(embedded_4(address, 12));
    if (bytes[0] == 0x20 && bytes[1] == 0x02) /* 6to4 */
        return is_public_4(embedded_4(address, 2));
    return (bytes[0] & 0xe0) == 0x20; /* global unicast; all else is local, multicast or reserved */
}

bool net_address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return is_public_4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, address, sizeof in);
        return is_public_6(&in.sin6_addr);
    }
    return false;
}
