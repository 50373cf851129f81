/*
 * What a worker without a connection to the store tells of a job that it has: what it prints, and
 * how it ended.
 *
 * Only the current claim is listened to. The same end told twice is fine: the answer to the first
 * may have been lost.
 */
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "blob/blob.h"
#include "model/limits.h"
#include "model/settings.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/worker_hand.h"
#include "store/job.h"
#include "store/repeat.h"

enum { MESSAGE_MAX = 4000, UNKNOWN_TRIES = 5, COMPARE_BYTES = 16 * 1024 };

static struct blob_key log_key(const struct worker_held *held)
{
    return (struct blob_key){BLOB_LOG, {0, held->task, held->attempt}, 3};
}

static enum status stale(struct err *err)
{
    return err_set(err, STATUS_CONFLICT,
                   "this claim is not the current one of its job: the lease ran out, or it has "
                   "ended already");
}

/* --- logs ------------------------------------------------------------------------------------ */

struct addition {
    struct blob_key key;
    const char *text;
    size_t length;
    int64_t offset;     /* -1: where it ends */
    uint64_t bytes_max; /* of the whole log */
};

/* What is there already, when an answer was lost and the same is sent again, is not added twice. */
static enum status skip_known(struct blob_handle *log, uint64_t size,
                              const struct addition *addition, size_t *out, struct err *err)
{
    CLEANUP(mem_freep) char *known = mem_alloc(COMPARE_BYTES);
    uint64_t offset = (uint64_t)addition->offset;
    size_t end = (size_t)MIN(size - offset, (uint64_t)addition->length);
    for (size_t done = 0; done < end;) {
        size_t got = 0;
        if (blob_range(log, offset + done, known, MIN(end - done, (size_t)COMPARE_BYTES), &got,
                       err) != STATUS_OK)
            return err->code;
        if (got == 0 || memcmp(known, addition->text + done, got) != 0)
            return err_set(err, STATUS_CONFLICT,
                           "the log has something else at offset %llu: it has %llu bytes",
                           (unsigned long long)offset, (unsigned long long)size);
        done += got;
    }
    *out = end;
    return STATUS_OK;
}

static enum status read_size(struct blob *blob, const struct blob_key *key, uint64_t *out,
                             struct err *err)
{
    CLEANUP(blob_handle_closep) struct blob_handle *log = NULL;
    struct err problem = {0};
    *out = 0;
    enum status status = blob_open(blob, key, BLOB_READ, &log, &problem);
    if (status == STATUS_OK)
        status = blob_size(log, out, &problem);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        return STATUS_OK;
    *err = problem;
    return status;
}

/* Where the log ends afterwards. */
static enum status add_to_log(struct blob *blob, const struct addition *addition, uint64_t *out,
                              struct err *err)
{
    CLEANUP(blob_handle_closep) struct blob_handle *log = NULL;
    uint64_t size = 0;
    size_t known = 0;
    if (read_size(blob, &addition->key, &size, err) != STATUS_OK)
        return err->code;
    uint64_t offset = addition->offset < 0 ? size : (uint64_t)addition->offset;
    if (offset > size)
        return err_set(err, STATUS_CONFLICT, "the log ends at %llu, before offset %llu",
                       (unsigned long long)size, (unsigned long long)offset);
    if (offset < size) {
        CLEANUP(blob_handle_closep) struct blob_handle *old = NULL;
        if (blob_open(blob, &addition->key, BLOB_READ, &old, err) != STATUS_OK ||
            skip_known(old, size, addition, &known, err) != STATUS_OK)
            return err->code;
    }
    size_t room = addition->bytes_max > size ? (size_t)(addition->bytes_max - size) : 0;
    size_t added = MIN(addition->length - known, room);
    *out = size + added;
    if (added == 0)
        return STATUS_OK;
    if (blob_open(blob, &addition->key, BLOB_APPEND, &log, err) != STATUS_OK)
        return err->code;
    return blob_append(log, addition->text + known, added, err);
}

