#include "sched/forecast.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/duration.h"
#include "model/kind.h"
#include "model/sensor.h"
#include "model/word_set.h"
#include "os/zone_file.h"
#include "sched/forecast_limits.h"
#include "sched/forecast_sla.h"
#include "sched/player.h"
#include "store/duration_stats.h"
#include "store/overview.h"
#include "store/run_store.h"
#include "store/schedule.h"
#include "store/version.h"

enum { LABELS_MAX = 1 << 24 };

static const int64_t HOUR_US = 3600000000;
static const int64_t MINUTE_US = 60000000;
/* Seconds do not matter in a picture of hours. */
static const int64_t GRAIN_US = 10000000;

/* What is known of one DAG. */
struct played_dag {
    struct forecast_dag *report;
    const struct dag *dag; /* of the real store */
    struct task_stats *stats;
};

struct making {
    const struct forecast_request *request;
    struct arena *arena;
    struct forecast *out;
    struct store *scratch;
    struct idmap *versions; /* of the scratch store: to struct played_dag */
    struct idmap *runs;     /* of the scratch store: to struct played_run */
    struct forecast_pools pools;
    int64_t running;
    struct strbuf labels; /* that some task asks for: there is a host for each */
};

struct played_run {
    struct played_dag *dag;
    int64_t began_us;
};

/* --- the DAGs -------------------------------------------------------------------------------- */

struct listing {
    struct making *making;
    struct version_info *items;
    size_t count;
    size_t capacity;
};

static enum status note_version(void *context, const struct version_info *info, struct err *err)
{
    (void)err;
    struct listing *list = context;
    if (!info->is_active)
        return STATUS_OK; /* its file is gone: nothing of it runs */
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count] = *info;
    list->items[list->count++].dag_id = arena_strdup(list->making->arena, info->dag_id);
    return STATUS_OK;
}

/* Without the files that its tasks name: nobody runs them here. */
static enum status save_bare(struct store *scratch, const struct dag *dag, struct version_ref *out,
                             struct err *err)
{
    const struct version_source source = {.path = "", .text = ""};
    struct dag bare = *dag;
    bare.files = NULL;
    bare.files_count = 0;
    return store_version_save(scratch, &bare, &source, out, err);
}

/*
 * From where on ticks are decided on. By the time of a later beginning all before it have been; an
 * earlier one plays them again.
 */
static int64_t played_cursor(const struct forecast_request *request, int64_t cursor_us)
{
    int64_t before_us = request->from_us - 1; /* a tick at the beginning is played */
    if (request->from_us > request->now_us)
        return MAX(cursor_us, before_us);
    return request->from_us < request->now_us ? MIN(cursor_us, before_us) : cursor_us;
}

static enum status copy_schedule(struct making *making, const char *dag_id, struct err *err)
{
    struct schedule_info info;
    const struct pause_request pause = {.dag_id = dag_id, .is_paused = true, .actor = "simulate"};
    bool changed = false;
    if (store_schedule_load(making->request->store, dag_id, &info, err) != STATUS_OK ||
        store_schedule_carry_on(making->scratch, dag_id,
                                played_cursor(making->request, info.cursor_us), err) != STATUS_OK)
        return err->code;
    return info.is_paused ? store_schedule_pause(making->scratch, &pause, &changed, err)
                          : STATUS_OK;
}

static enum status copy_dag(struct making *making, const struct version_info *info,
                            struct forecast_dag *report, struct err *err)
{
    struct played_dag *played = arena_alloc(making->arena, sizeof *played);
    struct store *real = making->request->store;
    struct version_ref ref;
    played->report = report;
    if (store_version_dag(real, info->version, &played->dag, err) != STATUS_OK ||
        store_duration_stats(real, making->arena, info->version, played->dag, &played->stats,
                             err) != STATUS_OK ||
        save_bare(making->scratch, played->dag, &ref, err) != STATUS_OK ||
        copy_schedule(making, info->dag_id, err) != STATUS_OK)
        return err_wrap(err, "DAG '%s'", info->dag_id);
    for (size_t i = 0; i < played->dag->tasks_count; i++) {
        report->unknown += played->stats[i].takes_us < 0;
        strbuf_addf(&making->labels, " %s", task_def_labels(&played->dag->tasks[i], making->arena));
    }
    idmap_set(making->versions, ref.version, played);
    return STATUS_OK;
}

static enum status copy_dags(struct making *making, struct err *err)
{
    struct listing list = {.making = making};
    enum status status = store_version_each(making->request->store, note_version, &list, err);
    struct forecast *out = making->out;
    out->dags = arena_array(making->arena, list.count, sizeof *out->dags);
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++) {
        struct forecast_dag *report = &out->dags[out->dags_count++];
        report->dag_id = list.items[i].dag_id;
        status = copy_dag(making, &list.items[i], report, err);
    }
    free(list.items);
    return status;
}

/* --- what happens ---------------------------------------------------------------------------- */

