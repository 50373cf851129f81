/*
 * What a schedule means, before any DAG has it.
 */
#include <stdio.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/dag_read.h"
#include "os/zone_file.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/schedule_json.h"

enum { TICKS_DEFAULT = 5, TICKS_MAX = 1000 };

/* The least DAG that has the schedule, so that it is read as every other is. */
static json_t *tree_of(const json_t *schedule, const char *zone)
{
    json_t *tree = json_build_object();
    json_t *task = json_build_object();
    json_t *tasks = json_build_object();
    json_put(task, "noop", json_null());
    json_put(tasks, "task", task);
    json_put_string(tree, "dag", "preview");
    json_put(tree, "tasks", tasks);
    json_t *copy = json_deep_copy(schedule);
    CHECK(copy != NULL);
    if (zone != NULL && json_is_string(copy)) {
        json_t *object = json_build_object();
        json_put(object, "cron", copy);
        copy = object;
    }
    if (zone != NULL && json_is_object(copy))
        json_put_string(copy, "tz", zone);
    json_put(tree, "schedule", copy);
    return tree;
}

static const char *first_error(const struct diag_list *diags)
{
    for (size_t i = 0; i < diags->count; i++)
        if (diags->items[i].severity == DIAG_ERROR)
            return diags->items[i].text;
    return "it cannot be read";
}

static enum status read_schedule(const json_t *request, struct dag **out, struct err *err)
{
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    CLEANUP(json_decrefp)
    json_t *tree =
        tree_of(json_object_get(request, "schedule"), json_get_string(request, "tz", NULL));
    const struct dag_read_options options = {.zones = zone_file_read};
    struct dag *dag = dag_read(tree, &options, &diags);
    if (dag == NULL || diags.errors > 0) {
        dag_free(dag);
        return err_set(err, STATUS_INVALID, "schedule: %s", first_error(&diags));
    }
    *out = dag;
    return STATUS_OK;
}

/* --- ticks ----------------------------------------------------------------------------------- */

/* What people ask about when clocks change. */
static void put_note(json_t *object, int32_t offset_s, int32_t before_s)
{
    char note[120];
    int32_t shift_s = offset_s - before_s;
    json_put_int(object, "utc_offset", offset_s);
    json_put(object, "note", json_null());
    if (shift_s == 0)
        return;
    int32_t minutes = (shift_s > 0 ? shift_s : -shift_s) / 60;
    (void)snprintf(note, sizeof note, "clocks go %s by %d:%02d h between the tick before and this",
                   shift_s > 0 ? "forward" : "back", minutes / 60, minutes % 60);
    json_put_string(object, "note", note);
}

static json_t *list_ticks(const struct timetable *timetable, int64_t after_us, int64_t count)
{
    json_t *ticks = json_build_array();
    int32_t before_s = timetable_offset_at(timetable, after_us);
    for (int64_t i = 0; i < count && timetable_next(timetable, after_us, &after_us); i++) {
        json_t *object = schedule_json_tick(timetable, after_us);
        int32_t offset_s = timetable_offset_at(timetable, after_us);
        put_note(object, offset_s, before_s);
        json_build_append(ticks, object);
        before_s = offset_s;
    }
    return ticks;
}

static enum status read_question(struct service *service, const json_t *request, int64_t *out_after,
                                 int64_t *out_count, struct err *err)
{
    const char *from = json_get_string(request, "from", NULL);
    bool has_dag = json_get_string(request, "dag", NULL) != NULL;
    const json_t *schedule = json_object_get(request, "schedule");
    bool has_schedule = schedule != NULL && !json_is_null(schedule);
    *out_after = service_now_us(service);
    *out_count = json_get_int(request, "count", TICKS_DEFAULT);
    if (has_dag == has_schedule)
        return err_set(err, STATUS_INVALID, "give either 'schedule' or 'dag'");
    if (has_dag && json_get_string(request, "tz", NULL) != NULL)
        return err_set(err, STATUS_INVALID, "a DAG says its 'tz' itself");
    if (*out_count < 1 || *out_count > TICKS_MAX)
        return err_set(err, STATUS_INVALID, "'count' is a number from 1 to %d", TICKS_MAX);
    if (from != NULL && !instant_parse(from, out_after))
        return err_set(err, STATUS_INVALID, "'%.60s' is no date", from);
    *out_after -= from != NULL ? 1 : 0; /* the instant itself included */
    return STATUS_OK;
}

enum status op_schedule_preview(struct service *service, const json_t *request, json_t **out,
                                struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(dag_freep) struct dag *made = NULL;
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    int64_t after_us = 0;
    int64_t count = 0;
    if (read_question(service, request, &after_us, &count, err) != STATUS_OK)
        return err->code;
    bool has_dag = json_get_string(request, "dag", NULL) != NULL;
    if ((has_dag ? lookup_dag(service, arena, request, &found, err)
                 : read_schedule(request, &made, err)) != STATUS_OK)
        return err->code;
    const struct dag *dag = has_dag ? found.dag : made;
    CHECK(dag != NULL);
    if (timetable_of_dag(dag, zone_file_read, &timetable, err) != STATUS_OK)
        return err->code;
    json_t *object = json_build_object();
    json_t *schedule = json_object_get(dag->rest, "schedule");
    json_put_string(object, "dag_id", has_dag ? dag->id : NULL);
    json_put(object, "schedule", schedule != NULL ? json_incref(schedule) : json_null());
    json_put_bool(object, "is_timed", timetable->schedules_count > 0);
    json_t *ticks = list_ticks(timetable, after_us, count);
    json_put_int(object, "total_entries", (int64_t)json_array_size(ticks));
    json_put(object, "ticks", ticks);
    *out = object;
    return STATUS_OK;
}
