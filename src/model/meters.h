#pragma once
/*
 * meters: what one process counts and measures, from any of its threads and without a lock.
 *
 * Counting is an addition in memory. A series with labels is found by a hash of them; only the
 * first of its kind allocates. Of DAGs, tasks and queues so many are told apart as was said at the
 * start, and the rest are counted together as "other".
 *
 * Every function takes NULL for "nobody counts here".
 *
 * Ownership  A meter lives as long as its meters.
 * Threads    Any, except meters_new and meters_free.
 */
#include "base/attrs.h"
#include "model/metric.h"

struct meters;
struct meter;

NODISCARD struct meters *meters_new(size_t series_max);
void meters_free(struct meters *meters); /* NULL is allowed */

/* What tells the series of a metric apart; what the metric has no label for is ignored. */
struct meter_labels {
    const char *first;  /* dag_id, or the queue, or the host */
    const char *second; /* task_id; NULL: "" */
    int state;          /* enum task_state, of runs enum run_state */
};

/* NULL without meters. */
struct meter *meters_find(struct meters *meters, enum metric metric,
                          const struct meter_labels *labels);
/* To a counter or histogram, in the units that are counted with: microseconds, bytes, pieces. */
void meter_count(struct meter *meter, enum metric metric, int64_t amount);

/* The same at once, for metrics without labels. */
void meters_count(struct meters *meters, enum metric metric, int64_t amount);
/* A gauge of this process; those with a label are of this host. */
void meters_set(struct meters *meters, enum metric metric, int64_t value);

/* The value of the label `host` in gauges of this process. Copied; once, before any is read. */
void meters_set_host(struct meters *meters, const char *name);

/* --- signs of life --------------------------------------------------------------------------- */

/* Instants by the steady clock, microseconds; 0: never. */
enum meter_sign {
    SIGN_SCHEDULER_BEGAN, /* the scheduler's current turn; 0: it is between two */
    SIGN_SCHEDULER_TURN,  /* the end of its last one */
    SIGN_COMMIT,          /* the last that became durable */
    SIGN_COMMIT_FAILING,  /* the first failure since then */
    SIGN_WORKER,          /* claims began */
    SIGN_COUNT
};

void meters_sign(struct meters *meters, enum meter_sign sign, int64_t at_us);
/* Unless it is set. */
void meters_sign_once(struct meters *meters, enum meter_sign sign, int64_t at_us);
int64_t meters_sign_at(const struct meters *meters, enum meter_sign sign);

/* --- reading --------------------------------------------------------------------------------- */

/* Every series that this process has, those without labels also when nothing was counted. */
void meters_collect(const struct meters *meters, struct metric_samples *out);