enum status op_worker_log(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(blob_closep) struct blob *blob = NULL;
    const json_t *text = json_object_get(request, "text");
    struct worker_held held;
    struct worker_attempt attempt;
    uint64_t size = 0;
    /* Within, -1 stands for the end; whoever means that leaves it out. */
    if (json_get_int(request, "offset", 0) < 0)
        return err_set(err, STATUS_INVALID, "'offset' counts from 0; without it, text is added");
    if (worker_hand_attempt(service, request, arena, &held, &attempt, err) != STATUS_OK)
        return err->code;
    if (attempt.state != TASK_RUNNING)
        return stale(err);
    const struct addition addition = {
        .key = log_key(&held),
        .text = json_string_value(text),
        .length = json_string_length(text),
        .offset = json_get_int(request, "offset", -1),
        .bytes_max = (uint64_t)settings_number(service->settings, SETTING_OUTPUT_BYTES),
    };
    if (service_blob_new(service, &blob, err) != STATUS_OK ||
        add_to_log(blob, &addition, &size, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_int(*out, "size", (int64_t)size);
    json_put_bool(*out, "full", size >= addition.bytes_max);
    return STATUS_OK;
}

/* Nothing follows. Whoever reads it waits for more otherwise, but nothing is lost. */
static void seal_log(struct blob *blob, const struct worker_held *held)
{
    CLEANUP(blob_handle_closep) struct blob_handle *log = NULL;
    struct err ignored = {0};
    const struct blob_key key = log_key(held);
    if (blob_open(blob, &key, BLOB_APPEND, &log, &ignored) == STATUS_OK)
        (void)!blob_seal(log, &ignored);
}

/* --- ends ------------------------------------------------------------------------------------ */

struct finishing {
    struct outcome outcome;
    struct arena *arena;
    bool accepted;
};

static enum status finish_once(struct store *store, const void *context, struct err *err)
{
    struct finishing *call = *(struct finishing *const *)context;
    struct advance_result result = {0};
    struct advance_request request = {.outcomes = &call->outcome, .outcomes_count = 1};
    if (store_advance(store, &request, call->arena, &result, err) != STATUS_OK)
        return err->code;
    call->accepted = result.accepted[0];
    return STATUS_OK;
}

/* A result that is null is shown as one that was never told. */
static const char *result_of(const char *json)
{
    return json != NULL ? json : "null";
}

/*
 * The record has texts as they were delivered: messages cut in the same way, results in the one
 * form that json_format gives equal values. What it does not have is believed, for the sake of
 * those whose answer was lost.
 */
static bool is_same_account(const struct worker_attempt *attempt, const struct outcome *outcome)
{
    const char *result = outcome->values_count > 0 ? outcome->values[0].json : NULL;
    if (outcome->detail != NULL)
        return str_equal(attempt->detail != NULL ? attempt->detail : "", outcome->detail);
    return !attempt->has_last_word || str_equal(result_of(attempt->result), result_of(result));
}

/* Attempt numbers are never used twice, so what the record says is what this claim did. */
static bool is_same_end(const struct worker_attempt *attempt, const struct outcome *outcome)
{
    if (attempt->state == TASK_RUNNING)
        return false;
    if (outcome->kind != OUTCOME_RETURN)
        return attempt->reason == outcome->end.reason && is_same_account(attempt, outcome);
    return attempt->state == TASK_NONE || attempt->state == TASK_CANCELLED ||
           attempt->state == TASK_QUEUED;
}

static enum status deliver(struct store *store, struct finishing *call, struct err *err)
{
    enum status status = STATUS_UNKNOWN;
    for (int tries = 0; status == STATUS_UNKNOWN && tries < UNKNOWN_TRIES; tries++)
        status = store_repeat(store, finish_once, &call, err);
    return status;
}

static enum status finish(struct service *service, const json_t *request, struct finishing *call,
                          struct err *err)
{
    CLEANUP(blob_closep) struct blob *blob = NULL;
    struct worker_held held;
    struct worker_attempt attempt;
    uint64_t log_bytes = 0;
    if (worker_hand_attempt(service, request, call->arena, &held, &attempt, err) != STATUS_OK)
        return err->code;
    if (attempt.state != TASK_RUNNING)
        return is_same_end(&attempt, &call->outcome) ? STATUS_OK : stale(err);
    const struct blob_key key = log_key(&held);
    if (service_blob_new(service, &blob, err) != STATUS_OK ||
        read_size(blob, &key, &log_bytes, err) != STATUS_OK)
        return err->code;
    call->outcome.task = held.task;
    call->outcome.attempt = held.attempt;
    call->outcome.nonce = held.nonce;
    call->outcome.log_bytes = (int64_t)log_bytes;
    if (deliver(service->store, call, err) != STATUS_OK)
        return err->code;
    if (log_bytes > 0)
        seal_log(blob, &held);
    if (call->accepted)
        return STATUS_OK;
    if (worker_hand_attempt(service, request, call->arena, &held, &attempt, err) != STATUS_OK)
        return err->code;
    return is_same_end(&attempt, &call->outcome) ? STATUS_OK : stale(err);
}

static enum status end_job(struct service *service, const json_t *request, struct outcome outcome,
                           json_t **out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct finishing call = {.outcome = outcome, .arena = arena};
    if (finish(service, request, &call, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    *out = json_build_object();
    json_put(*out, "id", json_incref(json_object_get(request, "job")));
    json_put_bool(*out, "accepted", true);
    return STATUS_OK;
}

enum status op_worker_complete(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    const json_t *result = json_object_get(request, "result");
    CLEANUP(mem_freep) char *text = result != NULL ? json_format(result) : NULL;
    struct outcome outcome = {.end = {.reason = REASON_EXIT}};
    const struct outcome_value value = {
        .key = JOB_RESULT_KEY, .json = text, .bytes = text != NULL ? (int64_t)strlen(text) : 0};
    if (value.bytes > LIMIT_PAYLOAD_BYTES)
        return err_set(err, STATUS_LIMIT, "the result has %lld bytes, more than %d",
                       (long long)value.bytes, LIMIT_PAYLOAD_BYTES);
    if (text != NULL) {
        outcome.values = &value;
        outcome.values_count = 1;
    }
    return end_job(service, request, outcome, out, err);
}

enum status op_worker_fail(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    const char *message = json_get_string(request, "message", "the worker gave no reason");
    bool may_retry = json_get_bool(request, "retry", true);
    /* A message must not be what makes a failure fail: it is cut and mended. */
    CLEANUP(json_decrefp) json_t *detail = json_text(message, strnlen(message, MESSAGE_MAX));
    const struct outcome outcome = {
        .end = {.reason = REASON_RESULT, .result = TASK_FAILED, .for_good = !may_retry},
        .detail = json_string_value(detail),
    };
    return end_job(service, request, outcome, out, err);
}

enum status op_worker_release(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    return end_job(service, request, (struct outcome){.kind = OUTCOME_RETURN}, out, err);
}
