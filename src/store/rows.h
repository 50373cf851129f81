#pragma once
/*
 * rows: the hot rows of the store as plain structs, and how they are read and written.
 *
 * A row remembers the state, attempt and version it was read with; saving it is
 * guarded by them. The narrow tables that index rows by state (ready, timer,
 * gate, running, expansion) follow the state and are written only here, so a row is in
 * `ready` exactly when it is queued, and so on: `store check` relies on it.
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

    const struct dag *dag;
    bool dirty;
    enum run_state read_state;
    bool finally_released; /* in this transaction or before it */
};

enum cancel_cause { CANCEL_NONE, CANCEL_ASKED, CANCEL_TIMEOUT };

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
    int64_t inserted;
    int64_t due_at_us;
    int64_t queued_at_us;
    int64_t started_at_us;
    int64_t ended_at_us;
    enum reason reason;
    int64_t exit_code; /* -1: none */
    const char *detail;
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
    bool read_expanding;
    bool fresh;
    bool dirty;
    bool touched; /* waits in the work set to be decided */
    /* Of an expanded task: instances that run now, once they were counted. */
    int64_t running;
    bool has_running;
    int64_t cause; /* node of a parent that ended badly, or -1 */
};

enum claim_class { CLASS_PROCESS, CLASS_INLINE, CLASS_COUNT };

/* Where a row stands in the order of claiming. */
struct ready_key {
    int64_t scope;
    enum claim_class class;
    int64_t rank;
    int64_t run;
    int64_t task;
};

struct ready_key ready_key_of(const struct run_row *run, const struct task_row *task);
const struct task_def *task_row_def(const struct run_row *run, const struct task_row *task);
/* A mapped task's own row, as opposed to an instance. */
bool task_row_is_expander(const struct run_row *run, const struct task_row *task);

/* STATUS_NOT_FOUND when there is no such row. */
NODISCARD enum status run_row_load(struct db *db, int64_t id, struct run_row *out, struct err *err);
NODISCARD enum status run_row_save(struct db *db, struct run_row *run, struct err *err);

NODISCARD enum status task_row_load(struct db *db, struct arena *arena, int64_t id,
                                    struct task_row *out, struct err *err);
/* Write a row and its places in the index tables; STATUS_CONFLICT if it was changed meanwhile. */
NODISCARD enum status task_row_save(struct db *db, const struct run_row *run, struct task_row *task,
                                    struct err *err);
/* Keep the row's current attempt as a superseded one that ended in `state`. */
NODISCARD enum status task_row_keep_attempt(struct db *db, const struct task_row *task,
                                            enum task_state state, struct err *err);

/* Rows with first <= id < first + count, in order; `each` may stop by returning a failure. */
NODISCARD enum status task_rows_each(struct db *db, int64_t first, int64_t count,
                                     enum status (*each)(void *context, const struct task_row *row,
                                                         struct err *err),
                                     void *context, struct err *err);
