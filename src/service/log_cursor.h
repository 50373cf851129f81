#pragma once
/*
 * log_cursor: how far a reader of a run's logs has come.
 *
 * Tasks are visited in the order of the DAG. Those that were not over when they were visited stay
 * open: each with the attempt and the offset that come next, so that a reader who asks again gets
 * what was added, also of retries and of instances that did not exist before.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

/* So many tasks can be followed at once; what is beyond them is read but not followed. */
enum { LOG_CURSOR_OPEN_MAX = 10000 };

struct log_place {
    int64_t task;
    int64_t attempt; /* 0: none has started yet */
    int64_t offset;  /* bytes read; of a mapped task: instances visited */
};

struct log_cursor {
    int64_t next; /* place in the order of the DAG's tasks to go on with */
    struct log_place *open;
    size_t count;
    size_t capacity;
};

void log_cursor_fini(struct log_cursor *cursor); /* twice is fine */
void log_cursor_keep(struct log_cursor *cursor, const struct log_place *place);

/* Heap. */
NODISCARD char *log_cursor_format(const struct log_cursor *cursor);
/* Exactly what log_cursor_format makes; else STATUS_INVALID. */
NODISCARD enum status log_cursor_parse(const char *text, struct log_cursor *out, struct err *err);
