/*
 * Workers without a connection to the store: how they come, get jobs, and stay.
 *
 * A worker is there from its first claim on, and as long as it is heard from.
 */
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/dag.h"
#include "model/limits.h"
#include "model/word_set.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/worker_hand.h"
#include "store/repeat.h"

enum {
    SLOTS_MAX = 100,
    LEASE_DEFAULT_MS = 30000,
    LEASE_LEAST_MS = 500,
    LEASE_MOST_MS = 3600000,
    BEATS_PER_LEASE = 3,
    WORDS_BYTES_MAX = 64 * 1024,
    CLAIM_TRIES = 5,
};

struct wish {
    const char *worker;
    char *queues; /* "": all */
    char *labels;
    const char *name;   /* of the claim, or NULL */
    const json_t *jobs; /* that it knows of; NULL: it does not say */
    int64_t slots;
    int64_t lease_ms;
};

static void wish_fini(struct wish *wish)
{
    mem_freep(&wish->queues);
    mem_freep(&wish->labels);
}

/* --- what is asked for ----------------------------------------------------------------------- */

static enum status read_worker(const json_t *request, const char **out, struct err *err)
{
    const char *name = json_get_string(request, "worker", "");
    if (!dag_name_is_valid(name))
        return err_set(err, STATUS_INVALID, "a worker cannot be called '%.60s': %s", name,
                       DAG_NAME_RULE);
    *out = name;
    return STATUS_OK;
}

/* Heap. */
static enum status read_words(const json_t *request, const char *member, char **out,
                              struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf words;
    const json_t *list = json_object_get(request, member);
    strbuf_init(&words, WORDS_BYTES_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (!dag_name_is_valid(word))
            return err_set(err, STATUS_INVALID, "'%s': '%.60s' is no name: %s", member, word,
                           DAG_NAME_RULE);
        strbuf_addf(&words, " %s", word);
    }
    if (words.overflow)
        return err_set(err, STATUS_LIMIT, "'%s' has too many names", member);
    *out = word_set_parse(words.text);
    return STATUS_OK;
}

/* A worker serves the queues of its token; it may ask for some of them. */
static enum status read_queues(const struct service *service, const json_t *request, char **out,
                               struct err *err)
{
    const struct principal *principal = service->principal;
    const json_t *list = json_object_get(request, "queues");
    for (size_t i = 0; principal_is_worker(principal) && i < json_array_size(list); i++) {
        const char *queue = json_string_value(json_array_get(list, i));
        if (!principal_serves(principal, queue))
            return err_set(err, STATUS_DENIED, "%s may not serve the queue '%.60s'",
                           principal->name, queue);
    }
    if (json_array_size(list) > 0 || !principal_is_worker(principal))
        return read_words(request, "queues", out, err);
    bool is_all = principal_serves(principal, "*");
    *out = is_all ? mem_strdup("") : word_set_parse(principal->queues);
    if (!is_all && (*out)[0] == '\0') {
        mem_freep(out);
        return err_set(err, STATUS_DENIED, "%s has no queues", principal->name);
    }
    return STATUS_OK;
}

static enum status read_lease(const json_t *request, int64_t *out, struct err *err)
{
    const json_t *value = json_object_get(request, "lease");
    double seconds = json_is_number(value) ? json_number_value(value) : LEASE_DEFAULT_MS / 1000.0;
    if (!(seconds >= LEASE_LEAST_MS / 1000.0 && seconds <= LEASE_MOST_MS / 1000.0))
        return err_set(err, STATUS_INVALID, "'lease' is from %g to %d seconds",
                       LEASE_LEAST_MS / 1000.0, LEASE_MOST_MS / 1000);
    *out = (int64_t)(seconds * 1000.0);
    return STATUS_OK;
}

static enum status read_wish(const struct service *service, const json_t *request, struct wish *out,
                             struct err *err)
{
    out->slots = json_get_int(request, "slots", 1);
    out->name = json_get_string(request, "request_id", NULL);
    out->jobs = json_object_get(request, "jobs");
    if (out->slots < 1 || out->slots > SLOTS_MAX)
        return err_set(err, STATUS_INVALID, "'slots' is from 1 to %d", SLOTS_MAX);
    if (out->name != NULL && (out->name[0] == '\0' || strlen(out->name) > LIMIT_ID_BYTES))
        return err_set(err, STATUS_INVALID, "'request_id' has 1 to %d bytes", LIMIT_ID_BYTES);
    if (read_worker(request, &out->worker, err) != STATUS_OK ||
        read_lease(request, &out->lease_ms, err) != STATUS_OK ||
        read_queues(service, request, &out->queues, err) != STATUS_OK ||
        read_words(request, "labels", &out->labels, err) != STATUS_OK)
        return err->code;
    return STATUS_OK;
}

/* --- being there ----------------------------------------------------------------------------- */

struct renewal {
    int64_t host;
    struct host_pulse pulse;
};

