/*
 * Datasets: which there are, who updated them, who waits for them.
 */
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/op_handlers.h"
#include "service/run_filter.h"
#include "service/service.h"
#include "store/asset.h"
#include "store/sight.h"
#include "store/trigger_store.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 10000, UPDATES_DEFAULT = 20 };

static json_t *asset_json(const struct asset_info *asset)
{
    json_t *object = json_build_object();
    json_put_id(object, "id", asset->id);
    json_put_string(object, "uri", asset->uri);
    json_put_int(object, "updates", asset->updates);
    json_put_instant(object, "last_update", asset->last_us);
    json_put_int(object, "waiters", asset->waiters);
    json_put_instant(object, "created_at", asset->created_at_us);
    return object;
}

static json_t *update_json(const struct asset_update *update)
{
    json_t *object = json_build_object();
    json_put_id(object, "id", update->id);
    json_put_instant(object, "timestamp", update->at_us);
    json_put_string(object, "source_dag_id", update->dag_id);
    json_put_string(object, "source_run_id", update->run_id);
    if (update->run != 0)
        json_put_id(object, "source_run", update->run);
    json_put_string(object, "source_task_id", update->task_id);
    json_put_int(object, "source_map_index", update->map_index);
    json_put_string(object, "actor", update->actor);
    json_build_put_parsed(object, "extra", update->extra);
    return object;
}

static enum status limit_of(const json_t *request, int64_t otherwise, int64_t *out, struct err *err)
{
    *out = json_get_int(request, "limit", otherwise);
    if (*out < 1 || *out > LIST_MAX)
        return err_set(err, STATUS_INVALID, "'limit' is a number from 1 to %d", LIST_MAX);
    return STATUS_OK;
}

static enum status count_assets(struct store *store, const void *filter, int64_t most, int64_t *out,
                                struct err *err)
{
    return store_asset_count(store, filter, most, out, err);
}

static enum status put_updates(struct store *store, struct arena *arena, int64_t asset,
                               int64_t limit, json_t *object, struct err *err)
{
    struct asset_updates updates;
    if (store_asset_updates(store, arena, asset, limit, &updates, err) != STATUS_OK)
        return err->code;
    json_t *list = json_build_array();
    json_put(object, "events", list);
    for (size_t i = 0; i < updates.count; i++)
        json_build_append(list, update_json(&updates.items[i]));
    return STATUS_OK;
}

/* Each DAG that waits for it, with what else it needs. */
static enum status put_waiters(struct store *store, struct arena *arena, const char *uri,
                               json_t *object, struct err *err)
{
    struct trigger_waiter *waiters = NULL;
    size_t count = 0;
    json_t *list = json_build_array();
    json_put(object, "waiting_dags", list);
    if (store_trigger_waiters(store, arena, uri, &waiters, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        struct trigger_state state;
        bool is_seen = false;
        if (store_sees_dag(store, waiters[i].dag_id, &is_seen, err) != STATUS_OK)
            return err->code;
        if (!is_seen)
            continue;
        if (store_trigger_state(store, arena, waiters[i].dag_id, &state, err) != STATUS_OK)
            return err->code;
        json_t *item = json_build_object();
        json_put_string(item, "dag_id", waiters[i].dag_id);
        json_put_bool(item, "paused", waiters[i].paused);
        json_put_int(item, "waiting", waiters[i].waiting);
        json_put_string(item, "missing", state.missing);
        json_build_append(list, item);
    }
    return STATUS_OK;
}

/* --- asset.list ------------------------------------------------------------------------------ */

static enum status read_filter(const json_t *request, struct arena *arena, struct asset_filter *out,
                               struct err *err)
{
    const char *order = json_get_string(request, "order_by", "uri");
    *out = (struct asset_filter){
        .contains = json_get_string(request, "contains", NULL),
        .dags = run_filter_names(request, "dags", arena),
        .offset = json_get_int(request, "offset", 0),
        .is_descending = order[0] == '-',
    };
    if (!str_equal(order + (out->is_descending ? 1 : 0), "uri"))
        return err_set(err, STATUS_INVALID, "datasets have no order by '%.60s': write uri or -uri",
                       order);
    if (out->offset < 0)
        return err_set(err, STATUS_INVALID, "'offset' is not below 0");
    return limit_of(request, LIST_DEFAULT, &out->limit, err);
}

enum status op_asset_list(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *assets = json_build_array();
    bool with_users = json_get_bool(request, "with_users", false);
    struct asset_filter filter;
    struct store *store = NULL;
    struct asset_info *list = NULL;
    size_t count = 0;
    if (read_filter(request, arena, &filter, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    if (store != NULL && store_asset_list(store, arena, &filter, &list, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        json_t *asset = asset_json(&list[i]);
        json_build_append(assets, asset);
        if (with_users &&
            (put_updates(store, arena, list[i].id, UPDATES_DEFAULT, asset, err) != STATUS_OK ||
             put_waiters(store, arena, list[i].uri, asset, err) != STATUS_OK))
            return err->code;
    }
    const struct listing_page page = {
        .request = request,
        .name = "assets",
        .store = store,
        .limit = filter.limit,
        .is_later = filter.offset > 0,
        .count = count_assets,
        .filter = &filter,
    };
    return listing_answer(&page, TAKE(assets), out, err);
}

static enum status show(struct store *store, const char *uri, int64_t limit, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct asset_info asset;
    if (store_asset_load(store, arena, uri, &asset, err) != STATUS_OK)
        return err->code;
    object = asset_json(&asset);
    if (put_updates(store, arena, asset.id, limit, object, err) != STATUS_OK ||
        put_waiters(store, arena, uri, object, err) != STATUS_OK)
        return err->code;
    *out = TAKE(object);
    return STATUS_OK;
}

enum status op_asset_show(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    struct store *store = NULL;
    int64_t limit = 0;
    if (limit_of(request, UPDATES_DEFAULT, &limit, err) != STATUS_OK ||
        service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err->code;
    return show(store, json_get_string(request, "uri", ""), limit, out, err);
}

enum status op_asset_emit(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    struct store *store = NULL;
    const json_t *extra = json_object_get(request, "extra");
    CLEANUP(mem_freep) char *text = json_is_object(extra) ? json_format(extra) : NULL;
    const struct asset_emission emission = {
        .uri = json_get_string(request, "uri", ""),
        .extra = text,
        .actor = service->actor,
    };
    if (service_store_new(service, &store, err) != STATUS_OK ||
        store_asset_emit(store, &emission, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return show(store, emission.uri, 1, out, err);
}
