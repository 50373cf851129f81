/*
 * All DAGs, each as one line of a list with its last runs, in little space: thousands of runs are
 * answered at once, so each of them is a letter and two numbers.
 *
 * Only what the store knows is told: files that no host has read yet are dag.list's business.
 */
#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/bars.h"
#include "store/dag_file.h"
#include "store/version.h"

enum {
    DAGS_MAX = 20000,
    NAMED_MAX = 1000,
    RUNS_DEFAULT = 30,
    RUNS_MAX = 100,
    BARS_MAX = DAGS_MAX * RUNS_DEFAULT, /* runs of all together */
};

/* Of one DAG, the newest first as they come. */
struct row_runs {
    struct bars_run *items;
    size_t count;
};

struct rows {
    struct service *service;
    struct store *store;
    struct arena *arena;
    bool with_inactive;
    int64_t runs_limit;
    struct bars_dag *dags;
    size_t dags_count;
    int64_t limit;         /* of the DAGs that are told */
    size_t total;          /* of those there are */
    struct strmap *broken; /* DAGs whose file has problems */
    struct row_runs *runs; /* of the DAGs */
};

/* --- what is asked for ----------------------------------------------------------------------- */

static enum status find_named(struct rows *rows, const json_t *names, struct err *err)
{
    size_t i;
    json_t *name;
    if (json_array_size(names) > NAMED_MAX)
        return err_set(err, STATUS_INVALID, "'dags' may name at most %d", NAMED_MAX);
    rows->dags = arena_array(rows->arena, json_array_size(names) + 1, sizeof *rows->dags);
    json_array_foreach((json_t *)(uintptr_t)names, i, name)
    {
        size_t found = 0;
        const char *dag_id = json_string_value(name);
        if (dag_id != NULL &&
            store_bars_dag(rows->store, rows->arena, dag_id, &rows->dags[rows->dags_count], &found,
                           err) != STATUS_OK)
            return err->code;
        rows->dags_count += found;
    }
    return STATUS_OK;
}

static enum status find_dags(struct rows *rows, const json_t *request, struct err *err)
{
    const json_t *names = json_object_get(request, "dags");
    if (json_array_size(names) > 0)
        return find_named(rows, names, err);
    return store_bars_dags(rows->store, rows->arena, DAGS_MAX, &rows->dags, &rows->dags_count, err);
}

static void leave_out_inactive(struct rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->dags_count; i++)
        if (rows->dags[i].is_active || rows->with_inactive)
            rows->dags[kept++] = rows->dags[i];
    rows->dags_count = kept;
}

static enum status note_broken(void *context, const char *dag_id, struct err *err)
{
    (void)err;
    struct rows *rows = context;
    (void)strmap_add(rows->broken, arena_strdup(rows->arena, dag_id), 0);
    return STATUS_OK;
}

static void note_run(void *context, const struct bars_run *run)
{
    struct rows *rows = context;
    struct row_runs *runs = &rows->runs[run->dag];
    if (runs->items == NULL)
        runs->items = arena_array(rows->arena, (size_t)rows->runs_limit, sizeof *runs->items);
    runs->items[runs->count++] = *run;
}

static enum status find_runs(struct rows *rows, struct err *err)
{
    if ((int64_t)rows->dags_count * rows->runs_limit > BARS_MAX)
        return err_set(err, STATUS_LIMIT,
                       "%lld runs of %zu DAGs each are too many at once: at most %d together; ask "
                       "for fewer 'runs', or name 'dags'",
                       (long long)rows->runs_limit, rows->dags_count, BARS_MAX);
    int64_t *keys = arena_array(rows->arena, rows->dags_count + 1, sizeof *keys);
    rows->runs = arena_array(rows->arena, rows->dags_count + 1, sizeof *rows->runs);
    for (size_t i = 0; i < rows->dags_count; i++)
        keys[i] = rows->dags[i].key;
    const struct bars_wish wish = {keys, rows->dags_count, rows->runs_limit};
    return store_bars_runs(rows->store, &wish, note_run, rows, err);
}

/* Where questions take their time, one is asked for all. */
static enum status fetch_versions(struct rows *rows, struct err *err)
{
    int64_t *versions = arena_array(rows->arena, rows->dags_count + 1, sizeof *versions);
    for (size_t i = 0; i < rows->dags_count; i++)
        versions[i] = rows->dags[i].version;
    return store_version_fetch(rows->store, versions, rows->dags_count, err);
}

/* --- the answer ------------------------------------------------------------------------------ */

/* Tenths of a second; of a run that goes on, so far; -1: it has not started. */
static int64_t tenths(const struct rows *rows, const struct bars_run *run)
{
    int64_t end_us = run->ended_at_us != 0 ? run->ended_at_us : service_now_us(rows->service);
    return run->started_at_us == 0 ? -1 : MAX(end_us - run->started_at_us, 0) / 100000;
}

