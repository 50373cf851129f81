#pragma once
/*
 * event_store: what happened, in order, with who and why. Written inside the transactions that
 * change things, read by people, the checker and live views.
 */
#include "model/attempt.h"
#include "model/event_kind.h"
#include "store/store.h"

struct event_info {
    int64_t id;
    int64_t at_us;
    enum event_kind kind;
    int64_t run;
    int64_t task; /* 0: about the run */
    int64_t row_version;
    int64_t old_state;
    int64_t new_state;
    int64_t generation;
    int64_t attempt;
    const char *actor;
    enum reason reason;
    const char *data;
};

struct event_range {
    int64_t run;   /* 0: of all runs */
    int64_t after; /* only later ids */
    int64_t limit;
};

/* Oldest first. */
NODISCARD enum status store_event_each(struct store *store, const struct event_range *range,
                                       enum status (*each)(void *context,
                                                           const struct event_info *event,
                                                           struct err *err),
                                       void *context, struct err *err);
