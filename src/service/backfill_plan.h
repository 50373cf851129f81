#pragma once
/*
 * backfill_plan: from a request for a backfill to what it is to do, or why it cannot be.
 */
#include "model/backfill.h"
#include "service/lookup.h"
#include "store/backfill_store.h"

enum { BACKFILL_ACTIVE_MAX = 1000 };

struct backfill_plan {
    struct found_dag found;
    const struct dag *dag; /* whose dates and tasks they are */
    struct timetable *timetable;
    struct backfill_range range;
    enum backfill_redo redo;
    int64_t dag_key; /* 0: the store does not know the DAG yet */
    int64_t version; /* of new runs; 0: of the file */
    int64_t version_number;
    int64_t max_active;
    int64_t queue;
    const char *queue_name; /* NULL: the tasks' own */
    json_t *tasks;          /* ids, with those around them if asked for; empty: all */
    json_t *params;
    int64_t usual_ms; /* 0: it never ran */
    int64_t most;     /* dates that it may have */
    int64_t approval; /* with more it waits to be approved; 0: no bound */
    struct backfill_survey survey;
    const char *left_out; /* what of the range the schedule does not have; NULL: nothing */
};

/*
 * Read the request and look at the dates; `store` may be NULL. What cannot be done is
 * STATUS_INVALID, STATUS_NOT_FOUND for names, STATUS_LIMIT for a size above backfill_max. The plan
 * is to be given back by backfill_plan_fini in any case.
 */
NODISCARD enum status backfill_plan_make(struct service *service, struct store *store,
                                         struct arena *arena, const json_t *request,
                                         struct backfill_plan *out, struct err *err);
void backfill_plan_fini(struct backfill_plan *plan);

/* It is larger than backfill_approval, of whoever asks or of the platform. */
bool backfill_plan_needs_approval(const struct backfill_plan *plan);
