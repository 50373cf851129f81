#pragma once
/*
 * folder_watch: hears of names that come, go or were written in a set of folders.
 *
 * Only told: what is there has to be looked at. Writing is told when the writer closes the file.
 * What other machines do on a network file system is not heard, and when too much happens at once
 * some of it is lost, which is told. Whoever needs to be sure looks now and then.
 *
 * Threads  One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct folder_watch;

struct folder_news {
    int tag;          /* of the folder, as it was added; 0 without a name */
    const char *name; /* in the folder; NULL: anything may have happened, look at everything */
    bool is_folder;   /* the name is one */
};

NODISCARD enum status folder_watch_open(struct folder_watch **out, struct err *err);
void folder_watch_close(struct folder_watch *watch); /* NULL is allowed */

/*
 * Say which folders to watch: begin, add each, end. Those that were watched and not added any
 * more are left alone. *out_new of the end: some were not watched before, so that something may
 * have happened in them that was not heard. A folder that cannot be watched is a failure of add,
 * with the others unharmed; STATUS_NOT_FOUND: it is not there. *out_tag, which may be NULL: the tag
 * that news of it have, since the same folder added again, by another path perhaps, keeps the
 * first.
 */
void folder_watch_begin(struct folder_watch *watch);
NODISCARD enum status folder_watch_add(struct folder_watch *watch, const char *path, int tag,
                                       int *out_tag, struct err *err);
void folder_watch_end(struct folder_watch *watch, bool *out_new);

/* Until there is news, `wake_fd` is readable or the time is up. NULL hears nothing. */
void folder_watch_wait(const struct folder_watch *watch, int wake_fd, int64_t timeout_ms);
/* Everything heard so far; does not wait. */
void folder_watch_read(struct folder_watch *watch,
                       void (*each)(void *context, const struct folder_news *news), void *context);

/*
 * Names in the folder that match the pattern (`*`, `?`, `[..]`; a leading dot must be written).
 * False: the folder cannot be read.
 */
NODISCARD bool folder_each(const char *path, const char *pattern,
                           void (*each)(void *context, const char *name), void *context);
bool folder_name_matches(const char *pattern, const char *name);
