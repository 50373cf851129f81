/*
 * file_arrival: a file that is there makes one run, by a row that only one can insert.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/trigger_priv.h"

static const char WATCHES[] =
    "SELECT w.dag, w.name, w.settle_ms, w.since_us FROM trigger_watch w"
    " JOIN trigger_dag t ON t.dag = w.dag WHERE w.kind = 2 AND t.paused = 0"
    " ORDER BY w.name, w.dag";
static const char IS_KNOWN[] =
    "SELECT count(*) FROM file_arrival WHERE dag = $1 AND path = $2 AND mtime_us = $3"
    " AND bytes = $4 AND inode = $5";
static const char INSERT[] =
    "INSERT INTO file_arrival (dag, path, mtime_us, bytes, inode, at_us, run)"
    " VALUES ($1, $2, $3, $4, $5, $6, 0) RETURNING id";
static const char RUN_SET[] = "UPDATE file_arrival SET run = $2 WHERE id = $1";

enum status store_file_watches(struct store *store, struct arena *arena, struct file_watch **out,
                               size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    CLEANUP(mem_freep) struct file_watch *list = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status = db_query(store->db, &stmt, err, WATCHES, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        list[count++] = (struct file_watch){
            .dag_key = db_int(stmt, 0),
            .path = arena_strdup(arena, db_text(stmt, 1)),
            .settle_ms = db_int(stmt, 2),
            .since_us = db_int(stmt, 3),
        };
    }
    if (status != STATUS_OK)
        return err_wrap(err, "find the files that are waited for");
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

/* --- an arrival ------------------------------------------------------------------------------ */

struct arriving {
    const struct file_arrival *arrival;
    enum arrival_verdict verdict;
    char why[ERR_TEXT_MAX];
    char dag_id[LIMIT_ID_BYTES + 1];
};

static json_t *describe(const struct file_arrival *arrival)
{
    json_t *file = json_object();
    json_put(file, "path", json_text(arrival->path, strlen(arrival->path)));
    json_put_int(file, "bytes", arrival->bytes);
    json_put_instant(file, "modified", arrival->mtime_us);
    json_t *conf = json_object();
    json_put(conf, "file", file);
    return conf;
}

static enum status insert(struct store *store, const struct file_arrival *arrival, int64_t *out_id,
                          struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, INSERT, "itiiii", arrival->dag_key, arrival->path,
                 arrival->mtime_us, arrival->bytes, arrival->inode,
                 store_now_us(store)) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    CHECK(row);
    *out_id = db_int(stmt, 0);
    db_reset(stmt);
    return STATUS_OK;
}

static enum status make_run(struct store *store, struct arriving *call, int64_t id, struct err *err)
{
    const struct file_arrival *arrival = call->arrival;
    int64_t now_us = store_now_us(store);
    CLEANUP(json_decrefp) json_t *conf = describe(arrival);
    const struct trigger_cause cause = {TRIGGER_FILE, id, arrival->path, RUN_QUEUED, now_us};
    const struct trigger_run run = {
        .dag_key = arrival->dag_key,
        .kind = "event",
        .conf = conf,
        .logical_at_us = now_us,
        .interval_start_us = now_us,
        .interval_end_us = now_us,
        .actor = "scheduler",
        .causes = &cause,
        .causes_count = 1,
    };
    struct run_created created;
    struct err refusal = {0};
    enum status status = trigger_make_run(store, &run, &created, &refusal);
    if (status == STATUS_INVALID || status == STATUS_LIMIT) {
        call->verdict = ARRIVAL_REFUSED;
        (void)snprintf(call->why, sizeof call->why, "%s", refusal.text);
        return trigger_refuse(store, arrival->dag_key, arrival->path, refusal.text, call->dag_id,
                              err);
    }
    if (status != STATUS_OK) {
        *err = refusal;
        return status;
    }
    call->verdict = ARRIVAL_STARTED;
    return db_do(store->db, err, RUN_SET, "ii", id, created.id);
}

/* Under the lock of the DAG's row, so that whoever comes second sees the first one's row. */
static enum status arrive(struct store *store, struct arriving *call, struct err *err)
{
    const struct file_arrival *arrival = call->arrival;
    bool is_free = false;
    int64_t known = 0;
    int64_t id = 0;
    if (trigger_lock(store, arrival->dag_key, &is_free, err) != STATUS_OK)
        return err->code;
    call->verdict = is_free ? ARRIVAL_KNOWN : ARRIVAL_UNASKED;
    if (!is_free)
        return STATUS_OK;
    if (db_get_int(store->db, 0, &known, err, IS_KNOWN, "itiii", arrival->dag_key, arrival->path,
                   arrival->mtime_us, arrival->bytes, arrival->inode) != STATUS_OK)
        return err->code;
    if (known > 0)
        return STATUS_OK;
    if (insert(store, arrival, &id, err) != STATUS_OK)
        return err->code;
    return make_run(store, call, id, err);
}

static enum status arrive_once(struct store *store, const void *context, struct err *err)
{
    struct arriving *call = *(struct arriving *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || arrive(store, call, err) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK) {
        if (err->code == STATUS_CONFLICT && db_dialect(db) == DB_POSTGRES)
            err->code = STATUS_BUSY;
        return err->code;
    }
    return STATUS_OK;
}

/* Nearly all that is told of after a restart is known: no need to write for that. */
static enum status look(struct store *store, const struct file_arrival *arrival, bool *out_known,
                        struct err *err)
{
    int64_t known = 0;
    if (db_get_int(store->db, 0, &known, err, IS_KNOWN, "itiii", arrival->dag_key, arrival->path,
                   arrival->mtime_us, arrival->bytes, arrival->inode) != STATUS_OK)
        return err->code;
    *out_known = known > 0;
    return STATUS_OK;
}

enum status store_file_arrived(struct store *store, const struct file_arrival *arrival,
                               enum arrival_verdict *out, char why[static ERR_TEXT_MAX],
                               struct err *err)
{
    struct arriving *call = &(struct arriving){.arrival = arrival, .verdict = ARRIVAL_KNOWN};
    bool is_known = false;
    if (look(store, arrival, &is_known, err) != STATUS_OK ||
        (!is_known && store_repeat(store, arrive_once, &call, err) != STATUS_OK))
        return err_wrap(err, "file '%s'", arrival->path);
    (void)snprintf(why, ERR_TEXT_MAX, "%s", call->why);
    *out = call->verdict;
    return STATUS_OK;
}
