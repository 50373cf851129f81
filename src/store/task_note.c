#include "store/task_note.h"

#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/rows.h"
#include "store/store_priv.h"

static const char NOTE_SET[] = "INSERT INTO task_note (run, task, note) VALUES ($1, $2, $3)"
                               " ON CONFLICT (run, task) DO UPDATE SET note = excluded.note";
static const char NOTE_DROP[] = "DELETE FROM task_note WHERE run = $1 AND task = $2";
static const char EVENT_ADD[] =
    "INSERT INTO event (at_us, kind, run, task, actor, data) VALUES ($1, $2, $3, $4, $5, $6)";

static void note_found(void *context, const struct run_row *row)
{
    (void)row;
    *(bool *)context = true;
}

/* The run is locked, so that it is not deleted meanwhile. */
static enum status set_once(struct store *store, const void *context, struct err *err)
{
    const struct task_note_request *request = context;
    bool is_found = false;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        run_rows_load(db, (struct id_span){&request->run, 1}, RUN_LOCK, note_found, &is_found,
                      err) != STATUS_OK)
        return err->code;
    if (!is_found)
        return err_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)request->run);
    enum status status =
        request->note[0] != '\0'
            ? db_do(db, err, NOTE_SET, "iit", request->run, request->task, request->note)
            : db_do(db, err, NOTE_DROP, "ii", request->run, request->task);
    if (status != STATUS_OK ||
        db_do(db, err, EVENT_ADD, "iiiitt", store_now_us(store), (int64_t)EVENT_TASK_NOTE,
              request->run, request->task, request->actor, store->reason) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_task_set_note(struct store *store, const struct task_note_request *request,
                                struct err *err)
{
    if (store_repeat(store, set_once, request, err) != STATUS_OK)
        return err_wrap(err, "note");
    return STATUS_OK;
}

static const char NOTES[] =
    "SELECT task, note FROM task_note WHERE run = $1 ORDER BY run, task LIMIT $2";

enum status store_task_notes(struct store *store, struct arena *arena, const struct run_info *run,
                             struct task_note_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    *out = (struct task_note_list){0};
    if (run->task_notes == 0)
        return STATUS_OK;
    struct task_note *items = arena_array(arena, (size_t)run->task_notes, sizeof *items);
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, NOTES, "ii", run->id, run->task_notes);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        items[count++] = (struct task_note){db_int(stmt, 0), arena_strdup(arena, db_text(stmt, 1))};
    if (status != STATUS_OK)
        return err_wrap(err, "read notes");
    *out = (struct task_note_list){items, count};
    return STATUS_OK;
}

const char *task_note_find(const struct task_note_list *list, int64_t task)
{
    size_t low = 0;
    for (size_t high = list->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->items[low].task == task ? list->items[low].text : NULL;
}
