#include "os/datagram.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* The name without its brackets, and the port; heap. */
static bool split(const char *address, char **out_host, const char **out_port)
{
    const char *colon = strrchr(address, ':');
    int64_t port = 0;
    if (colon == NULL || colon == address || !str_parse_i64(colon + 1, 1, 65535, &port))
        return false;
    size_t length = (size_t)(colon - address);
    bool has_brackets = address[0] == '[' && address[length - 1] == ']';
    if (!has_brackets && memchr(address, ':', length) != NULL)
        return false;
    *out_host = mem_strndup(address + has_brackets, length - 2 * (size_t)has_brackets);
    *out_port = colon + 1;
    return true;
}

enum status datagram_open(const char *address, int *out, struct err *err)
{
    CLEANUP(mem_freep) char *host = NULL;
    const char *port = NULL;
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    if (!split(address, &host, &port))
        return err_set(err, STATUS_INVALID, "'%.200s' is not HOST:PORT", address);
    int code = getaddrinfo(host, port, &wanted, &found);
    if (code != 0)
        return err_set(err, STATUS_UNREACHABLE, "'%.200s': %s", address, gai_strerror(code));
    int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failure = fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0 ? errno : 0;
    freeaddrinfo(found);
    if (failure != 0) {
        if (fd >= 0)
            (void)close(fd);
        return err_errno(err, failure, "send to '%.200s'", address);
    }
    *out = fd;
    return STATUS_OK;
}

bool datagram_send(int fd, const void *bytes, size_t length)
{
    return send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}
