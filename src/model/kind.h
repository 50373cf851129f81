#pragma once
/*
 * kind: what a task can be, as a table: key, settings with types, which are templates.
 *
 * The description lives here, the execution in tasks/; a test compares the two.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

/*    name            key               available in this build */
#define TASK_KIND_MAP(X)                                                                           \
    X(RUN, "run", true)                                                                            \
    X(SCRIPT, "script", true)                                                                      \
    X(NOOP, "noop", true)                                                                          \
    X(BRANCH, "branch", true)                                                                      \
    X(SHORT_CIRCUIT, "short_circuit", true)                                                        \
    X(PYTHON, "python", false)                                                                     \
    X(SQL, "sql", false)                                                                           \
    X(HTTP, "http", false)                                                                         \
    X(EXTRACT, "extract", false)                                                                   \
    X(LOAD, "load", false)                                                                         \
    X(COPY, "copy", false)                                                                         \
    X(CHECK, "check", false)                                                                       \
    X(SENSOR, "sensor", true)                                                                      \
    X(DAG, "dag", false)                                                                           \
    X(JOB, "job", false)                                                                           \
    X(APPROVE, "approve", false)                                                                   \
    X(DBT, "dbt", false)

enum task_kind {
#define X(name, key, available) KIND_##name,
    TASK_KIND_MAP(X)
#undef X
        KIND_COUNT
};

const char *task_kind_key(enum task_kind kind);
bool task_kind_is_available(enum task_kind kind);
/* Runs inside the worker, without a process of its own. */
bool task_kind_is_inline(enum task_kind kind);
NODISCARD bool task_kind_parse(const char *key, enum task_kind *out);
