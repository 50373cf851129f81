#include "os/supervisor.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"

void supervisor_tell(const char *lines)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL || (path[0] != '/' && path[0] != '@') ||
        strlen(path) >= sizeof address.sun_path)
        return;
    size_t length = strlen(path);
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* a name without a file */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    /* Whoever does not listen misses nothing that matters to us. */
    (void)!sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
    (void)close(fd);
}

int64_t supervisor_watchdog_ms(void)
{
    const char *text = getenv("WATCHDOG_USEC");
    const char *pid_text = getenv("WATCHDOG_PID");
    int64_t us = 0;
    int64_t pid = 0;
    if (text == NULL || !str_parse_i64(text, 1, INT64_MAX, &us))
        return 0;
    if (pid_text != NULL && (!str_parse_i64(pid_text, 1, INT64_MAX, &pid) || pid != getpid()))
        return 0;
    return us / 2000 > 0 ? us / 2000 : 1;
}
