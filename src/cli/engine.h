#pragma once
/*
 * engine: how the command line runs a DAG in the foreground.
 *
 * The application hands `struct engine` to the command line; tests hand in another. One
 * call runs to the end of the run and reports through the observer, all on the thread
 * of the caller, never after the call has returned.
 *
 * Interrupts are the engine's: at the first SIGINT or SIGTERM it stops gently (nothing starts,
 * running tasks get TERM and their grace, `finally` tasks run), at the second it kills. It
 * tells the observer each time. An observer can ask for the same by `should_stop`.
 *
 * Ownership  Everything handed to a callback is borrowed until it returns, except
 *            `dag`, which lives until the call to `run` ends. A result is the caller's:
 *            engine_result_fini.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/task_state.h"

struct dag;

enum engine_source {
    ENGINE_FILE, /* `name` is the path of a DAG file */
    ENGINE_DAG,  /* `name` is the id of a DAG that the store or the DAG folder knows */
    ENGINE_RETRY /* `name` is a run; finished tasks are not run again */
};

struct engine_request {
    enum engine_source source;
    const char *name;
    const char *dag_id;   /* which DAG of a file with several; NULL: the only one */
    const json_t *params; /* object of texts as typed (-p k=v), or NULL; the engine converts */
    const json_t *conf;   /* object of typed values, or NULL; `params` wins over it */
    bool has_logical_date;
    int64_t logical_date_us;
    const char *const *tasks; /* only these (ENGINE_RETRY: clear these); count 0: all */
    size_t tasks_count;
    const char *run_id; /* NULL: made from the date */
    const char *note;   /* or NULL */
    const char *reason; /* why it is done again, for the record; or NULL */
    bool record;        /* false: in a temporary store that is gone afterwards */
    bool wants_output;  /* call observer->log_line with the output of tasks */
};

struct engine_run {
    const struct dag *dag;
    const char *run_id;
    int64_t number; /* what `eider logs` takes; 0 when not recorded */
    int64_t logical_date_us;
    int64_t started_at_us;
};

struct engine_task {
    uint32_t node;        /* place in dag->tasks */
    int64_t map_index;    /* -1: not a mapped instance */
    const char *label;    /* of a mapped instance, or NULL */
    enum task_state from; /* as last reported; TASK_NONE at first */
    enum task_state to;
    int64_t attempt; /* from 1; 0 before the first */
    int64_t attempts_max;
    int64_t at_us;       /* when it changed */
    int64_t duration_ms; /* of the attempt that ended; -1: none ended */
    int64_t retry_at_us; /* with TASK_UP_FOR_RETRY */
    const char *reason;  /* from the closed list ("exit", "timeout", ...), or NULL */
    int exit_code;       /* -1: none */
    int signal;          /* 0: none */
    const char *message; /* first line that explains a failure, or NULL */
    bool replayed;       /* it was so before this call: the past of a retried run */
};

struct engine_log {
    uint32_t node;
    int64_t map_index;
    const char *label;
    bool is_error; /* standard error */
    const char *bytes;
    size_t length; /* without the end of line */
};

/* How far a task says it is. */
struct engine_progress {
    uint32_t node;
    int64_t map_index;
    double done;
    double total;     /* negative: unknown */
    const char *text; /* or NULL */
};

/* Every callback may be NULL. */
struct engine_observer {
    void *context;
    int64_t tick_ms; /* time between ticks; 0: none */
    /* Once, before anything else. */
    void (*run_started)(void *context, const struct engine_run *run);
    /* A mapped task has `count` instances; task_changed follows for each of them. */
    void (*task_expanded)(void *context, uint32_t node, int64_t count);
    void (*task_changed)(void *context, const struct engine_task *task);
    void (*task_progress)(void *context, const struct engine_progress *progress);
    void (*log_line)(void *context, const struct engine_log *line);
    /* Also once at the very end, when every change has been reported. */
    void (*tick)(void *context, int64_t now_us);
    /* `times` is 1 for gently, 2 for kill. */
    void (*interrupted)(void *context, int times);
    /* Asked after every callback; true acts as one interrupt. */
    bool (*should_stop)(void *context);
};

enum engine_verdict { ENGINE_SUCCESS, ENGINE_FAILED, ENGINE_CANCELLED };

/* In a result the texts are on the heap and the result owns them. */
struct engine_failure {
    const char *task_id;
    int64_t map_index; /* -1: not mapped */
    const char *label; /* or NULL */
    enum task_state state;
    int64_t attempt;
    const char *reason;  /* or NULL */
    const char *message; /* or NULL */
    int exit_code;
    int signal;
};

struct engine_result {
    char *dag_id;
    char *run_id;
    int64_t number;
    enum engine_verdict verdict;
    bool interrupted;
    int64_t duration_ms;
    int64_t counts[TASK_STATE_COUNT];
    struct engine_failure *failures; /* at most ENGINE_FAILURES_MAX */
    size_t failures_count;
    size_t failures_capacity;
    size_t failures_total;    /* those left out included */
    int64_t messages_waiting; /* to those who are told of it: for a daemon to send */
    int64_t messages_failed;
};

enum { ENGINE_FAILURES_MAX = 100 };

struct engine {
    void *context;
    /*
     * Runs to the end. A run that failed is STATUS_OK with a verdict. STATUS_BAD_DAG when the
     * file has problems (err has the first), STATUS_INVALID for params, STATUS_NOT_FOUND for
     * a file, DAG, run or task.
     */
    enum status (*run)(void *context, const struct engine_request *request,
                       const struct engine_observer *observer, struct engine_result *out_result,
                       struct err *err);
};

void engine_result_fini(struct engine_result *result); /* twice is fine */
/* Copies; beyond the maximum it is only counted. */
void engine_result_add_failure(struct engine_result *result, const struct engine_failure *failure);
const char *engine_verdict_name(enum engine_verdict verdict);
/* {"dag_id", "dag_run_id", "number", "state", "duration", "counts", "failures"}; new reference. */
NODISCARD json_t *engine_result_describe(const struct engine_result *result);
