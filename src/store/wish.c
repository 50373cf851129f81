#include "store/wish.h"

#include "base/check.h"
#include "store/channel.h"
#include "store/wish_priv.h"

static const char WISH_FIND[] = "SELECT actor, data, asked_at_us FROM task_wish WHERE task = $1";

enum status store_wish_find(struct store *store, struct arena *arena, int64_t task,
                            struct wish_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, WISH_FIND, "i", task) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for who wants task %lld to stop", (long long)task);
    *out = (struct wish_info){.is_found = row};
    if (!row)
        return STATUS_OK;
    out->actor = arena_strdup_null(arena, db_text(stmt, 0));
    out->data = arena_strdup_null(arena, db_text(stmt, 1));
    out->asked_at_us = db_int(stmt, 2);
    db_reset(stmt);
    return STATUS_OK;
}

enum status wish_ask(struct work *work, struct task_row *task, enum task_wish wish, const char *why,
                     bool *out_new, struct err *err)
{
    CHECK(wish != WISH_NONE);
    CHECK(task->state == TASK_RUNNING || task->state == TASK_DEFERRED);
    *out_new = task->wish != wish;
    if (!*out_new)
        return STATUS_OK;
    task_row_set_wish(task, wish);
    db_bulk_add(&work->saver.bulks[SAVER_WISH_TAKEN], task->id, task->attempt, work->actor,
                why != NULL ? why : work->store->reason, work->now_us);
    return db_notify(work->db, STORE_CHANNEL_STOP, "", err);
}
