#pragma once
/*
 * trigger_store: runs that events start, and what each DAG still needs.
 *
 * Updates of datasets and ends of runs wait for each DAG that asked for them, in rows of their own
 * that are written together with what happened. The transaction that makes a run takes exactly the
 * rows it saw; what comes meanwhile waits for the next run. Making runs of one DAG is done
 * under the lock of its row, so schedulers that do it at the same time make one, whoever dies.
 *
 * Tests  tests/unit/store/test_trigger.c
 */
#include "base/arena.h"
#include "model/limits.h"
#include "model/run_state.h"
#include "store/store.h"

/* Numbers of trigger_watch.kind. */
enum trigger_kind { TRIGGER_DATASET, TRIGGER_RUN_END, TRIGGER_FILE, TRIGGER_WEBHOOK };

const char *trigger_kind_name(enum trigger_kind kind);

/* DAGs for which something has happened since they were looked at, at most `most` of them. */
NODISCARD enum status store_triggers_due(struct store *store, int64_t *dags, size_t most,
                                         size_t *out_count, struct err *err);

struct trigger_started {
    size_t runs;    /* that were made */
    size_t refused; /* that could not be, and why the last one */
    bool is_more;   /* there is more to be made */
    char why[ERR_TEXT_MAX];
    char dag_id[LIMIT_ID_BYTES + 1]; /* of the DAG, where one was refused */
};

/*
 * Make the runs of a DAG whose conditions hold; none is no failure. Refused is what would make
 * a chain of more than `chain_most` runs that started each other within an hour.
 */
NODISCARD enum status store_trigger_start(struct store *store, int64_t dag_key, int64_t chain_most,
                                          struct trigger_started *out, struct err *err);

/* --- what is waited for ---------------------------------------------------------------------- */

/* One thing that a DAG waits for. */
struct trigger_need {
    enum trigger_kind kind;
    const char *name;
    int64_t waiting; /* events that wait for a run; of files and webhooks none ever does */
    int64_t last_us; /* the newest of them; 0: none */
    bool is_needed;  /* its next event would help, or make a run */
};

/* The last event that asked for a run which could not be made. */
struct trigger_refusal {
    int64_t at_us;
    const char *what; /* name of the dataset, DAG or file */
    const char *why;
};

struct trigger_state {
    bool paused;
    bool keeps; /* what happens while it is paused is made up for */
    struct trigger_need *needs;
    size_t needs_count;
    const char *missing; /* in words, "a and (b or c)"; NULL: nothing else than files and calls */
    const struct trigger_refusal *refusal; /* NULL: none, or too long ago to be known */
};

/*
 * What the DAG waits for, texts in the arena. STATUS_NOT_FOUND: it does not start by events.
 */
NODISCARD enum status store_trigger_state(struct store *store, struct arena *arena,
                                          const char *dag_id, struct trigger_state *out,
                                          struct err *err);

/* A DAG that waits for a dataset. */
struct trigger_waiter {
    const char *dag_id;
    bool paused;
    int64_t waiting;
};
NODISCARD enum status store_trigger_waiters(struct store *store, struct arena *arena,
                                            const char *uri, struct trigger_waiter **out,
                                            size_t *out_count, struct err *err);

struct trigger_dag {
    int64_t version;  /* the newest */
    const char *path; /* of its file */
};

struct trigger_dag_list {
    struct trigger_dag *items;
    size_t count;
};

/* DAGs that events start and that are offered, by id, at most `most`; in the arena. */
NODISCARD enum status store_trigger_dags(struct store *store, struct arena *arena, size_t most,
                                         struct trigger_dag_list *out, struct err *err);

/* --- what a run was made of ------------------------------------------------------------------ */

struct cause_info {
    enum trigger_kind kind;
    const char *name;     /* URI, DAG, path or name of a webhook */
    enum run_state state; /* of the run that ended */
    int64_t at_us;
    /* Of an update: who made it; of an end: the run. */
    const char *dag_id; /* or NULL */
    const char *run_id;
    int64_t run; /* 0: none */
    const char *task_id;
    int64_t map_index;
    const char *actor;
    const char *extra; /* JSON; NULL: none */
};

struct cause_list {
    const struct cause_info *items;
    size_t count;
};

/* Oldest first, at most `most`. */
NODISCARD enum status store_run_causes(struct store *store, struct arena *arena, int64_t run,
                                       size_t most, struct cause_list *out, struct err *err);

/* --- files ----------------------------------------------------------------------------------- */

struct file_watch {
    int64_t dag_key;
    const char *path; /* absolute; its last part may be a pattern */
    int64_t settle_ms;
    int64_t since_us; /* what was there before does not count */
};

/* Files that DAGs wait for, those of paused ones left out. */
NODISCARD enum status store_file_watches(struct store *store, struct arena *arena,
                                         struct file_watch **out, size_t *out_count,
                                         struct err *err);

struct file_arrival {
    int64_t dag_key;
    const char *path;
    int64_t mtime_us;
    int64_t bytes;
    int64_t inode;
};

enum arrival_verdict {
    ARRIVAL_STARTED, /* a run was made */
    ARRIVAL_KNOWN,   /* it was told of before */
    ARRIVAL_REFUSED, /* a run cannot be made of it: *why */
    ARRIVAL_UNASKED, /* the DAG does not wait for files now */
};

/* A file is there and does not change any more: one run, whoever tells of it and how often. */
NODISCARD enum status store_file_arrived(struct store *store, const struct file_arrival *arrival,
                                         enum arrival_verdict *out, char why[static ERR_TEXT_MAX],
                                         struct err *err);
