#pragma once
/*
 * duty: one of the things that the scheduler does again and again: start what is due, let waiting
 * runs go on, tell of what is late, remove what is old.
 *
 * Any number of schedulers may do the same duty at the same time: whatever it changes is guarded
 * or unique in the store, and who comes second finds nothing left to do. A duty does a bounded
 * amount of work per call, in short transactions, and says when it wants to be called again.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "sched/retention_turn.h"
#include "store/glance.h"

#define DUTY_NEVER INT64_MAX /* not before something happens */

struct file_watcher;

/* What a duty is given. */
struct duty_call {
    struct store *store;
    int64_t now_us;    /* by the store's clock */
    struct blob *blob; /* of logs and large values; NULL: there is none */
    const struct retention_policy *retention;
    int64_t due_us;     /* when the duty wanted to be called; later than now: something happened */
    int64_t chain_most; /* runs in a row that events start within an hour; 0: 100 */
    struct file_watcher *files; /* what this host sees of its folders; NULL: nothing */
    /* What there was to do when the turn began, while no duty did anything since; NULL: unknown. */
    const struct store_glance *glance;
};

struct duty_result {
    int64_t next_us; /* when to call again, by the store's clock; now or earlier: at once */
    bool changed;    /* there is something to claim, or to stop */
    bool has_mail;   /* there is something to send */
    bool was_idle;   /* the glance said that there is nothing, and the store was not asked */
};

struct duty {
    const char *name;
    enum status (*run)(const struct duty_call *call, struct duty_result *out, struct err *err);
};

/* For the turn of a scheduler that was woken: `room`, filled, or NULL when it cannot be known. */
const struct store_glance *duties_glance(struct store *store, struct store_glance *room);

/* All of them, in the order of a turn. */
extern const struct duty DUTIES[];
extern const size_t DUTIES_COUNT;

/* --- the duties, one file each --------------------------------------------------------------- */

/* What is due by the schedules of DAGs becomes runs. */
NODISCARD enum status duty_start_due(const struct duty_call *call, struct duty_result *out,
                                     struct err *err);
/* Runs that waited for others of their DAG begin to go. */
NODISCARD enum status duty_let_go(const struct duty_call *call, struct duty_result *out,
                                  struct err *err);
/* Tasks that waited for the same task of the run before are queued. */
NODISCARD enum status duty_let_past_go(const struct duty_call *call, struct duty_result *out,
                                       struct err *err);
/* Deadlines that have come: what is late is recorded and told. */
NODISCARD enum status duty_pass_deadlines(const struct duty_call *call, struct duty_result *out,
                                          struct err *err);
/* Runs that take longer than their DAG allows are asked to stop. */
NODISCARD enum status duty_stop_overdue(const struct duty_call *call, struct duty_result *out,
                                        struct err *err);
/* DAGs whose datasets were updated, or that follow a DAG that ended, get their runs. */
NODISCARD enum status duty_start_by_events(const struct duty_call *call, struct duty_result *out,
                                           struct err *err);
/* The same for files that have arrived. */
NODISCARD enum status duty_start_by_files(const struct duty_call *call, struct duty_result *out,
                                          struct err *err);
/* Tasks that wait for an instant, or for too long, where no host has room to see to it. */
NODISCARD enum status duty_wake_waits(const struct duty_call *call, struct duty_result *out,
                                      struct err *err);
/* Runs of backfills are made while others of theirs end; see store/backfill_store.h. */
NODISCARD enum status duty_work_off_backfills(const struct duty_call *call, struct duty_result *out,
                                              struct err *err);
/* Messages that are due: others send them, who need not look themselves then. */
NODISCARD enum status duty_mind_messages(const struct duty_call *call, struct duty_result *out,
                                         struct err *err);
/* Runs, logs, values, jobs and events go when they are older than the settings say. */
NODISCARD enum status duty_remove_old(const struct duty_call *call, struct duty_result *out,
                                      struct err *err);
