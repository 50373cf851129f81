/*
 * finish: how a claim ended, told to the store.
 *
 * The store takes it only from the current claim. When it does not, the record tells whether that
 * is because this very end is there already: the same call may have been answered into a broken
 * connection. Attempt numbers are never used twice, and only the claim that had one could end it,
 * so what the record says of the attempt is what this claim did, or what took it away.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "library/claims_priv.h"
#include "model/limits.h"
#include "store/advance.h"
#include "store/job.h"
#include "store/repeat.h"
#include "store/run_store.h"

enum { UNKNOWN_TRIES = 5, MESSAGE_MAX = 4000 };

struct finishing {
    struct outcome outcome;
    struct arena *arena;
    bool *accepted;
};

static bool read_claim(const struct eider_claim *claim, struct outcome *outcome)
{
    outcome->attempt = claim->attempt;
    memcpy(&outcome->nonce, claim->token, sizeof outcome->nonce);
    return str_parse_i64(claim->job, 1, INT64_MAX, &outcome->task);
}

static enum status finish_once(struct store *store, const void *context, struct err *err)
{
    const struct finishing *call = context;
    struct advance_result result = {0};
    struct advance_request request = {.outcomes = &call->outcome, .outcomes_count = 1};
    if (store_advance(store, &request, call->arena, &result, err) != STATUS_OK)
        return err->code;
    *call->accepted = result.accepted[0];
    return STATUS_OK;
}

/* --- the record ------------------------------------------------------------------------------ */

struct search {
    const struct outcome *outcome;
    bool is_found;
};

static bool is_same_end(const struct task_row *attempt, const struct outcome *outcome)
{
    if (attempt->attempt != outcome->attempt || attempt->state == TASK_RUNNING)
        return false;
    if (outcome->kind == OUTCOME_RETURN)
        return attempt->state == TASK_NONE || attempt->state == TASK_CANCELLED;
    return attempt->reason == outcome->end.reason;
}

static enum status note_same(void *context, const struct task_row *attempt, struct err *err)
{
    (void)err;
    struct search *search = context;
    search->is_found |= is_same_end(attempt, search->outcome);
    return STATUS_OK;
}

static enum status look_back(struct store *store, const struct finishing *call, bool *out,
                             struct err *err)
{
    struct search search = {.outcome = &call->outcome};
    struct task_row row;
    struct err problem = {0};
    enum status status = store_task_load(store, call->arena, call->outcome.task, &row, &problem);
    if (status == STATUS_OK) {
        search.is_found = is_same_end(&row, &call->outcome);
        status = store_attempt_each(store, call->outcome.task, note_same, &search, &problem);
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    *out = search.is_found;
    return STATUS_OK;
}

/* --- ending ---------------------------------------------------------------------------------- */

static enum eider_status finish(struct eider *e, struct finishing *call)
{
    bool accepted = false;
    bool is_doubtful = false;
    struct err err = {0};
    call->accepted = &accepted;
    enum status status = STATUS_UNKNOWN;
    for (int tries = 0; status == STATUS_UNKNOWN && tries < UNKNOWN_TRIES; tries++) {
        is_doubtful = tries > 0;
        status = store_repeat(e->store, finish_once, call, &err);
    }
    if (status == STATUS_OK && !accepted)
        status = look_back(e->store, call, &accepted, &err);
    if (status != STATUS_OK) {
        enum eider_status failure = handle_failed(e, &err);
        return is_doubtful ? EIDER_UNKNOWN : failure;
    }
    claims_forget(e, call->outcome.task, call->outcome.attempt);
    if (!accepted)
        return handle_refuse(e, EIDER_STALE,
                             "this claim is not the current one of its job: the lease ran out, or "
                             "it has ended already");
    return EIDER_OK;
}

static enum eider_status end_claim(struct eider *e, const struct eider_claim *claim,
                                   struct outcome outcome)
{
    enum eider_status status = handle_check_open(e);
    if (status != EIDER_OK)
        return status;
    if (!read_claim(claim, &outcome))
        return handle_refuse(e, EIDER_INVALID, "this is no claim, or it was freed");
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct finishing call = {.outcome = outcome, .arena = arena};
    return finish(e, &call);
}

static enum status check_result(const char *text, struct err *err)
{
    CLEANUP(json_decrefp) json_t *parsed = NULL;
    size_t length = strlen(text);
    if (length > LIMIT_PAYLOAD_BYTES)
        return err_set(err, STATUS_LIMIT, "the result has %zu bytes, more than %d", length,
                       LIMIT_PAYLOAD_BYTES);
    if (json_parse(text, length, &parsed, err) != STATUS_OK)
        return err_wrap(err, "the result is not JSON");
    return STATUS_OK;
}

enum eider_status eider_complete(struct eider *e, const struct eider_claim *claim,
                                 const char *result_json)
{
    struct err err = {0};
    struct outcome outcome = {.end = {.reason = REASON_EXIT}};
    struct outcome_value value = {.key = JOB_RESULT_KEY, .json = result_json};
    if (result_json != NULL) {
        if (check_result(result_json, &err) != STATUS_OK)
            return handle_failed(e, &err);
        value.bytes = (int64_t)strlen(result_json);
        outcome.values = &value;
        outcome.values_count = 1;
    }
    return end_claim(e, claim, outcome);
}

enum eider_status eider_fail(struct eider *e, const struct eider_claim *claim, const char *message,
                             int retry)
{
    /* A message must not be what makes a failure fail: it is cut and mended. */
    const char *text = message != NULL ? message : "the worker gave no reason";
    CLEANUP(json_decrefp) json_t *detail = json_text(text, strnlen(text, MESSAGE_MAX));
    return end_claim(
        e, claim,
        (struct outcome){
            .end = {.reason = REASON_RESULT, .result = TASK_FAILED, .for_good = retry == 0},
            .detail = json_string_value(detail),
        });
}

enum eider_status eider_release(struct eider *e, const struct eider_claim *claim)
{
    return end_claim(e, claim, (struct outcome){.kind = OUTCOME_RETURN});
}

enum eider_status eider_cancel(struct eider *e, const struct eider_claim *claim)
{
    return end_claim(e, claim, (struct outcome){.end = {.reason = REASON_CANCELLED}});
}

enum eider_status eider_is_cancelled(struct eider *e, const struct eider_claim *claim, int *out)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct err err = {0};
    struct outcome wanted = {0};
    struct job_info job;
    enum eider_status refused = handle_check_open(e);
    if (refused != EIDER_OK)
        return refused;
    if (!read_claim(claim, &wanted))
        return handle_refuse(e, EIDER_INVALID, "this is no claim, or it was freed");
    enum status status = store_job_load(e->store, arena, wanted.task, &job, &err);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return handle_failed(e, &err);
    if (status == STATUS_NOT_FOUND || job.state != TASK_RUNNING || job.attempt != claim->attempt)
        return handle_refuse(e, EIDER_STALE, "this claim is not the current one of its job");
    *out = job.cancel_asked;
    return EIDER_OK;
}
