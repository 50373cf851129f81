/*
 * What a monitor shows, in as few answers as it has pictures: everything at a glance, and the tasks
 * of one run.
 */
#include "base/clock.h"
#include "base/str.h"
#include "model/task_tree.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "store/host.h"
#include "store/monitor.h"
#include "store/run_page.h"

enum {
    SECOND_US = 1000000,
    PACE_S = 60,
    ENDED_S = 3600,
    RUNS_DEFAULT = 50,
    RUNS_MAX = 1000,
    INSTANCES_DEFAULT = 100,
    INSTANCES_MAX = 1000
};

/* Over a slow line every member counts: what no monitor shows is left out. */
static void keep_members(json_t *object, const char *const *names, size_t count)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value)
    {
        bool is_kept = false;
        for (size_t i = 0; i < count && !is_kept; i++)
            is_kept = str_equal(names[i], key);
        if (!is_kept || json_is_null(value))
            (void)json_object_del(object, key);
    }
}

static enum status get_limit(const json_t *request, const char *key, int64_t otherwise,
                             int64_t most, int64_t *out, struct err *err)
{
    *out = json_get_int(request, key, otherwise);
    if (*out < 0 || *out > most)
        return err_set(err, STATUS_INVALID, "'%s' must be from 0 to %lld", key, (long long)most);
    return STATUS_OK;
}

/* --- top.overview: runs ---------------------------------------------------------------------- */

static const char *const RUN_MEMBERS[] = {
    "number",   "dag_id",    "dag_run_id", "state",       "reason",
    "run_type", "queued_at", "duration",   "tasks_total", "counts",
    "late",     "note",      "start_date", "end_date",    "waits_because",
};

struct run_listing {
    struct service *service;
    struct store *store;
    json_t *runs;
    int64_t left;
    bool skips_active; /* they were listed before */
};

static enum status list_run(void *context, const struct run_info *run, struct err *err)
{
    struct run_listing *listing = context;
    json_t *object = NULL;
    if (listing->left == 0 || (listing->skips_active && !run_state_is_final(run->state)))
        return STATUS_OK;
    if (run_json_load(listing->service, listing->store, run, &object, err) != STATUS_OK)
        return err->code;
    keep_members(object, RUN_MEMBERS, ARRAY_LEN(RUN_MEMBERS));
    json_build_append(listing->runs, object);
    listing->left--;
    return STATUS_OK;
}

/* What goes on first, then what was. */
static enum status list_runs(struct run_listing *listing, int64_t limit, struct err *err)
{
    struct run_page page = {
        .states = 1U << RUN_QUEUED | 1U << RUN_RUNNING, .is_descending = true, .limit = limit};
    listing->left = limit;
    if (limit == 0)
        return STATUS_OK;
    if (store_run_page(listing->store, &page, list_run, listing, err) != STATUS_OK)
        return err->code;
    page.states = 0;
    listing->skips_active = true;
    return store_run_page(listing->store, &page, list_run, listing, err);
}

/* --- top.overview: hosts, numbers and throughput --------------------------------------------- */

struct host_count {
    const struct service *service;
    int64_t active, draining, gone, slots, used;
};

static enum status count_host(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct host_count *count = context;
    bool is_here = service_host_lives(count->service, host);
    bool works = str_equal(host->kind, "daemon");
    count->used += is_here ? host->holds : 0;
    count->gone += !is_here && works;
    count->draining += is_here && works && host->draining;
    count->active += is_here && works && !host->draining;
    count->slots += is_here && works && !host->draining ? host->slots : 0;
    return STATUS_OK;
}

static json_t *hosts_json(const struct host_count *count)
{
    json_t *object = json_build_object();
    json_put_int(object, "active", count->active);
    json_put_int(object, "draining", count->draining);
    json_put_int(object, "gone", count->gone);
    json_put_int(object, "slots", count->slots);
    json_put_int(object, "slots_used", count->used);
    return object;
}

static json_t *tasks_json(const struct monitor_counts *counts)
{
    json_t *object = json_build_object();
    json_put_int(object, "running", counts->running);
    json_put_int(object, "ready", counts->ready);
    json_put_int(object, "held", counts->held);
    json_put_int(object, "later", counts->later);
    return object;
}

static json_t *runs_json(const struct monitor_counts *counts)
{
    json_t *object = json_build_object();
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
        json_put_int(object, run_state_name(state), counts->runs[state]);
    return object;
}

