#include "os/poller.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/check.h"
#include "os/file.h"

enum { EVENTS_MAX = 64 };

enum status poller_open(int *out_poller, struct err *err)
{
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0)
        return err_errno(err, errno, "make poller");
    *out_poller = poller;
    return STATUS_OK;
}

enum status poller_add(int poller, int fd, void *context, struct err *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = context};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) != 0)
        return err_errno(err, errno, "watch descriptor");
    return STATUS_OK;
}

void poller_remove(int poller, int fd)
{
    (void)epoll_ctl(poller, EPOLL_CTL_DEL, fd, NULL);
}

void poller_closep(int poller, int *fd)
{
    if (*fd >= 0)
        poller_remove(poller, *fd);
    file_closep(fd);
}

void poller_want_write(int poller, int fd, void *context, bool want)
{
    struct epoll_event event = {.events = EPOLLIN | (want ? EPOLLOUT : 0u), .data.ptr = context};
    CHECK(epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event) == 0);
}

size_t poller_wait(int poller, struct poller_event *events, size_t events_max, int64_t timeout_ms)
{
    struct epoll_event seen[EVENTS_MAX];
    int most = (int)MIN(events_max, (size_t)EVENTS_MAX);
    int timeout = timeout_ms < 0 ? -1 : (int)MIN(timeout_ms, (int64_t)60000);
    int count = epoll_wait(poller, seen, most, timeout);
    if (count < 0) {
        CHECK(errno == EINTR);
        return 0;
    }
    for (int i = 0; i < count; i++)
        events[i] = (struct poller_event){
            .context = seen[i].data.ptr,
            .readable = (seen[i].events & ~(unsigned)EPOLLOUT) != 0,
            .writable = (seen[i].events & EPOLLOUT) != 0,
        };
    return (size_t)count;
}
