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

/* --- who can hear it ------------------------------------------------------------------------- */

enum { SCHEMA_OF_WISHES = 13 };

static const char DEAF_OWNER[] =
    "SELECT name FROM host WHERE id = $1 AND schema < $2 AND ended_at_us IS NULL";

static enum status require_owner(struct work *work, const struct run_row *run,
                                 const struct task_row *task, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (task->state != TASK_RUNNING)
        return STATUS_OK;
    if (db_query(work->db, &stmt, err, DEAF_OWNER, "ii", task->host, (int64_t)SCHEMA_OF_WISHES) !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look at the owner of task %lld", (long long)task->id);
    if (!row)
        return STATUS_OK;
    (void)err_set(err, STATUS_CONFLICT,
                  "task '%s' runs on the host '%.100s', whose program is older and cannot stop one "
                  "task of a run: wait for its end, restart that host with this version, or stop "
                  "the run with `eider stop %lld`",
                  task_row_def(run, task)->id, db_text(stmt, 0), (long long)run->id);
    db_reset(stmt);
    return err->code;
}

enum status wish_require_owners(struct work *work, const struct run_tasks *tasks, int64_t node,
                                int64_t map_index, struct err *err)
{
    const struct instances *list = &tasks->instances[node];
    enum status status = require_owner(work, tasks->run, tasks->nodes[node], err);
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++)
        if (map_index < 0 || list->items[i]->map_index == map_index)
            status = require_owner(work, tasks->run, list->items[i], err);
    return status;
}

/* --- asking ---------------------------------------------------------------------------------- */

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
