/*
 * Backfills: runs of a DAG for dates of the past.
 */
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/word_set.h"
#include "service/backfill_plan.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/lookup_version.h"
#include "service/op_handlers.h"
#include "service/rehearsal.h"
#include "store/host.h"
#include "store/version.h"

enum { LIST_USUAL = 20, LIST_MOST = 10000, DATES_MOST = 100000 };

static void put_seconds(json_t *object, const char *key, bool is_known, int64_t ms)
{
    json_put(object, key, is_known ? json_real((double)ms / 1e3) : json_null());
}

/* --- backfill.plan --------------------------------------------------------------------------- */

static json_t *existing_json(const struct backfill_survey *survey)
{
    json_t *object = json_build_object();
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
        if (survey->existing[state] > 0)
            json_put_int(object, run_state_name(state), survey->existing[state]);
    return object;
}

static json_t *plan_json(const struct backfill_plan *plan)
{
    const struct backfill_survey *survey = &plan->survey;
    json_t *object = json_build_object();
    int64_t chosen = (int64_t)json_array_size(plan->tasks);
    int64_t runs = survey->actions[ACTION_CREATE] + survey->actions[ACTION_REDO];
    json_put_string(object, "dag_id", plan->dag->id);
    json_put(object, "dag_version",
             plan->version_number > 0 ? json_integer(plan->version_number) : json_null());
    json_put_int(object, "size", survey->size);
    json_put_string(object, "left_out", plan->left_out);
    json_put_instant(object, "from", survey->first_us);
    json_put_instant(object, "to", survey->last_us);
    json_put_string(object, "order", plan->range.newest_first ? "desc" : "asc");
    json_put_string(object, "redo", backfill_redo_name(plan->redo));
    json_put_int(object, "max_active", plan->max_active);
    json_put_string(object, "queue", plan->queue_name);
    json_put(object, "tasks", json_incref(plan->tasks));
    json_put_int(object, "tasks_total", chosen > 0 ? chosen : (int64_t)plan->dag->tasks_count);
    json_put_int(object, "to_create", survey->actions[ACTION_CREATE]);
    json_put_int(object, "to_redo", survey->actions[ACTION_REDO]);
    json_put_int(object, "to_keep", survey->actions[ACTION_KEEP]);
    json_put(object, "existing", existing_json(survey));
    put_seconds(object, "usual_duration", plan->usual_ms > 0, plan->usual_ms);
    put_seconds(object, "estimate", plan->usual_ms > 0,
                backfill_estimate_ms(runs, plan->max_active, plan->usual_ms));
    json_put_bool(object, "needs_approval", backfill_plan_needs_approval(plan));
    return object;
}

struct date_list {
    json_t *dates;
    size_t most;
};

static enum status add_planned(void *context, const struct tick_dates *dates,
                               enum backfill_action action, const enum run_state *state,
                               struct err *err)
{
    static const char *const WORDS[] = {
        [ACTION_CREATE] = "create", [ACTION_REDO] = "redo", [ACTION_KEEP] = "keep"};
    (void)err;
    const struct date_list *list = context;
    if (json_array_size(list->dates) >= list->most)
        return STATUS_OK;
    json_t *row = json_build_object();
    json_put_instant(row, "logical_date", dates->logical_at_us);
    json_put_string(row, "action", WORDS[action]);
    json_put_string(row, "state", state != NULL ? run_state_name(*state) : NULL);
    json_build_append(list->dates, row);
    return STATUS_OK;
}

static enum status put_planned(struct store *store, const struct backfill_plan *plan,
                               const json_t *request, json_t *object, struct err *err)
{
    struct date_list list = {
        .dates = json_build_array(),
        .most =
            (size_t)MIN(MAX(json_get_int(request, "dates", 0), (int64_t)0), (int64_t)DATES_MOST),
    };
    struct backfill_survey survey;
    struct backfill_question question = {.range = plan->range,
                                         .redo = plan->redo,
                                         .dag_key = plan->dag_key,
                                         .most = (int64_t)list.most,
                                         .each = add_planned,
                                         .context = &list};
    json_put(object, "dates", list.dates);
    if (store == NULL || list.most == 0)
        return STATUS_OK;
    return store_backfill_survey(store, &question, &survey, err);
}

enum status op_backfill_plan(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(backfill_plan_fini) struct backfill_plan plan = {0};
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct store *store = NULL;
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        backfill_plan_make(service, store, arena, request, &plan, err) != STATUS_OK)
        return err->code;
    object = plan_json(&plan);
    if (put_planned(store, &plan, request, object, err) != STATUS_OK)
        return err->code;
    *out = TAKE(object);
    return STATUS_OK;
}

/* --- backfill.show, backfill.list ------------------------------------------------------------ */

