#pragma once
/*
 * work: the rows that one transaction reads, decides over and writes back.
 *
 * Rows are read once, changed in memory and saved at the end, each with its guard.
 * What follows from a change (counters of dependants, trigger rules, skips that
 * cascade, a run's end) is worked out here, over plain structs and iteratively;
 * the database is asked only for rows that are not there yet.
 *
 * Private to the store layer. Lives inside one write transaction.
 */
#include "base/arena.h"
#include "model/event_kind.h"
#include "store/advance.h"
#include "store/rows.h"
#include "store/saver.h"
#include "store/store_priv.h"
#include "store/tiding.h"

struct pool_set;

struct task_list {
    struct task_row **items;
    size_t count;
    size_t capacity;
};

struct run_list {
    struct run_row **items;
    size_t count;
    size_t capacity;
};

struct work {
    struct store *store;
    struct db *db;
    struct arena *arena;
    int64_t now_us;
    int64_t skew_us; /* to be added to instants of the caller's clock */
    const char *actor;
    struct idmap *tasks;
    struct idmap *runs;
    struct task_list rows;    /* every task row, in the order of reading */
    struct run_list run_rows; /* every run row */
    struct task_list touched; /* to be decided */
    struct task_list ready;   /* became claimable in this transaction */
    struct task_list anew;    /* ended in it, and somebody wants them to run again */
    enum run_lock lock;       /* how runs are read that are not there yet */
    struct run_row *jobs;     /* the run that jobs seem to belong to, once one was read */
    struct pool_set *pools;   /* that were looked at */
    bool has_pools;           /* a task of these runs may hold slots */
    struct saver saver;
    struct tiding_list tidings; /* datasets that were updated */
    bool has_news;              /* somebody waits for one of them, or for a run that ended */
    bool has_notices;           /* somebody will be told of something */
};

/* Inside a write transaction: reads the store's clock. */
void work_init(struct work *work, struct store *store, const char *actor);
/* The same without the clock, which costs a question: work_read_clock follows. */
void work_init_timeless(struct work *work, struct store *store, const char *actor);
void work_read_clock(struct work *work); /* if that was not done yet */
void work_fini(struct work *work);

/* Read what is not there yet, all at once. */
NODISCARD enum status work_fetch_runs(struct work *work, const int64_t *ids, size_t count,
                                      struct err *err);
NODISCARD enum status work_fetch_tasks(struct work *work, const int64_t *ids, size_t count,
                                       struct err *err);
/* Lock those of these runs that nobody else has locked; what was read of them is read again. */
NODISCARD enum status work_try_lock(struct work *work, const int64_t *ids, size_t count,
                                    struct err *err);
/* The nodes of a list that are not there yet. */
NODISCARD enum status work_fetch_nodes(struct work *work, const struct run_row *run,
                                       const struct node_list *nodes, struct err *err);

NODISCARD enum status work_run(struct work *work, int64_t id, struct run_row **out,
                               struct err *err);
NODISCARD enum status work_task(struct work *work, int64_t id, struct task_row **out,
                                struct err *err);
/* The row of a node, which every run has. */
NODISCARD enum status work_node(struct work *work, const struct run_row *run, int64_t node,
                                struct task_row **out, struct err *err);
/* Take a row made by the caller into the set. */
struct task_row *work_add(struct work *work, const struct task_row *row);

bool work_is_job(const struct task_row *task);
/* Its first task has started. */
void work_start_run(struct run_row *run, int64_t started_at_us);
/* The task does not run any more: a run that limits how many do has one less. */
void work_leave_slot(struct run_row *run);
/* How many more tasks of the run may run now. */
int64_t work_run_room(const struct run_row *run);

/* Ask for the row's trigger rule, or its instances, to be looked at. */
void work_touch(struct work *work, struct task_row *task);
/* Make it claimable. */
void work_queue(struct work *work, struct task_row *task);

struct ending {
    enum task_state state;
    enum reason reason;
    const char *detail; /* or NULL */
};

/*
 * Give a task its verdict: count it for its dependants, its mapped task and its run. The
 * consequences for others are worked out by work_settle.
 */
NODISCARD enum status work_end_task(struct work *work, struct run_row *run, struct task_row *task,
                                    struct ending ending, struct err *err);
/* Skip the dependants of a finished choice that were not chosen and do not follow a chosen one. */
NODISCARD enum status work_skip_unchosen(struct work *work, struct run_row *run,
                                         struct task_row *task, const uint32_t *chosen,
                                         size_t chosen_count, struct err *err);
/* End the instances of an expanded task that have no rows yet, as cancelled. */
NODISCARD enum status work_drop_uninserted(struct work *work, struct run_row *run,
                                           struct task_row *expander, struct err *err);

/* A running task whose owner is gone: claimable again, or given up when that happened too often. */
NODISCARD enum status work_lose_owner(struct work *work, struct run_row *run, struct task_row *task,
                                      struct err *err);

/* Somebody asked it to stop: it must not run again. */
bool work_is_stopping(const struct run_row *run, const struct task_row *task);
/* Somebody asked it to stop and to be cleared: its end is none for others. */
bool work_begins_anew(const struct run_row *run, const struct task_row *task);
/* It is over, and cleared when the transaction is settled. */
void work_begin_anew(struct work *work, struct task_row *task);
/* Whether the task's verdict, as it is, makes the run fail. */
bool work_counts_as_failure(const struct run_row *run, const struct task_row *task);

/* Decide everything touched and what follows, clear what begins anew, release finally tasks, end
 * runs. */
NODISCARD enum status work_settle(struct work *work, struct err *err);
/* What is to run again is not given up any more. */
NODISCARD enum status work_forget_letter(struct work *work, const struct task_row *task,
                                         struct err *err);
/* Save every changed row, with events. */
NODISCARD enum status work_save(struct work *work, struct err *err);

/* One event row. `task` may be NULL, `data` is JSON or NULL. */
void work_event(struct work *work, enum event_kind kind, const struct run_row *run,
                const struct task_row *task, const char *data);
