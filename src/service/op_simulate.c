/*
 * What the coming hours will bring.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/settings.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "sched/forecast.h"
#include "service/dag_sync.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"

static const int64_t DAY_US = 86400000000;
static const int64_t LONGEST_US = 366 * 86400000000;
enum { UNKNOWN_MS = 60000, SLOTS_MOST = 1000000 };

/* --- a place of its own ---------------------------------------------------------------------- */

static enum status make_scratch(char **out, struct err *err)
{
    /* Nothing of it has to survive: in memory, where there is such a place. */
    const char *parent = getenv("TMPDIR");
    if (parent == NULL)
        parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char *dir = mem_format("%s/eider-simulate-XXXXXX", parent);
    if (mkdtemp(dir) == NULL) {
        enum status status = err_errno(err, errno, "make a temporary folder '%s'", dir);
        free(dir);
        return status;
    }
    *out = dir;
    return STATUS_OK;
}

static void remove_scratch(char **dir)
{
    struct err ignored = {0};
    CLEANUP(file_closep) int parent = -1;
    if (*dir == NULL)
        return;
    char *slash = strrchr(*dir, '/');
    *slash = '\0';
    if (file_open_directory(*dir, &parent, &ignored) == STATUS_OK)
        (void)!file_tree_remove(parent, slash + 1, &ignored);
    free(*dir);
}

/* --- before there is a store ----------------------------------------------------------------- */

