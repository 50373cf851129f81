#pragma once
/*
 * run_store: runs as a whole. Create, find by what people type, look at, list, note, delete.
 */
#include "base/arena.h"
#include "model/run_state.h"
#include "store/rows.h"
#include "store/store.h"

enum { RUN_ID_TEXT_MAX = 300 };

struct run_request {
    int64_t version;
    const char *run_id; /* NULL: made from the logical date */
    const char *kind;   /* manual | scheduled | backfill | ...: one run per date but for manual */
    int64_t logical_at_us;
    int64_t interval_start_us;
    int64_t interval_end_us;
    const char *params; /* JSON objects */
    const char *conf;
    const char *note;
    const char *actor;
    int64_t scope;           /* 0: any host may claim its tasks; -1: only who takes the run over */
    int64_t backfill;        /* that it belongs to; 0: none */
    int64_t queue;           /* that all its tasks wait in; 0: their own */
    bool is_behind;          /* its tasks come after all others of their queues */
    bool is_limited;         /* waits until max_active_runs and its past let it go on */
    const char *traceparent; /* of what asked for it; NULL or "": not traced */
    const bool *selected;    /* one per node, or NULL for all; others are not run */
};

struct run_created {
    int64_t id;
    int64_t scope;
    int64_t first_task;
    bool is_waiting; /* it may not start yet: see admission.h */
    char run_id[RUN_ID_TEXT_MAX];
};

/* The run and all its task rows, roots claimable. STATUS_CONFLICT: the run id is taken. */
NODISCARD enum status store_run_create(struct store *store, const struct run_request *request,
                                       struct run_created *out, struct err *err);
/* Several at once, in one commit; all by the same actor. */
NODISCARD enum status store_runs_create(struct store *store, const struct run_request *requests,
                                        size_t count, struct run_created *out, struct err *err);
/* The same, and the runs as they are then; without a wait for each where questions take time. */
struct run_info;
NODISCARD enum status store_runs_create_and_load(struct store *store,
                                                 const struct run_request *requests, size_t count,
                                                 struct arena *arena, struct run_info *out,
                                                 struct err *err);

/* "123", "DAG/RUN_ID" or "DAG" (its latest run). STATUS_INVALID lists candidates if ambiguous. */
NODISCARD enum status store_run_find(struct store *store, const char *text, int64_t *out_id,
                                     struct err *err);

/* The run of a DAG for this date, or the last one before it. STATUS_NOT_FOUND: there is none. */
NODISCARD enum status store_run_find_by_date(struct store *store, const char *dag_id,
                                             int64_t logical_at_us, int64_t *out_id,
                                             struct err *err);

struct run_info {
    int64_t id;
    int64_t dag_key;
    int64_t version;
    int64_t version_number;
    const char *dag_id;
    const char *run_id;
    const char *namespace_; /* that it runs in */
    const char *space;      /* that its DAG is in now, and so its history: see sight.h */
    const char *kind;
    const char *path; /* of the DAG file */
    enum run_state state;
    int64_t scope;
    int64_t logical_at_us;
    int64_t interval_start_us;
    int64_t interval_end_us;
    const char *params;
    const char *conf;
    const char *note;
    const char *actor;
    int64_t first_task;
    int64_t cancel_asked;
    int64_t open_main;
    int64_t open_finally;
    int64_t failures;
    int64_t created_at_us;
    int64_t started_at_us;
    int64_t ended_at_us;
    enum admission admission;
    int64_t backfill;   /* that it belongs to; 0: none */
    const char *queue;  /* that all its tasks wait in; NULL: their own */
    int64_t task_notes; /* how many of its tasks have one */
};

NODISCARD enum status store_run_load(struct store *store, struct arena *arena, int64_t id,
                                     struct run_info *out, struct err *err);

/* The same, as people name it: see store_run_find. */
NODISCARD enum status store_run_load_by(struct store *store, struct arena *arena, const char *text,
                                        struct run_info *out, struct err *err);

struct run_wanted {
    int64_t id;
    struct arena *arena; /* for its texts */
    struct run_info info;
    bool is_found;
};

/* Many at once, ids ascending and each once; their DAGs are at hand then, too. */
NODISCARD enum status store_runs_load(struct store *store, struct run_wanted *wanted, size_t count,
                                      struct err *err);

struct run_filter {
    const char *dag_id; /* NULL: any */
    int64_t state;      /* enum run_state, or -1: any */
    bool active_only;
    int64_t before; /* only ids below; 0: no bound */
    int64_t limit;
};

/* Newest first, in whatever namespace; lists for people are pages (run_page.h). */
NODISCARD enum status store_run_each(struct store *store, const struct run_filter *filter,
                                     enum status (*each)(void *context, const struct run_info *info,
                                                         struct err *err),
                                     void *context, struct err *err);

/* Rows of every task of a run: nodes in order, each mapped one followed by its instances. */
NODISCARD enum status store_task_each(struct store *store, int64_t run,
                                      enum status (*each)(void *context, const struct run_row *run,
                                                          const struct task_row *task,
                                                          struct err *err),
                                      void *context, struct err *err);
/*
 * The same of a run that was loaded: fewer questions. Of the row that is passed on only id,
 * version, first_task and dag are set. A run that is gone meanwhile has no tasks.
 */
NODISCARD enum status
store_task_each_of(struct store *store, const struct run_info *run,
                   enum status (*each)(void *context, const struct run_row *run,
                                       const struct task_row *task, struct err *err),
                   void *context, struct err *err);
/* One task row, texts in `arena`. */
NODISCARD enum status store_task_load(struct store *store, struct arena *arena, int64_t task,
                                      struct task_row *out, struct err *err);
/* Superseded attempts of a task, oldest first, as rows. */
NODISCARD enum status store_attempt_each(struct store *store, int64_t task,
                                         enum status (*each)(void *context,
                                                             const struct task_row *attempt,
                                                             struct err *err),
                                         void *context, struct err *err);

NODISCARD enum status store_run_set_note(struct store *store, int64_t run, const char *note,
                                         const char *actor, struct err *err);
/* Remove a finished run and everything of it; its logs are the caller's business. */
NODISCARD enum status store_run_delete(struct store *store, int64_t run, const char *actor,
                                       struct err *err);

/* Ids of the runs of that name in all DAGs, at most `most`. */
NODISCARD enum status store_run_named(struct store *store, const char *run_id, int64_t *out,
                                      size_t most, size_t *out_count, struct err *err);
