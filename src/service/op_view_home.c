/*
 * The whole at a glance: what ended within a day, what goes on, what is late, what comes next.
 *
 * Nothing here depends on how long the history is. Where a day has more runs than are counted, the
 * answer says since when they were (`since`, `tasks_since`).
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "service/home_failing.h"
#include "service/home_hours.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "store/dag_file.h"
#include "store/dead.h"
#include "store/recent.h"
#include "store/sight.h"
#include "store/version.h"

enum {
    ENDED_MAX = 20000,    /* runs that are counted */
    ACTIVE_MAX = 20000,   /* the same of those that go on */
    TASKS_ENOUGH = 50000, /* tasks after which no more runs are looked into */
    RUNS_AT_ONCE = 200,
    SHOWN = 20, /* runs in each list */
    NEXT_SHOWN = 10,
    MISSES_MAX = 10000, /* deadlines that are counted */
    LOOKED_AT = 1000,   /* late runs and next ticks, for those who see only some namespaces */
    DEAD_MAX = 10000,
};

static const int64_t DAY_US = INT64_C(86400) * 1000000;

struct id_list {
    int64_t *items;
    size_t count;
    size_t capacity;
};

struct home {
    struct service *service;
    struct store *store;
    struct arena *arena;
    int64_t states[RUN_STATE_COUNT];
    int64_t seen;        /* runs that ended, whoever may see them */
    int64_t oldest_us;   /* when the last of them ended */
    struct id_list runs; /* those that count: active ones, then by when they ended */
    int64_t *ends;       /* of these: when; 0: not yet */
    size_t ends_capacity;
    int64_t active[SHOWN];
    size_t active_count;
    int64_t failed[SHOWN];
    size_t failed_count;
    struct home_hours hours;
    struct recent_dags dags;
};

static void home_fini(struct home *home)
{
    free(home->runs.items);
    free(home->ends);
}

/* --- runs ------------------------------------------------------------------------------------ */

static void note_run(struct home *home, const struct recent_run *run)
{
    home->states[run->state]++;
    home_hours_add_run(&home->hours, &(struct home_hours_run){
                                         .state = run->state,
                                         .created_at_us = run->created_at_us,
                                         .started_at_us = run->started_at_us,
                                         .ended_at_us = run->ended_at_us,
                                     });
    struct id_list *runs = &home->runs;
    runs->items = mem_grow(runs->items, &runs->capacity, runs->count, sizeof *runs->items);
    home->ends = mem_grow(home->ends, &home->ends_capacity, runs->count, sizeof *home->ends);
    home->ends[runs->count] = run->ended_at_us;
    runs->items[runs->count++] = run->id;
}

static void note_active(void *context, const struct recent_run *run)
{
    struct home *home = context;
    if (!store_sees(home->store, run->space))
        return;
    note_run(home, run);
    if (home->active_count < SHOWN)
        home->active[home->active_count++] = run->id;
}

static void note_ended(void *context, const struct recent_run *run)
{
    struct home *home = context;
    home->seen++;
    home->oldest_us = run->ended_at_us;
    if (!store_sees(home->store, run->space))
        return;
    note_run(home, run);
    if (run->state == RUN_FAILED && home->failed_count < SHOWN)
        home->failed[home->failed_count++] = run->id;
}

static void note_miss(void *context, const char *space, int64_t due_at_us)
{
    struct home *home = context;
    if (store_sees(home->store, space))
        home_hours_add_miss(&home->hours, due_at_us);
}

static enum status put_runs(struct home *home, json_t *object, struct err *err)
{
    int64_t since_us = service_now_us(home->service) - DAY_US;
    home->hours = home_hours_until(since_us + DAY_US);
    if (store_recent_misses(home->store, since_us, MISSES_MAX, note_miss, home, err) != STATUS_OK ||
        store_recent_active(home->store, ACTIVE_MAX, note_active, home, err) != STATUS_OK ||
        store_recent_ended(home->store, since_us, ENDED_MAX, note_ended, home, err) != STATUS_OK)
        return err->code;
    json_t *counts = json_build_object();
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
        json_put_int(counts, run_state_name(state), home->states[state]);
    json_put(object, "runs", counts);
    json_put(object, "hours", home_hours_json(&home->hours));
    json_put_instant(object, "since", home->seen == ENDED_MAX ? home->oldest_us : since_us);
    return STATUS_OK;
}

