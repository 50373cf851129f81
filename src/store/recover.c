/*
 * recover: what a dead host left behind.
 *
 * Idempotent: a task that was taken back is not held by the dead host any more, so a second
 * sweep finds nothing. The retry policy is not involved; losing an owner has its own bound.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/sabotage.h"
#include "model/limits.h"
#include "store/claim_priv.h"
#include "store/control.h"
#include "store/id_list.h"
#include "store/recover_priv.h"

static const char HELD[] =
    "SELECT r.host, r.task, t.run FROM running r JOIN task t ON t.id = r.task"
    " WHERE $1 = 0 OR t.run = $1 ORDER BY r.host, r.task";

void held_list_fini(struct held_list *list)
{
    free(list->items);
}

void held_list_add(struct held_list *list, const struct held *held)
{
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = *held;
}

static enum status list_held(struct store *store, int64_t run, struct held_list *out,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, HELD, "i", run);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        held_list_add(out, &(struct held){db_int(stmt, 0), db_int(stmt, 1), db_int(stmt, 2)});
    return status;
}

enum status work_lose_owner(struct work *work, struct run_row *run, struct task_row *task,
                            struct err *err)
{
    work_leave_slot(run);
    task->losses++;
    task->reason = REASON_LOST_OWNER;
    task->detail = "the process that ran it is gone";
    task->ended_at_us = work->now_us;
    task->dirty = true;
    counted_lost(work, run, task);
    if (work_is_stopping(run, task))
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    if (task->losses >= LIMIT_OWNER_LOSSES && !SABOTAGE("rescue_ignores_limit"))
        return work_end_task(
            work, run, task,
            (struct ending){TASK_FAILED, REASON_LOST_OWNER, "lost its owner too often; put aside"},
            err);
    work_event(work, EVENT_TASK_LOST, run, task, NULL);
    if (task_row_keep_attempt(work->db, task, TASK_FAILED, err) != STATUS_OK)
        return err->code;
    task->host = 0;
    task->ended_at_us = 0;
    work_queue(work, task);
    return STATUS_OK;
}

static enum status take_back(struct work *work, const struct held *held, struct err *err)
{
    struct task_row *task = NULL;
    struct run_row *run = NULL;
    if (work_task(work, held->task, &task, err) != STATUS_OK ||
        work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    bool is_held = task->state == TASK_RUNNING && task->host == held->host;
    if (!is_held && !SABOTAGE("rescue_by_id"))
        return STATUS_OK;
    return work_lose_owner(work, run, task, err);
}

static enum status fetch(struct work *work, const struct held *items, size_t count, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list runs = {0};
    CLEANUP(id_list_fini) struct id_list tasks = {0};
    for (size_t i = 0; i < count; i++) {
        id_list_add(&runs, items[i].run);
        id_list_add(&tasks, items[i].task);
    }
    if (work_fetch_runs(work, runs.items, runs.count, err) != STATUS_OK)
        return err->code;
    return work_fetch_tasks(work, tasks.items, tasks.count, err);
}

enum status recover_held(struct work *work, const struct held *items, size_t count, struct err *err)
{
    if (fetch(work, items, count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (take_back(work, &items[i], err) != STATUS_OK)
            return err->code;
    /* The dead made room for tasks that their run's limits hold. */
    if (work_settle(work, err) != STATUS_OK || claim_open_gates(work, err) != STATUS_OK)
        return err->code;
    /* And for others in its queues, even where its own tasks do not come back. */
    work->saver.freed_work |= count > 0;
    return work_save(work, err);
}

static enum status recover_once(struct store *store, const void *context, struct err *err)
{
    const struct held_list *lost = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    struct work work;
    work_init(&work, store, NULL);
    enum status status = recover_held(&work, lost->items, lost->count, err);
    work_fini(&work);
    return status == STATUS_OK ? db_commit(db, err) : status;
}

enum status store_recover(struct store *store, int64_t run,
                          bool (*is_alive)(void *context, int64_t host), void *context,
                          int64_t *out_lost, struct err *err)
{
    CLEANUP(held_list_fini) struct held_list held = {0};
    CLEANUP(held_list_fini) struct held_list lost = {0};
    if (list_held(store, run, &held, err) != STATUS_OK)
        return err_wrap(err, "look for lost tasks");
    bool alive = true;
    for (size_t i = 0; i < held.count; i++) {
        if (i == 0 || held.items[i].host != held.items[i - 1].host)
            alive = is_alive(context, held.items[i].host);
        if (!alive)
            held_list_add(&lost, &held.items[i]);
    }
    if (lost.count > 0 && store_repeat(store, recover_once, &lost, err) != STATUS_OK)
        return err_wrap(err, "take back lost tasks");
    *out_lost = (int64_t)lost.count;
    return STATUS_OK;
}
