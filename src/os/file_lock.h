#pragma once
/*
 * file_lock: one holder at a time, over all processes, ended by the holder's death.
 *
 * Locks are of the open file (OFD): another open of the same file conflicts even
 * within one process, and closing some other descriptor releases nothing.
 */
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"

struct file_lock {
    int fd; /* -1 or 0: not held */
};

/*
 * Take the lock of the file `path`, which is made if missing.
 *
 *   STATUS_BUSY  somebody holds it.
 */
NODISCARD enum status file_lock_try(const char *path, struct file_lock *out_lock, struct err *err);
/* The same, waiting as long as it takes. */
NODISCARD enum status file_lock_hold(const char *path, struct file_lock *out_lock, struct err *err);
/* Twice is fine. */
void file_lock_release(struct file_lock *lock);

/* Whether somebody, this process included, holds it now. A missing file is held by nobody. */
NODISCARD enum status file_lock_is_held(const char *path, bool *out_held, struct err *err);
