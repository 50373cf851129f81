#include "store/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/admission_priv.h"
#include "store/job_priv.h"
#include "store/lane_cache.h"
#include "store/lane_priv.h"
#include "store/pool_priv.h"
#include "store/watch_priv.h"

void work_init(struct work *work, struct store *store, const char *actor)
{
    work_init_timeless(work, store, actor);
    work_read_clock(work);
}

void work_read_clock(struct work *work)
{
    if (work->now_us == 0)
        work->now_us = store_now_us(work->store);
}

void work_init_timeless(struct work *work, struct store *store, const char *actor)
{
    lane_cache_begin(store->lane_cache);
    *work = (struct work){
        .store = store,
        .db = store->db,
        .arena = arena_new(),
        .actor = actor,
        .tasks = idmap_new(),
        .runs = idmap_new(),
        .lock = RUN_LOCK,
    };
    saver_init(&work->saver);
}

void work_fini(struct work *work)
{
    saver_fini(&work->saver);
    tiding_list_fini(&work->tidings);
    pool_set_free(work->pools);
    arena_free(work->arena);
    idmap_free(work->tasks);
    idmap_free(work->runs);
    free(work->rows.items);
    free(work->run_rows.items);
    free(work->touched.items);
    free(work->ready.items);
    free(work->anew.items);
    *work = (struct work){0};
}

static void push(struct task_list *list, struct task_row *task)
{
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof(struct task_row *));
    list->items[list->count++] = task;
}

/* --- runs ------------------------------------------------------------------------------------ */

static void add_run(void *context, const struct run_row *row)
{
    struct work *work = context;
    struct run_row *run = arena_alloc(work->arena, sizeof *run);
    *run = *row;
    idmap_set(work->runs, run->id, run);
    struct run_list *list = &work->run_rows;
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof(struct run_row *));
    list->items[list->count++] = run;
}

static enum status complete_run(struct work *work, struct run_row *run, struct err *err)
{
    if (run->dag != NULL)
        return STATUS_OK;
    if (store_dag(work->store, run->version, &run->dag, err) != STATUS_OK)
        return err->code;
    work->has_pools |= run->dag->has_pools;
    if (store_pools_of(work->store, run->version, run->dag, &run->pools, err) != STATUS_OK)
        return err->code;
    return store_lanes_of_run(work->store, run, &run->lanes, err);
}

/* Ids that `known` does not have, in an array of the arena, each once. */
static size_t list_missing(struct work *work, const struct idmap *known, const int64_t *ids,
                           size_t count, int64_t **out)
{
    int64_t *missing = arena_array(work->arena, count, sizeof *missing);
    size_t found = 0;
    *out = missing;
    if (count == 1) {
        missing[0] = ids[0];
        return ids[0] > 0 && idmap_find(known, ids[0]) == NULL;
    }
    CLEANUP(idmap_freep) struct idmap *seen = idmap_new();
    for (size_t i = 0; i < count; i++) {
        if (ids[i] <= 0 || idmap_find(known, ids[i]) != NULL || idmap_find(seen, ids[i]) != NULL)
            continue;
        idmap_set(seen, ids[i], work);
        missing[found++] = ids[i];
    }
    return found;
}

/* Many runs of many DAGs cost one question. */
static enum status fetch_dags(struct work *work, size_t first, struct err *err)
{
    size_t count = work->run_rows.count - first;
    if (count < 2)
        return STATUS_OK;
    CLEANUP(mem_freep) int64_t *versions = mem_alloc(count * sizeof *versions);
    for (size_t i = 0; i < count; i++)
        versions[i] = work->run_rows.items[first + i]->version;
    return store_dags_fetch(work->store, versions, count, err);
}

