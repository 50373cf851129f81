#pragma once
/*
 * wish: what somebody wants of a task that runs: that it stops, or that it stops and begins anew.
 *
 * The wish stands in the row (rows.h), where whoever records the end of the attempt finds it, be it
 * the owner or who takes back what a dead owner left: it cannot get lost between the two. Who wants
 * it, since when and why is in task_wish, from which owners also learn of it (store_stop_wishes).
 */
#include "store/rows.h"
#include "store/store.h"

struct wish_info {
    bool is_found;
    const char *actor; /* or NULL */
    const char *data;  /* the reason that was given, as JSON, or NULL */
    int64_t asked_at_us;
};

/* Who wants what of the attempt that runs; texts in the arena. */
NODISCARD enum status store_wish_find(struct store *store, struct arena *arena, int64_t task,
                                      struct wish_info *out, struct err *err);
