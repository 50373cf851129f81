/*
 * produce: jobs from requests of the outside, checked against the bounds of model/limits.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "library/handle_priv.h"
#include "model/limits.h"
#include "store/job.h"

struct bound {
    const char *name;
    size_t offset;
    int64_t least;
    int64_t most;
};

/* A hundred years: far beyond what anybody means, far from where sums overflow. */
#define CENTURY_MS ((int64_t)36525 * 86400 * 1000)

static const struct bound BOUNDS[] = {
    {"priority", offsetof(struct eider_job_request, priority), -LIMIT_PRIORITY, LIMIT_PRIORITY},
    {"retries", offsetof(struct eider_job_request, retries), 0, LIMIT_RETRIES},
    {"retry_delay_ms", offsetof(struct eider_job_request, retry_delay_ms), EIDER_NO_DELAY,
     CENTURY_MS},
    {"timeout_ms", offsetof(struct eider_job_request, timeout_ms), 0, CENTURY_MS},
    {"delay_ms", offsetof(struct eider_job_request, delay_ms), 0, CENTURY_MS},
    {"run_after_us", offsetof(struct eider_job_request, run_after_us), 0, INT64_MAX / 2},
};

static enum status check_text(const char *name, const char *text, size_t most, struct err *err)
{
    if (text == NULL)
        return STATUS_OK;
    if (*text == '\0')
        return err_set(err, STATUS_INVALID, "'%s' is empty", name);
    if (strlen(text) > most)
        return err_set(err, STATUS_LIMIT, "'%s' has more than %zu bytes", name, most);
    return STATUS_OK;
}

static enum status check(const struct eider_job_request *request, struct err *err)
{
    if (request->handler == NULL)
        return err_set(err, STATUS_INVALID, "a job needs a handler");
    /* A command may be long, a name may not. */
    size_t handler_max =
        job_handler_is_command(request->handler) ? LIMIT_PAYLOAD_BYTES : LIMIT_ID_BYTES;
    if (check_text("handler", request->handler, handler_max, err) != STATUS_OK ||
        check_text("queue", request->queue, LIMIT_ID_BYTES, err) != STATUS_OK ||
        check_text("namespace_", request->namespace_, LIMIT_ID_BYTES, err) != STATUS_OK ||
        check_text("dedupe", request->dedupe, LIMIT_ID_BYTES, err) != STATUS_OK ||
        check_text("actor", request->actor, LIMIT_ID_BYTES, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ARRAY_LEN(BOUNDS); i++) {
        int64_t value = 0;
        memcpy(&value, (const char *)request + BOUNDS[i].offset, sizeof value);
        if (value < BOUNDS[i].least || value > BOUNDS[i].most)
            return err_set(err, STATUS_INVALID, "'%s' must be from %lld to %lld", BOUNDS[i].name,
                           (long long)BOUNDS[i].least, (long long)BOUNDS[i].most);
    }
    if (request->delay_ms > 0 && request->run_after_us > 0)
        return err_set(err, STATUS_INVALID, "only one of 'delay_ms' and 'run_after_us'");
    return STATUS_OK;
}

static struct job_request translate(const struct eider_job_request *request)
{
    int64_t retry_delay_ms = request->retry_delay_ms;
    return (struct job_request){
        .queue = request->queue != NULL ? request->queue : "default",
        .handler = request->handler,
        .payload = request->payload,
        .namespace_ = request->namespace_,
        .dedupe = request->dedupe,
        .actor = request->actor != NULL ? request->actor : "library",
        .priority = request->priority,
        .run_after_us = request->run_after_us,
        .delay_ms = request->delay_ms,
        .retries = request->retries,
        /* Zero means the usual outside, and none inside. */
        .retry_delay_ms = retry_delay_ms == 0  ? -1
                          : retry_delay_ms < 0 ? 0
                                               : retry_delay_ms,
        .timeout_ms = request->timeout_ms,
    };
}

static enum status enqueue(struct store *store, const struct eider_job_request *requests,
                           size_t count, char (*ids)[EIDER_ID_SIZE], struct err *err)
{
    CLEANUP(mem_freep) struct job_request *jobs = mem_zalloc(count, sizeof *jobs);
    CLEANUP(mem_freep) struct job_created *created = mem_zalloc(count, sizeof *created);
    for (size_t i = 0; i < count; i++) {
        if (check(&requests[i], err) != STATUS_OK)
            return count == 1 ? err->code : err_wrap(err, "job %zu", i + 1);
        jobs[i] = translate(&requests[i]);
    }
    if (store_jobs_enqueue(store, jobs, count, created, NULL, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        (void)snprintf(ids[i], EIDER_ID_SIZE, "%lld", (long long)created[i].id);
    return STATUS_OK;
}

enum eider_status eider_enqueue_many(struct eider *e, const struct eider_job_request *requests,
                                     size_t count, char (*ids)[EIDER_ID_SIZE])
{
    struct err err = {0};
    enum eider_status status = handle_check_open(e);
    if (status != EIDER_OK || count == 0)
        return status;
    if (count > EIDER_ENQUEUE_MAX)
        return handle_refuse(e, EIDER_LIMIT, "too many jobs for one call");
    if (enqueue(e->store, requests, count, ids, &err) != STATUS_OK)
        return handle_failed(e, &err);
    return EIDER_OK;
}

enum eider_status eider_enqueue(struct eider *e, const struct eider_job_request *request,
                                char id[EIDER_ID_SIZE])
{
    return eider_enqueue_many(e, request, 1, (char(*)[EIDER_ID_SIZE])id);
}
