#pragma once
/*
 * folder_watch: hears of names that come, go or were written in a set of folders.
 *
 * Only told: what is there has to be looked at. Writing is told when the writer closes the file.
 *
 * Threads  One thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

struct folder_watch;

struct folder_news {
    int tag;          /* of the folder, as it was added */
    const char *name; /* in the folder; NULL: anything may have happened, look at everything */
    bool is_folder;   /* the name is one */
};

NODISCARD enum status folder_watch_open(struct folder_watch **out, struct err *err);
void folder_watch_close(struct folder_watch *watch); /* NULL is allowed */
/* Readable when there is news. */
int folder_watch_fd(const struct folder_watch *watch);

/*
 * Say which folders to watch: begin, add each, end. Those that were watched and not added any
 * more are left alone. *out_new of the end: some were not watched before, so that something may
 * have happened in them that was not heard. A folder that cannot be watched is a failure of add,
 * with the others unharmed.
 */
void folder_watch_begin(struct folder_watch *watch);
NODISCARD enum status folder_watch_add(struct folder_watch *watch, const char *path, int tag,
                                       struct err *err);
void folder_watch_end(struct folder_watch *watch, bool *out_new);

/* Everything heard so far; does not wait. */
void folder_watch_read(struct folder_watch *watch,
                       void (*each)(void *context, const struct folder_news *news), void *context);