/* Seconds that were too long ago to be read look like the ones that were, on average. */
static json_t *pace_json(const struct monitor_pace *pace)
{
    json_t *object = json_build_object();
    json_t *seconds = json_build_array();
    int64_t sum = 0;
    size_t known = pace->count - pace->unread;
    for (size_t i = pace->unread; i < pace->count; i++)
        sum += pace->seconds[i];
    int64_t mean = known > 0 ? sum / (int64_t)known : pace->seconds[pace->count - 1];
    for (size_t i = 0; i < pace->count; i++)
        json_build_append(seconds, json_integer(i < pace->unread ? mean : pace->seconds[i]));
    json_put_instant(object, "from", pace->first * SECOND_US);
    json_put(object, "finished", seconds);
    json_put_bool(object, "estimated", pace->unread > 0);
    return object;
}

static enum status overview(struct run_listing *listing, const json_t *request, int64_t limit,
                            json_t *answer, struct err *err)
{
    int64_t now_us = service_now_us(listing->service);
    int64_t since_us = now_us - (int64_t)PACE_S * SECOND_US;
    const char *since = json_get_string(request, "since", NULL);
    struct host_count hosts = {.service = listing->service};
    struct monitor_counts counts = {0};
    struct monitor_pace pace = {.first = now_us / SECOND_US, .count = 1};
    if (since != NULL && !instant_parse(since, &since_us))
        return err_set(err, STATUS_INVALID, "'since' is no instant");
    if (listing->store != NULL &&
        (store_monitor_count(listing->store, now_us - (int64_t)ENDED_S * SECOND_US, &counts, err) !=
             STATUS_OK ||
         store_monitor_pace(listing->store, since_us, now_us, &pace, err) != STATUS_OK ||
         store_host_each(listing->store, false, count_host, &hosts, err) != STATUS_OK ||
         list_runs(listing, limit, err) != STATUS_OK))
        return err_wrap(err, "look at everything");
    json_put_instant(answer, "now", now_us);
    json_put(answer, "runs", runs_json(&counts));
    json_put(answer, "tasks", tasks_json(&counts));
    json_put(answer, "hosts", hosts_json(&hosts));
    json_put_int(answer, "dead_letters", counts.dead);
    json_put_int(answer, "broken_files", counts.broken_files);
    json_put(answer, "throughput", pace_json(&pace));
    return STATUS_OK;
}

enum status op_top_overview(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = json_build_object();
    CLEANUP(json_decrefp) json_t *runs = json_build_array();
    struct run_listing listing = {.service = service, .runs = runs};
    int64_t limit = 0;
    if (get_limit(request, "limit", RUNS_DEFAULT, RUNS_MAX, &limit, err) != STATUS_OK ||
        service_store_if_any(service, &listing.store, err) != STATUS_OK ||
        overview(&listing, request, limit, answer, err) != STATUS_OK)
        return err->code;
    json_put(answer, "dag_runs", TAKE(runs));
    *out = TAKE(answer);
    return STATUS_OK;
}

/* --- top.tasks ------------------------------------------------------------------------------- */

static const char *const TASK_MEMBERS[] = {
    "task_id",   "map_index", "label",    "state",      "try_number", "max_tries", "start_date",
    "end_date",  "duration",  "operator", "reason",     "message",    "exit_code", "signal",
    "is_mapped", "instances", "hostname", "next_retry", "queue",      "log_bytes",
};

struct task_listing {
    const struct service *service;
    const struct found_run *run;
    const json_t *open;       /* mapped tasks whose instances are asked for, or NULL */
    json_t **nodes;           /* by node */
    struct task_row *openers; /* by node; id 0: its instances are not asked for */
    int64_t limit;            /* of instances of each */
    /* Of the mapped task at hand: */
    json_t *telling; /* what runs, waits or went wrong */
    json_t *rest;    /* what succeeded or was left out */
};

static bool is_open(const json_t *open, const char *task_id)
{
    size_t i;
    json_t *name;
    json_array_foreach(open, i, name)
    {
        if (str_equal(json_string_value(name), task_id))
            return true;
    }
    return false;
}

