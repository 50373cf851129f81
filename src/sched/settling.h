#pragma once
/*
 * settling: which files of one pattern have arrived. A file counts when it has not changed for the
 * settle time, once for each state it is found in. Decisions only: who looks at files is
 * file_watcher.c.
 *
 * Instants of files are the wall clock's, waits are counted by the steady one; both are given.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "os/file_stamp.h"

struct settling;

struct settling_rules {
    int64_t settle_ms;
    int64_t since_us; /* what was there before does not count */
};

struct settling_now {
    int64_t wall_us;
    int64_t mono_us;
};

enum { SETTLING_FILES_MAX = 100000 }; /* more than that are not seen */

NODISCARD struct settling *settling_new(const struct settling_rules *rules);
void settling_free(struct settling *settling); /* NULL is allowed */

/* The file is there and looks like this; NULL: it is gone. */
void settling_note(struct settling *settling, const char *name, const struct file_stamp *look,
                   struct settling_now now);

/* Between these two, what is not noted is gone. */
void settling_begin_scan(struct settling *settling);
void settling_end_scan(struct settling *settling);

/* When the next file may have settled, by the steady clock; INT64_MAX: nothing is awaited. */
int64_t settling_next_us(const struct settling *settling);
/*
 * The name of a file whose time is over, to be looked at and noted again; NULL: none. Noting it
 * unchanged makes it arrive.
 */
const char *settling_due(const struct settling *settling, int64_t mono_us);
/* True, once for each state: the file is as it was when its time began. */
NODISCARD bool settling_arrives(struct settling *settling, const char *name,
                                const struct file_stamp *look, struct settling_now now);
