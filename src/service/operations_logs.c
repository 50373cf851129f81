/*
 * Rows of logs as they were written, and of their lines.
 */
#include "service/operation_rows.h"
#include "service/operations.h"

/* clang-format off */
#define PIECE                                                                                      \
    {"try_number", FIELD_INTEGER, false, "this attempt; the newest by default"},                   \
    {"offset", FIELD_INTEGER, false, "of the first byte; 0 by default"},                           \
    {"length", FIELD_INTEGER, false, "so many bytes at most, up to 1 MiB; 0: only tell the size"}
#define PIECE_ANSWERED                                                                             \
    {"try_number", FIELD_INTEGER, true, "the attempt; 0: there was none"},                         \
    {"size", FIELD_INTEGER, true, "bytes that there are at the moment"},                           \
    {"base64", FIELD_STRING, true, "the bytes; fewer than asked for only at the end"}

static const struct operation_field REQUEST_LOG_BYTES[] = {RUN, TASK, INDEX, PIECE};
static const struct operation_field RESPONSE_LOG_BYTES[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"dag_run_id", FIELD_STRING, true, "the run"},
    {"task_id", FIELD_STRING, true, "the task"},
    {"map_index", FIELD_INTEGER, true, "-1 unless it is an instance of a mapped task"},
    PIECE_ANSWERED,
};
static const struct operation_field REQUEST_JOB_BYTES[] = {
    {"job", FIELD_ID, true, "its id"}, PIECE,
};
static const struct operation_field RESPONSE_JOB_BYTES[] = {
    {"job", FIELD_ID, true, "its id"}, PIECE_ANSWERED,
};

#define ATTEMPT {"try_number", FIELD_INTEGER, false, "this attempt; the newest by default"}
#define LINES                                                                                      \
    ATTEMPT,                                                                                       \
    {"line", FIELD_INTEGER, false, "from this line on, counted from 1; else the last ones"},       \
    {"count", FIELD_INTEGER, false, "so many at most, up to 5000; 500 by default"}
#define FIND                                                                                       \
    ATTEMPT,                                                                                       \
    {"find", FIELD_STRING, true, "lines that hold this text"},                                     \
    {"regex", FIELD_BOOLEAN, false, "it is an extended regular expression"},                       \
    {"ignore_case", FIELD_BOOLEAN, false, "large and small letters are the same"},                 \
    {"from", FIELD_INTEGER, false, "`reached` of the answer before; 0 by default"},                \
    {"limit", FIELD_INTEGER, false, "so many hits at most, up to 10000; 1000 by default"}
#define WHOSE                                                                                      \
    {"try_number", FIELD_INTEGER, true, "the attempt; 0: there was none"},                         \
    {"tries", FIELD_INTEGER, true, "attempts so far"},                                             \
    {"live", FIELD_BOOLEAN, true, "more may come"},                                                \
    {"removed", FIELD_BOOLEAN, true, "what was printed is not kept any more"},                     \
    {"size", FIELD_INTEGER, true, "bytes of the log at the moment"}

static const struct operation_field REQUEST_LOG_LINES[] = {RUN, TASK, INDEX, LINES};
static const struct operation_field REQUEST_JOB_LINES[] = {
    {"job", FIELD_ID, true, "its id"}, LINES,
};
static const struct operation_field RESPONSE_LINES[] = {
    WHOSE,
    {"lines", FIELD_INTEGER, true, "lines of the log at the moment"},
    {"first", FIELD_INTEGER, true, "number of the first line of the text"},
    {"count", FIELD_INTEGER, true, "lines in the text; fewer than asked for where it gets long"},
    {"text", FIELD_STRING, true, "the lines, with a newline between two"},
    {"cut", FIELD_ARRAY, true, "line and bytes, left out at its end, of each that is too long"},
};
static const struct operation_field REQUEST_LOG_FIND[] = {RUN, TASK, INDEX, FIND};
static const struct operation_field REQUEST_JOB_FIND[] = {
    {"job", FIELD_ID, true, "its id"}, FIND,
};
static const struct operation_field RESPONSE_FIND[] = {
    WHOSE,
    {"hits", FIELD_ARRAY, true, "numbers of the lines"},
    {"reached", FIELD_INTEGER, true, "where to go on, as `from`: a search ends after a moment"},
    {"more", FIELD_BOOLEAN, true, "there is more to look at"},
};

static const struct operation ROWS[] = {
    {"job.bytes", "a piece of what a job printed, as it was printed", PERMISSION_VIEWER,
        FIELDS(REQUEST_JOB_BYTES), FIELDS(RESPONSE_JOB_BYTES), op_job_bytes, SCOPE_JOB},
    {"job.find", "which lines of what a job printed hold a text", PERMISSION_VIEWER,
        FIELDS(REQUEST_JOB_FIND), FIELDS(RESPONSE_FIND), op_job_lines, SCOPE_JOB},
    {"job.lines", "lines of what a job printed, by their numbers", PERMISSION_VIEWER,
        FIELDS(REQUEST_JOB_LINES), FIELDS(RESPONSE_LINES), op_job_lines, SCOPE_JOB},
    {"log.bytes", "a piece of what a task printed, as it was printed", PERMISSION_VIEWER,
        FIELDS(REQUEST_LOG_BYTES), FIELDS(RESPONSE_LOG_BYTES), op_log_bytes, SCOPE_RUN},
    {"log.find", "which lines of what a task printed hold a text", PERMISSION_VIEWER,
        FIELDS(REQUEST_LOG_FIND), FIELDS(RESPONSE_FIND), op_log_lines, SCOPE_RUN},
    {"log.lines", "lines of what a task printed, by their numbers", PERMISSION_VIEWER,
        FIELDS(REQUEST_LOG_LINES), FIELDS(RESPONSE_LINES), op_log_lines, SCOPE_RUN},
};
/* clang-format on */

const struct operation_table OPERATIONS_LOGS = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_WORKERS};