static enum status renew_once(struct store *store, const void *context, struct err *err)
{
    struct renewal *renewal = *(struct renewal *const *)context;
    return store_host_renew(store, renewal->host, &renewal->pulse, err);
}

/* STATUS_NOT_FOUND: a sweep has taken it. */
static enum status renew(struct store *store, struct worker_host *host, struct err *err)
{
    struct renewal *renewal = &(struct renewal){.host = host->id};
    if (store_repeat(store, renew_once, &renewal, err) != STATUS_OK)
        return err->code;
    host->draining = renewal->pulse.draining;
    return STATUS_OK;
}

static bool is_beat_due(struct store *store, const struct worker_host *host)
{
    int64_t since_us = store_now_us(store) - host->renewed_at_us;
    return since_us >= host->lease_ms * 1000 / BEATS_PER_LEASE || since_us < 0;
}

struct holdings {
    struct worker_held *items;
    size_t count;
};

static bool is_named(const json_t *jobs, int64_t task)
{
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        int64_t id = 0;
        if (str_parse_i64(json_string_value(json_array_get(jobs, i)), 0, INT64_MAX, &id) &&
            id == task)
            return true;
    }
    return false;
}

/*
 * What it holds by the record, but does not know of a whole lease after the claim: the answer never
 * came there, or it died and came back under the same name. Nobody works on that.
 */
static enum status return_unknown(struct store *store, const struct worker_host *host,
                                  const json_t *jobs, const struct holdings *held, struct err *err)
{
    CLEANUP(mem_freep) struct worker_held *unknown = mem_zalloc(held->count + 1, sizeof *unknown);
    int64_t before_us = store_now_us(store) - host->lease_ms * 1000;
    size_t count = 0;
    for (size_t i = 0; i < held->count; i++)
        if (held->items[i].started_at_us < before_us && !is_named(jobs, held->items[i].task))
            unknown[count++] = held->items[i];
    return store_worker_return(store, host->id, unknown, count, err);
}

static enum status forget_unknown(struct store *store, const struct worker_host *host,
                                  const json_t *jobs, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct holdings held = {0};
    if (!json_is_array(jobs))
        return STATUS_OK;
    if (store_worker_held(store, host->id, arena, &held.items, &held.count, err) != STATUS_OK)
        return err->code;
    return return_unknown(store, host, jobs, &held, err);
}

static enum status come(const struct service *service, struct store *store, const struct wish *wish,
                        struct worker_host *out, struct err *err)
{
    const struct host_request request = {
        .name = wish->worker,
        .kind = WORKER_HOST_KIND,
        .machine = worker_hand_owner(service),
        .labels = wish->labels,
        .queues = wish->queues,
        .slots = wish->slots,
        .lease_ms = wish->lease_ms,
    };
    return store_worker_add(store, &request, out, err);
}

/* The worker as it is, heard from just now; or a new one. */
static enum status find_or_come(const struct service *service, struct store *store,
                                const struct wish *wish, struct worker_host *out, struct err *err)
{
    struct err problem = {0};
    enum status status =
        store_worker_find(store, wish->worker, worker_hand_owner(service), out, &problem);
    if (status == STATUS_OK && is_beat_due(store, out)) {
        status = renew(store, out, &problem);
        if (status == STATUS_OK)
            status = forget_unknown(store, out, wish->jobs, &problem);
    }
    if (status == STATUS_NOT_FOUND)
        return come(service, store, wish, out, err);
    if (status != STATUS_OK)
        *err = problem;
    return status;
}

/* --- worker.claim ---------------------------------------------------------------------------- */

static json_t *claim_json(const struct claim *claim)
{
    char nonce[WORKER_NONCE_TEXT_MAX];
    const struct claimed_job *job = claim->job;
    json_t *object = json_build_object();
    json_put_id(object, "id", claim->task);
    json_put_int(object, "attempt", claim->attempt);
    json_put_string(object, "nonce", worker_hand_nonce(&claim->nonce, nonce));
    json_put_int(object, "generation", claim->generation);
    json_put_string(object, "queue", job->queue);
    json_put_string(object, "handler", job->handler);
    json_put_string(object, "namespace", job->namespace_);
    json_build_put_parsed(object, "payload", job->payload);
    json_put(object, "timeout",
             job->timeout_ms == 0 ? json_null() : json_real((double)job->timeout_ms / 1000.0));
    return object;
}

static void put_terms(json_t *object, const struct worker_host *host)
{
    json_put(object, "lease", json_real((double)host->lease_ms / 1000.0));
    json_put(object, "heartbeat", json_real((double)host->lease_ms / BEATS_PER_LEASE / 1000.0));
    json_put_bool(object, "draining", host->draining);
}

struct gain {
    struct worker_host host;
    struct claim *claims;
    size_t count;
};

