#pragma once
/*
 * started: attempts that hosts hold just now, for whoever wants to hear of them soon.
 *
 * Claims leave no event, as each would cost a row more where work is taken; what is held has a row
 * anyway. Asked several times a second, so it is one statement that costs as much as there is held,
 * up to the limit. Nothing is changed.
 *
 * Tests  tests/unit/store/test_started.c
 */
#include "store/store.h"

struct started_task {
    int64_t task;
    int64_t attempt;
    int64_t tries; /* as people count them */
    int64_t run;
    int64_t node;
    int64_t map_index;
    int64_t version;
    int64_t host;
    int64_t started_at_us;
    const char *dag_id; /* texts are borrowed during the call */
    const char *run_id;
    const char *space;
    const char *label; /* of an instance, or NULL */
};

typedef enum status (*started_fn)(void *context, const struct started_task *task, struct err *err);

/*
 * Tasks of runs whose namespaces are seen, in no order. At most `limit` of what is held is looked
 * at; *out_more: there was more.
 */
NODISCARD enum status store_started_each(struct store *store, int64_t limit, started_fn each,
                                         void *context, bool *out_more, struct err *err);