/* Of the same runs, as far as that is cheap. */
static enum status put_tasks(struct home *home, json_t *object, struct err *err)
{
    struct tally tally = {0};
    size_t done = 0;
    while (done < home->runs.count && tally.total < TASKS_ENOUGH) {
        size_t count = MIN(home->runs.count - done, (size_t)RUNS_AT_ONCE);
        if (store_recent_tally(home->store, home->runs.items + done, count, &tally, err) !=
            STATUS_OK)
            return err->code;
        done += count;
    }
    json_t *counts = json_build_object();
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (tally.states[state] > 0)
            json_put_int(counts, task_state_name(state), tally.states[state]);
    json_put(object, "tasks", counts);
    bool is_all = done == home->runs.count;
    int64_t last_us = done > 0 ? home->ends[done - 1] : 0;
    if (is_all)
        json_put(object, "tasks_since", json_incref(json_object_get(object, "since")));
    else
        json_put_instant(object, "tasks_since",
                         last_us != 0 ? last_us : service_now_us(home->service));
    return STATUS_OK;
}

/* *out_found: it is there and seen. */
static enum status load_run(struct home *home, int64_t id, struct run_info *out, bool *out_found,
                            struct err *err)
{
    struct err problem = {0};
    enum status status = store_run_load(home->store, home->arena, id, out, &problem);
    *out_found = status == STATUS_OK && store_sees(home->store, out->space);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) /* deleted meanwhile */
        return STATUS_OK;
    *err = problem;
    return status;
}

static enum status run_as_json(struct home *home, const struct run_info *run, json_t **out,
                               struct err *err)
{
    const struct dag *dag = NULL;
    if (store_version_dag(home->store, run->version, &dag, err) != STATUS_OK)
        return err->code;
    json_t *object = json_build_object();
    json_put_id(object, "number", run->id);
    json_put_string(object, "dag_id", run->dag_id);
    json_put_string(object, "dag_run_id", run->run_id);
    json_put_string(object, "namespace", run->space);
    json_put_string(object, "state", run_state_name(run->state));
    json_put_string(object, "run_type", run->kind);
    json_put_instant(object, "queued_at", run->created_at_us);
    json_put_instant(object, "start_date", run->started_at_us);
    json_put_instant(object, "end_date", run->ended_at_us);
    run_json_put_duration(object, "duration", run->started_at_us,
                          run->ended_at_us != 0 ? run->ended_at_us : service_now_us(home->service));
    json_put_int(object, "tasks_total", (int64_t)dag->tasks_count);
    json_put_int(object, "tasks_left", run->open_main + run->open_finally);
    *out = object;
    return STATUS_OK;
}

static enum status describe_run(struct home *home, int64_t id, json_t **out, struct err *err)
{
    struct run_info run;
    bool is_found = false;
    *out = NULL;
    if (load_run(home, id, &run, &is_found, err) != STATUS_OK)
        return err->code;
    return is_found ? run_as_json(home, &run, out, err) : STATUS_OK;
}

static enum status put_list(struct home *home, json_t *object, const char *name,
                            const int64_t *runs, size_t count, struct err *err)
{
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    for (size_t i = 0; i < count; i++) {
        json_t *run = NULL;
        if (describe_run(home, runs[i], &run, err) != STATUS_OK)
            return err->code;
        if (run != NULL)
            json_build_append(list, run);
    }
    json_put(object, name, TAKE(list));
    return STATUS_OK;
}

