#include "store/dead.h"

#include <string.h>

#include "base/mem.h"
#include "model/dag.h"
#include "model/event_kind.h"
#include "store/control.h"
#include "store/job.h"
#include "store/rows.h"
#include "store/sight.h"
#include "store/store_priv.h"

/* --- looking --------------------------------------------------------------------------------- */

#define DEAD_COLUMNS                                                                               \
    "d.task, d.run, q.name, j.handler, g.dag_id, r.run_id, r.version, t.node, d.at_us, d.reason,"  \
    " d.attempt, d.detail, j.payload, t.map_index"
#define DEAD_TABLES                                                                                \
    " FROM dead d LEFT JOIN lane l ON l.id = d.lane LEFT JOIN queue q ON q.id = l.queue"           \
    " LEFT JOIN job j ON j.id = d.task AND d.run = 0 LEFT JOIN task t ON t.id = d.task"            \
    " LEFT JOIN run r ON r.id = d.run LEFT JOIN dag g ON g.id = r.dag"

static const char DEAD_LOAD[] = "SELECT " DEAD_COLUMNS DEAD_TABLES " WHERE d.task = $1";
/* $1 queue, $2 and $5 older than a letter of this time and task, $3 limit, $4 what is seen */
#define DEAD_ROWS                                                                                  \
    " WHERE (d.at_us, d.task) < ($2, $5) AND (CAST($1 AS TEXT) IS NULL OR q.name = CAST($1 AS "    \
    "TEXT))"                                                                                       \
    " AND " SEEN("$4", "coalesce(g.namespace, j.namespace, '')")
static const char DEAD_LIST[] =
    "SELECT " DEAD_COLUMNS DEAD_TABLES DEAD_ROWS " ORDER BY d.at_us DESC, d.task DESC LIMIT $3";
static const char DEAD_LIST_COUNT[] = COUNT_OF("SELECT 1 AS one" DEAD_TABLES DEAD_ROWS " LIMIT $3");
static const char DEAD_COUNT[] =
    COUNT_OF("SELECT 1 AS one FROM dead d WHERE d.at_us < $1 LIMIT $2");

static int64_t end_of(const struct dead_filter *filter)
{
    return filter->before_us != 0 ? filter->before_us : INT64_MAX;
}

static bool is_later_page(const struct dead_filter *filter)
{
    return filter->after_us != 0 && filter->after_us < end_of(filter);
}

/* Letters are collected first: naming a task may mean to read its DAG. */
struct letter {
    struct dead_info info;
    const char *dag_id; /* NULL: a job, or a run that is gone */
    const char *run_id;
    int64_t version;
    int64_t node;
};

struct letters {
    struct letter *items;
    size_t count;
    size_t capacity;
};

static void letters_fini(struct letters *letters)
{
    mem_freep(&letters->items);
}

static const char *text_of(struct db_stmt *stmt, struct arena *arena, int column)
{
    const char *text = db_text(stmt, column);
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

static struct letter read_letter(struct db_stmt *stmt, struct arena *arena)
{
    const char *queue = text_of(stmt, arena, 2);
    const char *handler = text_of(stmt, arena, 3);
    return (struct letter){
        .info = {.task = db_int(stmt, 0),
                 .run = db_int(stmt, 1),
                 .queue = queue != NULL ? queue : "",
                 .name = handler != NULL ? handler : "",
                 .at_us = db_int(stmt, 8),
                 .reason = (enum reason)db_int(stmt, 9),
                 .attempt = db_int(stmt, 10),
                 .detail = text_of(stmt, arena, 11),
                 .payload = text_of(stmt, arena, 12),
                 .map_index = db_int(stmt, 13)},
        .dag_id = text_of(stmt, arena, 4),
        .run_id = text_of(stmt, arena, 5),
        .version = db_int(stmt, 6),
        .node = db_int(stmt, 7),
    };
}

static enum status name_task(struct store *store, struct arena *arena, struct letter *letter,
                             struct err *err)
{
    const struct dag *dag = NULL;
    if (letter->dag_id == NULL)
        return STATUS_OK;
    if (store_dag(store, letter->version, &dag, err) != STATUS_OK)
        return err->code;
    bool is_known = letter->node >= 0 && (size_t)letter->node < dag->tasks_count;
    if (is_known)
        letter->info.task_id = arena_strdup(arena, dag->tasks[letter->node].id);
    letter->info.name = arena_format(arena, "%s/%s/%s", letter->dag_id, letter->run_id,
                                     is_known ? letter->info.task_id : "?");
    return STATUS_OK;
}

static enum status collect(struct store *store, struct arena *arena, struct db_stmt *stmt,
                           struct letters *letters, struct err *err)
{
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, err)) {
        letters->items =
            mem_grow(letters->items, &letters->capacity, letters->count, sizeof *letters->items);
        letters->items[letters->count++] = read_letter(stmt, arena);
    }
    for (size_t i = 0; status == STATUS_OK && i < letters->count; i++)
        status = name_task(store, arena, &letters->items[i], err);
    return status;
}

