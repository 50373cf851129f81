#pragma once
/*
 * audit: the trail of what was changed: when, by whom, what and why. A view of the events whose
 * kind is a change, newest first.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "model/event_kind.h"
#include "store/event_page.h"
#include "store/store.h"

struct audit_filter {
    const char *actor;  /* NULL: any person; "backfill": any of them */
    bool with_machines; /* what schedulers and hosts did by themselves, too */
    int64_t run;        /* 0: any */
    const char *dag_id; /* not of other DAGs; what has no run may be told all the same; or NULL */
    int64_t from_us;
    int64_t to_us;  /* not this one any more; 0: no end */
    int64_t before; /* only ids below; 0: no bound */
};

/* Until there are no more or `each` sets *out_enough. Texts are borrowed for the call. */
NODISCARD enum status store_audit_each(struct store *store, const struct audit_filter *filter,
                                       enum status (*each)(void *context,
                                                           const struct event_row *row,
                                                           bool *out_enough, struct err *err),
                                       void *context, struct err *err);

/* A change that no other call of the store tells of; `data` is JSON. */
NODISCARD enum status store_audit_add(struct store *store, enum event_kind kind, const char *actor,
                                      const char *data, struct err *err);

/* Who asked a run or a task to stop, when and why. Texts in an arena. */
struct stop_info {
    const char *actor; /* NULL: it is not known */
    int64_t at_us;
    const char *reason;  /* NULL: none was given */
    int64_t replaced_by; /* the run that took its place; 0: none */
};

/* The last time that somebody did; `task` 0: of the run as a whole. */
NODISCARD enum status store_stop_load(struct store *store, struct arena *arena, int64_t run,
                                      int64_t task, struct stop_info *out, struct err *err);
