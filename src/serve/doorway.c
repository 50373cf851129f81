#include "serve/doorway.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/str.h"

enum { PORT_MAX = 65535 };

struct place {
    char host[64];
    char port[8];
};

static bool take_apart(const char *address, struct place *out)
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL)
        return false;
    bool is_bracketed = address[0] == '[' && colon > address && colon[-1] == ']';
    const char *host = is_bracketed ? address + 1 : address;
    size_t length = (size_t)(colon - host) - (is_bracketed ? 1 : 0);
    int64_t port = 0;
    if (length == 0 || length >= sizeof out->host ||
        !str_parse_i64(colon + 1, 0, PORT_MAX, &port) ||
        (!is_bracketed && memchr(host, ':', length) != NULL))
        return false;
    (void)memcpy(out->host, host, length);
    out->host[length] = '\0';
    (void)snprintf(out->port, sizeof out->port, "%lld", (long long)port);
    return true;
}

static enum status read_place(const char *address, struct place *out, struct err *err)
{
    const char *colon = strrchr(address, ':');
    int64_t port = 0;
    if (take_apart(address, out))
        return STATUS_OK;
    if (colon != NULL && colon > address && str_parse_i64(colon + 1, INT64_MIN, INT64_MAX, &port) &&
        (port < 0 || port > PORT_MAX))
        return err_set(err, STATUS_INVALID, "'%s' is no address to listen at: ports end at %d",
                       address, PORT_MAX);
    return err_set(err, STATUS_INVALID,
                   "'%s' is no address to listen at: write HOST:PORT, as 127.0.0.1:4337", address);
}

static enum status resolve(const char *address, struct addrinfo **out, struct err *err)
{
    struct place place;
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    if (read_place(address, &place, err) != STATUS_OK)
        return err->code;
    int code = getaddrinfo(place.host, place.port, &wanted, out);
    if (code != 0)
        return err_set(err, STATUS_INVALID, "cannot listen at '%s': %s", address,
                       gai_strerror(code));
    return STATUS_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)address;
        return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

bool doorway_is_loopback(const char *address)
{
    struct addrinfo *found = NULL;
    struct err ignored = {0};
    if (resolve(address, &found, &ignored) != STATUS_OK)
        return false;
    bool all = true;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        all = all && is_loopback(at->ai_addr);
    freeaddrinfo(found);
    return all;
}

enum status doorway_check(const char *address, struct err *err)
{
    struct place place;
    return read_place(address, &place, err);
}

static void name_it(struct doorway *doorway)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char host[INET6_ADDRSTRLEN] = "";
    char port[8] = "";
    (void)getsockname(doorway->fd, (struct sockaddr *)&address, &length);
    (void)getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
    bool is_six = address.ss_family == AF_INET6;
    const char *near = str_equal(host, "0.0.0.0") ? "127.0.0.1" : host;
    near = str_equal(host, "::") ? "::1" : near;
    (void)snprintf(doorway->name, sizeof doorway->name, is_six ? "[%s]:%s" : "%s:%s", host, port);
    (void)snprintf(doorway->near, sizeof doorway->near, is_six ? "[%s]:%s" : "%s:%s", near, port);
}

static enum status bind_one(const struct addrinfo *at, int pending, int *out_fd, struct err *err)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;
    if (fd < 0)
        return err_errno(err, errno, "socket");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, pending) == 0) {
        *out_fd = fd;
        return STATUS_OK;
    }
    int number = errno;
    (void)close(fd);
    enum status status = err_errno(err, number, "bind");
    if (number == EADDRINUSE)
        err->code = status = STATUS_CONFLICT;
    return status;
}

enum status doorway_open(const char *address, int pending, struct doorway *out, struct err *err)
{
    struct addrinfo *found = NULL;
    if (resolve(address, &found, err) != STATUS_OK)
        return err->code;
    CHECK(found != NULL);
    enum status status = bind_one(found, pending, &out->fd, err);
    freeaddrinfo(found);
    if (status == STATUS_CONFLICT)
        return err_wrap(err, "cannot listen at %s: another program does", address);
    if (status != STATUS_OK)
        return err_wrap(err, "cannot listen at %s", address);
    name_it(out);
    return STATUS_OK;
}
