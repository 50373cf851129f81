#include "os/folder_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"

enum {
    NEWS_BYTES = 64 * 1024,
    EVENTS = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
             IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
};

struct watched {
    int wd;
    int tag;
    bool is_wanted; /* added since the last begin */
};

struct folder_watch {
    int fd;
    struct watched *items; /* sorted by wd, which the kernel counts up */
    size_t count;
    size_t capacity;
    bool has_new;
    _Alignas(struct inotify_event) char buffer[NEWS_BYTES];
};

enum status folder_watch_open(struct folder_watch **out, struct err *err)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0)
        return err_errno(err, errno, "watch folders");
    struct folder_watch *watch = mem_zalloc(1, sizeof *watch);
    watch->fd = fd;
    *out = watch;
    return STATUS_OK;
}

void folder_watch_close(struct folder_watch *watch)
{
    if (watch == NULL)
        return;
    file_closep(&watch->fd);
    free(watch->items);
    free(watch);
}

static struct watched *find(const struct folder_watch *watch, int wd)
{
    size_t low = 0;
    size_t high = watch->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (watch->items[middle].wd == wd)
            return &watch->items[middle];
        if (watch->items[middle].wd < wd)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

void folder_watch_begin(struct folder_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        watch->items[i].is_wanted = false;
    watch->has_new = false;
}

static int keep(struct folder_watch *watch, int wd, int tag)
{
    struct watched *known = find(watch, wd);
    if (known != NULL) {
        /* The same folder by two paths has the tag of the first. */
        if (!known->is_wanted)
            known->tag = tag;
        known->is_wanted = true;
        return known->tag;
    }
    watch->items = mem_grow(watch->items, &watch->capacity, watch->count, sizeof *watch->items);
    size_t at = watch->count++;
    for (; at > 0 && watch->items[at - 1].wd > wd; at--)
        watch->items[at] = watch->items[at - 1];
    watch->items[at] = (struct watched){.wd = wd, .tag = tag, .is_wanted = true};
    watch->has_new = true;
    return tag;
}

enum status folder_watch_add(struct folder_watch *watch, const char *path, int tag, int *out_tag,
                             struct err *err)
{
    int wd = inotify_add_watch(watch->fd, path, EVENTS);
    if (wd < 0)
        return err_errno(err, errno, "watch folder %s", path);
    int told = keep(watch, wd, tag);
    if (out_tag != NULL)
        *out_tag = told;
    return STATUS_OK;
}

void folder_watch_end(struct folder_watch *watch, bool *out_new)
{
    size_t kept = 0;
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->items[i].is_wanted)
            watch->items[kept++] = watch->items[i];
        else
            (void)inotify_rm_watch(watch->fd, watch->items[i].wd);
    }
    watch->count = kept;
    *out_new = watch->has_new;
}

static void tell(struct folder_watch *watch, const struct inotify_event *event,
                 void (*each)(void *context, const struct folder_news *news), void *context)
{
    struct watched *from = find(watch, event->wd);
    bool is_all = (event->mask & (IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) != 0;
    if (from == NULL && !is_all)
        return;
    bool is_removed = (event->mask & IN_IGNORED) != 0;
    /* Without a name, the folder itself changed: others may be able to read it now. */
    if (is_all || (event->len == 0 && !is_removed)) {
        each(context, &(struct folder_news){0});
        return;
    }
    if (is_removed) {
        size_t at = (size_t)(from - watch->items);
        for (watch->count--; at < watch->count; at++)
            watch->items[at] = watch->items[at + 1];
        return;
    }
    each(context, &(struct folder_news){.tag = from->tag,
                                        .name = event->name,
                                        .is_folder = (event->mask & IN_ISDIR) != 0});
}

void folder_watch_read(struct folder_watch *watch,
                       void (*each)(void *context, const struct folder_news *news), void *context)
{
    for (;;) {
        ssize_t got = read(watch->fd, watch->buffer, sizeof watch->buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        for (const char *at = watch->buffer; at < watch->buffer + got;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            tell(watch, event, each, context);
            at += sizeof *event + event->len;
        }
    }
}

void folder_watch_wait(const struct folder_watch *watch, int wake_fd, int64_t timeout_ms)
{
    struct pollfd fds[] = {
        {.fd = watch != NULL ? watch->fd : -1, .events = POLLIN},
        {.fd = wake_fd, .events = POLLIN},
    };
    int64_t bounded_ms = MIN(MAX(timeout_ms, (int64_t)0), (int64_t)3600 * 1000);
    (void)poll(fds, ARRAY_LEN(fds), (int)bounded_ms);
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
