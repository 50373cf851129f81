#include "service/backfill_plan.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_graph.h"
#include "model/limits.h"
#include "model/params.h"
#include "model/settings.h"
#include "os/zone_file.h"
#include "service/json_build.h"
#include "store/platform.h"
#include "store/queue.h"
#include "store/version.h"

/* --- what was asked for ---------------------------------------------------------------------- */

static enum status read_date(const json_t *request, const char *key, int64_t *out, struct err *err)
{
    const char *text = json_get_string(request, key, "");
    if (!instant_parse(text, out))
        return err_set(err, STATUS_INVALID, "'%s': '%.60s' is no date; write 2026-01-15", key,
                       text);
    return STATUS_OK;
}

static enum status read_order(const json_t *request, struct backfill_plan *plan, struct err *err)
{
    const char *order = json_get_string(request, "order", "asc");
    const char *redo = json_get_string(request, "redo", "none");
    plan->range.newest_first = str_equal(order, "desc");
    if (!plan->range.newest_first && !str_equal(order, "asc"))
        return err_set(err, STATUS_INVALID, "the order '%.60s' is neither asc nor desc", order);
    if (!backfill_redo_parse(redo, &plan->redo))
        return err_set(err, STATUS_INVALID, "redo '%.60s' is none of: none, failed, all", redo);
    return STATUS_OK;
}

static enum status read_range(const struct service *service, const json_t *request,
                              struct backfill_plan *plan, struct err *err)
{
    struct backfill_range *range = &plan->range;
    int64_t now_us = service_now_us(service);
    if (read_date(request, "from", &range->from_us, err) != STATUS_OK ||
        read_date(request, "to", &range->to_us, err) != STATUS_OK)
        return err->code;
    if (range->from_us > range->to_us)
        return err_set(err, STATUS_INVALID, "the range ends before it begins: from %.40s to %.40s",
                       json_get_string(request, "from", ""), json_get_string(request, "to", ""));
    if (range->from_us > now_us)
        return err_set(err, STATUS_INVALID,
                       "the range begins in the future: a backfill is for dates of the past");
    range->until_us = now_us;
    return STATUS_OK;
}

/* --- the DAG --------------------------------------------------------------------------------- */

/* The one with the highest number, whichever is current. */
static enum status find_last(struct store *store, struct arena *arena, struct backfill_plan *plan,
                             struct err *err)
{
    struct version_info info;
    if (store_version_last(store, plan->dag_key, &plan->version, err) != STATUS_OK ||
        store_version_load(store, arena, plan->version, &info, err) != STATUS_OK)
        return err->code;
    plan->version_number = info.number;
    return store_version_dag(store, plan->version, &plan->dag, err);
}

static enum status find_version(struct store *store, struct arena *arena, const json_t *request,
                                struct backfill_plan *plan, struct err *err)
{
    const char *version = json_get_string(request, "version", "current");
    struct version_info info;
    int64_t number = 0;
    plan->dag = plan->found.dag;
    enum status status = store == NULL
                             ? STATUS_NOT_FOUND
                             : store_version_newest(store, arena, plan->dag->id, &info, err);
    /* A run that is done again keeps its own in any case. */
    bool is_current = str_equal(version, "current") || str_equal(version, "original");
    if (status == STATUS_NOT_FOUND && is_current && plan->found.file != NULL)
        return STATUS_OK;
    if (store == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no store yet, and no version %.60s",
                       version);
    if (status != STATUS_OK)
        return status;
    plan->dag_key = info.dag_key;
    if (!info.is_active && plan->found.file == NULL)
        return err_set(err, STATUS_CONFLICT, "DAG '%s' is inactive: its file %s is gone",
                       info.dag_id, info.path);
    if (is_current && plan->found.file != NULL)
        return STATUS_OK;
    plan->version = info.version;
    plan->version_number = info.number;
    if (is_current)
        return STATUS_OK;
    if (str_equal(version, "newest"))
        return find_last(store, arena, plan, err);
    if (!str_parse_i64(version, 1, INT64_MAX, &number))
        return err_set(err, STATUS_INVALID,
                       "the version '%.60s' is neither a number nor current, newest or original",
                       version);
    plan->version_number = number;
    if (store_backfill_version(store, info.dag_key, number, &plan->version, err) != STATUS_OK)
        return err->code;
    return store_version_dag(store, plan->version, &plan->dag, err);
}

static bool depends_on_past(const struct dag *dag)
{
    bool depends = dag->depends_on_past;
    for (size_t i = 0; i < dag->tasks_count; i++)
        depends |= dag->tasks[i].depends_on_past;
    return depends;
}