/* The oldest first, as one reads. */
static void put_runs(const struct rows *rows, const struct row_runs *runs, json_t *object)
{
    char states[RUNS_MAX + 1];
    json_t *numbers = json_build_array();
    json_t *durations = json_build_array();
    for (size_t i = 0; i < runs->count; i++) {
        const struct bars_run *run = &runs->items[runs->count - 1 - i];
        states[i] = (char)('0' + run->state);
        json_build_append(numbers, json_integer(run->id));
        json_build_append(durations, json_integer(tenths(rows, run)));
    }
    states[runs->count] = '\0';
    json_put_string(object, "states", states);
    json_put(object, "numbers", numbers);
    json_put(object, "durations", durations);
    const struct bars_run *last = runs->count > 0 ? &runs->items[0] : NULL;
    int64_t last_us = last == NULL               ? 0
                      : last->started_at_us != 0 ? last->started_at_us
                                                 : last->created_at_us;
    json_put_instant(object, "last_at", last_us);
}

static const char *status_of(const struct bars_dag *dag, bool is_broken)
{
    return !dag->is_active  ? "inactive"
           : is_broken      ? "broken"
           : !dag->is_filed ? "rolled_back"
                            : "active";
}

static enum status put_row(struct rows *rows, size_t place, json_t *list, struct err *err)
{
    const struct bars_dag *row = &rows->dags[place];
    const struct dag *dag = NULL;
    if (store_version_dag(rows->store, row->version, &dag, err) != STATUS_OK)
        return err->code;
    json_t *object = json_build_object();
    json_t *tags = json_build_array();
    json_t *schedule = json_object_get(dag->rest, "schedule");
    json_build_append(list, object);
    json_put_string(object, "dag_id", row->dag_id);
    json_put_string(object, "title", row->title);
    json_put_string(object, "owner", dag->owner);
    json_put_string(object, "namespace", row->namespace_);
    for (size_t i = 0; i < dag->tags.count; i++)
        json_build_append(tags, json_string(dag->tags.items[i]));
    json_put(object, "tags", tags);
    json_put(object, "schedule", schedule != NULL ? json_incref(schedule) : json_null());
    json_put_string(object, "status",
                    status_of(row, strmap_find(rows->broken, row->dag_id, &(int64_t){0})));
    json_put_bool(object, "is_paused", row->is_paused);
    json_put_bool(object, "is_scheduled", row->is_offered && schedule != NULL && !row->is_paused);
    json_put_instant(object, "next_run", row->next_us);
    put_runs(rows, &rows->runs[place], object);
    return STATUS_OK;
}

static json_t *state_names(void)
{
    json_t *names = json_build_array();
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
        json_build_append(names, json_string(run_state_name(state)));
    return names;
}

static enum status put_rows(struct rows *rows, const json_t *request, json_t *list, struct err *err)
{
    if (find_dags(rows, request, err) != STATUS_OK ||
        store_dag_each_broken(rows->store, note_broken, rows, err) != STATUS_OK)
        return err->code;
    leave_out_inactive(rows);
    rows->total = rows->dags_count;
    rows->dags_count = MIN(rows->dags_count, (size_t)rows->limit);
    if (find_runs(rows, err) != STATUS_OK || fetch_versions(rows, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < rows->dags_count; i++)
        if (put_row(rows, i, list, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status op_dag_rows(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(strmap_freep) struct strmap *broken = strmap_new();
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    struct rows rows = {
        .service = service,
        .arena = arena,
        .with_inactive = json_get_bool(request, "all", false),
        .runs_limit = json_get_int(request, "runs", RUNS_DEFAULT),
        .limit = json_get_int(request, "limit", DAGS_MAX),
        .broken = broken,
    };
    if (rows.limit < 1 || rows.limit > DAGS_MAX)
        return err_set(err, STATUS_INVALID, "'limit' must be from 1 to %d", DAGS_MAX);
    if (rows.runs_limit < 1 || rows.runs_limit > RUNS_MAX)
        return err_set(err, STATUS_INVALID, "'runs' must be from 1 to %d", RUNS_MAX);
    if (service_store_if_any(service, &rows.store, err) != STATUS_OK ||
        (rows.store != NULL && put_rows(&rows, request, list, err) != STATUS_OK))
        return err_wrap(err, "list DAGs");
    *out = json_build_object();
    json_put(*out, "dags", TAKE(list));
    json_put_int(*out, "total_entries", (int64_t)rows.total);
    json_put(*out, "states", state_names());
    return STATUS_OK;
}
