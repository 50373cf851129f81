#include "os/folder_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"

enum { READ_BYTES = 4096 };

/* Writes in between are not heard: a file that grows is looked at again before it counts. */
static const uint32_t HEARD = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ATTRIB;

struct folder_watch {
    int fd;
};

enum status folder_watch_new(struct folder_watch **out, struct err *err)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "watch folders");
    struct folder_watch *watch = mem_zalloc(1, sizeof *watch);
    watch->fd = fd;
    *out = watch;
    return STATUS_OK;
}

void folder_watch_free(struct folder_watch *watch)
{
    if (watch == NULL)
        return;
    file_closep(&watch->fd);
    free(watch);
}

enum status folder_watch_add(struct folder_watch *watch, const char *path, int *out_folder,
                             struct err *err)
{
    int folder = inotify_add_watch(watch->fd, path, HEARD | IN_ONLYDIR);
    if (folder < 0)
        return err_errno(err, errno, "watch folder '%s'", path);
    *out_folder = folder;
    return STATUS_OK;
}

void folder_watch_remove(struct folder_watch *watch, int folder)
{
    (void)inotify_rm_watch(watch->fd, folder); /* it may be gone with the folder */
}

static void tell(const struct inotify_event *event, folder_watch_fn fn, void *context)
{
    if ((event->mask & IN_Q_OVERFLOW) != 0)
        fn(context, -1, NULL);
    else if ((event->mask & (IN_IGNORED | IN_ISDIR)) == 0)
        fn(context, event->wd, event->len > 0 ? event->name : NULL);
}

static void hear(struct folder_watch *watch, folder_watch_fn fn, void *context)
{
    _Alignas(struct inotify_event) char bytes[READ_BYTES];
    for (;;) {
        ssize_t length = read(watch->fd, bytes, sizeof bytes);
        if (length <= 0)
            return; /* all was heard */
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(bytes + at);
            at += (ssize_t)(sizeof *event + event->len);
            tell(event, fn, context);
        }
    }
}

void folder_watch_wait(struct folder_watch *watch, int wake_fd, int64_t timeout_ms,
                       folder_watch_fn fn, void *context)
{
    struct pollfd fds[] = {
        {.fd = watch->fd, .events = POLLIN},
        {.fd = wake_fd, .events = POLLIN},
    };
    int64_t bounded_ms = MIN(MAX(timeout_ms, (int64_t)0), (int64_t)3600 * 1000);
    if (poll(fds, ARRAY_LEN(fds), (int)bounded_ms) > 0 && (fds[0].revents & POLLIN) != 0)
        hear(watch, fn, context);
}

static int64_t us_of(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

bool file_look_at(const char *path, struct file_look *out)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *out = (struct file_look){
        .mtime_us = us_of(info.st_mtim),
        .ctime_us = us_of(info.st_ctim),
        .bytes = (int64_t)info.st_size,
        .inode = (int64_t)info.st_ino,
    };
    return true;
}

bool folder_name_matches(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, FNM_PERIOD) == 0;
}

bool folder_each(const char *path, const char *pattern,
                 void (*each)(void *context, const char *name), void *context)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (folder_name_matches(pattern, entry->d_name))
            each(context, entry->d_name);
    (void)closedir(folder);
    return true;
}
