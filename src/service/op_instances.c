/*
 * task.instances: tasks of one run or of many, a page at a time.
 *
 * Rows of tasks have no index but their key, so runs lead to them: newest run first, within a run
 * its tasks in their order. A question that few tasks answer would read them all; it ends after
 * SCAN_RUNS_MAX runs or SCAN_MAX rows instead, and its cursor says where to go on.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "service/instance_filter.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/row_list.h"
#include "service/run_json.h"
#include "store/overview.h"
#include "store/run_task_match.h"
#include "store/task_note.h"
#include "store/version.h"

enum {
    SCAN_MAX = 10000,     /* rows of tasks for one page */
    SCAN_RUNS_MAX = 5000, /* and runs */
    SCAN_MORE = 10,       /* times as many while rows are left out */
    RUNS_FIRST = 8,       /* to be read; mostly they fill a page */
    RUNS_AT_ONCE = 200,
    RUNS_AHEAD = 5 * RUNS_AT_ONCE, /* whose ids are asked for with one question */
    RUNS_LOADED = 16,
    RUNS_NAMED_MAX = 1000,
};

struct instances {
    struct service *service;
    struct store *store;
    struct instance_filter filter;
    struct row_list tasks;
    int64_t limit;
    int64_t skip;       /* still to be left out */
    int64_t matched;    /* up to here, on this page or before it */
    int64_t scanned;    /* rows */
    int64_t runs;       /* runs looked at */
    bool is_counting;   /* the page is full; what else matches is counted */
    bool is_cut;        /* not all was looked at */
    int64_t next_run;   /* where the next page begins; 0: there is none */
    int64_t next_place; /* and how many of that run come before it */
    int64_t from_place; /* of the first run: how many were shown before */

    /* Of the run that is read. */
    struct arena *arena;
    struct run_info run;
    struct task_note_list notes;
    bool has_notes; /* they were read, for the first task that is shown */
    int64_t place;
    int64_t run_total; /* tasks that it has, once its nodes were read */
    bool is_left;      /* the rest of it is not worth reading */
    struct task_row *expanders;
    size_t expanders_count;
};

/* --- one task -------------------------------------------------------------------------------- */

static enum status show(struct instances *list, const struct task_def *def,
                        const struct task_row *task, struct err *err)
{
    struct json_row row;
    if (!list->has_notes &&
        store_task_notes(list->store, list->arena, &list->run, &list->notes, err) != STATUS_OK)
        return err->code;
    list->has_notes = true;
    task_json_row(list->service, &list->run, def, task, &row);
    json_row_text(&row, "note", task_note_find(&list->notes, task->id));
    if (task_json_row_host(list->service, list->store, task, &row, err) != STATUS_OK)
        return err->code;
    row_list_add(&list->tasks, &row);
    return STATUS_OK;
}

static enum status take(struct instances *list, const struct dag *dag, const struct task_row *task,
                        struct err *err)
{
    const struct task_def *def = &dag->tasks[task->node];
    int64_t place = list->place++;
    if (!instance_filter_lets(&list->filter, &list->run, def, task) || place < list->from_place)
        return STATUS_OK;
    list->matched++;
    if (list->is_counting)
        return STATUS_OK;
    if (list->skip > 0) {
        list->skip--;
        return STATUS_OK;
    }
    if (list->tasks.count == list->limit) {
        list->is_counting = true;
        list->next_run = list->run.id;
        list->next_place = place;
        return STATUS_OK;
    }
    return show(list, def, task, err);
}

/* A mapped task that has instances is those instances. */
static bool is_stood_for(const struct task_row *task)
{
    return task->instance_base != 0 && task->counts.total > 0;
}

/* Of a run with very many instances, where those that are left can be counted without them. */
static bool may_leave(const struct instances *list)
{
    return list->is_counting &&
           (list->scanned >= SCAN_MAX || instance_filter_is_open(&list->filter));
}