static struct forecast_hour *hour_at(const struct making *making, int64_t at_us)
{
    int64_t index = (at_us - making->request->from_us) / HOUR_US;
    size_t last = making->out->hours_count - 1;
    return &making->out->hours[MIN((size_t)MAX(index, (int64_t)0), last)];
}

static struct played_run *run_of(struct making *making, int64_t id)
{
    struct played_run *run = idmap_find(making->runs, id);
    if (run != NULL)
        return run;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct run_info info;
    struct err err = {0};
    CHECK(store_run_load(making->scratch, arena, id, &info, &err) == STATUS_OK);
    run = arena_alloc(making->arena, sizeof *run);
    *run = (struct played_run){
        .dag = idmap_find(making->versions, info.version),
        .began_us = player_clock(),
    };
    CHECK(run->dag != NULL);
    idmap_set(making->runs, id, run);
    run->dag->report->runs++;
    hour_at(making, player_clock())->runs++;
    return run;
}

/* A task that runs over an hour is busy in both. */
static void add_busy(struct making *making, int64_t from_us, int64_t to_us)
{
    int64_t end_us = MIN(to_us, making->request->to_us);
    while (from_us < end_us) {
        struct forecast_hour *hour = hour_at(making, from_us);
        int64_t until_us = MIN(end_us, hour->start_us + HOUR_US);
        if (until_us <= from_us)
            return; /* past the last hour */
        hour->busy_us += until_us - from_us;
        from_us = until_us;
    }
}

/* Of several branches the first is taken. */
static void choose(const struct task_def *def, struct player_fate *fate)
{
    fate->is_choice = def->kind == KIND_BRANCH || def->kind == KIND_SHORT_CIRCUIT;
    fate->chosen = def->dependants.items;
    fate->chosen_count =
        def->kind == KIND_BRANCH ? MIN(def->dependants.count, (size_t)1) : def->dependants.count;
}

/* How often a mapped task ran lately, or would if its lists are written down. */
static int64_t instances_of(const struct task_def *def, const struct task_stats *stats)
{
    int64_t count = 1;
    const char *key;
    json_t *list;
    if (stats->instances > 0)
        return stats->instances;
    if (json_is_array(def->foreach))
        count = (int64_t)json_array_size(def->foreach);
    json_object_foreach(def->matrix, key, list) count *=
        json_is_array(list) ? (int64_t)json_array_size(list) : 1;
    return MAX(count, (int64_t)1);
}

/*
 * A sensor holds no slot. One that waits for an instant is met then; what others wait for is there
 * as soon as it was lately, or at once.
 */
static const struct wait_plan *plan_wait(struct making *making, const struct task_def *def,
                                         const struct task_stats *stats)
{
    struct sensor sensor;
    struct wait_plan *wait = arena_alloc(making->arena, sizeof *wait);
    *wait = (struct wait_plan){.kind = SENSOR_DURATION, .subject = ""};
    sensor_load(def->settings, &sensor);
    wait->after_ms = MAX(stats->takes_us, (int64_t)0) / 1000;
    if (sensor.kind == SENSOR_DURATION)
        (void)!duration_parse(sensor.text, &wait->after_ms);
    const struct zone *zone = NULL;
    struct err ignored = {0};
    if (sensor.kind == SENSOR_TIME &&
        zone_find(making->arena, sensor.tz, zone_file_read, &zone, &ignored) == STATUS_OK &&
        sensor_time_parse(sensor.text, zone, player_clock(), &wait->target_us))
        wait->kind = SENSOR_TIME;
    return wait;
}

static struct player_fate started(void *context, const struct claim *claim)
{
    struct making *making = context;
    struct played_run *run = run_of(making, claim->run);
    const struct task_def *def = &run->dag->dag->tasks[claim->node];
    const struct task_stats *stats = &run->dag->stats[claim->node];
    bool expands = claim->map_index < 0 && task_def_is_mapped(def);
    bool waits = !expands && def->kind == KIND_SENSOR && !sensor_needs_slot(def);
    int64_t known_us = stats->takes_us >= 0 ? stats->takes_us : making->request->unknown_us;
    struct player_fate fate = {
        .takes_us = expands || waits || def->kind == KIND_NOOP ? 0 : known_us,
        .kind = expands ? OUTCOME_EXPAND
                : waits ? OUTCOME_DEFER
                        : OUTCOME_END,
        .instances = expands ? instances_of(def, stats) : 0,
        .wait = waits ? plan_wait(making, def, stats) : NULL,
        .end = {.reason = REASON_EXIT},
    };
    if (!expands)
        choose(def, &fate);
    struct forecast_hour *hour = hour_at(making, player_clock());
    hour->tasks++;
    making->running++;
    hour->most_running = MAX(hour->most_running, making->running);
    run->dag->report->tasks++;
    run->dag->report->busy_us += fate.takes_us;
    add_busy(making, player_clock(), player_clock() + fate.takes_us);
    if (!expands)
        forecast_pools_start(&making->pools, run->dag->dag, def, claim);
    return fate;
}