static enum status claim_once(struct service *service, const struct wish *wish, struct arena *arena,
                              struct gain *out, struct err *err)
{
    struct store *store = NULL;
    if (service_store_new(service, &store, err) != STATUS_OK ||
        find_or_come(service, store, wish, &out->host, err) != STATUS_OK)
        return err->code;
    const struct worker_claim claim = {
        .host = out->host.id,
        .name = wish->name,
        .slots = wish->slots,
        .labels = wish->labels,
        .queues = wish->queues,
    };
    out->count = 0;
    if (out->host.draining)
        return STATUS_OK;
    if (store_worker_claim(store, &claim, arena, &out->claims, &out->count, err) == STATUS_OK)
        return STATUS_OK;
    if (wish->name != NULL)
        service_close_store(service); /* what it remembers did not happen */
    return err->code;
}

static bool is_worth_another(enum status status)
{
    return status == STATUS_BUSY || status == STATUS_UNKNOWN;
}

enum status op_worker_claim(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(wish_fini) struct wish wish = {0};
    struct gain gain = {0};
    struct err problem = {0};
    if (read_wish(service, request, &wish, err) != STATUS_OK)
        return err->code;
    enum status status = claim_once(service, &wish, arena, &gain, &problem);
    for (int i = 1; wish.name != NULL && is_worth_another(status) && i < CLAIM_TRIES; i++) {
        problem = (struct err){0};
        status = claim_once(service, &wish, arena, &gain, &problem);
    }
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    json_t *jobs = json_build_array();
    for (size_t i = 0; i < gain.count; i++)
        json_build_append(jobs, claim_json(&gain.claims[i]));
    *out = json_build_object();
    json_put_string(*out, "worker", wish.worker);
    json_put(*out, "jobs", jobs);
    put_terms(*out, &gain.host);
    return STATUS_OK;
}

/* --- worker.heartbeat ------------------------------------------------------------------------ */

static enum status find_worker(struct service *service, const json_t *request, struct store **out,
                               struct worker_host *out_host, struct err *err)
{
    const char *worker = NULL;
    if (read_worker(request, &worker, err) != STATUS_OK ||
        service_store(service, DB_READ_WRITE, out, err) != STATUS_OK)
        return err->code;
    if (store_worker_find(*out, worker, worker_hand_owner(service), out_host, err) == STATUS_OK)
        return STATUS_OK;
    if (err->code == STATUS_NOT_FOUND)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no worker '%.60s': if there was, its lease ran out and others "
                       "have what it held; a claim makes it anew",
                       worker);
    return err->code;
}

static bool is_held(const struct holdings *held, const char *text)
{
    int64_t id = 0;
    if (!str_parse_i64(text, 0, INT64_MAX, &id))
        return false;
    for (size_t i = 0; i < held->count; i++)
        if (held->items[i].task == id)
            return true;
    return false;
}

static json_t *list_lost(const json_t *jobs, const struct holdings *held)
{
    json_t *lost = json_build_array();
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const char *id = json_string_value(json_array_get(jobs, i));
        if (!is_held(held, id))
            json_build_append(lost, json_text(id, strlen(id)));
    }
    return lost;
}

static enum status list_stops(struct store *store, int64_t host, struct arena *arena, json_t **out,
                              struct err *err)
{
    struct stop_wish *wishes = NULL;
    size_t count = 0;
    if (store_stop_wishes(store, host, arena, &wishes, &count, err) != STATUS_OK)
        return err->code;
    *out = json_build_array();
    for (size_t i = 0; i < count; i++) {
        if (wishes[i].task == 0)
            continue;
        json_t *stop = json_build_object();
        json_put_id(stop, "id", wishes[i].task);
        json_put_int(stop, "attempt", wishes[i].attempt);
        json_build_append(*out, stop);
    }
    return STATUS_OK;
}

enum status op_worker_heartbeat(struct service *service, const json_t *request, json_t **out,
                                struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const json_t *jobs = json_object_get(request, "jobs");
    struct store *store = NULL;
    struct worker_host host = {0};
    struct holdings held = {0};
    json_t *stops = NULL;
    if (find_worker(service, request, &store, &host, err) != STATUS_OK ||
        renew(store, &host, err) != STATUS_OK ||
        store_worker_held(store, host.id, arena, &held.items, &held.count, err) != STATUS_OK)
        return err->code;
    if (json_is_array(jobs) && return_unknown(store, &host, jobs, &held, err) != STATUS_OK)
        return err->code;
    if (list_stops(store, host.id, arena, &stops, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put(*out, "stop", stops);
    json_put(*out, "lost", list_lost(jobs, &held));
    put_terms(*out, &host);
    return STATUS_OK;
}

/* --- worker.leave ---------------------------------------------------------------------------- */

enum status op_worker_leave(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct worker_host host = {0};
    struct holdings held = {0};
    if (find_worker(service, request, &store, &host, err) != STATUS_OK ||
        store_worker_held(store, host.id, arena, &held.items, &held.count, err) != STATUS_OK ||
        store_worker_return(store, host.id, held.items, held.count, err) != STATUS_OK ||
        store_host_end(store, host.id, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    *out = json_build_object();
    json_put_int(*out, "returned", (int64_t)held.count);
    return STATUS_OK;
}
