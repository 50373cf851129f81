#pragma once
/*
 * exit_code: what the shell is told, as tables over statuses and verdicts.
 */
#include "base/err.h"
#include "cli/engine.h"

/*    name            value  meaning */
#define EXIT_CODE_MAP(X)                                                                           \
    X(DONE, 0, "success")                                                                          \
    X(FAILED, 1, "a run or a task failed")                                                         \
    X(USAGE, 2, "wrong usage or invalid input")                                                    \
    X(NOT_FOUND, 3, "not found")                                                                   \
    X(DENIED, 4, "not allowed")                                                                    \
    X(CONFLICT, 5, "conflicts with the current state")                                             \
    X(BAD_DAG, 6, "invalid DAG")                                                                   \
    X(TIMEOUT, 7, "timed out waiting")                                                             \
    X(UNREACHABLE, 8, "server or store unreachable")                                               \
    X(CANCELLED, 9, "cancelled")                                                                   \
    X(INTERRUPTED, 130, "interrupted")

enum exit_code {
#define X(name, value, meaning) EXIT_CODE_##name = (value),
    EXIT_CODE_MAP(X)
#undef X
};

enum exit_code exit_code_of_status(enum status status);
enum exit_code exit_code_of_verdict(enum engine_verdict verdict, bool interrupted);
/* Of the state of a run or the status of a job: failed 1, cancelled 9, others 0. */
enum exit_code exit_code_of_run_state(const char *state);
