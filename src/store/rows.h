#pragma once
/*
 * rows: the hot rows of the store as plain structs, and how they are read.
 *
 * A row remembers the state, attempt and version it was read with; saving it (saver.h) is
 * guarded by them.
 *
 * Private to the store layer, except that lists hand rows out read-only.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "model/attempt.h"
#include "model/dag.h"
#include "model/run_state.h"
#include "model/task_state.h"
#include "model/trigger_rule.h"

struct db;
struct pool_ref;
struct run_about;

/* Whether a run counts for how many of its DAG may go at once, and whether it may go yet. */
enum admission { ADMISSION_FREE, ADMISSION_GOING, ADMISSION_WAITING };

struct run_row {
    int64_t id;
    int64_t dag_key;
    int64_t version;
    int64_t scope;
    enum run_state state;
    int64_t first_task;
    int64_t cancel_asked; /* enum cancel_cause */
    int64_t open_main;
    int64_t open_finally;
    int64_t active; /* tasks running now */
    int64_t failures;
    int64_t started_at_us;
    int64_t ended_at_us;
    int64_t row_version;
    int64_t created_at_us;
    enum admission admission;
    int64_t backfill; /* that it belongs to; 0: none */
    bool is_awaited;  /* some DAG starts when it ends */
    int64_t queue;    /* that all its tasks wait in; 0: their own */
    bool is_behind;   /* its tasks come after all others of their queues */

    const struct dag *dag;
    const int64_t *lanes;          /* one per node */
    const struct pool_ref *pools;  /* one per node; NULL: none names one */
    const struct run_about *about; /* read when somebody is told of the run; see watch_priv.h */
    bool locked;                   /* nobody else can change it before this transaction ends */
    bool dirty;
    enum run_state read_state;
    bool finally_released; /* in this transaction or before it */
    bool is_reopened;      /* in this transaction: an end is one again */
};

enum cancel_cause { CANCEL_NONE, CANCEL_ASKED, CANCEL_TIMEOUT };

/*
 * What somebody wants of an attempt that runs, or of a mapped task whose instances do. It stands in
 * the row as its reason, which means nothing else there, so that whoever ends the attempt reads it
 * with the row; who wants it and why is in a table of its own (wish.h).
 */
enum task_wish { WISH_NONE, WISH_STOP, WISH_CLEAR };

struct task_row {
    int64_t id;
    int64_t run;
    int64_t node;
    int64_t map_index; /* -1: not an instance */
    int64_t generation;
    enum task_state state;
    int64_t attempt;
    struct nonce nonce;
    bool has_nonce;
    int64_t host;
    int64_t failures;
    int64_t losses;
    struct parent_counts counts;
    int64_t instance_base; /* 0: not expanded */
    int64_t inserted;      /* instances with rows; of a task without any: looks, task_row_looks */
    int64_t due_at_us;
    int64_t queued_at_us;
    int64_t started_at_us;
    int64_t ended_at_us;
    enum reason reason;
    int64_t exit_code; /* -1: none */
    const char *detail;
    const char *log_end; /* of an attempt that ended in this transaction; it is not kept */
    const char *label;
    int64_t log_bytes;
    int64_t cpu_ms;
    int64_t rss_kb;
    int64_t row_version;

    /* As it was read; a row made in this transaction is `fresh`. */
    enum task_state read_state;
    int64_t read_generation;
    int64_t read_attempt;
    int64_t read_host;
    int64_t read_due_at_us;
    enum reason read_reason;
    enum task_wish read_wish;
    int64_t read_gate;
    bool read_expanding;
    bool fresh;
    bool dirty;
    bool is_taken;             /* claimed in this transaction by a statement of its own */
    bool touched;              /* waits in the work set to be decided */
    int64_t gate;              /* the pool in front of which it waits, where that is known */
    bool has_told_pool;        /* what it left was given to others already */
    const struct job_row *job; /* of a job; else NULL */
    /* Of an expanded task: instances that run now, once they were counted. */
    int64_t running;
    bool has_running;
    int64_t cause; /* node of a parent that ended badly, or -1 */
    enum task_wish wish;
    bool begins_anew; /* it ended in this transaction, and is to be cleared in it */
};

