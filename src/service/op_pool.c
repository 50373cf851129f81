/*
 * Pools and limits as people see them: how much there is, who has it, who waits.
 */
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/rehearsal.h"
#include "store/limit.h"
#include "store/pool.h"
#include "store/sight.h"

/* --- pools ----------------------------------------------------------------------------------- */

static json_t *pool_json(const struct pool_info *pool)
{
    json_t *object = json_build_object();
    int64_t open = pool->slots - pool->occupied;
    json_put_string(object, "name", pool->name);
    json_put_string(object, "namespace", pool->namespace_);
    json_put_int(object, "slots", pool->slots);
    json_put_int(object, "occupied_slots", pool->occupied);
    json_put_int(object, "open_slots", open > 0 ? open : 0);
    json_put_int(object, "queued_slots", pool->queued);
    json_put_int(object, "running", pool->running);
    json_put_int(object, "waiting", pool->waiting);
    json_put_string(object, "description", pool->description);
    return object;
}

static const char *namespace_of(const json_t *request)
{
    return json_get_string(request, "namespace", "default");
}

static enum status answer_pool(struct store *store, const json_t *request, json_t **out,
                               struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct pool_info pool;
    if (store_pool_load(store, arena, namespace_of(request), json_get_string(request, "name", ""),
                        &pool, err) != STATUS_OK)
        return err->code;
    *out = pool_json(&pool);
    return STATUS_OK;
}

enum status op_pool_list(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    (void)request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *pools = json_build_array();
    struct pool_info *found = NULL;
    size_t count = 0;
    struct store *store = NULL;
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL && store_pool_list(store, arena, &found, &count, err) != STATUS_OK))
        return err->code;
    for (size_t i = 0; i < count; i++)
        json_build_append(pools, pool_json(&found[i]));
    *out = json_build_list("pools", TAKE(pools));
    return STATUS_OK;
}

enum status op_pool_show(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    struct store *store = NULL;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err->code;
    return answer_pool(store, request, out, err);
}

static enum status set_pool(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    struct store *store = NULL;
    const json_t *slots = json_object_get(request, "slots");
    int64_t number = json_integer_value(slots);
    const struct pool_change change = {
        .namespace_ = namespace_of(request),
        .name = json_get_string(request, "name", ""),
        .slots = json_is_integer(slots) ? &number : NULL,
        .description = json_get_string(request, "description", NULL),
        .actor = service->actor,
    };
    if (service_store_new(service, &store, err) != STATUS_OK ||
        store_pool_set(store, &change, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return answer_pool(store, request, out, err);
}

enum status op_pool_set(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    return rehearsal_call(service, request, set_pool, out, err);
}

enum status op_pool_delete(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *object = NULL;
    bool dry_run = json_get_bool(request, "dry_run", false);
    struct store *store = NULL;
    if (service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        answer_pool(store, request, &object, err) != STATUS_OK)
        return err->code;
    if (!dry_run &&
        store_pool_delete(store, namespace_of(request), json_get_string(request, "name", ""),
                          service->actor, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    json_put_bool(object, "deleted", !dry_run);
    *out = TAKE(object);
    return STATUS_OK;
}

/* --- limits ---------------------------------------------------------------------------------- */

static json_t *limit_json(const struct limit_info *limit)
{
    json_t *object = json_build_object();
    json_put_string(object, "kind", limit_kind_name(limit->kind));
    json_put_string(object, "name", limit->name);
    json_put_int(object, "max_running", limit->max_running);
    json_put_int(object, "running", limit->running);
    json_put_int(object, "waiting", limit->waiting);
    return object;
}

static enum status read_kind(const json_t *request, enum limit_kind *out, struct err *err)
{
    const char *kind = json_get_string(request, "kind", "");
    if (!limit_kind_parse(kind, out))
        return err_set(err, STATUS_INVALID,
                       "a limit is of a namespace, a dag or a tier, not of a '%.100s'", kind);
    return STATUS_OK;
}

static enum status list_limits(struct store *store, json_t **out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *limits = json_build_array();
    struct limit_info *found = NULL;
    size_t count = 0;
    if (store != NULL && store_limit_list(store, arena, &found, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        bool is_seen = found[i].kind == LIMIT_OF_NAMESPACE ? store_sees(store, found[i].name)
                                                           : store_sees_all(store);
        if (found[i].kind == LIMIT_OF_DAG &&
            store_sees_dag(store, found[i].name, &is_seen, err) != STATUS_OK)
            return err->code;
        if (is_seen)
            json_build_append(limits, limit_json(&found[i]));
    }
    *out = json_build_list("limits", TAKE(limits));
    return STATUS_OK;
}

enum status op_limit_list(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    (void)request;
    struct store *store = NULL;
    if (service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    return list_limits(store, out, err);
}

/* A limit may be there before its DAG, but a name that nobody has is likelier to be wrong. */
static void warn_of_name(struct service *service, const char *dag_id, json_t *object)
{
    struct err why = {0};
    if (lookup_dag_name(service, dag_id, &why) == STATUS_NOT_FOUND)
        json_put_string(object, "warning", why.text);
}

enum status op_limit_set(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    struct store *store = NULL;
    struct limit_change change = {
        .name = json_get_string(request, "name", ""),
        .max_running = json_get_int(request, "max_running", 0),
        .actor = service->actor,
    };
    if (read_kind(request, &change.kind, err) != STATUS_OK ||
        service_store_new(service, &store, err) != STATUS_OK ||
        store_limit_set(store, &change, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    if (list_limits(store, out, err) != STATUS_OK)
        return err->code;
    if (change.kind == LIMIT_OF_DAG)
        warn_of_name(service, change.name, *out);
    return STATUS_OK;
}

static enum status delete_limit(struct service *service, const json_t *request, json_t **out,
                                struct err *err)
{
    struct store *store = NULL;
    enum limit_kind kind = LIMIT_OF_NAMESPACE;
    if (read_kind(request, &kind, err) != STATUS_OK ||
        service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_limit_delete(store, kind, json_get_string(request, "name", ""), service->actor,
                           err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return list_limits(store, out, err);
}

enum status op_limit_delete(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    return rehearsal_call(service, request, delete_limit, out, err);
}
