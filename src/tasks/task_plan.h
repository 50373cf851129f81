#pragma once
/*
 * task_plan: what running one attempt means, worked out before anything is done.
 *
 * Each kind of task has one function that turns its settings, rendered, into a plan: a process to
 * start, something to wait for, or an end that is known already. One file per kind; the table is in
 * task_plan.c.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/attempt.h"
#include "model/dag.h"
#include "model/sensor.h"

/* Fills in templates on behalf of one attempt. `field` names the place, for error texts. */
struct renderer {
    void *context;
    /* As text, in the arena of the attempt. */
    enum status (*text)(void *context, const char *field, const char *template_text,
                        const char **out, struct err *err);
    /* As a value that keeps its type: a new reference. */
    enum status (*value)(void *context, const char *field, const char *template_text, json_t **out,
                         struct err *err);
};

struct task_plan {
    bool is_process;

    /* A process: */
    const char *const *argv; /* NULL at the end */
    const char *script;      /* text that goes into a file; argv names it by `script_name` */

    int64_t timeout_ms; /* of the process, besides that of the task; 0: none */

    /* Or a wait: */
    const struct wait_plan *wait;
    int64_t hold_ms; /* it keeps its slot for at most so long; 0: it waits without one */

    /* Or an end: */
    struct attempt_end end;
    bool is_choice;
    const uint32_t *chosen;
    size_t chosen_count;
};

/* The files that tasks name, as they were when their DAG's version was made. */
struct file_source {
    void *context;
    /* STATUS_NOT_FOUND: the version has none of that name. The text is in the attempt's arena. */
    enum status (*read)(void *context, const char *name, const char **out, struct err *err);
};

struct plan_request {
    struct arena *arena; /* everything of the plan lives here */
    const struct dag *dag;
    const struct task_def *task;
    const char *dag_dir;     /* folder of the DAG file */
    const char *script_path; /* where the script will be, if there is one */
    int64_t now_us;
    int64_t logical_at_us; /* of the run */
    int64_t poke_max_ms;   /* how long a sensor may keep a slot; 0: no bound */
    const struct renderer *renderer;
    const struct file_source *files; /* NULL: they are read from the folder */
};

/* STATUS_INVALID: a template or a setting is wrong; the attempt fails with the text. */
NODISCARD enum status task_plan_make(const struct plan_request *request, struct task_plan *out,
                                     struct err *err);

/* Whether this build can run tasks of the kind. */
bool task_plan_knows(enum task_kind kind);
