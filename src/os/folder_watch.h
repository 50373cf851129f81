#pragma once
/*
 * folder_watch: files that are made, written or moved in, in some folders.
 *
 * Only hints: what other machines do on a network file system is not heard, and when too much
 * happens at once some of it is lost, which is told. Whoever needs to be sure looks now and then.
 *
 * Threads  One thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct folder_watch;

NODISCARD enum status folder_watch_new(struct folder_watch **out, struct err *err);
void folder_watch_free(struct folder_watch *watch); /* NULL is allowed */

/*
 * Begin to hear of a folder; the same folder again gives the same number. STATUS_NOT_FOUND: it is
 * not there.
 */
NODISCARD enum status folder_watch_add(struct folder_watch *watch, const char *path,
                                       int *out_folder, struct err *err);
void folder_watch_remove(struct folder_watch *watch, int folder);

/* `name` NULL: anything may have happened in the folder; folder -1: in all of them. */
typedef void (*folder_watch_fn)(void *context, int folder, const char *name);

/* Wait until something is heard, `wake_fd` is readable or the time is up; call `fn` for each. */
void folder_watch_wait(struct folder_watch *watch, int wake_fd, int64_t timeout_ms,
                       folder_watch_fn fn, void *context);

/* A regular file as it is now. */
struct file_look {
    int64_t mtime_us;
    int64_t ctime_us;
    int64_t bytes;
    int64_t inode;
};

/* False: it is not there, or something else than a file. */
NODISCARD bool file_look_at(const char *path, struct file_look *out);

/*
 * Names in the folder that match the pattern (`*`, `?`, `[..]`; a leading dot must be written).
 * False: the folder cannot be read.
 */
NODISCARD bool folder_each(const char *path, const char *pattern,
                           void (*each)(void *context, const char *name), void *context);
bool folder_name_matches(const char *pattern, const char *name);
