#pragma once
/*
 * span: what a trace says of a run or of an attempt of a task, and the ids it has there. Pure.
 *
 * Ids follow from the store and the run, so that every host of a fleet names the same trace without
 * asking anybody. A run that was asked for by something that is traced belongs to that trace.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

enum { TRACE_ID_MAX = 33, SPAN_ID_MAX = 17, TRACEPARENT_MAX = 56 };

/* Ended: a run, or with a task_id an attempt of a task. Texts are the heap's. */
struct span {
    int64_t run;
    int64_t task;    /* row; 0: the run */
    int64_t attempt; /* its number over all generations */
    char *dag_id;
    char *task_id; /* NULL: the run */
    int64_t map_index;
    int64_t try_number;
    const char *state;  /* static */
    const char *reason; /* static; of an attempt */
    int64_t exit_code;  /* -1: none */
    int64_t host;
    int64_t started_at_us;
    int64_t ended_at_us;
    bool is_failure;
};

/* Whoever sends spans; from any thread, and never waits. The span is taken. */
struct span_sink {
    void *context;
    void (*take)(void *context, struct span *taken);
};

void span_free(struct span *span); /* NULL is allowed */

struct span_ids {
    char trace[TRACE_ID_MAX];
    char span[SPAN_ID_MAX];
    char parent[SPAN_ID_MAX]; /* "": none */
};

/* What a run comes from; false: `text` is no traceparent header (version 00 and later). */
NODISCARD bool traceparent_parse(const char *text, struct span_ids *out);

/*
 * The ids of a run (task 0) or of an attempt of a task, in the store with this uuid. `above` is the
 * traceparent that the run was asked for with, or NULL.
 */
void span_ids_make(const char *store_uuid, const struct span *span, const char *above,
                   struct span_ids *out);
/* "00-TRACE-SPAN-01", for what the span calls. */
const char *traceparent_format(const struct span_ids *ids, char out[static TRACEPARENT_MAX]);
