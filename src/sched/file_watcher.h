#pragma once
/*
 * file_watcher: a thread that looks for the files that DAGs wait for.
 *
 * It hears of changes from the kernel and scans now and then as well, since not every file system
 * tells. A folder that hangs holds up nothing but this thread. It knows no store: what
 * has arrived is handed to the scheduler, whose store decides whether that was known; after a
 * restart all of it is told again.
 *
 * Threads    file_watcher_* are called by one thread; `wake` is called by the watcher's own.
 * Tests      tests/unit/sched/test_file_watcher.c, test_settling.c
 */
#include "base/arena.h"
#include "store/trigger_store.h"

struct file_watcher;

struct file_watcher_options {
    int64_t scan_ms;             /* time between two scans of a folder; 0: half a minute */
    void (*wake)(void *context); /* something has arrived */
    void *context;
};

NODISCARD struct file_watcher *file_watcher_new(const struct file_watcher_options *options);
/* Ends the thread, if there is one. NULL is allowed. */
void file_watcher_free(struct file_watcher *watcher);

/* From now on these; no thread is started before the first one. */
NODISCARD enum status file_watcher_set(struct file_watcher *watcher,
                                       const struct file_watch *watches, size_t count,
                                       struct err *err);

/* It was never given anything to look for. */
bool file_watcher_is_unused(const struct file_watcher *watcher);

/* The oldest arrival that was not dropped, borrowed until it is; NULL: there is none. */
const struct file_arrival *file_watcher_first(struct file_watcher *watcher);
void file_watcher_drop(struct file_watcher *watcher);