/* Of dates that were not looked at, all are taken to need a run. */
static enum status put_estimate(struct store *store, const struct backfill_info *info,
                                json_t *object, struct err *err)
{
    int64_t left = info->size - info->created - info->redone - info->kept;
    int64_t usual_ms = 0;
    bool is_over = backfill_state_is_final(info->state);
    if (!is_over && store_dag_usual_ms(store, info->dag_key, &usual_ms, err) != STATUS_OK)
        return err->code;
    put_seconds(object, "estimate_left", usual_ms > 0,
                backfill_estimate_ms(MAX(left, (int64_t)0) + backfill_info_active(info),
                                     info->max_active, usual_ms));
    return STATUS_OK;
}

static json_t *backfill_json(const struct backfill_info *info)
{
    json_t *object = json_build_object();
    int64_t left = info->size - info->created - info->redone - info->kept;
    json_put_id(object, "backfill", info->id);
    json_put_string(object, "dag_id", info->dag_id);
    json_put_int(object, "dag_version", info->version_number);
    json_put_string(object, "state", backfill_state_name(info->state));
    json_put_instant(object, "from", info->from_us);
    json_put_instant(object, "to", info->to_us);
    json_put_string(object, "order", info->newest_first ? "desc" : "asc");
    json_put_string(object, "redo", backfill_redo_name(info->redo));
    json_put_int(object, "max_active", info->max_active);
    json_put_string(object, "queue", info->queue_name);
    json_build_put_parsed(object, "params", info->params);
    json_build_put_parsed(object, "conf", info->conf);
    json_build_put_parsed(object, "tasks", info->tasks);
    json_put_string(object, "note", info->note);
    json_put_string(object, "reason", info->reason);
    json_put_string(object, "actor", info->actor);
    json_put_int(object, "size", info->size);
    json_put_int(object, "left", info->is_spent ? 0 : MAX(left, (int64_t)0));
    json_put_int(object, "active", backfill_info_active(info));
    json_put_int(object, "succeeded", info->succeeded);
    json_put_int(object, "failed", info->failed);
    json_put_int(object, "cancelled", info->cancelled);
    json_put_int(object, "created", info->created);
    json_put_int(object, "redone", info->redone);
    json_put_int(object, "kept", info->kept);
    json_put_instant(object, "created_at", info->created_at_us);
    json_put_instant(object, "start_date", info->started_at_us);
    json_put_instant(object, "end_date", info->ended_at_us);
    return object;
}

static enum status add_date(void *context, const struct backfill_date *date, struct err *err)
{
    (void)err;
    json_t *row = json_build_object();
    json_put_instant(row, "logical_date", date->logical_at_us);
    json_put_string(row, "action", backfill_action_name(date->action));
    json_put_id(row, "run", date->run);
    json_put_string(row, "dag_run_id", date->run_id);
    json_put_string(row, "state", run_state_name(date->state));
    json_build_append(context, row);
    return STATUS_OK;
}

static enum status find_id(const json_t *request, int64_t *out, struct err *err)
{
    const char *text = json_get_string(request, "backfill", "");
    if (!str_parse_i64(text, 1, INT64_MAX, out))
        return err_set(err, STATUS_INVALID, "'%.60s' is no number of a backfill", text);
    return STATUS_OK;
}

/* A scheduler that lives, by its lease or by what this machine knows. */
struct scheduler_search {
    const struct service *service;
    bool is_found;
};

static enum status note_scheduler(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct scheduler_search *search = context;
    search->is_found |= str_equal(host->kind, "daemon") && word_set_has(host->roles, "scheduler") &&
                        service_host_lives(search->service, host);
    return STATUS_OK;
}

/* Why it does not go on by itself. */
static enum status put_held(const struct service *service, struct store *store, struct arena *arena,
                            const struct backfill_info *info, json_t *object, struct err *err)
{
    struct scheduler_search search = {.service = service};
    const char *held = NULL;
    if (store_backfill_held(store, arena, info, &held, err) != STATUS_OK ||
        store_host_each(store, false, note_scheduler, &search, err) != STATUS_OK)
        return err->code;
    if (!search.is_found && !backfill_state_is_final(info->state))
        held = "no scheduler works on this store: `eider up` starts one";
    json_put_string(object, "held_because", held);
    return STATUS_OK;
}

static enum status answer(const struct service *service, struct store *store, int64_t id,
                          int64_t dates, json_t **out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct backfill_info info;
    if (store_backfill_load(store, arena, id, &info, err) != STATUS_OK)
        return err->code;
    object = backfill_json(&info);
    if (put_held(service, store, arena, &info, object, err) != STATUS_OK)
        return err->code;
    if (put_estimate(store, &info, object, err) != STATUS_OK)
        return err->code;
    if (dates > 0) {
        json_t *list = json_build_array();
        json_put(object, "dates", list);
        if (store_backfill_date_each(store, id, dates, add_date, list, err) != STATUS_OK)
            return err->code;
    }
    *out = TAKE(object);
    return STATUS_OK;
}