static void ended(void *context, const struct claim *claim, bool accepted)
{
    (void)accepted;
    struct making *making = context;
    making->running--;
    forecast_pools_end(&making->pools, claim);
}

static void run_ended(void *context, const struct run_change *change)
{
    struct making *making = context;
    struct played_run *run = idmap_remove(making->runs, change->run);
    if (run == NULL)
        return;
    struct forecast_dag *report = run->dag->report;
    report->failed += change->state != RUN_SUCCESS;
    report->longest_run_us = MAX(report->longest_run_us, player_clock() - run->began_us);
}

/* --- playing --------------------------------------------------------------------------------- */

static void make_hours(struct making *making)
{
    const struct forecast_request *request = making->request;
    struct forecast *out = making->out;
    out->hours_count =
        (size_t)MAX((request->to_us - request->from_us + HOUR_US - 1) / HOUR_US, (int64_t)1);
    out->hours = arena_array(making->arena, out->hours_count, sizeof *out->hours);
    for (size_t i = 0; i < out->hours_count; i++)
        out->hours[i].start_us = request->from_us + (int64_t)i * HOUR_US;
}

static enum status look_at_waiting(struct making *making, struct err *err)
{
    int64_t waiting = 0;
    if (store_ready_count(making->scratch, &waiting, err) != STATUS_OK)
        return err->code;
    struct forecast_hour *hour = hour_at(making, player_clock());
    hour->most_waiting = MAX(hour->most_waiting, waiting);
    if (making->request->progress != NULL)
        making->request->progress(making->request->context, player_clock());
    return forecast_pools_look(&making->pools, hour->start_us, err);
}

static enum status play(struct making *making, struct err *err)
{
    const struct forecast_request *request = making->request;
    CLEANUP(player_freep) struct player *player = NULL;
    CLEANUP(mem_freep) char *labels = word_set_parse(making->labels.text);
    const struct player_options options = {
        .store = making->scratch,
        .hosts = 1,
        .slots = request->slots,
        .labels = labels,
        .grain_us = GRAIN_US,
        .events = {.context = making, .started = started, .ended = ended, .run_ended = run_ended},
    };
    if (player_new(&options, &player, err) != STATUS_OK)
        return err->code;
    for (int64_t until_us = request->from_us; until_us < request->to_us;) {
        until_us = MIN(until_us + MINUTE_US, request->to_us);
        if (player_run(player, until_us, err) != STATUS_OK ||
            look_at_waiting(making, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status note_unfinished(void *context, const struct run_info *info, struct err *err)
{
    (void)err;
    struct making *making = context;
    struct played_dag *dag = idmap_find(making->versions, info->version);
    CHECK(dag != NULL);
    dag->report->unfinished++;
    return STATUS_OK;
}

static enum status count_unfinished(struct making *making, struct err *err)
{
    const struct run_filter filter = {.state = -1, .active_only = true, .limit = INT64_MAX};
    return store_run_each(making->scratch, &filter, note_unfinished, making, err);
}

static int by_load(const void *a, const void *b)
{
    const struct forecast_dag *x = a;
    const struct forecast_dag *y = b;
    if (x->busy_us != y->busy_us)
        return x->busy_us > y->busy_us ? -1 : 1;
    return strcmp(x->dag_id, y->dag_id);
}

static void making_fini(struct making *making)
{
    forecast_pools_fini(&making->pools);
    strbuf_fini(&making->labels);
}

enum status forecast_make(const struct forecast_request *request, struct arena *arena,
                          struct forecast *out, struct err *err)
{
    const struct store_options options = {
        .url = request->scratch_url, .mode = DB_READ_WRITE, .now_us = player_clock};
    CLEANUP(store_closep) struct store *scratch = NULL;
    CLEANUP(idmap_freep) struct idmap *versions = idmap_new();
    CLEANUP(idmap_freep) struct idmap *runs = idmap_new();
    *out = (struct forecast){0};
    struct making making = {
        .request = request, .arena = arena, .out = out, .versions = versions, .runs = runs};
    player_clock_set(request->from_us);
    strbuf_init(&making.labels, LABELS_MAX);
    if (store_open(&options, &scratch, err) != STATUS_OK)
        return err->code;
    making.scratch = scratch;
    make_hours(&making);
    const struct forecast_policies policies = {request->store, scratch, arena};
    if (forecast_policies_copy(&policies, err) != STATUS_OK ||
        forecast_pools_open(&making.pools, scratch, arena, err) != STATUS_OK ||
        copy_dags(&making, err) != STATUS_OK || play(&making, err) != STATUS_OK ||
        count_unfinished(&making, err) != STATUS_OK ||
        forecast_misses(scratch, arena, request->to_us, out, err) != STATUS_OK) {
        making_fini(&making);
        return err_wrap(err, "simulate");
    }
    forecast_pools_report(&making.pools, out);
    making_fini(&making);
    if (out->dags_count > 0)
        qsort(out->dags, out->dags_count, sizeof *out->dags, by_load);
    return STATUS_OK;
}
