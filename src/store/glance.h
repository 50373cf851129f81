#pragma once
/*
 * glance: whether there is anything for the scheduler to do, asked with one statement.
 *
 * A scheduler is woken by every news and mostly finds nothing for most of its duties. What a glance
 * says to be empty was empty at that moment; whoever makes something to do afterwards wakes the
 * scheduler again.
 */
#include "store/store.h"

struct store_glance {
    int64_t next_schedule_us; /* of an active schedule; INT64_MAX: none */
    int64_t next_deadline_us; /* INT64_MAX: none */
    int64_t next_wait_us;     /* of a deferred task; INT64_MAX: none */
    int64_t next_message_us;  /* that is not settled; INT64_MAX: none */
    bool has_runs;            /* that are not over */
    bool has_waiting_runs;    /* for others of their DAG */
    bool has_waiting_tasks;   /* for the same task of the run before */
    bool has_events;          /* that nobody looked at */
    bool has_watched_files;
    bool has_backfills; /* that are not over */
};

NODISCARD enum status store_glance(struct store *store, struct store_glance *out, struct err *err);
