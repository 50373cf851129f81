#include "service/schedule_json.h"

#include "base/check.h"
#include "base/clock.h"
#include "os/zone_file.h"
#include "service/json_build.h"
#include "store/admission.h"
#include "store/schedule.h"

enum { MISSED_SHOWN = 5 };

/* A DAG that the store does not know has no row; that is no failure. */
static enum status find_schedule(struct store *store, const char *dag_id, struct schedule_info *out,
                                 bool *out_found, struct err *err)
{
    struct err problem = {0};
    *out_found = false;
    if (store == NULL)
        return STATUS_OK;
    enum status status = store_schedule_load(store, dag_id, out, &problem);
    *out_found = status == STATUS_OK;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        *err = problem;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status schedule_json_put(const struct service *service, struct store *store,
                              const struct dag *dag, json_t *object, struct err *err)
{
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    struct schedule_info info = {0};
    bool is_found = false;
    int64_t next_us = 0;
    struct err ignored = {0};
    if (find_schedule(store, dag->id, &info, &is_found, err) != STATUS_OK)
        return err->code;
    /* What a machine cannot work out, such as a zone it does not know, it does not show. */
    if (timetable_of_dag(dag, zone_file_read, &timetable, &ignored) != STATUS_OK ||
        info.is_paused ||
        !timetable_next(timetable, MAX(info.cursor_us, service_now_us(service)), &next_us))
        next_us = 0;
    json_put_bool(object, "is_paused", info.is_paused);
    json_put_bool(object, "is_scheduled",
                  info.is_offered && timetable != NULL && timetable->schedules_count > 0 &&
                      !info.is_paused);
    json_put_instant(object, "next_run", next_us);
    return STATUS_OK;
}

json_t *schedule_json_tick(const struct timetable *timetable, int64_t tick_us)
{
    struct tick_dates dates = timetable_dates(timetable, tick_us);
    char local[INSTANT_TEXT_MAX];
    json_t *object = json_build_object();
    json_put_instant(object, "run_after", tick_us);
    json_put_instant(object, "logical_date", dates.logical_at_us);
    json_put_instant(object, "data_interval_start", dates.interval_start_us);
    json_put_instant(object, "data_interval_end", dates.interval_end_us);
    json_put_string(object, "local",
                    instant_format_at(tick_us, timetable_offset_at(timetable, tick_us), local));
    return object;
}

static json_t *describe_missed(const struct missed_info *missed)
{
    json_t *object = json_build_object();
    json_put_instant(object, "first", missed->first_us);
    json_put_instant(object, "last", missed->last_us);
    json_put_int(object, "count", missed->count);
    json_put_bool(object, "is_more", missed->is_more);
    json_put_string(object, "because", missed_why_text(missed->why));
    json_put_instant(object, "decided_at", missed->at_us);
    return object;
}

enum status schedule_json_missed(struct store *store, const char *dag_id, size_t most, json_t **out,
                                 struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    struct schedule_info info = {0};
    struct missed_list missed = {0};
    bool is_found = false;
    if (find_schedule(store, dag_id, &info, &is_found, err) != STATUS_OK ||
        (is_found &&
         store_missed_list(store, arena, info.dag_key, most, &missed, err) != STATUS_OK))
        return err->code;
    for (size_t i = 0; i < missed.count; i++)
        json_build_append(list, describe_missed(&missed.items[i]));
    *out = TAKE(list);
    return STATUS_OK;
}

enum status schedule_json_put_more(struct store *store, const struct dag *dag, json_t *object,
                                   struct err *err)
{
    struct schedule_info info = {0};
    struct admission_count count = {0};
    bool is_found = false;
    json_t *missed = NULL;
    if (find_schedule(store, dag->id, &info, &is_found, err) != STATUS_OK ||
        (is_found && store_admission_count(store, info.dag_key, 0, &count, err) != STATUS_OK) ||
        schedule_json_missed(store, dag->id, MISSED_SHOWN, &missed, err) != STATUS_OK)
        return err->code;
    json_put_int(object, "runs_going", count.going);
    json_put_int(object, "runs_waiting", count.waiting);
    json_put(object, "missed", missed);
    return STATUS_OK;
}
