/*
 * Rows of workers that reach the store through HTTP.
 */
#include "service/operation_rows.h"
#include "service/operations.h"

/* clang-format off */
#define WORKER {"worker", FIELD_STRING, true, "its name: another one for each process, and for each time it starts"}
#define WORKED_ON                                                                                  \
    {"jobs", FIELD_STRINGS, false, "ids of what it works on; what else it holds longer than a lease waits again"}
#define CLAIMED                                                                                    \
    {"job", FIELD_ID, true, "its id"},                                                             \
    {"attempt", FIELD_INTEGER, true, "as it was claimed"},                                         \
    {"nonce", FIELD_STRING, true, "the same"}
#define TERMS                                                                                      \
    {"lease", FIELD_NUMBER, true, "seconds of silence after which others get what it holds"},      \
    {"heartbeat", FIELD_NUMBER, true, "seconds after which it should be heard from"},              \
    {"draining", FIELD_BOOLEAN, true, "somebody asked it to claim nothing more"}

static const struct operation_field REQUEST_CLAIM[] = {
    WORKER,
    {"queues", FIELD_STRINGS, false, "that it serves; all those of its token by default"},
    {"labels", FIELD_STRINGS, false, "that it has"},
    {"slots", FIELD_INTEGER, false, "at most so many jobs, up to 100; 1 by default"},
    {"wait", FIELD_NUMBER, false, "seconds that a server waits for work when there is none, up to 60; 0 by default"},
    {"lease", FIELD_NUMBER, false, "seconds, when the worker is new; 30 by default"},
    {"request_id", FIELD_STRING, false, "the same again, when an answer was lost, gives the same jobs"},
    WORKED_ON,
};
static const struct operation_field RESPONSE_CLAIM[] = {
    {"worker", FIELD_STRING, true, "its name"},
    {"jobs", FIELD_ARRAY, true, "id, attempt, nonce, generation, queue, handler, namespace, payload, timeout (seconds) of each"},
    TERMS,
};
static const struct operation_field REQUEST_HEARTBEAT[] = {
    WORKER,
    WORKED_ON,
};
static const struct operation_field RESPONSE_HEARTBEAT[] = {
    {"stop", FIELD_ARRAY, true, "id and attempt of what somebody asked to stop: end it, then release it"},
    {"lost", FIELD_STRINGS, true, "of `jobs`, what it does not hold any more: end it, nobody waits for it"},
    TERMS,
};
static const struct operation_field REQUEST_LEAVE[] = {WORKER};
static const struct operation_field RESPONSE_LEAVE[] = {
    {"returned", FIELD_INTEGER, true, "jobs that it held, which wait again"},
};
static const struct operation_field REQUEST_LOG[] = {
    CLAIMED,
    {"text", FIELD_STRING, true, "to be added"},
    {"offset", FIELD_INTEGER, false, "where it belongs, in bytes, so that the same again is added once; the end by default"},
};
static const struct operation_field RESPONSE_LOG[] = {
    {"size", FIELD_INTEGER, true, "bytes of the log: the next offset"},
    {"full", FIELD_BOOLEAN, true, "nothing more is kept"},
};
static const struct operation_field REQUEST_COMPLETE[] = {
    CLAIMED, {"result", FIELD_ANY, false, "kept with the job"},
};
static const struct operation_field REQUEST_FAIL[] = {
    CLAIMED,
    {"message", FIELD_STRING, false, "why"},
    {"retry", FIELD_BOOLEAN, false, "false: it can never succeed; true by default"},
};
static const struct operation_field REQUEST_RELEASE[] = {CLAIMED};
static const struct operation_field RESPONSE_END[] = {
    {"id", FIELD_ID, true, "the job"},
    {"accepted", FIELD_BOOLEAN, true, "this is how it ended; else the answer is a conflict"},
};

static const struct operation ROWS[] = {
    {"worker.claim", "get jobs for a worker that reaches no store", PERMISSION_ADMIN,
        FIELDS(REQUEST_CLAIM), FIELDS(RESPONSE_CLAIM), op_worker_claim, SCOPE_WORKER},
    {"worker.complete", "a job of a worker is done", PERMISSION_ADMIN,
        FIELDS(REQUEST_COMPLETE), FIELDS(RESPONSE_END), op_worker_complete, SCOPE_WORKER},
    {"worker.fail", "a job of a worker has failed", PERMISSION_ADMIN,
        FIELDS(REQUEST_FAIL), FIELDS(RESPONSE_END), op_worker_fail, SCOPE_WORKER},
    {"worker.heartbeat", "a worker is alive, and hears what to stop", PERMISSION_ADMIN,
        FIELDS(REQUEST_HEARTBEAT), FIELDS(RESPONSE_HEARTBEAT), op_worker_heartbeat, SCOPE_WORKER},
    {"worker.leave", "a worker goes, and gives back what it holds", PERMISSION_ADMIN,
        FIELDS(REQUEST_LEAVE), FIELDS(RESPONSE_LEAVE), op_worker_leave, SCOPE_WORKER},
    {"worker.log", "add to the log of a worker's job", PERMISSION_ADMIN,
        FIELDS(REQUEST_LOG), FIELDS(RESPONSE_LOG), op_worker_log, SCOPE_WORKER},
    {"worker.release", "a worker gives a job back, or has stopped it", PERMISSION_ADMIN,
        FIELDS(REQUEST_RELEASE), FIELDS(RESPONSE_END), op_worker_release, SCOPE_WORKER},
};
/* clang-format on */

const struct operation_table OPERATIONS_WORKERS = {ROWS, ARRAY_LEN(ROWS), NULL};