enum status store_dead_count(struct store *store, const struct dead_filter *filter, int64_t most,
                             int64_t *out, struct err *err)
{
    if (filter->queue == NULL && store_sees_all(store))
        return db_get_int(store->db, 0, out, err, DEAD_COUNT, "ii", end_of(filter), most);
    return db_get_int(store->db, 0, out, err, DEAD_LIST_COUNT, "tiiti", filter->queue,
                      end_of(filter), most, store_sight(store), (int64_t)0);
}

static const char DEAD_ALL[] = "SELECT count(*), coalesce(min(at_us), 0) FROM dead";

enum status store_dead_summary(struct store *store, struct dead_summary *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct dead_summary found = {0};
    enum status status = db_query(store->db, &stmt, err, DEAD_ALL, "");
    while (status == STATUS_OK && db_next(stmt, &status, err))
        found = (struct dead_summary){.count = db_int(stmt, 0), .oldest_us = db_int(stmt, 1)};
    if (status != STATUS_OK)
        return err_wrap(err, "count dead letters");
    *out = found;
    return STATUS_OK;
}

enum status store_dead_each(struct store *store, const struct dead_filter *filter,
                            enum status (*each)(void *context, const struct dead_info *info,
                                                struct err *err),
                            void *context, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(letters_fini) struct letters letters = {0};
    struct db_stmt *stmt = NULL;
    bool is_later = is_later_page(filter);
    if (db_query(store->db, &stmt, err, DEAD_LIST, "tiiti", filter->queue,
                 is_later ? filter->after_us : end_of(filter), filter->limit, store_sight(store),
                 is_later ? filter->after_task : 0) != STATUS_OK ||
        collect(store, arena, stmt, &letters, err) != STATUS_OK)
        return err_wrap(err, "list dead letters");
    for (size_t i = 0; i < letters.count; i++)
        if (each(context, &letters.items[i].info, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status store_dead_load(struct store *store, struct arena *arena, int64_t task,
                            struct dead_info *out, struct err *err)
{
    CLEANUP(letters_fini) struct letters letters = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, DEAD_LOAD, "i", task) != STATUS_OK ||
        collect(store, arena, stmt, &letters, err) != STATUS_OK)
        return err_wrap(err, "look at a dead letter");
    if (letters.count == 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no dead letter %lld", (long long)task);
    *out = letters.items[0].info;
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

/* A task goes on within its run, with what comes after it. */
static enum status clear_task(struct store *store, struct arena *arena,
                              const struct dead_info *letter, const char *actor, struct err *err)
{
    struct task_row task;
    struct run_row run;
    const struct dag *dag = NULL;
    if (task_row_load(store->db, arena, letter->task, &task, err) != STATUS_OK ||
        run_row_load(store->db, letter->run, &run, err) != STATUS_OK ||
        store_dag(store, run.version, &dag, err) != STATUS_OK)
        return err->code;
    if (!task_state_is_final(task.state))
        return STATUS_OK; /* somebody has cleared it already */
    bool *nodes = arena_array(arena, dag->tasks_count + 1, sizeof *nodes);
    nodes[task.node] = true;
    struct clear_request request = {
        .run = letter->run, .nodes = nodes, .map_index = task.map_index, .actor = actor};
    struct clear_result result;
    return store_clear(store, &request, arena, &result, err);
}

enum status store_dead_requeue(struct store *store, int64_t task, const char *actor,
                               struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dead_info letter = {0};
    if (store_dead_load(store, arena, task, &letter, err) != STATUS_OK)
        return err->code;
    if (letter.run == 0)
        return store_job_retry(store, task, actor, err);
    /* The letter goes in the same transaction. */
    if (clear_task(store, arena, &letter, actor, err) != STATUS_OK)
        return err_wrap(err, "requeue %s", letter.name);
    return STATUS_OK;
}

static const char DEAD_PURGE[] =
    "DELETE FROM dead WHERE task IN (SELECT d.task FROM dead d LEFT JOIN lane l ON l.id = d.lane"
    " LEFT JOIN queue q ON q.id = l.queue"
    " WHERE d.at_us < $2 AND (CAST($1 AS TEXT) IS NULL OR q.name = CAST($1 AS TEXT))"
    " ORDER BY d.at_us LIMIT $3)";

enum status store_dead_purge(struct store *store, const struct dead_filter *filter,
                             const char *actor, int64_t *out_count, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || db_do(db, err, DEAD_PURGE, "tii", filter->queue,
                                                end_of(filter), filter->limit) != STATUS_OK)
        return err_wrap(err, "purge dead letters");
    int64_t count = db_changes(db);
    CLEANUP(mem_freep) char *data = mem_format("{\"letters\":%lld}", (long long)count);
    if ((count > 0 && store_tell(store, EVENT_DEAD_PURGED, actor, data, err) != STATUS_OK) ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "purge dead letters");
    *out_count = count;
    return STATUS_OK;
}