/* DAGs whose last run failed, whenever that was. */
static enum status put_failing(struct home *home, json_t *object, struct err *err)
{
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    int64_t runs[SHOWN];
    size_t count = 0;
    if (store_recent_failing(home->store, SHOWN, runs, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        struct run_info run;
        json_t *entry = NULL;
        bool is_found = false;
        if (load_run(home, runs[i], &run, &is_found, err) != STATUS_OK)
            return err->code;
        if (!is_found)
            continue;
        if (run_as_json(home, &run, &entry, err) != STATUS_OK)
            return err->code;
        json_build_append(list, entry);
        if (home_failing_put(home->service, &run, entry, err) != STATUS_OK)
            return err->code;
    }
    json_put(object, "failing", TAKE(list));
    return STATUS_OK;
}

static enum status put_late(struct home *home, json_t *object, struct err *err)
{
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    struct recent_late *late = arena_array(home->arena, LOOKED_AT, sizeof *late);
    size_t count = 0;
    bool sees_all = store_sees_all(home->store);
    if (store_recent_late(home->store, sees_all ? SHOWN : LOOKED_AT, late, &count, err) !=
        STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count && json_array_size(list) < SHOWN; i++) {
        json_t *run = NULL;
        if (describe_run(home, late[i].run, &run, err) != STATUS_OK)
            return err->code;
        if (run == NULL)
            continue;
        json_put_instant(run, "expected", late[i].due_at_us);
        json_put_int(run, "misses", late[i].misses);
        json_build_append(list, run);
    }
    json_put(object, "late", TAKE(list));
    return STATUS_OK;
}

/* --- what is around them --------------------------------------------------------------------- */

static void note_dags(void *context, const char *space, const struct recent_dags *dags)
{
    struct home *home = context;
    if (!store_sees(home->store, space))
        return;
    home->dags.total += dags->total;
    home->dags.active += dags->active;
    home->dags.paused += dags->paused;
}

static enum status put_dags(struct home *home, json_t *object, struct err *err)
{
    struct recent_next *next = NULL;
    size_t count = 0;
    bool sees_all = store_sees_all(home->store);
    if (store_recent_dags(home->store, note_dags, home, err) != STATUS_OK ||
        store_recent_next(home->store, home->arena, sees_all ? NEXT_SHOWN : LOOKED_AT, &next,
                          &count, err) != STATUS_OK)
        return err->code;
    json_t *dags = json_build_object();
    json_put_int(dags, "total", home->dags.total);
    json_put_int(dags, "active", home->dags.active);
    json_put_int(dags, "paused", home->dags.paused);
    json_put(object, "dags", dags);
    json_t *list = json_build_array();
    json_put(object, "next", list);
    for (size_t i = 0; i < count && json_array_size(list) < NEXT_SHOWN; i++) {
        if (!store_sees(home->store, next[i].namespace_))
            continue;
        json_t *entry = json_build_object();
        json_put_string(entry, "dag_id", next[i].dag_id);
        json_put_instant(entry, "run_after", next[i].at_us);
        json_build_append(list, entry);
    }
    return STATUS_OK;
}

struct broken_files {
    struct strmap *paths;
    struct arena *arena;
};

static enum status note_broken(void *context, const struct dag_file_offer *offer, struct err *err)
{
    (void)err;
    struct broken_files *files = context;
    (void)strmap_add(files->paths, arena_strdup(files->arena, offer->path), 0);
    return STATUS_OK;
}

/* Who sees only some namespaces is told of the files that offer DAGs of them. */
static enum status count_broken(struct home *home, int64_t *out, struct err *err)
{
    if (store_sees_all(home->store))
        return store_recent_broken(home->store, out, err);
    CLEANUP(strmap_freep) struct strmap *paths = strmap_new();
    struct broken_files files = {.paths = paths, .arena = home->arena};
    if (store_dag_file_each_kept(home->store, note_broken, &files, err) != STATUS_OK)
        return err->code;
    *out = (int64_t)strmap_count(paths);
    return STATUS_OK;
}

static enum status put_troubles(struct home *home, json_t *object, struct err *err)
{
    int64_t broken = 0;
    int64_t dead = 0;
    const struct dead_filter all = {0};
    struct recent_names lost = {0};
    int64_t since_us = service_now_us(home->service) - DAY_US;
    if (store_recent_lost(home->store, home->arena, since_us, SHOWN, &lost, err) != STATUS_OK ||
        count_broken(home, &broken, err) != STATUS_OK ||
        store_dead_count(home->store, &all, DEAD_MAX, &dead, err) != STATUS_OK)
        return err->code;
    json_t *names = json_build_array();
    for (size_t i = 0; i < lost.count; i++)
        json_build_append(names, json_string(lost.items[i]));
    json_put(object, "hosts_lost", names);
    json_put_int(object, "import_errors", broken);
    json_put_int(object, "dead_letters", dead);
    return STATUS_OK;
}

/* The list of another operation, as it gives it. */
static enum status put_other(struct service *service, json_t *object, const char *name,
                             enum status (*list)(struct service *service, const json_t *request,
                                                 json_t **out, struct err *err),
                             struct err *err)
{
    CLEANUP(json_decrefp) json_t *nothing = json_build_object();
    CLEANUP(json_decrefp) json_t *answer = NULL;
    if (list(service, nothing, &answer, err) != STATUS_OK)
        return err->code;
    json_put(object, name, json_incref(json_object_get(answer, name)));
    return STATUS_OK;
}

static enum status fill(struct home *home, json_t *object, struct err *err)
{
    if (put_runs(home, object, err) != STATUS_OK || put_tasks(home, object, err) != STATUS_OK ||
        put_list(home, object, "active", home->active, home->active_count, err) != STATUS_OK ||
        put_list(home, object, "failed", home->failed, home->failed_count, err) != STATUS_OK ||
        put_failing(home, object, err) != STATUS_OK || put_late(home, object, err) != STATUS_OK ||
        put_dags(home, object, err) != STATUS_OK || put_troubles(home, object, err) != STATUS_OK ||
        put_other(home->service, object, "hosts", op_host_list, err) != STATUS_OK ||
        put_other(home->service, object, "pools", op_pool_list, err) != STATUS_OK)
        return err->code;
    return put_other(home->service, object, "queues", op_queue_list, err);
}

enum status op_home_show(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    (void)request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *object = json_build_object();
    CLEANUP(home_fini) struct home home = {.service = service, .arena = arena};
    if (service_store(service, DB_READ_ONLY, &home.store, err) != STATUS_OK ||
        fill(&home, object, err) != STATUS_OK)
        return err_wrap(err, "look at the whole");
    json_put_instant(object, "now", service_now_us(service));
    *out = TAKE(object);
    return STATUS_OK;
}
