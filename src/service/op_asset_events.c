/*
 * asset.events: updates of datasets and the runs they were part of.
 */
#include "base/check.h"
#include "base/str.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/op_handlers.h"
#include "service/run_filter.h"
#include "service/run_json.h"
#include "service/service.h"
#include "store/asset_event.h"
#include "store/sight.h"

enum { RUNS_SHOWN = 100 };

struct event_listing {
    const struct service *service;
    struct store *store;
    json_t *events;
};

static enum status put_runs(const struct event_listing *listing, int64_t event, json_t *object,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    int64_t ids[RUNS_SHOWN];
    size_t count = 0;
    json_t *runs = json_build_array();
    json_put(object, "runs", runs);
    if (store_asset_event_runs(listing->store, event, ids, RUNS_SHOWN, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        struct run_info run;
        struct err problem = {0};
        enum status status = store_run_load(listing->store, arena, ids[i], &run, &problem);
        if (status == STATUS_OK && store_sees(listing->store, run.space))
            json_build_append(runs, run_json(listing->service, &run, NULL));
        else if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            *err = problem;
            return status;
        }
    }
    return STATUS_OK;
}

static enum status list_event(void *context, const struct asset_event_row *row, struct err *err)
{
    const struct event_listing *listing = context;
    const struct asset_update *update = &row->update;
    json_t *object = json_build_object();
    json_build_append(listing->events, object);
    json_put_id(object, "id", update->id);
    json_put_id(object, "asset", row->asset);
    json_put_string(object, "uri", row->uri);
    json_put_instant(object, "timestamp", update->at_us);
    json_put_string(object, "source_dag_id", update->dag_id);
    json_put_string(object, "source_run_id", update->run_id);
    json_put_string(object, "source_task_id", update->task_id);
    json_put_int(object, "source_map_index", update->map_index);
    json_put_string(object, "actor", update->actor);
    json_build_put_parsed(object, "extra", update->extra);
    return put_runs(listing, update->id, object, err);
}

static enum status count_events(struct store *store, const void *filter, int64_t most, int64_t *out,
                                struct err *err)
{
    return store_asset_event_count(store, filter, most, out, err);
}

enum status op_asset_events(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *events = json_build_array();
    struct event_listing listing = {.service = service, .events = events};
    const char *order = json_get_string(request, "order_by", "-id");
    struct asset_event_page filter = {
        .dag_id = json_get_string(request, "dag", NULL),
        .run_id = json_get_string(request, "run_id", NULL),
        .task_id = json_get_string(request, "task", NULL),
        .map_index = json_get_int(request, "map_index", -2),
        .is_descending = order[0] == '-',
    };
    CHECK(str_parse_i64(json_get_string(request, "asset", "0"), 0, INT64_MAX, &filter.asset));
    if (!str_equal(order + (filter.is_descending ? 1 : 0), "id"))
        return err_set(err, STATUS_INVALID, "updates have no order by '%.60s': write id or -id",
                       order);
    if (run_filter_read_page(request, &filter.limit, &filter.offset, err) != STATUS_OK ||
        service_store_if_any(service, &listing.store, err) != STATUS_OK)
        return err->code;
    if (listing.store != NULL &&
        store_asset_event_page(listing.store, &filter, list_event, &listing, err) != STATUS_OK)
        return err_wrap(err, "list updates of datasets");
    const struct listing_page page = {
        .request = request,
        .name = "events",
        .store = listing.store,
        .limit = filter.limit,
        .is_later = filter.offset > 0,
        .count = count_events,
        .filter = &filter,
    };
    return listing_answer(&page, TAKE(events), out, err);
}
