#include "store/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

void work_init(struct work *work, struct store *store, const char *actor)
{
    *work = (struct work){
        .store = store,
        .db = store->db,
        .arena = arena_new(),
        .now_us = store->now_us(),
        .actor = actor,
        .tasks = idmap_new(),
        .runs = idmap_new(),
    };
}

void work_fini(struct work *work)
{
    arena_free(work->arena);
    idmap_free(work->tasks);
    idmap_free(work->runs);
    free(work->rows.items);
    free(work->run_rows.items);
    free(work->touched.items);
    free(work->ready.items);
    *work = (struct work){0};
}

static void push(struct task_list *list, struct task_row *task)
{
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof(struct task_row *));
    list->items[list->count++] = task;
}

enum status work_run(struct work *work, int64_t id, struct run_row **out, struct err *err)
{
    struct run_row *run = idmap_find(work->runs, id);
    if (run == NULL) {
        run = arena_alloc(work->arena, sizeof *run);
        if (run_row_load(work->db, id, run, err) != STATUS_OK ||
            store_dag(work->store, run->version, &run->dag, err) != STATUS_OK)
            return err->code;
        idmap_set(work->runs, id, run);
        struct run_list *list = &work->run_rows;
        list->items = mem_grow(list->items, &list->capacity, list->count, sizeof(struct run_row *));
        list->items[list->count++] = run;
    }
    *out = run;
    return STATUS_OK;
}

struct task_row *work_add(struct work *work, const struct task_row *row)
{
    struct task_row *task = arena_alloc(work->arena, sizeof *task);
    *task = *row;
    idmap_set(work->tasks, task->id, task);
    push(&work->rows, task);
    return task;
}

enum status work_task(struct work *work, int64_t id, struct task_row **out, struct err *err)
{
    struct task_row *task = idmap_find(work->tasks, id);
    if (task == NULL) {
        struct task_row row;
        if (task_row_load(work->db, work->arena, id, &row, err) != STATUS_OK)
            return err->code;
        task = work_add(work, &row);
    }
    *out = task;
    return STATUS_OK;
}

enum status work_node(struct work *work, const struct run_row *run, int64_t node,
                      struct task_row **out, struct err *err)
{
    return work_task(work, run->first_task + node, out, err);
}

void work_touch(struct work *work, struct task_row *task)
{
    if (task->touched)
        return;
    task->touched = true;
    push(&work->touched, task);
}

void work_queue(struct work *work, struct task_row *task)
{
    task->state = TASK_QUEUED;
    task->queued_at_us = work->now_us;
    task->due_at_us = 0;
    task->dirty = true;
    push(&work->ready, task);
}

void work_leave_slot(struct run_row *run)
{
    CHECK(run->active > 0);
    run->active--;
    run->dirty = true;
}

int64_t work_run_room(const struct run_row *run)
{
    int64_t most = run->dag->max_active_tasks;
    return most > 0 ? MAX(most - run->active, (int64_t)0) : INT64_MAX;
}

static const char EVENT_INSERT[] =
    "INSERT INTO event (at_us, kind, run, task, row_version, old_state, new_state, generation,"
    " attempt, nonce, actor, reason, data)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

enum status work_event(struct work *work, enum event_kind kind, const struct run_row *run,
                       const struct task_row *task, const char *data, struct err *err)
{
    enum status status;
    CHECK(run != NULL);
    if (task == NULL)
        status = db_do(work->db, err, EVENT_INSERT, "iiiniiinnntnt", work->now_us, (int64_t)kind,
                       run->id, run->row_version + 1, (int64_t)run->read_state, (int64_t)run->state,
                       work->actor, data);
    else
        status = db_do(work->db, err, EVENT_INSERT, "iiiiiiiiibtit", work->now_us, (int64_t)kind,
                       run->id, task->id, task->row_version + 1, (int64_t)task->read_state,
                       (int64_t)task->state, task->generation, task->attempt,
                       task->has_nonce ? &task->nonce : NULL, sizeof task->nonce, work->actor,
                       (int64_t)task->reason, data);
    return status == STATUS_OK ? status : err_wrap(err, "write an event");
}

static enum status save_task(struct work *work, struct task_row *task, struct err *err)
{
    struct run_row *run = NULL;
    if (work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    bool is_new = task->state != task->read_state || task->generation != task->read_generation;
    bool ended = is_new && task_state_is_final(task->state);
    if (ended && work_event(work, EVENT_TASK_ENDED, run, task, NULL, err) != STATUS_OK)
        return err->code;
    return task_row_save(work->db, run, task, err);
}

enum status work_save(struct work *work, struct err *err)
{
    for (size_t i = 0; i < work->rows.count; i++)
        if (work->rows.items[i]->dirty && save_task(work, work->rows.items[i], err) != STATUS_OK)
            return err->code;
    for (size_t i = 0; i < work->run_rows.count; i++) {
        struct run_row *run = work->run_rows.items[i];
        bool ended = run->state != run->read_state && run_state_is_final(run->state);
        if (ended && work_event(work, EVENT_RUN_ENDED, run, NULL, NULL, err) != STATUS_OK)
            return err->code;
        if (run->dirty && run_row_save(work->db, run, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}