static enum status leave(struct instances *list, struct err *err)
{
    list->is_left = true;
    if (instance_filter_is_open(&list->filter))
        list->matched += list->run_total - list->place;
    else
        list->is_cut = true;
    return err_set(err, STATUS_LIMIT, "the rest is not read");
}

static enum status visit(void *context, const struct run_row *run, const struct task_row *task,
                         struct err *err)
{
    struct instances *list = context;
    if (task_row_is_expanding(task))
        list->expanders[list->expanders_count++] = *task;
    if (task->map_index < 0)
        list->run_total += is_stood_for(task) ? task->counts.total : 1;
    else if (may_leave(list))
        return leave(list, err);
    list->scanned++;
    return is_stood_for(task) ? STATUS_OK : take(list, run->dag, task, err);
}

/* --- one run --------------------------------------------------------------------------------- */

/* Instances get their rows when they start; until then they are shown as tasks that wait. */
static enum status take_to_come(struct instances *list, const struct dag *dag,
                                const struct task_row *expander, struct err *err)
{
    struct task_row instance = {
        .run = expander->run,
        .node = expander->node,
        .map_index = expander->inserted,
        .generation = expander->generation,
        .exit_code = -1,
    };
    for (; instance.map_index < expander->counts.total; instance.map_index++)
        if (take(list, dag, &instance, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status read_run(struct instances *list, struct err *err)
{
    const struct dag *dag = NULL;
    list->place = 0;
    list->run_total = 0;
    list->is_left = false;
    list->has_notes = false;
    list->expanders_count = 0;
    if (!instance_filter_lets_run(&list->filter, &list->run))
        return STATUS_OK;
    if (store_version_dag(list->store, list->run.version, &dag, err) != STATUS_OK)
        return err->code;
    list->expanders = arena_array(list->arena, dag->tasks_count + 1, sizeof *list->expanders);
    struct err problem = {0};
    if (store_task_each_of(list->store, &list->run, visit, list, &problem) != STATUS_OK &&
        !list->is_left) {
        *err = problem;
        return problem.code;
    }
    for (size_t i = 0; !list->is_left && i < list->expanders_count; i++)
        if (take_to_come(list, dag, &list->expanders[i], err) != STATUS_OK)
            return err->code;
    list->from_place = 0;
    return STATUS_OK;
}

static bool is_enough(struct instances *list)
{
    int64_t times = list->skip > 0 ? SCAN_MORE : 1;
    bool is_much = list->scanned >= times * SCAN_MAX || list->runs >= times * SCAN_RUNS_MAX ||
                   list->matched > LISTING_TOTAL_MAX;
    list->is_cut |= is_much;
    return is_much;
}

/* --- many runs ------------------------------------------------------------------------------- */

struct id_batch {
    int64_t ids[RUNS_AT_ONCE];
    int64_t versions[RUNS_AT_ONCE]; /* 0: not known */
    size_t count;
};

/* Runs that come next; where few tasks match there are many batches of them. */
struct ids_ahead {
    int64_t ids[RUNS_AHEAD];
    int64_t versions[RUNS_AHEAD];
    size_t count;
    size_t taken;
};

static void keep_id(void *context, int64_t id, int64_t version)
{
    struct ids_ahead *ahead = context;
    ahead->ids[ahead->count] = id;
    ahead->versions[ahead->count++] = version;
}

/* So many at most; fewer: those are the last. `limit` of the page is that of the next question. */
static enum status next_batch(struct instances *list, struct run_page *runs,
                              struct ids_ahead *ahead, size_t most, struct id_batch *out,
                              struct err *err)
{
    if (ahead->taken == ahead->count) {
        ahead->count = ahead->taken = 0;
        if (store_run_page_ids(list->store, runs, keep_id, ahead, err) != STATUS_OK)
            return err->code;
        runs->limit = runs->limit == RUNS_FIRST ? RUNS_AT_ONCE : RUNS_AHEAD;
        if (ahead->count > 0)
            runs->below = ahead->ids[ahead->count - 1];
    }
    out->count = MIN(ahead->count - ahead->taken, most);
    memcpy(out->ids, ahead->ids + ahead->taken, out->count * sizeof out->ids[0]);
    memcpy(out->versions, ahead->versions + ahead->taken, out->count * sizeof out->versions[0]);
    ahead->taken += out->count;
    return STATUS_OK;
}

static bool has_mapped(const struct dag *dag)
{
    for (size_t i = 0; i < dag->tasks_count; i++)
        if (task_def_is_mapped(&dag->tasks[i]))
            return true;
    return false;
}

/* A run that lies before the page as a whole is left out without a look at its tasks. */
static enum status leave_out(struct instances *list, int64_t version, bool *out, struct err *err)
{
    const struct dag *dag = NULL;
    *out = false;
    if (version == 0 || list->skip == 0 || list->from_place > 0 ||
        !instance_filter_is_open(&list->filter))
        return STATUS_OK;
    if (store_version_dag(list->store, version, &dag, err) != STATUS_OK)
        return err->code;
    if (has_mapped(dag) || list->skip < (int64_t)dag->tasks_count)
        return STATUS_OK;
    list->skip -= (int64_t)dag->tasks_count;
    list->matched += (int64_t)dag->tasks_count;
    *out = true;
    return STATUS_OK;
}

/* Whether the page is full, and all that is left to know is how many there are. */
static bool is_full(const struct instances *list)
{
    return list->is_counting && instance_filter_is_open(&list->filter);
}

/*
 * Several are loaded with one question, unless how many are left out is decided one by one; those
 * that were named come in another order.
 */
static enum status load_some(struct instances *list, const struct id_batch *batch, size_t from,
                             struct run_wanted *wanted, size_t *out_count, struct err *err)
{
    bool is_alone = list->skip > 0 || batch->versions[from] == 0;
    size_t count = is_alone ? 1 : MIN(batch->count - from, (size_t)RUNS_LOADED);
    for (size_t i = 0; i < count; i++) /* as they are asked for: by their ids */
        wanted[i] =
            (struct run_wanted){.id = batch->ids[from + count - 1 - i], .arena = list->arena};
    *out_count = count;
    return store_runs_load(list->store, wanted, count, err);
}

static struct run_task_filter tasks_among(const struct instances *list, const int64_t *runs,
                                          size_t count)
{
    return (struct run_task_filter){
        .runs = runs,
        .count = count,
        .states = list->filter.states,
        .started = list->filter.started,
        .ended = list->filter.ended,
    };
}

/*
 * Once the page is full the store counts what matches, of runs whose tasks have a row each and as
 * far as one would look; `out` has no rows of others, which are read.
 */
static enum status count_some(struct instances *list, const struct run_wanted *wanted, size_t count,
                              struct run_task_count *out, struct err *err)
{
    int64_t ids[RUNS_LOADED];
    size_t places[RUNS_LOADED];
    struct run_task_count counts[RUNS_LOADED];
    int64_t rows = list->scanned;
    size_t known = 0;
    memset(out, 0, count * sizeof *out);
    if (!list->is_counting || !instance_filter_is_counted_by_store(&list->filter))
        return STATUS_OK;
    for (size_t k = count; k-- > 0 && rows < SCAN_MAX;) {
        const struct dag *dag = NULL;
        if (!wanted[k].is_found)
            continue;
        if (store_version_dag(list->store, wanted[k].info.version, &dag, err) != STATUS_OK)
            return err->code;
        if (has_mapped(dag))
            continue;
        rows += (int64_t)dag->tasks_count;
        places[known] = k;
        ids[known++] = wanted[k].id;
    }
    const struct run_task_filter tasks = tasks_among(list, ids, known);
    if (known > 0 && store_runs_count_tasks(list->store, &tasks, counts, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < known; i++)
        out[places[i]] = counts[i];
    return STATUS_OK;
}

/* It may have been deleted since it was listed. */
static enum status read_loaded(struct instances *list, const struct run_wanted *wanted,
                               const struct run_task_count *tasks, struct err *err)
{
    list->runs++;
    list->run = wanted->info;
    if (tasks->rows > 0 && instance_filter_lets_run(&list->filter, &list->run)) {
        list->scanned += tasks->rows;
        list->matched += tasks->matching;
    } else if (wanted->is_found && read_run(list, err) != STATUS_OK) {
        return err->code;
    }
    if (is_enough(list) && !list->is_counting && list->next_run == 0)
        list->next_run = wanted->id - 1;
    return STATUS_OK;
}

static enum status read_batch(struct instances *list, const struct id_batch *batch, struct err *err)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i += count) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct run_wanted wanted[RUNS_LOADED];
        struct run_task_count tasks[RUNS_LOADED];
        bool is_left_out = false;
        list->arena = arena;
        count = 1;
        if (leave_out(list, batch->versions[i], &is_left_out, err) != STATUS_OK)
            return err->code;
        if (is_left_out)
            continue;
        if (load_some(list, batch, i, wanted, &count, err) != STATUS_OK ||
            count_some(list, wanted, count, tasks, err) != STATUS_OK)
            return err->code;
        for (size_t k = count; k-- > 0;) {
            if (read_loaded(list, &wanted[k], &tasks[k], err) != STATUS_OK)
                return err->code;
            if (list->is_cut || is_full(list))
                return STATUS_OK;
        }
    }
    return STATUS_OK;
}

/* Of the runs those that have a task in such a state at such a time; others need no look. */
static enum status keep_promising(struct instances *list, struct id_batch *batch, struct err *err)
{
    bool is_promising[RUNS_AT_ONCE];
    size_t kept = 0;
    const struct run_task_filter tasks = tasks_among(list, batch->ids, batch->count);
    if (!instance_filter_is_in_rows(&list->filter))
        return STATUS_OK;
    if (store_runs_with_tasks(list->store, &tasks, is_promising, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < batch->count; i++)
        if (is_promising[i]) {
            batch->versions[kept] = batch->versions[i];
            batch->ids[kept++] = batch->ids[i];
        }
    list->runs += (int64_t)(batch->count - kept);
    batch->count = kept;
    return STATUS_OK;
}

static enum status read_many(struct instances *list, struct run_page *runs, struct err *err)
{
    CLEANUP(mem_freep) struct ids_ahead *ahead = mem_zalloc(1, sizeof *ahead);
    struct id_batch batch = {.count = 0};
    size_t most = RUNS_FIRST;
    int64_t last = runs->below;
    bool is_last = false;
    runs->order = RUN_BY_ID;
    runs->is_descending = true;
    runs->limit = RUNS_FIRST;
    while (!is_last && !list->is_cut && !is_full(list)) {
        if (next_batch(list, runs, ahead, most, &batch, err) != STATUS_OK)
            return err->code;
        is_last = batch.count < most;
        most = RUNS_AT_ONCE;
        if (batch.count > 0)
            last = batch.ids[batch.count - 1];
        if (keep_promising(list, &batch, err) != STATUS_OK ||
            read_batch(list, &batch, err) != STATUS_OK)
            return err->code;
        if (is_enough(list) && !list->is_counting && !is_last && list->next_run == 0)
            list->next_run = last - 1;
    }
    return STATUS_OK;
}

static enum status read_named(struct instances *list, const json_t *names, struct err *err)
{
    for (size_t i = 0; i < json_array_size(names) && !list->is_cut; i++) {
        struct id_batch batch = {.count = 0};
        const char *name = json_string_value(json_array_get(names, i));
        if (store_run_named(list->store, name, batch.ids, RUNS_AT_ONCE, &batch.count, err) !=
                STATUS_OK ||
            read_batch(list, &batch, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* --- the request ----------------------------------------------------------------------------- */

static enum status read_cursor(const json_t *request, struct instances *list, struct run_page *runs,
                               struct err *err)
{
    const char *text = json_get_string(request, "cursor", NULL);
    int64_t run = 0;
    int64_t place = 0;
    if (text == NULL)
        return STATUS_OK;
    const char *dot = strchr(text, '.');
    CLEANUP(mem_freep) char *first = mem_strndup(text, strcspn(text, "."));
    if (dot == NULL || !str_parse_i64(first, 0, INT64_MAX - 1, &run) ||
        !str_parse_i64(dot + 1, 0, INT64_MAX, &place))
        return err_set(err, STATUS_INVALID, "'%.60s' is no cursor that an answer gave", text);
    runs->below = run + 1;
    list->from_place = place;
    return STATUS_OK;
}

static enum status read_all(struct instances *list, const json_t *request, struct run_page *runs,
                            struct err *err)
{
    const json_t *names = json_object_get(request, "runs");
    if (json_array_size(names) > RUNS_NAMED_MAX)
        return err_set(err, STATUS_LIMIT, "at most %d runs can be named", RUNS_NAMED_MAX);
    if (json_get_string(request, "run", NULL) != NULL) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct found_run found;
        list->arena = arena;
        if (lookup_run(list->service, DB_READ_ONLY, arena, request, &found, err) != STATUS_OK)
            return err->code;
        list->run = found.info;
        if (runs->below != 0 && runs->below != found.info.id + 1)
            return err_set(err, STATUS_INVALID, "'cursor' belongs to another run");
        return read_run(list, err);
    }
    if (json_is_array(names))
        return read_named(list, names, err);
    return read_many(list, runs, err);
}

/* All tasks of all runs that match, without reading them. */
static enum status count_all(struct instances *list, const struct run_page *page, struct err *err)
{
    int64_t total = 0;
    struct run_page runs = *page;
    runs.below = 0;
    if (store_run_page_tasks(list->store, &runs, LISTING_TOTAL_MAX + 1, &total, err) != STATUS_OK)
        return err_wrap(err, "count tasks");
    list->is_cut = total > LISTING_TOTAL_MAX;
    list->matched = MAX(total, list->matched);
    return STATUS_OK;
}

static json_t *answer_of(struct instances *list, bool with_total)
{
    json_t *answer = json_build_object();
    json_put(answer, "task_instances", json_incref(list->tasks.gathered));
    json_put_int(answer, "total_entries",
                 with_total ? MIN(list->matched, (int64_t)LISTING_TOTAL_MAX) : list->tasks.count);
    if (list->is_cut)
        json_put_bool(answer, "total_is_more", true);
    json_put(answer, "cursor", json_null());
    if (list->next_run > 0) {
        char cursor[48];
        (void)snprintf(cursor, sizeof cursor, "%lld.%lld", (long long)list->next_run,
                       (long long)list->next_place);
        json_put_string(answer, "cursor", cursor);
    }
    return answer;
}

static void fini(struct instances *list)
{
    row_list_fini(&list->tasks);
}

enum status op_task_instances(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(fini) struct instances list = {.service = service};
    struct run_page runs;
    row_list_init(&list.tasks, service);
    if (instance_filter_read(request, arena, &list.filter, &runs, err) != STATUS_OK ||
        run_filter_read_page(request, &list.limit, &list.skip, err) != STATUS_OK ||
        read_cursor(request, &list, &runs, err) != STATUS_OK ||
        service_store_if_any(service, &list.store, err) != STATUS_OK)
        return err->code;
    enum status status = list.store != NULL ? read_all(&list, request, &runs, err)
                         : json_get_string(request, "run", NULL) != NULL
                             ? err_set(err, STATUS_NOT_FOUND, "there are no runs yet")
                             : STATUS_OK;
    bool is_many =
        json_get_string(request, "run", NULL) == NULL && json_object_get(request, "runs") == NULL;
    if (status == STATUS_OK && is_many && is_full(&list))
        status = count_all(&list, &runs, err);
    if (status != STATUS_OK)
        return status;
    if (list.tasks.count == 0 && lookup_dag_name(service, runs.dag_id, err) != STATUS_OK)
        return err->code;
    *out = answer_of(&list, json_get_bool(request, "with_total", false));
    return STATUS_OK;
}