static enum status read_timetable(struct backfill_plan *plan, struct err *err)
{
    const struct dag *dag = plan->dag;
    if (timetable_of_dag(dag, zone_file_read, &plan->timetable, err) != STATUS_OK)
        return err->code;
    plan->range.timetable = plan->timetable;
    if (plan->timetable->schedules_count == 0)
        return err_set(err, STATUS_INVALID,
                       "DAG '%s' has no dates: its `schedule` names no times. Give it one, or run "
                       "it for single dates with `eider dags trigger %s --date DATE`",
                       dag->id, dag->id);
    if (plan->range.newest_first && depends_on_past(dag))
        return err_set(err, STATUS_INVALID,
                       "DAG '%s' depends on its past: the oldest date has to come first", dag->id);
    return STATUS_OK;
}

/* A day may begin before the first date of its schedule: only whole dates are missed by people. */
static const char *describe_cut(const struct backfill_plan *plan, struct arena *arena)
{
    int64_t start_us = 0;
    int64_t end_us = 0;
    char start[INSTANT_TEXT_MAX];
    char end[INSTANT_TEXT_MAX];
    timetable_bounds(plan->timetable, &start_us, &end_us);
    bool is_early = plan->range.from_us < start_us;
    bool is_late = end_us < MIN(plan->range.to_us, plan->range.until_us);
    if (!is_early && !is_late)
        return NULL;
    return arena_format(
        arena, "%s%s%s%s%s", is_early ? "dates before the start of its schedule, " : "",
        is_early ? instant_format(start_us, start) : "", is_early && is_late ? "; " : "",
        is_late ? "dates after its end, " : "", is_late ? instant_format(end_us, end) : "");
}

/* --- tasks ----------------------------------------------------------------------------------- */

static enum status choose_tasks(const json_t *request, struct backfill_plan *plan, struct err *err)
{
    const struct dag *dag = plan->dag;
    const json_t *names = json_object_get(request, "tasks");
    plan->tasks = json_build_array();
    if (json_array_size(names) == 0)
        return STATUS_OK;
    CLEANUP(mem_freep) bool *chosen = mem_zalloc(dag->tasks_count + 1, sizeof *chosen);
    CLEANUP(mem_freep) bool *before = mem_zalloc(dag->tasks_count + 1, sizeof *before);
    for (size_t i = 0; i < json_array_size(names); i++) {
        int64_t node = 0;
        if (lookup_node(dag, json_string_value(json_array_get(names, i)), &node, err) != STATUS_OK)
            return err->code;
        chosen[node] = before[node] = true;
    }
    if (json_get_bool(request, "upstream", false))
        dag_add_upstream(dag, before);
    if (json_get_bool(request, "downstream", false))
        dag_add_downstream(dag, chosen);
    for (size_t node = 0; node < dag->tasks_count; node++)
        if (chosen[node] || before[node])
            json_build_append(plan->tasks, json_string(dag->tasks[node].id));
    return STATUS_OK;
}

/* --- the rest -------------------------------------------------------------------------------- */

/* Whoever asks can be stricter than the platform, not laxer. */
static enum status read_policy(const struct service *service, struct store *store,
                               struct arena *arena, struct backfill_plan *plan, struct err *err)
{
    struct platform_policy platform = {.backfill_queue = ""};
    int64_t own = settings_number(service->settings, SETTING_BACKFILL_APPROVAL);
    const char *queue = settings_text(service->settings, SETTING_BACKFILL_QUEUE);
    if (store != NULL && store_platform_load(store, arena, &platform, err) != STATUS_OK)
        return err->code;
    bool both = own > 0 && platform.backfill_approval > 0;
    plan->approval =
        both ? MIN(own, platform.backfill_approval) : MAX(own, platform.backfill_approval);
    if (platform.backfill_queue[0] != '\0')
        queue = platform.backfill_queue;
    plan->queue_name = queue != NULL && queue[0] != '\0' ? queue : NULL;
    return STATUS_OK;
}