enum status work_fetch_runs(struct work *work, const int64_t *ids, size_t count, struct err *err)
{
    int64_t *missing = NULL;
    size_t first = work->run_rows.count;
    size_t found = list_missing(work, work->runs, ids, count, &missing);
    if (run_rows_load(work->db, (struct id_span){missing, found}, work->lock, add_run, work, err) !=
            STATUS_OK ||
        fetch_dags(work, first, err) != STATUS_OK)
        return err->code;
    for (size_t i = first; i < work->run_rows.count; i++)
        if (complete_run(work, work->run_rows.items[i], err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static void read_again(void *context, const struct run_row *row)
{
    struct work *work = context;
    struct run_row *run = idmap_find(work->runs, row->id);
    CHECK(run != NULL);
    CHECK(!run->dirty);
    const struct dag *dag = run->dag;
    const int64_t *lanes = run->lanes;
    const struct pool_ref *pools = run->pools;
    *run = *row;
    run->dag = dag;
    run->lanes = lanes;
    run->pools = pools;
}

enum status work_try_lock(struct work *work, const int64_t *ids, size_t count, struct err *err)
{
    int64_t *wanted = arena_array(work->arena, count, sizeof *wanted);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct run_row *run = idmap_find(work->runs, ids[i]);
        CHECK(run != NULL);
        if (!run->locked)
            wanted[found++] = ids[i];
    }
    return run_rows_load(work->db, (struct id_span){wanted, found}, RUN_TRY_LOCK, read_again, work,
                         err);
}

enum status work_run(struct work *work, int64_t id, struct run_row **out, struct err *err)
{
    if (id == RUN_OF_JOBS) {
        if (work->jobs == NULL)
            work->jobs = job_run_new(work->arena);
        *out = work->jobs;
        return STATUS_OK;
    }
    if (idmap_find(work->runs, id) == NULL && work_fetch_runs(work, &id, 1, err) != STATUS_OK)
        return err->code;
    *out = idmap_find(work->runs, id);
    if (*out == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)id);
    return STATUS_OK;
}

/* --- tasks ----------------------------------------------------------------------------------- */

struct task_row *work_add(struct work *work, const struct task_row *row)
{
    struct task_row *task = arena_alloc(work->arena, sizeof *task);
    *task = *row;
    idmap_set(work->tasks, task->id, task);
    push(&work->rows, task);
    return task;
}

static void add_task(void *context, const struct task_row *row)
{
    (void)work_add(context, row);
}

enum status work_fetch_tasks(struct work *work, const int64_t *ids, size_t count, struct err *err)
{
    int64_t *missing = NULL;
    size_t first = work->rows.count;
    size_t found = list_missing(work, work->tasks, ids, count, &missing);
    if (found == 0)
        return STATUS_OK;
    if (task_rows_load(work->db, work->arena, (struct id_span){missing, found}, add_task, work,
                       err) != STATUS_OK)
        return err->code;
    return job_rows_complete(work->db, work->arena, work->rows.items + first,
                             work->rows.count - first, err);
}

enum status work_task(struct work *work, int64_t id, struct task_row **out, struct err *err)
{
    if (idmap_find(work->tasks, id) == NULL && work_fetch_tasks(work, &id, 1, err) != STATUS_OK)
        return err->code;
    *out = idmap_find(work->tasks, id);
    if (*out == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no task %lld", (long long)id);
    return STATUS_OK;
}

enum status work_node(struct work *work, const struct run_row *run, int64_t node,
                      struct task_row **out, struct err *err)
{
    return work_task(work, run->first_task + node, out, err);
}

enum status work_fetch_nodes(struct work *work, const struct run_row *run,
                             const struct node_list *nodes, struct err *err)
{
    /* One at a time they are read when they are needed. */
    if (nodes->count < 2)
        return STATUS_OK;
    CLEANUP(mem_freep) int64_t *ids = mem_alloc(nodes->count * sizeof *ids);
    for (size_t i = 0; i < nodes->count; i++)
        ids[i] = run->first_task + nodes->items[i];
    return work_fetch_tasks(work, ids, nodes->count, err);
}

void work_touch(struct work *work, struct task_row *task)
{
    if (task->touched)
        return;
    task->touched = true;
    push(&work->touched, task);
}

void work_begin_anew(struct work *work, struct task_row *task)
{
    task->begins_anew = true;
    push(&work->anew, task);
}

void work_queue(struct work *work, struct task_row *task)
{
    if (task_waits_for_pool(task->state, task->reason)) {
        task->reason = REASON_NONE;
        task->detail = NULL;
    }
    task->state = TASK_QUEUED;
    task->queued_at_us = work->now_us;
    task->due_at_us = 0;
    task->dirty = true;
    push(&work->ready, task);
}

bool work_is_job(const struct task_row *task)
{
    return task->run == RUN_OF_JOBS;
}

void work_start_run(struct run_row *run, int64_t started_at_us)
{
    run->state = RUN_RUNNING;
    run->started_at_us = started_at_us;
    run->dirty = true;
}

void work_leave_slot(struct run_row *run)
{
    if (run->dag->max_active_tasks == 0)
        return;
    CHECK(run->active > 0);
    run->active--;
    run->dirty = true;
}

int64_t work_run_room(const struct run_row *run)
{
    int64_t most = run->dag->max_active_tasks;
    return most > 0 ? MAX(most - run->active, (int64_t)0) : INT64_MAX;
}

/* --- writing --------------------------------------------------------------------------------- */

void work_event(struct work *work, enum event_kind kind, const struct run_row *run,
                const struct task_row *task, const char *data)
{
    struct db_bulk *events = &work->saver.bulks[SAVER_EVENT];
    const int64_t none = -1;
    CHECK(run != NULL);
    if (data == NULL && work->store->reason != NULL && work->actor != NULL &&
        event_kind_is_change(kind))
        data = work->store->reason;
    if (task == NULL) {
        db_bulk_add(events, work->now_us, (int64_t)kind, run->id, none, run->row_version + 1,
                    (int64_t)run->read_state, (int64_t)run->state, none, none, (const void *)NULL,
                    (size_t)0, work->actor, none, data);
        return;
    }
    /* The row may get another nonce before it is written. */
    void *nonce = NULL;
    if (task->has_nonce) {
        nonce = arena_alloc(work->arena, sizeof task->nonce);
        memcpy(nonce, &task->nonce, sizeof task->nonce);
    }
    db_bulk_add(events, work->now_us, (int64_t)kind, run->id, task->id, task->row_version + 1,
                (int64_t)task->read_state, (int64_t)task->state, task->generation, task->attempt,
                (const void *)nonce, sizeof task->nonce, work->actor, (int64_t)task->reason, data);
}

static bool is_given_up(const struct task_row *task)
{
    return task->state == TASK_FAILED && (work_is_job(task) || task->reason == REASON_LOST_OWNER);
}

static void bury(struct work *work, const struct run_row *run, const struct task_row *task)
{
    db_bulk_add(&work->saver.bulks[SAVER_DEAD], task->id, task->run, ready_key_of(run, task).lane,
                work->now_us, (int64_t)task->reason, task->attempt, task->detail);
}

static const char DEAD_DROP[] = "DELETE FROM dead WHERE task = $1";

enum status work_forget_letter(struct work *work, const struct task_row *task, struct err *err)
{
    return db_later(work->db, err, DEAD_DROP, "i", task->id);
}

static enum status save_task(struct work *work, struct task_row *task, struct err *err)
{
    struct run_row *run = NULL;
    if (work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    bool is_new = task->state != task->read_state || task->generation != task->read_generation;
    if (is_new && task_state_is_final(task->state))
        work_event(work, EVENT_TASK_ENDED, run, task, NULL);
    if (is_new && is_given_up(task))
        bury(work, run, task);
    if (!work_is_job(task) && task_row_def(run, task)->depends_on_past &&
        past_note(work, task, err) != STATUS_OK)
        return err->code;
    if (run->dag->watch != NULL && watch_task(work, run, task, err) != STATUS_OK)
        return err->code;
    counted_task(work, run, task);
    saver_task(&work->saver, run, task);
    return STATUS_OK;
}

static enum status tell_end(struct work *work, const struct run_row *run, struct err *err)
{
    const struct tiding_end end = {run->id, run->dag->id, run->state};
    return tiding_save_end(work->db, work->now_us, &end, &work->has_news, err);
}

enum status work_save(struct work *work, struct err *err)
{
    if (pools_open_left(work, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < work->rows.count; i++)
        if (work->rows.items[i]->dirty && save_task(work, work->rows.items[i], err) != STATUS_OK)
            return err->code;
    if (admission_note_ends(work, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < work->run_rows.count; i++) {
        struct run_row *run = work->run_rows.items[i];
        bool is_over =
            run_state_is_final(run->state) && (run->state != run->read_state || run->is_reopened);
        if (is_over) {
            work_event(work, EVENT_RUN_ENDED, run, NULL, NULL);
            counted_run(work, run);
        }
        if (is_over && run->is_awaited && tell_end(work, run, err) != STATUS_OK)
            return err->code;
        if (run->dirty && run->dag->watch != NULL && watch_run(work, run, err) != STATUS_OK)
            return err->code;
        if (run->dirty)
            saver_run(&work->saver, run);
    }
    if (saver_flush(&work->saver, work->db, err) != STATUS_OK)
        return err->code;
    /* Datasets come last: whoever waits for one of them holds nothing that this one needs. */
    if (tidings_save(work->db, work->now_us, &work->tidings, &work->has_news, err) != STATUS_OK)
        return err->code;
    return tiding_spread(work->db, work->has_news, err);
}
