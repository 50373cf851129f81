/*
 * claims: jobs come to the caller.
 *
 * The handle knows which claims the caller has. When the answer to a claim is lost, what the store
 * has beyond that was claimed without the caller's knowledge, and is given to it then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "library/claims_priv.h"
#include "store/advance.h"
#include "store/listen.h"
#include "store/repeat.h"

enum { CLAIM_MAX = 1000, POLL_EMBEDDED_MS = 200, POLL_MS = 5000 };

/* --- what the caller has --------------------------------------------------------------------- */

static size_t find_outstanding(const struct eider *e, int64_t task, int64_t attempt)
{
    size_t i = 0;
    while (i < e->held_count && (e->held[i].task != task || e->held[i].attempt != attempt))
        i++;
    return i;
}

static void note_outstanding(struct eider *e, const struct claim *claim)
{
    e->held = mem_grow(e->held, &e->held_capacity, e->held_count, sizeof *e->held);
    e->held[e->held_count++] = (struct outstanding){claim->task, claim->attempt};
}

void claims_forget(struct eider *e, int64_t task, int64_t attempt)
{
    size_t i = find_outstanding(e, task, attempt);
    if (i < e->held_count)
        e->held[i] = e->held[--e->held_count];
}

/* --- texts ----------------------------------------------------------------------------------- */

/* Its texts are one piece of memory that begins with the first of them. */
static struct eider_claim give(const struct claim *claim)
{
    const struct claimed_job *job = claim->job;
    const char *const texts[] = {job->queue, job->handler, job->payload, job->namespace_};
    const char *copies[ARRAY_LEN(texts)];
    size_t size = 0;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        size += strlen(texts[i]) + 1;
    char *place = mem_alloc(size);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        size_t length = strlen(texts[i]) + 1;
        copies[i] = memcpy(place, texts[i], length);
        place += length;
    }
    struct eider_claim out = {
        .attempt = claim->attempt,
        .generation = claim->generation,
        .timeout_ms = job->timeout_ms,
        .queue = copies[0],
        .handler = copies[1],
        .payload = copies[2],
        .namespace_ = copies[3],
    };
    (void)snprintf(out.job, sizeof out.job, "%lld", (long long)claim->task);
    _Static_assert(sizeof out.token == sizeof claim->nonce, "the token is the nonce");
    memcpy(out.token, &claim->nonce, sizeof out.token);
    return out;
}

void eider_claim_free(struct eider_claim *claim)
{
    mem_freep(&claim->queue);
    *claim = (struct eider_claim){0};
}

/* --- claiming -------------------------------------------------------------------------------- */

struct claiming {
    struct advance_request request;
    struct arena *arena;
    struct advance_result *result;
};

static enum status claim_once(struct store *store, const void *context, struct err *err)
{
    const struct claiming *call = context;
    return store_advance(store, &call->request, call->arena, call->result, err);
}

/* Where claims are given to, and how many. */
struct giving {
    struct eider_claim *out;
    size_t max;
    size_t *count;
};

static void give_all(struct eider *e, const struct claim *claims, size_t count,
                     const struct giving *giving)
{
    for (size_t i = 0; i < count; i++) {
        bool is_known = find_outstanding(e, claims[i].task, claims[i].attempt) < e->held_count;
        if (claims[i].job == NULL || is_known)
            continue;
        if (*giving->count == giving->max) {
            e->must_read_back = true;
            return;
        }
        giving->out[(*giving->count)++] = give(&claims[i]);
        note_outstanding(e, &claims[i]);
    }
    e->must_read_back = false;
}

static enum status read_back(struct eider *e, struct arena *arena, const struct giving *giving,
                             struct err *err)
{
    struct claim *held = NULL;
    size_t count = 0;
    if (store_held(e->store, e->host, arena, &held, &count, err) != STATUS_OK)
        return err->code;
    give_all(e, held, count, giving);
    return STATUS_OK;
}

static enum status claim(struct eider *e, const struct giving *giving, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct advance_result result = {0};
    const struct claiming call = {
        .request =
            {
                .host = e->host,
                .process_slots = (int64_t)giving->max,
                .inline_slots = (int64_t)giving->max,
                .labels = e->labels,
                .queues = e->queues,
                .jobs_only = true,
            },
        .arena = arena,
        .result = &result,
    };
    if (e->must_read_back && read_back(e, arena, giving, err) != STATUS_OK)
        return err->code;
    if (*giving->count > 0)
        return STATUS_OK;
    enum status status = store_repeat(e->store, claim_once, &call, err);
    if (status == STATUS_UNKNOWN) {
        e->must_read_back = true;
        struct err problem = {0};
        /* If this fails too, the next call tries it again. */
        return read_back(e, arena, giving, &problem) == STATUS_OK ? STATUS_OK : STATUS_UNKNOWN;
    }
    if (status != STATUS_OK)
        return status;
    give_all(e, result.claims, result.claims_count, giving);
    e->next_due_us = result.next_due_us;
    return STATUS_OK;
}

enum eider_status eider_claim(struct eider *e, size_t max, struct eider_claim *out, size_t *count)
{
    struct err err = {0};
    enum eider_status status = handle_check_worker(e);
    *count = 0;
    if (status == EIDER_OK && eider_heartbeat_due(e) == 0)
        status = eider_heartbeat(e);
    if (status != EIDER_OK || e->is_draining || max == 0)
        return status;
    const struct giving giving = {.out = out, .max = MIN(max, (size_t)CLAIM_MAX), .count = count};
    if (claim(e, &giving, &err) != STATUS_OK)
        return handle_failed(e, &err);
    return EIDER_OK;
}

/* --- waiting --------------------------------------------------------------------------------- */

enum eider_status eider_wait(struct eider *e, int64_t timeout_ms)
{
    struct err err = {0};
    bool heard = false;
    enum eider_status status = handle_check_worker(e);
    if (status != EIDER_OK)
        return status;
    int64_t wait_ms = e->is_embedded ? POLL_EMBEDDED_MS : POLL_MS;
    if (timeout_ms >= 0)
        wait_ms = MIN(wait_ms, timeout_ms);
    wait_ms = MIN(wait_ms, eider_heartbeat_due(e));
    if (e->next_due_us > 0)
        wait_ms = MIN(wait_ms, (e->next_due_us - store_now_us(e->store)) / 1000 + 1);
    if (!e->is_listening)
        e->is_listening = store_listen_for_work(e->store, &err) == STATUS_OK;
    if (!e->is_listening ||
        store_wait(e->store, -1, MAX(wait_ms, (int64_t)0), &heard, &err) != STATUS_OK)
        return handle_failed(e, &err);
    return EIDER_OK;
}
