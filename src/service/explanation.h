#pragma once
/*
 * explanation: why something is as it is, as sentences for people and as conditions for programs.
 *
 * A condition is one thing that is not met (or, of what is over, how it ended): a code that stays
 * the same between versions, the words, what would change it, and numbers. Whoever explains writes
 * words first and then says which condition they were.
 */
#include "base/attrs.h"
#include "base/json.h"
#include "base/strbuf.h"

/* Codes are part of the interface: add, never rename. docs/explain.md describes each. */
#define EXPLAIN_CODE_MAP(X)                                                                        \
    X(PARENTS, "parents")                                                                          \
    X(FINALLY, "finally")                                                                          \
    X(MAX_ACTIVE_RUNS, "max_active_runs")                                                          \
    X(DEPENDS_ON_PAST, "depends_on_past")                                                          \
    X(BACKFILL_TURN, "backfill_turn")                                                              \
    X(BACKFILL_PAUSED, "backfill_paused")                                                          \
    X(BACKFILL_APPROVAL, "backfill_approval")                                                      \
    X(READY, "ready")                                                                              \
    X(TURN, "turn")                                                                                \
    X(QUEUE_PAUSED, "queue_paused")                                                                \
    X(QUEUE_FULL, "queue_full")                                                                    \
    X(QUEUE_SHARE, "queue_share")                                                                  \
    X(NO_HOST, "no_host")                                                                          \
    X(NO_HOST_FOR_QUEUE, "no_host_for_queue")                                                      \
    X(NO_HOST_WITH_LABEL, "no_host_with_label")                                                    \
    X(HOSTS_DRAINING, "hosts_draining")                                                            \
    X(HOSTS_STOPPING, "hosts_stopping")                                                            \
    X(HOSTS_FULL, "hosts_full")                                                                    \
    X(NOBODY_WORKS, "nobody_works")                                                                \
    X(POOL_FULL, "pool_full")                                                                      \
    X(POOL_MISSING, "pool_missing")                                                                \
    X(POOL_TOO_SMALL, "pool_too_small")                                                            \
    X(NAMESPACE_LIMIT, "namespace_limit")                                                          \
    X(TIER_LIMIT, "tier_limit")                                                                    \
    X(DAG_LIMIT, "dag_limit")                                                                      \
    X(MAX_ACTIVE_TASKS, "max_active_tasks")                                                        \
    X(MAX_PARALLEL, "max_parallel")                                                                \
    X(RETRY_DUE, "retry_due")                                                                      \
    X(SENSOR, "sensor")                                                                            \
    X(OUTSIDE, "outside")                                                                          \
    X(INSTANCES, "instances")                                                                      \
    X(RUNNING, "running")                                                                          \
    X(OWNER_LOST, "owner_lost")                                                                    \
    X(STOPPING, "stopping")                                                                        \
    X(SUCCESS, "success")                                                                          \
    X(FAILED, "failed")                                                                            \
    X(SKIPPED, "skipped")                                                                          \
    X(UPSTREAM, "upstream")                                                                        \
    X(CANCELLED, "cancelled")                                                                      \
    X(REMOVED, "removed")                                                                          \
    X(DAG_PAUSED, "dag_paused")                                                                    \
    X(NO_FILE, "no_file")                                                                          \
    X(BROKEN_FILE, "broken_file")                                                                  \
    X(NO_SCHEDULE, "no_schedule")                                                                  \
    X(NOT_DUE, "not_due")                                                                          \
    X(SCHEDULE_OVER, "schedule_over")                                                              \
    X(TRIGGER, "trigger")                                                                          \
    X(NO_SCHEDULER, "no_scheduler")                                                                \
    X(MISSED, "missed")                                                                            \
    X(REFUSED, "refused")

enum explain_code {
#define X(name, text) EXPLAIN_##name,
    EXPLAIN_CODE_MAP(X)
#undef X
        EXPLAIN_CODE_COUNT
};

const char *explain_code_name(enum explain_code code);

struct explanation {
    struct strbuf because;
    struct strbuf change; /* what would change it; may be empty */
    json_t *waits_for;    /* names */
    json_t *caused_by;    /* name of the task where it began, or NULL */
    json_t *conditions;   /* {code, because, change, and numbers} each */
    size_t because_noted; /* what of the words belongs to conditions already */
    size_t change_noted;
};

void explanation_init(struct explanation *explanation);
void explanation_fini(struct explanation *explanation); /* twice is fine */

/* Words of the next condition follow. */
void explanation_next(struct explanation *explanation);
void explanation_say(struct explanation *explanation, const char *format, ...) PRINTF(2, 3);
/* The same of what would change it; each call is a clause of its own. */
void explanation_change(struct explanation *explanation, const char *format, ...) PRINTF(2, 3);
/*
 * Words since the last condition are this one. Returns its record, for numbers; borrowed.
 */
json_t *explanation_note(struct explanation *explanation, enum explain_code code);
/* Words since the last condition introduce the next. */
void explanation_lead(struct explanation *explanation);
