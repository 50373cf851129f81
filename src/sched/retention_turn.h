#pragma once
/*
 * retention_turn: removes what is old, a small portion at a time, so that nobody waits for it.
 *
 * Logs and large values go first, then what points to them: who is killed in between leaves
 * nothing behind that nobody knows of, and the next turn goes on. Several hosts may do it at once.
 */
#include "blob/blob.h"
#include "model/settings.h"
#include "store/old_rows.h"

/* Milliseconds after the end; 0: for ever, or as long as the run. */
struct retention_policy {
    int64_t runs_ms;
    int64_t runs_per_dag; /* 0: any number */
    int64_t logs_ms;
    int64_t values_ms;
    int64_t jobs_ms;
    int64_t dead_ms;
    int64_t messages_ms;
    int64_t events_ms;
};

struct retention_policy retention_policy_of(const struct settings *settings);

struct idmap;

struct retention_report {
    int64_t runs; /* removed whole */
    int64_t jobs;
    int64_t dead; /* letters, not what they tell of */
    int64_t rest[OLD_ROWS_COUNT];
    int64_t runs_without_logs; /* that are kept themselves */
    int64_t runs_without_values;
    int64_t values;
};

/* Records of what happened apart from runs: changes, updates of datasets, calls, missed ticks. */
int64_t retention_report_events(const struct retention_report *report);

struct retention_call {
    struct store *store;
    struct blob *blob; /* NULL: there is none */
    const struct retention_policy *policy;
    bool is_dry; /* only tell what would go */
    const char *actor;
    struct idmap *gone; /* of retention_turn itself: runs that a dry turn has counted as removed */
};

/* One portion of each; *out_more: there may be more. Adds to the report. */
NODISCARD enum status retention_turn(const struct retention_call *call,
                                     struct retention_report *report, bool *out_more,
                                     struct err *err);
