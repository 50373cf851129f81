/*
 * recover: what a dead host left behind.
 *
 * Idempotent: a task that was taken back is not held by the dead host any more, so a second
 * sweep finds nothing. The retry policy is not involved; losing an owner has its own bound.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "store/claim_priv.h"
#include "store/control.h"
#include "store/work.h"

static const char HELD[] = "SELECT r.host, r.task FROM running r JOIN task t ON t.id = r.task"
                           " WHERE $1 = 0 OR t.run = $1 ORDER BY r.host, r.task";

struct held {
    int64_t host;
    int64_t task;
};

struct held_list {
    struct held *items;
    size_t count;
    size_t capacity;
};

static void held_list_fini(struct held_list *list)
{
    free(list->items);
}

static enum status list_held(struct store *store, int64_t run, struct held_list *out,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, HELD, "i", run) != STATUS_OK)
        return err->code;
    for (;;) {
        bool row = false;
        if (db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            return STATUS_OK;
        out->items = mem_grow(out->items, &out->capacity, out->count, sizeof *out->items);
        out->items[out->count++] = (struct held){db_int(stmt, 0), db_int(stmt, 1)};
    }
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
    if (work_is_stopping(run, task))
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    if (task->losses >= LIMIT_OWNER_LOSSES)
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

static enum status take_back(struct work *work, int64_t host, int64_t id, struct err *err)
{
    struct task_row *task = NULL;
    struct run_row *run = NULL;
    if (work_task(work, id, &task, err) != STATUS_OK ||
        work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    if (task->state != TASK_RUNNING || task->host != host)
        return STATUS_OK;
    return work_lose_owner(work, run, task, err);
}

static enum status take_back_all(struct work *work, const struct held_list *held, const bool *lost,
                                 struct err *err)
{
    for (size_t i = 0; i < held->count; i++)
        if (lost[i] && take_back(work, held->items[i].host, held->items[i].task, err) != STATUS_OK)
            return err->code;
    /* The dead made room for tasks that their run's limits hold. */
    if (work_settle(work, err) != STATUS_OK || claim_open_gates(work, err) != STATUS_OK)
        return err->code;
    return work_save(work, err);
}

enum status store_recover(struct store *store, int64_t run,
                          bool (*is_alive)(void *context, int64_t host), void *context,
                          int64_t *out_lost, struct err *err)
{
    CLEANUP(held_list_fini) struct held_list held = {0};
    if (list_held(store, run, &held, err) != STATUS_OK)
        return err_wrap(err, "look for lost tasks");
    CLEANUP(mem_freep) bool *lost = mem_zalloc(held.count, sizeof *lost);
    int64_t count = 0;
    for (size_t i = 0; i < held.count; i++) {
        bool same_host = i > 0 && held.items[i].host == held.items[i - 1].host;
        lost[i] = same_host ? lost[i - 1] : !is_alive(context, held.items[i].host);
        count += lost[i];
    }
    if (count > 0) {
        CLEANUP(db_endp) struct db *db = store->db;
        if (db_begin(db, err) != STATUS_OK)
            return err_wrap(err, "take back lost tasks");
        struct work work;
        work_init(&work, store, NULL);
        enum status status = take_back_all(&work, &held, lost, err);
        work_fini(&work);
        if (status != STATUS_OK || db_commit(db, err) != STATUS_OK)
            return err_wrap(err, "take back lost tasks");
    }
    *out_lost = count;
    return STATUS_OK;
}
