/*
 * Why a DAG starts no run now: what is known of it is read here, explain_dag.h puts it into words.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/params.h"
#include "os/zone_file.h"
#include "service/explain_around.h"
#include "service/explain_dag.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/admission.h"
#include "store/dag_file.h"
#include "store/run_store.h"
#include "store/version.h"

struct dag_asking {
    struct service *service;
    struct store *store; /* NULL: there is none */
    struct arena *arena;
    struct explain_dag_facts facts;
    struct trigger_state trigger;
    struct missed_list missed;
};

/* "/dags/a.yaml:3:5: unknown key", the first one. */
static enum status note_broken(void *context, const struct dag_file *file, struct err *err)
{
    struct dag_asking *asking = context;
    CLEANUP(json_decrefp) json_t *problems = NULL;
    if (asking->facts.broken != NULL)
        return STATUS_OK;
    if (json_parse(file->problems, strlen(file->problems), &problems, err) != STATUS_OK)
        return err_wrap(err, "problems of %s", file->path);
    const json_t *first = json_array_get(problems, 0);
    const char *text = json_string_value(json_array_get(first, 2));
    asking->facts.broken_at_us = file->broken_at_us;
    asking->facts.broken = arena_format(asking->arena, "%s:%lld:%lld: %s", file->path,
                                        (long long)json_integer_value(json_array_get(first, 0)),
                                        (long long)json_integer_value(json_array_get(first, 1)),
                                        text != NULL ? text : "it cannot be read");
    return STATUS_OK;
}

static enum status note_backfill(void *context, const struct backfill_info *info, struct err *err)
{
    (void)err;
    struct explain_dag_facts *facts = &((struct dag_asking *)context)->facts;
    bool waits = info->state == BACKFILL_AWAITING || info->state == BACKFILL_PAUSED;
    if (waits && facts->backfills_count < EXPLAIN_BACKFILLS_MAX)
        facts->backfills[facts->backfills_count++] =
            (struct explain_dag_backfill){info->id, info->state};
    return STATUS_OK;
}

static enum status load_trigger(struct dag_asking *asking, struct err *err)
{
    struct err problem = {0};
    enum status status = store_trigger_state(asking->store, asking->arena, asking->facts.dag_id,
                                             &asking->trigger, &problem);
    if (status == STATUS_OK)
        asking->facts.trigger = &asking->trigger;
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        return STATUS_OK;
    *err = problem;
    return status;
}

static enum status note_last_run(void *context, const struct run_info *run, struct err *err)
{
    (void)err;
    ((struct dag_asking *)context)->facts.last_run_us = run->created_at_us;
    return STATUS_OK;
}

/* "etl -p day=... -p region=...": what has no default has to be given. */
static const char *describe_by_hand(struct arena *arena, const struct dag *dag)
{
    const char *words = dag->id;
    for (size_t i = 0; i < dag->params_count; i++)
        if (params_is_required(dag->params[i].schema))
            words = arena_format(arena, "%s -p %s=...", words, dag->params[i].name);
    return words;
}

/* What is kept of a DAG that the store knows. */
static enum status load_kept(struct dag_asking *asking, const struct version_info *version,
                             struct err *err)
{
    struct explain_dag_facts *facts = &asking->facts;
    struct admission_count count = {0};
    struct store *store = asking->store;
    const struct dag_file_filter broken = {.dag_id = facts->dag_id, .broken_only = true};
    const struct run_filter newest = {.dag_id = facts->dag_id, .state = -1, .limit = 1};
    const struct backfill_filter backfills = {.dag_id = facts->dag_id, .state = -1, .limit = 100};
    facts->is_known = true;
    facts->path = version->path;
    if (store_schedule_load(store, facts->dag_id, &facts->schedule, err) != STATUS_OK ||
        store_admission_count(store, facts->schedule.dag_key, 0, &count, err) != STATUS_OK ||
        store_dag_file_each(store, &broken, note_broken, asking, err) != STATUS_OK ||
        store_backfill_each(store, &backfills, note_backfill, asking, err) != STATUS_OK ||
        store_run_each(store, &newest, note_last_run, asking, err) != STATUS_OK ||
        store_missed_list(store, asking->arena, facts->schedule.dag_key, 1, &asking->missed, err) !=
            STATUS_OK)
        return err->code;
    facts->is_active = version->is_active && facts->schedule.is_offered;
    facts->going = count.going;
    facts->waiting = count.waiting;
    facts->missed = asking->missed.count > 0 ? &asking->missed.items[0] : NULL;
    return load_trigger(asking, err);
}

static enum status load_around(struct dag_asking *asking, struct err *err)
{
    struct explain_around around = {0};
    if (asking->store != NULL && explain_around_load(asking->service, asking->store, asking->arena,
                                                     &around, err) != STATUS_OK)
        return err->code;
    asking->facts.has_scheduler = around.has_scheduler;
    return STATUS_OK;
}

/* From the store; *out_dag stays NULL when it has no such DAG. */
static enum status find_kept(struct dag_asking *asking, const struct dag **out_dag, struct err *err)
{
    struct version_info version;
    struct err problem = {0};
    if (asking->store == NULL)
        return STATUS_OK;
    enum status status = store_version_newest(asking->store, asking->arena, asking->facts.dag_id,
                                              &version, &problem);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    if (store_version_dag(asking->store, version.version, out_dag, err) != STATUS_OK)
        return err->code;
    return load_kept(asking, &version, err);
}

static json_t *answer(const struct dag_asking *asking)
{
    CLEANUP(explanation_fini) struct explanation explanation;
    explanation_init(&explanation);
    explain_dag(&asking->facts, &explanation);
    json_t *object = json_build_object();
    CLEANUP(mem_freep)
    char *summary = mem_format("DAG '%s': %s%s%s", asking->facts.dag_id, explanation.because.text,
                               explanation.change.length > 0 ? ". To change it: " : "",
                               explanation.change.text);
    json_put_string(object, "dag_id", asking->facts.dag_id);
    json_put_bool(object, "is_paused", asking->facts.schedule.is_paused);
    json_put(object, "summary", json_text(summary, strlen(summary)));
    json_put(object, "conditions", json_incref(explanation.conditions));
    return object;
}

enum status op_dag_explain(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    struct err problem = {0};
    const struct dag *dag = NULL;
    struct dag_asking asking = {.service = service, .arena = arena};
    struct explain_dag_facts *facts = &asking.facts;
    facts->dag_id = json_get_string(request, "dag", "");
    facts->now_us = service_now_us(service);
    if (service_store_if_any(service, &asking.store, err) != STATUS_OK ||
        find_kept(&asking, &dag, err) != STATUS_OK || load_around(&asking, err) != STATUS_OK)
        return err->code;
    if (dag == NULL) {
        if (lookup_dag(service, arena, request, &found, err) != STATUS_OK)
            return err->code;
        dag = found.dag;
        facts->path = found.path;
    }
    if (timetable_of_dag(dag, zone_file_read, &timetable, &problem) != STATUS_OK)
        facts->timetable_problem = problem.text;
    facts->timetable = timetable;
    facts->by_hand = describe_by_hand(arena, dag);
    *out = answer(&asking);
    return STATUS_OK;
}
