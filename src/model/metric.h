#pragma once
/*
 * metric: everything that is measured, as rows: name, type, labels, unit, where it comes from, and
 * what it says. The server's /metrics, StatsD and docs/metrics.md are made from this table. Pure.
 *
 * A label set is bounded: DAGs and tasks beyond a number are counted together as "other", and no
 * label names a run.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/*    name      labels, separated by blanks   those that tell one series from another */
#define METRIC_LABELS_MAP(X)                                                                       \
    X(NONE, "", NONE)                                                                              \
    X(DAG_STATE, "dag_id state", DAG)                                                              \
    X(TASK, "dag_id task_id", TASK)                                                                \
    X(TASK_STATE, "dag_id task_id state", TASK)                                                    \
    X(QUEUE, "queue", QUEUE)                                                                       \
    X(QUEUE_STATE, "queue state", QUEUE)                                                           \
    X(STATE, "state", NONE)                                                                        \
    X(POOL_STATE, "pool state", NONE)                                                              \
    X(HOST, "host", NONE)                                                                          \
    X(THROTTLE, "name", NONE)

enum metric_labels {
#define X(name, text, family) LABELS_##name,
    METRIC_LABELS_MAP(X)
#undef X
        LABELS_COUNT
};

/* What a process tells apart while it counts. */
enum metric_family {
    METRIC_FAMILY_NONE,
    METRIC_FAMILY_DAG,
    METRIC_FAMILY_TASK,
    METRIC_FAMILY_QUEUE,
    METRIC_FAMILY_COUNT
};

/*    name     text        how many of what is counted with make one */
#define METRIC_UNIT_MAP(X)                                                                         \
    X(NONE, "", 1)                                                                                 \
    X(SECONDS, "seconds", 1000000)                                                                 \
    X(BYTES, "bytes", 1)                                                                           \
    X(RATIO, "ratio", 1000000)

enum metric_unit {
#define X(name, text, scale) UNIT_##name,
    METRIC_UNIT_MAP(X)
#undef X
        UNIT_COUNT
};

/* Upper bounds of histograms: of work, of what the program does itself, of sizes. */
enum metric_buckets { BUCKETS_NONE, BUCKETS_WORK, BUCKETS_QUICK, BUCKETS_SIZE, BUCKETS_COUNT };

/* Whose the value is: this process's since it started, or the store's, the same on every host. */
enum metric_source { OF_PROCESS, OF_STORE };

#include "model/metric_map.h" /* IWYU pragma: export */

enum metric {
#define X(name, text, type, labels, unit, buckets, source, help) METRIC_##name,
    METRIC_MAP(X)
#undef X
        METRIC_COUNT
};

struct metric_row {
    const char *name;
    enum metric_type type;
    enum metric_labels labels;
    enum metric_unit unit;
    enum metric_buckets buckets;
    enum metric_source source;
    const char *help;
};

extern const struct metric_row METRICS[METRIC_COUNT];

enum { METRIC_BUCKETS_MAX = 18, METRIC_LABELS_MAX = 3 };

const char *metric_type_name(enum metric_type type);
/* Names of its labels, separated by blanks. */
const char *metric_label_names(enum metric metric);
const char *metric_unit_name(enum metric_unit unit);
double metric_scale(enum metric metric);
enum metric_family metric_family_of(enum metric metric);
/* Whether its last label is a state, which tells series of a family apart. */
bool metric_has_state(enum metric metric);
/* The bounds of its buckets, in what is counted with, without the last one, which has none. */
const int64_t *metric_bounds(enum metric metric, size_t *out_count);

/* --- values at a moment ---------------------------------------------------------------------- */

struct metric_sample {
    enum metric metric;
    const char *labels[METRIC_LABELS_MAX]; /* values; NULL after the last */
    double value;                          /* of a histogram the sum, in its unit */
    int64_t count;                         /* of a histogram: observations */
    int64_t buckets[METRIC_BUCKETS_MAX];   /* each alone; the last has no bound */
};

/* Samples in the order of adding; all memory is the arena's. */
struct metric_samples {
    struct arena *arena;
    struct metric_sample *items;
    size_t count;
    size_t capacity;
};

/* In the unit of the metric; labels are copied, NULL where it has none. */
void metric_samples_add(struct metric_samples *samples, enum metric metric, double value,
                        const char *first, const char *second);
/* An empty one, to be filled; its labels are the caller's. Valid until the next is added. */
struct metric_sample *metric_samples_push(struct metric_samples *samples, enum metric metric);

/* In the text format of Prometheus, version 0.0.4: every metric of the table with its samples. */
void metric_text(const struct metric_samples *samples, struct strbuf *out);
#define METRIC_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
