/*
 * wait_row: rows of `wait`, read.
 */
#include <string.h>

#include "base/clock.h"
#include "store/wait_row_priv.h"

#define COLUMNS                                                                                    \
    "w.task, w.run, w.kind, w.host, w.looks, w.since_us, w.target_us, w.deadline_us, w.every_ms,"  \
    " w.every_max_ms, w.backoff, w.subject, w.dag, w.dag_task, w.date_us, t.attempt, t.nonce,"     \
    " w.states"

static const char LOAD[] =
    "SELECT " COLUMNS " FROM wait w JOIN task t ON t.id = w.task WHERE w.task = $1";
static const char LOAD_MANY[] =
    "SELECT " COLUMNS " FROM wait w JOIN task t ON t.id = w.task WHERE w.task = ANY ($1)";
_Static_assert(TASK_DEFERRED == 10, "as in the SQL");
static const char OF_HOST[] = "SELECT " COLUMNS " FROM wait w JOIN task t ON t.id = w.task"
                              " WHERE w.host = $1 AND t.state = 10 ORDER BY w.task";

static const char *copy_text(struct arena *arena, struct db_stmt *stmt, int column)
{
    return arena_strdup_null(arena, db_text(stmt, column));
}

static void read_row(struct db_stmt *stmt, struct arena *arena, struct wait_info *out)
{
    *out = (struct wait_info){
        .task = db_int(stmt, 0),
        .run = db_int(stmt, 1),
        .kind = (enum sensor_kind)db_int(stmt, 2),
        .host = db_int(stmt, 3),
        .looks = db_int(stmt, 4),
        .since_us = db_int(stmt, 5),
        .times = {.target_us = db_int(stmt, 6), .deadline_us = db_int(stmt, 7)},
        .every_ms = db_int(stmt, 8),
        .every_max_ms = db_int(stmt, 9),
        .backoff = (double)db_int(stmt, 10) / WAIT_BACKOFF_UNIT,
        .subject = copy_text(arena, stmt, 11),
        .dag = copy_text(arena, stmt, 12),
        .dag_task = copy_text(arena, stmt, 13),
        .date_us = db_int(stmt, 14),
        .attempt = db_int(stmt, 15),
        .states = (unsigned)db_int(stmt, 17),
    };
    size_t size = 0;
    const void *nonce = db_blob(stmt, 16, &size);
    if (nonce != NULL && size == sizeof out->nonce)
        memcpy(&out->nonce, nonce, sizeof out->nonce);
}

static enum status collect(struct db_stmt *stmt, enum status status, struct arena *arena,
                           struct wait_list *list, struct err *err)
{
    size_t capacity = list->count;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        if (list->count == capacity) {
            capacity = MAX(2 * capacity, (size_t)16);
            struct wait_info *more = arena_array(arena, capacity, sizeof *more);
            if (list->count > 0)
                memcpy(more, list->items, list->count * sizeof *more);
            list->items = more;
        }
        read_row(stmt, arena, &list->items[list->count++]);
    }
    return status;
}

enum status wait_rows_load(struct db *db, const int64_t *tasks, size_t count, struct arena *arena,
                           struct wait_list *out, struct err *err)
{
    struct wait_list list = {0};
    struct db_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    bool is_one_by_one = db_dialect(db) == DB_SQLITE;
    if (is_one_by_one)
        list.items = arena_array(arena, count, sizeof *list.items);
    for (size_t i = 0; i < count && is_one_by_one && status == STATUS_OK; i++) {
        status = db_query(db, &stmt, err, LOAD, "i", tasks[i]);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            read_row(stmt, arena, &list.items[list.count++]);
    }
    if (!is_one_by_one && count > 0) {
        status = db_query(db, &stmt, err, LOAD_MANY, "I", tasks, count);
        status = collect(stmt, status, arena, &list, err);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "read what tasks wait for");
    *out = list;
    return STATUS_OK;
}

enum status wait_rows_of_host(struct db *db, int64_t host, struct arena *arena,
                              struct wait_list *out, struct err *err)
{
    struct wait_list list = {0};
    struct db_stmt *stmt = NULL;
    enum status status = db_query(db, &stmt, err, OF_HOST, "i", host);
    if (collect(stmt, status, arena, &list, err) != STATUS_OK)
        return err_wrap(err, "read what this host looks at");
    *out = list;
    return STATUS_OK;
}

enum status store_wait_find(struct store *store, int64_t task, struct arena *arena,
                            struct wait_info *out, struct err *err)
{
    struct wait_list list = {0};
    if (wait_rows_load(store->db, &task, 1, arena, &list, err) != STATUS_OK)
        return err->code;
    if (list.count == 0)
        return err_set(err, STATUS_NOT_FOUND, "task %lld does not wait", (long long)task);
    *out = list.items[0];
    return STATUS_OK;
}

static const char *phrase_of_dag(const struct wait_info *wait, struct arena *arena)
{
    char date[INSTANT_TEXT_MAX];
    const char *run = wait->date_us != 0
                          ? arena_format(arena, "for %s", instant_format(wait->date_us, date))
                          : "that is its latest";
    if (wait->dag_task == NULL)
        return arena_format(arena, "the run of DAG '%s' %s", wait->dag, run);
    return arena_format(arena, "task '%s' in the run of DAG '%s' %s", wait->dag_task, wait->dag,
                        run);
}

const char *wait_phrase(const struct wait_info *wait, struct arena *arena)
{
    char at[INSTANT_TEXT_MAX];
    switch (wait->kind) {
    case SENSOR_FILE:
        return arena_format(arena, "file '%s'", wait->subject);
    case SENSOR_TIME:
    case SENSOR_DURATION:
        return arena_format(arena, "%s (%s)", instant_format(wait->times.target_us, at),
                            wait->subject);
    case SENSOR_DAG:
        return phrase_of_dag(wait, arena);
    case SENSOR_RUN:
        return arena_format(arena, "the command '%.200s'", wait->subject);
    case SENSOR_KIND_COUNT:
        break;
    }
    return "something that this version does not know";
}
