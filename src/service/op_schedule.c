/*
 * Schedules: what comes next, what was missed, pause.
 */
#include "base/check.h"
#include "base/clock.h"
#include "os/zone_file.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/schedule_json.h"
#include "store/schedule.h"

enum { TICKS_DEFAULT = 5, TICKS_MAX = 1000, MISSED_MAX = 100 };

/* --- dag.next -------------------------------------------------------------------------------- */

static enum status read_from(struct service *service, const json_t *request, int64_t *out,
                             struct err *err)
{
    const char *text = json_get_string(request, "from", NULL);
    *out = service_now_us(service);
    if (text == NULL)
        return STATUS_OK;
    if (!instant_parse(text, out))
        return err_set(err, STATUS_INVALID, "'%.60s' is no date", text);
    (*out)--; /* the instant itself included */
    return STATUS_OK;
}

static json_t *list_ticks(const struct timetable *timetable, int64_t after_us, int64_t count)
{
    json_t *ticks = json_build_array();
    for (int64_t i = 0; i < count && timetable_next(timetable, after_us, &after_us); i++)
        json_build_append(ticks, schedule_json_tick(timetable, after_us));
    return ticks;
}

enum status op_dag_next(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct store *store = NULL;
    json_t *missed = NULL;
    int64_t from_us = 0;
    int64_t count = json_get_int(request, "count", TICKS_DEFAULT);
    if (count < 1 || count > TICKS_MAX)
        return err_set(err, STATUS_INVALID, "'count' is a number from 1 to %d", TICKS_MAX);
    if (read_from(service, request, &from_us, err) != STATUS_OK ||
        lookup_dag(service, arena, request, &found, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK ||
        timetable_of_dag(found.dag, zone_file_read, &timetable, err) != STATUS_OK)
        return err->code;
    object = json_build_object();
    json_put_string(object, "dag_id", found.dag->id);
    json_t *schedule = json_object_get(found.dag->rest, "schedule");
    json_put(object, "schedule", schedule != NULL ? json_incref(schedule) : json_null());
    if (schedule_json_put(service, store, found.dag, object, err) != STATUS_OK ||
        schedule_json_missed(store, found.dag->id, MISSED_MAX, &missed, err) != STATUS_OK)
        return err->code;
    json_put(object, "ticks", list_ticks(timetable, from_us, count));
    json_put(object, "missed", missed);
    *out = TAKE(object);
    return STATUS_OK;
}

/* --- dag.pause, dag.unpause ------------------------------------------------------------------ */

static enum status pause_one(struct store *store, const struct pause_request *pause, json_t *list,
                             struct err *err)
{
    bool changed = false;
    if (store_schedule_pause(store, pause, &changed, err) != STATUS_OK)
        return err->code;
    json_t *object = json_build_object();
    json_put_string(object, "dag_id", pause->dag_id);
    json_put_bool(object, "is_paused", pause->is_paused);
    json_put_bool(object, "changed", changed);
    json_build_append(list, object);
    return STATUS_OK;
}

/* All that exist, or none. */
static enum status check_names(struct store *store, const json_t *names, struct err *err)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        struct schedule_info info;
        const char *name = json_string_value(json_array_get(names, i));
        if (store_schedule_load(store, name, &info, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status set_paused(struct service *service, const json_t *request, bool is_paused,
                              json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    const json_t *names = json_object_get(request, "dags");
    struct store *store = NULL;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        check_names(store, names, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const struct pause_request pause = {
            .dag_id = json_string_value(json_array_get(names, i)),
            .is_paused = is_paused,
            .actor = service->actor,
            .reason = json_get_string(request, "reason", NULL),
        };
        if (pause_one(store, &pause, list, err) != STATUS_OK)
            return err->code;
    }
    service_wake(service);
    *out = json_build_list("dags", TAKE(list));
    return STATUS_OK;
}

enum status op_dag_pause(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    return set_paused(service, request, true, out, err);
}

enum status op_dag_unpause(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    return set_paused(service, request, false, out, err);
}
