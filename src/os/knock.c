#include "os/knock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum status knock_open(int *out_fd, struct err *err)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return err_errno(err, errno, "make an event descriptor");
    *out_fd = fd;
    return STATUS_OK;
}

/* One that was not heard yet is enough, so a full counter is fine. */
void knock_send(int fd)
{
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof one);
}

void knock_clear(int fd)
{
    uint64_t count = 0;
    (void)!read(fd, &count, sizeof count);
}

void knock_wait(int fd, int64_t timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    (void)poll(&poll_fd, 1, (int)MIN(timeout_ms, (int64_t)INT32_MAX));
}
