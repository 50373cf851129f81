/*
 * Queues as people see them: whether somebody serves them, what waits, since when.
 */
#include "base/str.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/host.h"
#include "store/queue.h"

/* --- one queue ------------------------------------------------------------------------------- */

static const char *state_of(const struct service *service, const struct queue_info *queue)
{
    int64_t since_us = service_now_us(service) - queue->served_at_us;
    if (queue->paused)
        return "PAUSED";
    return queue->served_at_us != 0 && since_us < (int64_t)QUEUE_READY_MS * 1000 ? "READY"
                                                                                 : "NOT_READY";
}

static json_t *queue_json(const struct service *service, const struct queue_info *queue)
{
    json_t *object = json_build_object();
    int64_t waited_us =
        queue->oldest_us != 0 ? MAX(service_now_us(service) - queue->oldest_us, (int64_t)0) : 0;
    json_put_string(object, "name", queue->name);
    json_put_string(object, "state", state_of(service, queue));
    json_put_bool(object, "late", waited_us > (int64_t)QUEUE_LATE_MS * 1000);
    json_put_bool(object, "paused", queue->paused);
    json_put_int(object, "priority", queue->priority);
    json_put_int(object, "pending", queue->pending);
    json_put_int(object, "delayed", queue->delayed);
    json_put_int(object, "running", queue->running);
    json_put(object, "oldest_wait",
             queue->oldest_us != 0 ? json_real((double)waited_us / 1e6) : json_null());
    json_put_int(object, "hosts", queue->serving_hosts);
    json_put_instant(object, "served_at", queue->served_at_us);
    json_put_int(object, "max_running", queue->max_running);
    json_put_int(object, "max_share", queue->max_share);
    json_put_int(object, "soft_pending", queue->soft_pending);
    json_put_int(object, "hard_pending", queue->hard_pending);
    return object;
}

/* Hosts without a lease live as long as they hold their lock, which the store does not see. */
struct locks {
    struct service *service;
    struct queue_info *queues;
    size_t count;
};

static enum status add_locked(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct locks *locks = context;
    if (host->lease_ms > 0 || host->draining || !str_equal(host->kind, "daemon") ||
        !service_host_is_alive(locks->service, host->id))
        return STATUS_OK;
    for (size_t i = 0; i < locks->count; i++) {
        struct queue_info *queue = &locks->queues[i];
        if (!queue_is_among(host->queues != NULL ? host->queues : "", queue->name))
            continue;
        queue->serving_hosts++;
        queue->served_at_us = service_now_us(locks->service);
    }
    return STATUS_OK;
}

static enum status answer_queue(struct service *service, struct store *store, struct arena *arena,
                                const char *name, json_t **out, struct err *err)
{
    struct queue_info queue;
    struct locks locks = {.service = service, .queues = &queue, .count = 1};
    if (store_queue_load(store, arena, name, &queue, err) != STATUS_OK ||
        store_host_each(store, false, add_locked, &locks, err) != STATUS_OK)
        return err->code;
    *out = queue_json(service, &queue);
    return STATUS_OK;
}

/* --- operations ------------------------------------------------------------------------------ */

enum status op_queue_list(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    (void)request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *queues = json_build_array();
    struct locks locks = {.service = service};
    struct store *store = NULL;
    if (service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    if (store != NULL &&
        (store_queue_list(store, arena, &locks.queues, &locks.count, err) != STATUS_OK ||
         store_host_each(store, false, add_locked, &locks, err) != STATUS_OK))
        return err->code;
    for (size_t i = 0; i < locks.count; i++)
        json_build_append(queues, queue_json(service, &locks.queues[i]));
    *out = json_build_list("queues", TAKE(queues));
    return STATUS_OK;
}

enum status op_queue_show(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err->code;
    return answer_queue(service, store, arena, json_get_string(request, "name", ""), out, err);
}

/* A number that was given, kept in `*value`; NULL when it was not. */
static const int64_t *given(const json_t *request, const char *key, int64_t *value)
{
    const json_t *member = json_object_get(request, key);
    if (!json_is_integer(member))
        return NULL;
    *value = json_integer_value(member);
    return value;
}

enum status op_queue_set(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    int64_t numbers[5];
    bool paused = json_get_bool(request, "paused", false);
    bool may_create = json_get_bool(request, "create", true);
    struct queue_change change = {
        .name = json_get_string(request, "name", ""),
        .priority = given(request, "priority", &numbers[0]),
        .max_running = given(request, "max_running", &numbers[1]),
        .soft_pending = given(request, "soft_pending", &numbers[2]),
        .hard_pending = given(request, "hard_pending", &numbers[3]),
        .max_share = given(request, "max_share", &numbers[4]),
        .paused = json_is_boolean(json_object_get(request, "paused")) ? &paused : NULL,
        .actor = service->actor,
    };
    enum status status = may_create ? service_store_new(service, &store, err)
                                    : service_store(service, DB_READ_WRITE, &store, err);
    if (status != STATUS_OK || store_queue_set(store, &change, may_create, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return answer_queue(service, store, arena, change.name, out, err);
}

enum status op_queue_delete(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *object = NULL;
    const char *name = json_get_string(request, "name", "");
    bool dry_run = json_get_bool(request, "dry_run", false);
    struct store *store = NULL;
    if (service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        answer_queue(service, store, arena, name, &object, err) != STATUS_OK ||
        (!dry_run && store_queue_delete(store, name, service->actor, err) != STATUS_OK))
        return err->code;
    json_put_bool(object, "deleted", !dry_run);
    *out = TAKE(object);
    return STATUS_OK;
}