/* Attempts that only found that the task must wait on; people do not count them as tries. */
static inline int64_t task_row_looks(const struct task_row *task)
{
    return task->instance_base == 0 ? task->inserted : 0;
}

static inline int64_t task_row_tries(const struct task_row *task)
{
    int64_t tries = task->attempt - task_row_looks(task);
    return tries > 0 || task->attempt == 0 ? tries : 1; /* between two looks */
}

/* The number of the run that jobs seem to belong to; there is no such row. */
enum { RUN_OF_JOBS = 0 };

enum claim_class { CLASS_PROCESS, CLASS_INLINE, CLASS_COUNT };

/* What a job has instead of a run and a place in a DAG. */
struct job_row {
    int64_t lane;
    int64_t rank;
    int64_t created_at_us;
    enum claim_class class;
    bool cancel_asked;
    const char *queue;
    const char *handler;
    const char *payload;
    const char *namespace_;
    struct task_def def; /* its policy */
};

/* Where a row stands in the order of claiming. */
struct ready_key {
    int64_t scope;
    enum claim_class class;
    int64_t lane;
    int64_t rank;
    int64_t age_us;
    int64_t task;
};

struct ready_key ready_key_of(const struct run_row *run, const struct task_row *task);
const struct task_def *task_row_def(const struct run_row *run, const struct task_row *task);
/* A mapped task's own row, as opposed to an instance. */
bool task_row_is_expander(const struct run_row *run, const struct task_row *task);

/* STATUS_NOT_FOUND when there is no such row. */
NODISCARD enum status run_row_load(struct db *db, int64_t id, struct run_row *out, struct err *err);

struct id_span {
    const int64_t *items;
    size_t count;
};

enum run_lock {
    RUN_UNLOCKED,
    RUN_LOCK,     /* wait for others that have it */
    RUN_TRY_LOCK, /* leave out those that others have */
};

/*
 * Several rows; calls `each` for those there are, in the order of their ids, which is the order of
 * locking. Where one writer has the whole database, every row is locked.
 */
NODISCARD enum status run_rows_load(struct db *db, struct id_span ids, enum run_lock lock,
                                    void (*each)(void *context, const struct run_row *row),
                                    void *context, struct err *err);

NODISCARD enum status task_row_load(struct db *db, struct arena *arena, int64_t id,
                                    struct task_row *out, struct err *err);
/* Several rows, texts in the arena; those that do not exist are left out. */
NODISCARD enum status task_rows_load(struct db *db, struct arena *arena, struct id_span ids,
                                     void (*each)(void *context, const struct task_row *row),
                                     void *context, struct err *err);
/* Keep the row's current attempt as a superseded one that ended in `state`. */
NODISCARD enum status task_row_keep_attempt(struct db *db, const struct task_row *task,
                                            enum task_state state, struct err *err);
/* It is saved as it stands: the guard of the next change. */
void task_row_note_read(struct task_row *task);
/* The mapped task itself only lists its items; its instances need the slots. */
bool task_row_needs_slots(const struct run_row *run, const struct task_row *task);
/* The attempt that held slots of a pool when the row was read is over. */
bool task_row_left_slots(const struct run_row *run, const struct task_row *task);
/* Held in front of a pool or a limit, as opposed to a limit of its own run. */
bool task_waits_for_pool(enum task_state state, enum reason reason);
/* A mapped task some of whose instances have no rows yet. */
bool task_row_is_expanding(const struct task_row *task);
/* Its wish, with the reason that says so to whoever reads the row. */
void task_row_set_wish(struct task_row *task, enum task_wish wish);

/* Rows with first <= id < first + count, in order; `each` may stop by returning a failure. */
NODISCARD enum status task_rows_each(struct db *db, int64_t first, int64_t count,
                                     enum status (*each)(void *context, const struct task_row *row,
                                                         struct err *err),
                                     void *context, struct err *err);
