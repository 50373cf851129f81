/*
 * Rows of logs as they were written.
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

static const struct operation ROWS[] = {
    {"job.bytes", "a piece of what a job printed, as it was printed", PERMISSION_VIEWER,
        FIELDS(REQUEST_JOB_BYTES), FIELDS(RESPONSE_JOB_BYTES), op_job_bytes, SCOPE_JOB},
    {"log.bytes", "a piece of what a task printed, as it was printed", PERMISSION_VIEWER,
        FIELDS(REQUEST_LOG_BYTES), FIELDS(RESPONSE_LOG_BYTES), op_log_bytes, SCOPE_RUN},
};
/* clang-format on */

const struct operation_table OPERATIONS_LOGS = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_WORKERS};