static enum status read_bounds(struct store *store, struct arena *arena, const json_t *request,
                               struct backfill_plan *plan, struct err *err)
{
    int64_t usual = plan->dag->max_active_runs > 0 ? plan->dag->max_active_runs : 1;
    plan->max_active =
        json_get_int(request, "max_active", MIN(usual, (int64_t)BACKFILL_ACTIVE_MAX));
    if (plan->max_active < 1 || plan->max_active > BACKFILL_ACTIVE_MAX)
        return err_set(err, STATUS_INVALID, "max_active is a number from 1 to %d, not %lld",
                       BACKFILL_ACTIVE_MAX, (long long)plan->max_active);
    plan->queue_name = json_get_string(request, "queue", plan->queue_name);
    if (plan->queue_name == NULL)
        return STATUS_OK;
    struct queue_info queue;
    if (store == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no queue '%.100s'", plan->queue_name);
    if (store_queue_load(store, arena, plan->queue_name, &queue, err) != STATUS_OK)
        return err->code;
    plan->queue = queue.id;
    return STATUS_OK;
}

/* Says how far as many as may be reach. */
static enum status refuse_size(const struct backfill_plan *plan, struct err *err)
{
    char text[INSTANT_TEXT_MAX];
    struct backfill_range range = plan->range;
    struct tick_dates dates = {.logical_at_us = range.to_us};
    range.newest_first = false;
    int64_t cursor_us = backfill_first_cursor(&range);
    for (int64_t i = 0; i <= plan->most; i++)
        if (!backfill_next(&range, &cursor_us, &dates))
            break;
    return err_set(err, STATUS_LIMIT,
                   "DAG '%s' has more than %lld dates in that range, the most of one backfill "
                   "(setting backfill_max): let it end before %s, and make others for the rest",
                   plan->dag->id, (long long)plan->most, instant_format(dates.logical_at_us, text));
}

/* Without a store nothing was ever run. */
static enum status look_at_dates(const struct service *service, struct store *store,
                                 struct backfill_plan *plan, struct err *err)
{
    plan->most = settings_number(service->settings, SETTING_BACKFILL_MAX);
    struct backfill_question question = {
        .range = plan->range, .redo = plan->redo, .dag_key = plan->dag_key, .most = plan->most};
    if (store == NULL) {
        struct backfill_range range = plan->range;
        range.newest_first = false;
        plan->survey.size = backfill_count(&range, plan->most);
        plan->survey.actions[ACTION_CREATE] = plan->survey.size;
        plan->survey.first_us = range.from_us;
        plan->survey.last_us = range.to_us;
    } else if (store_backfill_survey(store, &question, &plan->survey, err) != STATUS_OK ||
               store_dag_usual_ms(store, plan->dag_key, &plan->usual_ms, err) != STATUS_OK) {
        return err->code;
    }
    if (plan->survey.size > plan->most)
        return refuse_size(plan, err);
    if (plan->survey.size == 0)
        return err_set(err, STATUS_INVALID,
                       "the schedule of DAG '%s' has no date in that range that is due%s%s; `eider "
                       "dags show %s` shows its schedule",
                       plan->dag->id, plan->left_out != NULL ? ": it leaves out " : "",
                       plan->left_out != NULL ? plan->left_out : "", plan->dag->id);
    return STATUS_OK;
}

static enum status check_texts(const json_t *request, struct err *err)
{
    static const char *const KEYS[] = {"note", "reason"};
    for (size_t i = 0; i < ARRAY_LEN(KEYS); i++)
        if (strlen(json_get_string(request, KEYS[i], "")) > LIMIT_NOTE_BYTES)
            return err_set(err, STATUS_LIMIT, "'%s' has at most %d bytes", KEYS[i],
                           LIMIT_NOTE_BYTES);
    return STATUS_OK;
}

enum status backfill_plan_make(struct service *service, struct store *store, struct arena *arena,
                               const json_t *request, struct backfill_plan *out, struct err *err)
{
    *out = (struct backfill_plan){0};
    if (lookup_dag(service, arena, request, &out->found, err) != STATUS_OK ||
        read_order(request, out, err) != STATUS_OK ||
        read_range(service, request, out, err) != STATUS_OK ||
        check_texts(request, err) != STATUS_OK ||
        find_version(store, arena, request, out, err) != STATUS_OK ||
        read_timetable(out, err) != STATUS_OK || choose_tasks(request, out, err) != STATUS_OK ||
        read_policy(service, store, arena, out, err) != STATUS_OK ||
        read_bounds(store, arena, request, out, err) != STATUS_OK ||
        params_resolve_typed(out->dag, json_object_get(request, "conf"),
                             json_object_get(request, "params"), &out->params, err) != STATUS_OK)
        return err->code;
    out->left_out = describe_cut(out, arena);
    return look_at_dates(service, store, out, err);
}

void backfill_plan_fini(struct backfill_plan *plan)
{
    timetable_free(plan->timetable);
    json_decref(plan->tasks);
    json_decref(plan->params);
    lookup_dag_fini(&plan->found);
    *plan = (struct backfill_plan){0};
}

bool backfill_plan_needs_approval(const struct backfill_plan *plan)
{
    return plan->approval > 0 && plan->survey.size > plan->approval;
}