enum status op_backfill_show(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    struct store *store = NULL;
    int64_t id = 0;
    int64_t dates = MIN(json_get_int(request, "dates", 0), (int64_t)DATES_MOST);
    if (find_id(request, &id, err) != STATUS_OK ||
        service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err->code;
    return answer(service, store, id, dates, out, err);
}

static enum status add_backfill(void *context, const struct backfill_info *info, struct err *err)
{
    (void)err;
    json_build_append(context, backfill_json(info));
    return STATUS_OK;
}

static enum status count_backfills(struct store *store, const void *filter, int64_t most,
                                   int64_t *out, struct err *err)
{
    return store_backfill_count(store, filter, most, out, err);
}

enum status op_backfill_list(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    struct store *store = NULL;
    const char *name = json_get_string(request, "state", NULL);
    struct backfill_filter filter = {
        .dag_id = json_get_string(request, "dag", NULL),
        .state = -1,
        .limit =
            MIN(MAX(json_get_int(request, "limit", LIST_USUAL), (int64_t)1), (int64_t)LIST_MOST),
    };
    enum backfill_state state;
    if (name != NULL && !backfill_state_parse(name, &state))
        return err_set(err, STATUS_INVALID, "'%.60s' is no state of a backfill", name);
    if (name != NULL)
        filter.state = (int64_t)state;
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL &&
         store_backfill_each(store, &filter, add_backfill, list, err) != STATUS_OK))
        return err->code;
    if (json_array_size(list) == 0 && lookup_dag_name(service, filter.dag_id, err) != STATUS_OK)
        return err->code;
    const struct listing_page page = {
        .request = request,
        .name = "backfills",
        .store = store,
        .limit = filter.limit,
        .count = count_backfills,
        .filter = &filter,
    };
    return listing_answer(&page, TAKE(list), out, err);
}

/* --- backfill.create ------------------------------------------------------------------------- */

static enum status create(struct service *service, struct store *store,
                          const struct backfill_plan *plan, const json_t *request, int64_t *out_id,
                          struct err *err)
{
    const json_t *conf = json_object_get(request, "conf");
    CLEANUP(mem_freep) char *params_text = json_format(plan->params);
    CLEANUP(mem_freep)
    char *conf_text = json_is_object(conf) ? json_format(conf) : mem_strdup("{}");
    CLEANUP(mem_freep) char *tasks_text = json_format(plan->tasks);
    const struct backfill_request backfill = {
        .dag_key = plan->dag_key,
        .version = plan->version,
        .from_us = plan->range.from_us,
        .to_us = plan->range.to_us,
        .until_us = plan->range.until_us,
        .newest_first = plan->range.newest_first,
        .redo = plan->redo,
        .max_active = plan->max_active,
        .queue = plan->queue,
        .params = params_text,
        .conf = conf_text,
        .tasks = tasks_text,
        .note = json_get_string(request, "note", ""),
        .reason = json_get_string(request, "reason", ""),
        .actor = service->actor,
        .size = plan->survey.size,
        .cursor_us = backfill_first_cursor(&plan->range),
        .awaits_approval = backfill_plan_needs_approval(plan),
    };
    return store_backfill_create(store, &backfill, out_id, err);
}

enum status op_backfill_create(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(backfill_plan_fini) struct backfill_plan plan = {0};
    struct version_info info;
    struct store *store = NULL;
    int64_t id = 0;
    enum status status = service_store(service, DB_READ_WRITE, &store, err);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (backfill_plan_make(service, store, arena, request, &plan, err) != STATUS_OK)
        return err->code;
    if (store == NULL)
        return err_set(err, STATUS_UNREACHABLE, "nobody would run it: no `eider up` works here");
    if (plan.version == 0) {
        if (lookup_version(service, store, arena, request, &plan.version, err) != STATUS_OK ||
            store_version_load(store, arena, plan.version, &info, err) != STATUS_OK)
            return err->code;
        plan.dag_key = info.dag_key;
    }
    if (create(service, store, &plan, request, &id, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    if (answer(service, store, id, 0, out, err) != STATUS_OK)
        return err->code;
    json_put_string(*out, "left_out", plan.left_out);
    return STATUS_OK;
}

/* --- what is done to one --------------------------------------------------------------------- */

static enum status change(struct service *service, const json_t *request, enum backfill_verb verb,
                          json_t **out, struct err *err)
{
    struct store *store = NULL;
    struct backfill_change change = {
        .verb = verb,
        .stops_running = json_get_bool(request, "running", false),
        .actor = service->actor,
        .reason = json_get_string(request, "reason", NULL),
    };
    if (find_id(request, &change.id, err) != STATUS_OK ||
        service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_backfill_change(store, &change, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return answer(service, store, change.id, 0, out, err);
}

enum status op_backfill_approve(struct service *service, const json_t *request, json_t **out,
                                struct err *err)
{
    return change(service, request, VERB_APPROVE, out, err);
}

enum status op_backfill_pause(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    return change(service, request, VERB_PAUSE, out, err);
}

enum status op_backfill_resume(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    return change(service, request, VERB_RESUME, out, err);
}

static enum status cancel(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    return change(service, request, VERB_CANCEL, out, err);
}

enum status op_backfill_cancel(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    return rehearsal_call(service, request, cancel, out, err);
}