static enum status task_object(const struct task_listing *listing, const struct task_row *task,
                               json_t **out, struct err *err)
{
    const struct found_run *run = listing->run;
    CLEANUP(json_decrefp)
    json_t *object = task_json(listing->service, &run->info, &run->dag->tasks[task->node], task);
    if (task->state == TASK_RUNNING &&
        task_json_add_host(listing->service, run->store, task, object, err) != STATUS_OK)
        return err->code;
    keep_members(object, TASK_MEMBERS, ARRAY_LEN(TASK_MEMBERS));
    *out = TAKE(object);
    return STATUS_OK;
}

static enum status list_node(void *context, const struct task_row *task, struct err *err)
{
    struct task_listing *listing = context;
    if (task->instance_base != 0 && is_open(listing->open, listing->run->dag->tasks[task->node].id))
        listing->openers[task->node] = *task;
    return task_object(listing, task, &listing->nodes[task->node], err);
}

static enum status list_instance(void *context, const struct task_row *task, struct err *err)
{
    struct task_listing *listing = context;
    json_t *object = NULL;
    bool is_quiet = task->state == TASK_SUCCESS || task->state == TASK_SKIPPED ||
                    task->state == TASK_NONE || task->state == TASK_REMOVED;
    json_t *list = is_quiet ? listing->rest : listing->telling;
    if ((int64_t)json_array_size(list) >= listing->limit)
        return STATUS_OK;
    if (task_object(listing, task, &object, err) != STATUS_OK)
        return err->code;
    json_build_append(list, object);
    return STATUS_OK;
}

static void append_at(json_t *tasks, json_t *borrowed, uint32_t depth)
{
    json_put_int(borrowed, "depth", depth);
    json_build_append(tasks, json_incref(borrowed));
}

/* Whatever needs somebody's eyes comes first; the others fill what is left. */
static enum status append_instances(struct task_listing *listing, const struct task_place *place,
                                    json_t *tasks, struct err *err)
{
    CLEANUP(json_decrefp) json_t *telling = json_build_array();
    CLEANUP(json_decrefp) json_t *rest = json_build_array();
    listing->telling = telling;
    listing->rest = rest;
    if (store_monitor_instances(listing->run->store, &listing->openers[place->node], list_instance,
                                listing, err) != STATUS_OK)
        return err->code;
    size_t room = (size_t)listing->limit - json_array_size(telling);
    for (size_t i = 0; i < json_array_size(telling); i++)
        append_at(tasks, json_array_get(telling, i), place->depth + 1);
    for (size_t i = 0; i < json_array_size(rest) && i < room; i++)
        append_at(tasks, json_array_get(rest, i), place->depth + 1);
    return STATUS_OK;
}

static enum status list_tree(struct task_listing *listing, struct arena *arena, json_t *tasks,
                             struct err *err)
{
    const struct dag *dag = listing->run->dag;
    const struct task_place *places = task_tree(dag, arena);
    for (size_t i = 0; i < dag->tasks_count; i++) {
        json_t *node = listing->nodes[places[i].node];
        if (node == NULL)
            continue;
        append_at(tasks, node, places[i].depth);
        if (listing->openers[places[i].node].id != 0 &&
            append_instances(listing, &places[i], tasks, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status list_tasks(struct task_listing *listing, struct arena *arena, json_t *tasks,
                              struct err *err)
{
    const struct found_run *run = listing->run;
    size_t count = run->dag->tasks_count;
    listing->nodes = arena_array(arena, count + 1, sizeof(json_t *));
    listing->openers = arena_array(arena, count + 1, sizeof *listing->openers);
    enum status status = store_monitor_nodes(run->store, run->info.id, list_node, listing, err);
    if (status == STATUS_OK)
        status = list_tree(listing, arena, tasks, err);
    for (size_t i = 0; i < count; i++)
        json_decref(listing->nodes[i]);
    return status;
}

enum status op_top_tasks(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *tasks = json_build_array();
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct found_run run;
    struct task_listing listing = {
        .service = service, .run = &run, .open = json_object_get(request, "open")};
    if (get_limit(request, "limit", INSTANCES_DEFAULT, INSTANCES_MAX, &listing.limit, err) !=
            STATUS_OK ||
        lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK ||
        run_json_load(service, run.store, &run.info, &object, err) != STATUS_OK ||
        list_tasks(&listing, arena, tasks, err) != STATUS_OK)
        return err->code;
    keep_members(object, RUN_MEMBERS, ARRAY_LEN(RUN_MEMBERS));
    *out = json_build_list("tasks", TAKE(tasks));
    json_put(*out, "run", TAKE(object));
    json_put_instant(*out, "now", service_now_us(service));
    return STATUS_OK;
}
