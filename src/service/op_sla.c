/*
 * Deadlines that were missed, and how DAGs keep theirs.
 */
#include "base/check.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "service/sla_json.h"
#include "store/deadline.h"
#include "store/version.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 100000, LAST_DEFAULT = 20 };

static enum status get_count(const json_t *request, const char *key, int64_t otherwise,
                             int64_t *out, struct err *err)
{
    *out = json_get_int(request, key, otherwise);
    if (*out < 1 || *out > LIST_MAX)
        return err_set(err, STATUS_INVALID, "'%s' must be from 1 to %d", key, LIST_MAX);
    return STATUS_OK;
}

/* --- sla.list -------------------------------------------------------------------------------- */

struct listing {
    const struct service *service;
    json_t *items;
};

static enum status list_miss(void *context, const struct sla_miss *miss, struct err *err)
{
    (void)err;
    struct listing *listing = context;
    int64_t until_us = miss->actual_us != 0 ? miss->actual_us : service_now_us(listing->service);
    json_t *object = json_build_object();
    json_put_id(object, "number", miss->run);
    json_put_string(object, "dag_id", miss->dag_id);
    json_put_string(object, "dag_run_id", miss->run_id);
    json_put_string(object, "task_id", miss->task_id);
    json_put_int(object, "map_index", miss->map_index);
    json_put_string(object, "sla", sla_kind_name(miss->kind));
    json_put_instant(object, "expected", miss->expected_us);
    json_put_instant(object, "actual", miss->actual_us);
    run_json_put_duration(object, "duration", miss->expected_us, until_us);
    json_put_bool(object, "open", miss->actual_us == 0);
    json_put_instant(object, "noticed_at", miss->noticed_at_us);
    json_put_bool(object, "notified", miss->notified > 0);
    json_build_append(listing->items, object);
    return STATUS_OK;
}

/* A name that nobody has is a mistake, not an empty list. */
static enum status check_dag(struct store *store, const char *dag_id, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct version_info ignored;
    return dag_id == NULL ? STATUS_OK : store_version_newest(store, arena, dag_id, &ignored, err);
}

static enum status count_misses(struct store *store, const void *filter, int64_t most, int64_t *out,
                                struct err *err)
{
    return store_sla_count(store, filter, most, out, err);
}

enum status op_sla_list(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(json_decrefp) json_t *misses = json_build_array();
    struct listing listing = {service, misses};
    struct store *store = NULL;
    struct sla_filter filter = {
        .dag_id = json_get_string(request, "dag", NULL),
        .open_only = json_get_bool(request, "open", false),
    };
    if (get_count(request, "limit", LIST_DEFAULT, &filter.limit, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL && (check_dag(store, filter.dag_id, err) != STATUS_OK ||
                           store_sla_each(store, &filter, list_miss, &listing, err) != STATUS_OK)))
        return err->code;
    const struct listing_page page = {
        .request = request,
        .name = "misses",
        .store = store,
        .limit = filter.limit,
        .count = count_misses,
        .filter = &filter,
    };
    return listing_answer(&page, TAKE(misses), out, err);
}

/* --- sla.report ------------------------------------------------------------------------------ */

json_t *sla_json(const struct sla_record *record)
{
    json_t *object = json_build_object();
    json_put_string(object, "dag_id", record->dag_id);
    json_put_int(object, "runs", record->runs);
    json_put_int(object, "late", record->late);
    json_put(object, "on_time_rate",
             record->runs == 0
                 ? json_null()
                 : json_real((double)(record->runs - record->late) / (double)record->runs));
    json_put_int(object, "misses", record->misses);
    json_put_int(object, "open", record->open);
    json_put(object, "worst", json_real((double)record->worst_ms / 1000));
    json_put_instant(object, "next_deadline", record->upcoming_us);
    return object;
}

static enum status list_record(void *context, const struct sla_record *record, struct err *err)
{
    (void)err;
    json_build_append(context, sla_json(record));
    return STATUS_OK;
}

enum status op_sla_report(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *dags = json_build_array();
    const char *dag_id = json_get_string(request, "dag", NULL);
    struct store *store = NULL;
    int64_t last = 0;
    if (get_count(request, "last", LAST_DEFAULT, &last, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL &&
         (check_dag(store, dag_id, err) != STATUS_OK ||
          store_sla_report(store, dag_id, last, list_record, dags, err) != STATUS_OK)))
        return err->code;
    *out = json_build_list("dags", TAKE(dags));
    return STATUS_OK;
}

static enum status keep_record(void *context, const struct sla_record *record, struct err *err)
{
    (void)err;
    json_t **out = context;
    *out = sla_json(record);
    return STATUS_OK;
}

enum status sla_json_put(struct store *store, const char *dag_id, json_t *object, struct err *err)
{
    json_t *record = NULL;
    if (store != NULL &&
        store_sla_report(store, dag_id, LAST_DEFAULT, keep_record, &record, err) != STATUS_OK)
        return err->code;
    json_put(object, "sla", record != NULL ? record : json_null());
    return STATUS_OK;
}
