#pragma once
/*
 * dag: a DAG as the engine sees it, whatever it was written in.
 *
 * Plain data in one arena. Tasks are sorted by id and numbered by their place in `tasks` (the
 * node number), so the same DAG has the same numbers wherever it was read from; edges
 * are node numbers. Built by dag_read (dag_read.h) from a JSON tree, which
 * the YAML reader, the API and the store all produce, and written back in
 * canonical form by dag_write, so that equal meaning gives equal text.
 *
 * Ownership  dag_free frees everything reachable. Nothing in it changes after it was read,
 *            so threads may share it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/json.h"
#include "model/kind.h"
#include "model/retry.h"
#include "model/trigger_rule.h"
#include "model/weight.h"

struct dag_watch;

struct string_list {
    const char **items;
    size_t count;
};

struct node_list {
    uint32_t *items;
    size_t count;
};

struct exit_codes {
    int *items;
    size_t count;
};

/* `retry_on`: failures that are worth another try; nothing at all: any failure. */
struct retry_causes {
    struct exit_codes codes;
    unsigned reasons; /* bit 1 << enum reason for each that was named */
};

struct env_entry {
    const char *name;
    const char *value; /* template */
};

struct task_limits {
    int64_t cpu_ms;       /* CPU time; 0: none */
    int64_t memory_bytes; /* address space; 0: none */
    int64_t procs;        /* processes of the user; 0: none */
    int64_t output_bytes; /* log kept per attempt; 0: the setting's default */
};

enum param_type {
    PARAM_ANY,
    PARAM_STRING,
    PARAM_INTEGER,
    PARAM_NUMBER,
    PARAM_BOOLEAN,
    PARAM_ARRAY,
    PARAM_OBJECT,
    PARAM_TYPE_COUNT
};

struct param {
    const char *name;
    const char *doc;
    enum param_type type;
    json_t *schema; /* the whole declaration: enum, minimum, maximum, pattern, default, ... */
};

enum on_lost_lease { LOST_LEASE_STOP, LOST_LEASE_FINISH };

struct task_def {
    const char *id;    /* group prefix included: "g.task" */
    const char *group; /* "" or the innermost group's full name */
    const char *doc;
    enum task_kind kind;
    json_t *settings; /* value of the kind key, in canonical form */

    struct node_list needs;      /* parents, ascending, setups of a teardown included */
    struct node_list dependants; /* the same edges the other way, ascending */
    enum trigger_rule rule;
    const char *condition; /* `if`: template, or NULL */
    bool is_finally;       /* runs after everything else */
    bool is_setup;
    struct node_list teardown_of; /* setups that this task tears down */
    bool allow_failure;
    bool depends_on_past; /* waits for the same task of the run before */

    json_t *foreach;      /* list, or string with a template; NULL: not mapped */
    json_t *matrix;       /* object of lists; NULL: none */
    const char *label;    /* template for instances, or NULL */
    int64_t max_parallel; /* instances at once; 0: no bound */
    bool fail_fast;       /* a failed instance cancels those not started */

    struct retry_policy retry;
    struct exit_codes exit_skip;  /* default 99 */
    struct exit_codes exit_retry; /* default 75: temporary failure */
    struct retry_causes retry_on;
    int64_t timeout_ms;       /* 0: none */
    int64_t grace_ms;         /* between TERM and KILL; -1: the setting's default */
    int64_t queue_timeout_ms; /* 0: none */

    struct env_entry *env; /* sorted by name */
    size_t env_count;
    struct string_list env_pass;
    const char *workdir; /* template, or NULL: the folder of the DAG file */
    const char *user;
    struct task_limits limits;
    bool protocol; /* speaks the process protocol on descriptors 3 and 4 */

    const char *pool; /* or NULL */
    int64_t slots;
    const char *queue; /* "default" */
    int64_t priority;
    enum weight_rule weight_rule;
    int64_t weight; /* the priority that counts: with those of others, as the rule says */
    enum on_lost_lease on_lost_lease;
    struct string_list tags;
    json_t
        *rest; /* keys that are read, checked and kept for other parts (hooks, sla, inputs, ...) */
};

static inline bool task_def_is_mapped(const struct task_def *task)
{
    return task->foreach != NULL || task->matrix != NULL;
}

struct arena;

/* Whether it names the dataset among its outputs. */
bool task_def_writes(const struct task_def *task, const char *uri);
/* Runs inside the worker at once, without a slot. */
bool task_def_is_inline(const struct task_def *task);
/* What a host must have to run it (`worker`), as in word_set.h; in the arena or constant. */
const char *task_def_labels(const struct task_def *task, struct arena *arena);

enum run_verdict_rule { VERDICT_ALL, VERDICT_LEAVES };

/* Where a template stood in the source: for errors that only rendering can find. */
struct source_place {
    const char *path; /* "tasks.load.env.URL", "tasks.load.branch.0.if", "defaults.env.TZ" */
    int line;
    int column;
};

/* A file that tasks name, such as a script: a part of what the DAG means. */
struct named_file {
    const char *name;  /* as the tasks write it */
    const char *hash;  /* SHA-256 of its bytes, in hexadecimal */
    const char *bytes; /* NULL when read from canonical form: the store has them */
    size_t size;
};

struct dag {
    struct arena *arena;
    const char *id;
    const char *title;
    const char *description;
    const char *doc;
    const char *owner;
    const char *namespace_; /* "default" */
    const char *tier;       /* the same */
    struct string_list tags;
    struct param *params; /* in the order of the file */
    size_t params_count;
    int64_t max_active_runs;
    int64_t max_active_tasks; /* 0: no bound */
    int64_t timeout_ms;       /* of a run; 0: none */
    bool depends_on_past;     /* a run waits for the one before */
    enum run_verdict_rule verdict;
    json_t *rest; /* schedule, sla, hooks, ... : checked and kept for other parts */

    struct task_def *tasks;
    size_t tasks_count;
    size_t finally_count; /* how many of them are finally tasks */
    bool has_pools;       /* some of them name a pool */
    uint32_t *order;      /* node numbers so that parents come first */

    const struct dag_watch *watch; /* deadlines and hooks (watch.h); NULL: it has none */

    struct source_place *places; /* sorted by path; empty when read from canonical form */
    size_t places_count;

    struct named_file *files; /* sorted by name; see dag_files.h */
    size_t files_count;
};

void dag_free(struct dag *dag); /* NULL is allowed */
/* Node number of a task, or -1. Logarithmic. */
int64_t dag_find_task(const struct dag *dag, const char *task_id);
/* Place of a template or of its nearest enclosing path; NULL when unknown. */
const struct source_place *dag_find_place(const struct dag *dag, const char *path);

/* Names of DAGs, tasks, groups, params, pools and queues. */
bool dag_name_is_valid(const char *name);
#define DAG_NAME_RULE                                                                              \
    "letters, digits, '_', '-' and '.', starting with a letter or digit, at most 250"

/* Ids of runs that people and programs give: those of Airflow's clients are among them. */
bool run_id_is_valid(const char *run_id);
#define RUN_ID_RULE                                                                                \
    "letters, digits and any of _ - . : + ~ @, starting with a letter, digit or '_', at most 250"

static inline void dag_freep(struct dag **dag)
{
    dag_free(*dag);
}
