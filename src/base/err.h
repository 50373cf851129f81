#pragma once
/*
 * err: how every fallible function in this project reports failure.
 *
 * A fallible function returns `enum status` and takes `struct err *err` as its
 * last parameter. On any status but STATUS_OK it has filled *err and left its
 * out-parameters alone. Callers branch on the status; people read the text.
 *
 * The text lives inside struct err, normally on the stack of whoever handles
 * the failure, so reporting an error never allocates and never fails.
 */
#include <stdarg.h>
#include <stdbool.h>

#include "base/attrs.h"

/*        name         text                              retry may help */
#define STATUS_MAP(X)                                                                              \
    X(OK, "ok", 0)                                                                                 \
    X(INVALID, "invalid input", 0)                                                                 \
    X(NOT_FOUND, "not found", 0)                                                                   \
    X(CONFLICT, "conflicts with current state", 0)                                                 \
    X(LIMIT, "limit exceeded", 0)                                                                  \
    X(BUSY, "temporarily busy", 1)                                                                 \
    X(TIMEOUT, "timed out", 1)                                                                     \
    X(IO, "input/output failure", 1)                                                               \
    X(DENIED, "not allowed", 0)                                                                    \
    X(UNKNOWN, "outcome unknown", 0)                                                               \
    X(FULL, "no space", 0)                                                                         \
    X(CORRUPT, "stored data is inconsistent", 0)                                                   \
    X(BAD_DAG, "invalid DAG", 0)                                                                   \
    X(UNREACHABLE, "cannot be reached", 1)

enum status {
#define X(name, text, retryable) STATUS_##name,
    STATUS_MAP(X)
#undef X
        STATUS_COUNT
};

enum { ERR_TEXT_MAX = 512 };

struct err {
    enum status code;
    char text[ERR_TEXT_MAX];
};

/* Record a failure and return `code`, ready to be returned onward. */
enum status err_set(struct err *err, enum status code, const char *fmt, ...) PRINTF(3, 4);

/* The same with an errno in plain words at the end: "open x: No such file or directory". */
enum status err_errno(struct err *err, int number, const char *fmt, ...) PRINTF(3, 4);

/* Put context in front of the failure in *err ("context: cause"); return its code. */
enum status err_wrap(struct err *err, const char *fmt, ...) PRINTF(2, 3);

const char *status_text(enum status code);
bool status_is_retryable(enum status code);