static enum status read_files(struct dag_sync *sync, struct err *err)
{
    if (dag_sync_look(sync, err) != STATUS_OK)
        return err->code;
    while (dag_sync_get(sync).has_more)
        if (dag_sync_turn(sync, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* A store with the DAGs of the folder, as the first start of a daemon would make it. */
static enum status make_store(const struct service *service, const char *dir, struct store **out,
                              struct err *err)
{
    CLEANUP(mem_freep) char *url = mem_format("sqlite:%s/files.db", dir);
    CLEANUP(store_closep) struct store *store = NULL;
    CLEANUP(mem_freep) char *folder = realpath(service->dags, NULL);
    const struct store_options options = {
        .url = url, .mode = DB_READ_WRITE, .now_us = service->now_us, .hooks = service->hooks};
    struct dag_sync *sync = NULL;
    if (folder == NULL)
        return err_errno(err, errno, "read the DAG folder '%s'", service->dags);
    if (store_open(&options, &store, err) != STATUS_OK)
        return err->code;
    const struct dag_sync_options syncing = {
        .store = store,
        .folder = folder,
        .host = "simulate",
        .starts_paused = settings_number(service->settings, SETTING_DAGS_PAUSED_AT_CREATION) != 0,
    };
    if (dag_sync_new(&syncing, &sync, err) != STATUS_OK)
        return err->code;
    enum status status = read_files(sync, err);
    dag_sync_free(sync);
    if (status == STATUS_OK)
        *out = TAKE(store);
    return status;
}

/* The store that there is; before the first start one of the DAG files, which *out_own is then. */
static enum status find_store(struct service *service, const char *dir, struct store **out,
                              struct store **out_own, struct err *err)
{
    struct err problem = {0};
    enum status status = service_store(service, DB_READ_ONLY, out, &problem);
    bool has_files = service->dags != NULL && access(service->dags, F_OK) == 0;
    if (status == STATUS_NOT_FOUND && has_files) {
        if (make_store(service, dir, out_own, err) != STATUS_OK)
            return err_wrap(err, "simulate the DAG files of '%s'", service->dags);
        *out = *out_own;
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        *err = problem;
    return status;
}

/* --- the question ---------------------------------------------------------------------------- */

static enum status read_instant(const json_t *request, const char *key, int64_t otherwise_us,
                                int64_t *out, struct err *err)
{
    const char *text = json_get_string(request, key, "");
    *out = otherwise_us;
    if (text[0] == '\0' || instant_parse(text, out))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID,
                   "'%s' is not a date: 2026-01-31 or 2026-01-31T06:00:00Z is one", text);
}

static enum status check_span(int64_t from_us, int64_t to_us, struct err *err)
{
    char from[INSTANT_TEXT_MAX];
    char to[INSTANT_TEXT_MAX];
    if (to_us <= from_us)
        return err_set(err, STATUS_INVALID,
                       "the time to simulate ends before it begins: from %s to %s; a date alone "
                       "is the beginning of its day",
                       instant_format(from_us, from), instant_format(to_us, to));
    if (to_us - from_us > LONGEST_US)
        return err_set(err, STATUS_INVALID,
                       "from %s to %s is more than a year, which is the most that is simulated: "
                       "take a part of it",
                       instant_format(from_us, from), instant_format(to_us, to));
    return STATUS_OK;
}

static enum status read_request(const struct service *service, const json_t *request,
                                struct forecast_request *out, struct err *err)
{
    int64_t now_us = service->now_us != NULL ? service->now_us() : clock_wall_us();
    out->now_us = now_us;
    out->slots = json_get_int(request, "slots", settings_number(service->settings, SETTING_SLOTS));
    int64_t unknown_ms = json_get_int(request, "unknown_ms", UNKNOWN_MS);
    if (unknown_ms < 0 || unknown_ms > LONGEST_US / 1000)
        return err_set(err, STATUS_INVALID, "'unknown_ms' is from 0 to a year");
    out->unknown_us = unknown_ms * 1000;
    if (read_instant(request, "from", now_us, &out->from_us, err) != STATUS_OK ||
        read_instant(request, "to", out->from_us + DAY_US, &out->to_us, err) != STATUS_OK)
        return err->code;
    if (out->slots < 1)
        return err_set(err, STATUS_INVALID, "at least one slot is needed");
    if (out->slots > SLOTS_MOST)
        return err_set(err, STATUS_INVALID, "at most %d slots are simulated", SLOTS_MOST);
    return check_span(out->from_us, out->to_us, err);
}

/* --- the answer ------------------------------------------------------------------------------ */

static double seconds(int64_t us)
{
    return (double)us / 1e6;
}

static json_t *hour_json(const struct forecast_hour *hour, int64_t slots)
{
    json_t *row = json_build_object();
    json_put_instant(row, "hour", hour->start_us);
    json_put_int(row, "runs", hour->runs);
    json_put_int(row, "tasks", hour->tasks);
    json_put(row, "busy", json_real(seconds(hour->busy_us)));
    json_put_int(row, "busy_percent",
                 (int64_t)(100.0 * seconds(hour->busy_us) / (3600.0 * (double)slots) + 0.5));
    json_put_int(row, "most_running", hour->most_running);
    json_put_int(row, "most_waiting", hour->most_waiting);
    return row;
}

static json_t *dag_json(const struct forecast_dag *dag)
{
    json_t *row = json_build_object();
    json_put_string(row, "dag_id", dag->dag_id);
    json_put_int(row, "runs", dag->runs);
    json_put_int(row, "failed", dag->failed);
    json_put_int(row, "tasks", dag->tasks);
    json_put(row, "busy", json_real(seconds(dag->busy_us)));
    json_put(row, "longest_run", json_real(seconds(dag->longest_run_us)));
    json_put_int(row, "unknown", dag->unknown);
    json_put_int(row, "unfinished", dag->unfinished);
    return row;
}

static json_t *pool_json(const struct forecast_pool *pool)
{
    json_t *row = json_build_object();
    json_put_string(row, "name", pool->name);
    json_put_string(row, "namespace", pool->namespace_);
    json_put_int(row, "slots", pool->slots);
    json_put_int(row, "most_used", pool->most_used);
    json_put_int(row, "tasks", pool->tasks);
    json_put_int(row, "hours_waited", pool->hours_waited);
    json_put_int(row, "most_waiting", pool->most_waiting);
    json_put(row, "longest_wait", json_real(seconds(pool->longest_wait_us)));
    return row;
}

static json_t *miss_json(const struct forecast_miss *miss)
{
    json_t *row = json_build_object();
    json_put_string(row, "dag_id", miss->dag_id);
    json_put_string(row, "task_id", miss->task_id);
    json_put_string(row, "kind", sla_kind_name(miss->kind));
    json_put_int(row, "count", miss->count);
    json_put(row, "worst", json_real(seconds(miss->worst_us)));
    json_put_instant(row, "first", miss->first_us);
    return row;
}

static void put_trouble(const struct forecast *forecast, json_t *out)
{
    json_t *pools = json_build_array();
    json_t *misses = json_build_array();
    for (size_t i = 0; i < forecast->pools_count; i++)
        json_build_append(pools, pool_json(&forecast->pools[i]));
    for (size_t i = 0; i < forecast->misses_count; i++)
        json_build_append(misses, miss_json(&forecast->misses[i]));
    json_put(out, "pools", pools);
    json_put(out, "misses", misses);
}

static json_t *forecast_json(const struct forecast *forecast, int64_t slots)
{
    json_t *hours = json_build_array();
    json_t *dags = json_build_array();
    int64_t runs = 0;
    int64_t tasks = 0;
    for (size_t i = 0; i < forecast->hours_count; i++) {
        json_build_append(hours, hour_json(&forecast->hours[i], slots));
        runs += forecast->hours[i].runs;
        tasks += forecast->hours[i].tasks;
    }
    for (size_t i = 0; i < forecast->dags_count; i++)
        if (forecast->dags[i].runs > 0 || forecast->dags[i].unfinished > 0)
            json_build_append(dags, dag_json(&forecast->dags[i]));
    json_t *out = json_build_object();
    json_put(out, "hours", hours);
    json_put(out, "dags", dags);
    put_trouble(forecast, out);
    json_put_int(out, "runs", runs);
    json_put_int(out, "tasks", tasks);
    json_put_int(out, "slots", slots);
    return out;
}

static enum status simulate(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(remove_scratch) char *dir = NULL;
    CLEANUP(store_closep) struct store *own = NULL;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct forecast_request question = {0};
    struct forecast forecast;
    if (read_request(service, request, &question, err) != STATUS_OK ||
        make_scratch(&dir, err) != STATUS_OK ||
        find_store(service, dir, &question.store, &own, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *url = mem_format("sqlite:%s/play.db", dir);
    question.scratch_url = url;
    if (forecast_make(&question, arena, &forecast, err) != STATUS_OK)
        return err->code;
    *out = forecast_json(&forecast, question.slots);
    return STATUS_OK;
}

/* It may take minutes, and whoever may look may ask for it: others shall be answered meanwhile. */
enum status op_simulate(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    static atomic_flag is_taken = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&is_taken))
        return err_set(err, STATUS_BUSY,
                       "another simulation goes on here, and they take long: try again when it is "
                       "done");
    enum status status = simulate(service, request, out, err);
    atomic_flag_clear(&is_taken);
    return status;
}
