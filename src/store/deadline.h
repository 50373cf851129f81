#pragma once
/*
 * deadline: what of runs and tasks is late, and what was.
 *
 * Deadlines are written in the transactions that make or start a run or a task (watch_priv.h). Once
 * one is due, whoever looks first records a miss, unless it was met, and leaves messages for those
 * who want to know, while it is late: what ended meanwhile is recorded, but not told any more.
 */
#include "base/arena.h"
#include "model/sla.h"
#include "store/store.h"

/* The first instant at which something is due; INT64_MAX: nothing is. */
NODISCARD enum status store_deadline_next(struct store *store, int64_t *out_us, struct err *err);

struct deadline_result {
    int64_t looked; /* at so many that were due */
    int64_t missed; /* of them */
    int64_t told;   /* messages left */
};

/* A portion of what is due. Any number of schedulers may do it at once. */
NODISCARD enum status store_deadline_pass(struct store *store, struct deadline_result *out,
                                          struct err *err);

struct sla_miss {
    int64_t run;
    int64_t task; /* 0: the run itself */
    enum sla_kind kind;
    const char *dag_id;
    const char *run_id;
    const char *task_id; /* NULL: the run itself */
    int64_t map_index;
    int64_t expected_us;
    int64_t actual_us; /* 0: it is late still */
    int64_t noticed_at_us;
    int64_t notified; /* messages about it that arrived */
};

struct sla_filter {
    const char *dag_id; /* NULL: any */
    int64_t run;        /* 0: any */
    bool open_only;     /* what is late still */
    int64_t limit;
};

/* Those that were expected last come first. */
NODISCARD enum status store_sla_each(struct store *store, const struct sla_filter *filter,
                                     enum status (*each)(void *context, const struct sla_miss *miss,
                                                         struct err *err),
                                     void *context, struct err *err);
/* How many there are, at most `most`; `limit` does not count. */
NODISCARD enum status store_sla_count(struct store *store, const struct sla_filter *filter,
                                      int64_t most, int64_t *out, struct err *err);

/* How the last runs of a DAG that ended kept their deadlines, those of their tasks included. */
struct sla_record {
    const char *dag_id;
    int64_t runs;
    int64_t late;        /* of them */
    int64_t misses;      /* of all these runs */
    int64_t open;        /* deadlines that are overdue now */
    int64_t worst_ms;    /* how late the worst was */
    int64_t upcoming_us; /* the next deadline; 0: none */
};

/* Of one DAG, or (dag_id NULL) of each that has or had deadlines; `last` runs count. */
NODISCARD enum status store_sla_report(struct store *store, const char *dag_id, int64_t last,
                                       enum status (*each)(void *context,
                                                           const struct sla_record *record,
                                                           struct err *err),
                                       void *context, struct err *err);

/* Whether the run itself is or was late. */
NODISCARD enum status store_sla_is_late(struct store *store, int64_t run, int64_t task, bool *out,
                                        struct err *err);
