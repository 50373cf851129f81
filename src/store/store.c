#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/dag.h"
#include "store/host_name.h"
#include "store/lane_cache.h"
#include "store/own_jobs.h"
#include "store/store_priv.h"

static void format_uuid(char out[static 37])
{
    unsigned char b[16];
    rng_bytes(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    int length = snprintf(
        out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
        b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    CHECK(length == 36);
}

static const char SCHEMA_GET[] = "SELECT schema FROM store WHERE id = 1";
static const char OLDEST_GET[] = "SELECT oldest_schema FROM store WHERE id = 1";
static const char STORE_INSERT[] =
    "INSERT INTO store (id, uuid, epoch, schema, oldest_schema, next_run, next_task,"
    " created_at_us) VALUES (1, $1, 1, $2, 1, 1, 1, $3)";
static const char SCHEMA_SET[] = "UPDATE store SET schema = $1 WHERE id = 1 AND schema < $1";

static enum status read_schema(struct store *store, int64_t *out_schema, struct err *err)
{
    bool exists = false;
    if (db_has_table(store->db, "store", &exists, err) != STATUS_OK)
        return err->code;
    *out_schema = 0;
    if (!exists)
        return STATUS_OK;
    int64_t oldest = 0;
    enum status status = db_get_int(store->db, 0, out_schema, err, SCHEMA_GET, "");
    if (status == STATUS_OK)
        status = db_get_int(store->db, 0, &oldest, err, OLDEST_GET, "");
    if (status == STATUS_INVALID && db_dialect(store->db) == DB_POSTGRES)
        return err_set(err, STATUS_CONFLICT,
                       "the database has a table 'store' that is not Eider's: give Eider a "
                       "database or a schema of its own");
    if (status != STATUS_OK)
        return status;
    if (oldest > STORE_SCHEMA)
        return err_set(err, STATUS_CONFLICT,
                       "the store has schema %lld and asks for a program that knows schema %lld or "
                       "newer; this one knows %d: use a newer eider",
                       (long long)*out_schema, (long long)oldest, STORE_SCHEMA);
    return STATUS_OK;
}

static enum status apply_migrations(struct store *store, int64_t from, struct err *err)
{
    const char *const *scripts = db_migrations(store->db);
    for (int64_t number = 1; scripts[number - 1] != NULL; number++)
        if (number > from && db_script(store->db, scripts[number - 1], err) != STATUS_OK)
            return err_wrap(err, "migration %lld", (long long)number);
    if (from > 0)
        return db_do(store->db, err, SCHEMA_SET, "i", (int64_t)STORE_SCHEMA);
    char uuid[37];
    format_uuid(uuid);
    return db_do(store->db, err, STORE_INSERT, "tii", uuid, (int64_t)STORE_SCHEMA,
                 store_now_us(store));
}

/* Look first without the write lock: nearly always there is nothing to do. */
static enum status migrate(struct store *store, struct err *err)
{
    int64_t schema = 0;
    if (read_schema(store, &schema, err) != STATUS_OK)
        return err->code;
    if (schema >= STORE_SCHEMA)
        return STATUS_OK;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin_migration(db, err) != STATUS_OK || read_schema(store, &schema, err) != STATUS_OK)
        return err->code;
    if (schema < STORE_SCHEMA && apply_migrations(store, schema, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

static enum status require_schema(struct store *store, struct err *err)
{
    int64_t schema = 0;
    if (read_schema(store, &schema, err) != STATUS_OK)
        return err->code;
    if (schema == 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no store yet; `eider run` makes one");
    return STATUS_OK;
}

void store_renew_maker(struct store *store)
{
    uint16_t maker = 0;
    rng_bytes(&maker, sizeof maker);
    store->ids.maker = maker % ID_MAKERS;
}

enum status store_open(const struct store_options *options, struct store **out, struct err *err)
{
    CLEANUP(store_closep) struct store *store = mem_zalloc(1, sizeof *store);
    store->now_us = options->now_us;
    store->hooks = options->hooks;
    store->dags = idmap_new();
    store->lent = idmap_new();
    store->dag_keys = idmap_new();
    store->lane_cache = lane_cache_new();
    store->own_jobs = own_jobs_new();
    store->counted.meters = options->meters;
    store->counted.spans = options->spans;
    store_renew_maker(store);
    if (db_open(options->url, options->mode, &store->db, err) != STATUS_OK)
        return err_wrap(err, "open the store");
    if (options->busy_timeout_ms > 0)
        db_set_patience(store->db, options->busy_timeout_ms);
    enum status status =
        options->mode == DB_READ_WRITE ? migrate(store, err) : require_schema(store, err);
    if (status != STATUS_OK)
        return err_wrap(err, "open the store");
    if (options->meters != NULL || options->spans != NULL)
        db_watch(store->db, &(struct db_watcher){&store->counted, counted_on_end});
    *out = TAKE(store);
    return STATUS_OK;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    size_t cursor = 0;
    for (struct dag *dag; (dag = idmap_next(store->dags, &cursor)) != NULL;)
        dag_free(dag);
    idmap_free(store->dags);
    idmap_free(store->lent);
    idmap_free(store->dag_keys);
    host_names_free(store->host_names);
    lane_cache_free(store->lane_cache);
    own_jobs_free(store->own_jobs);
    free(store->reason);
    db_close(store->db);
    counted_fini(&store->counted);
    free(store);
}

void store_rest(struct store *store, int64_t idle_ms)
{
    db_rest(store->db, idle_ms);
}

int64_t store_now_us(const struct store *store)
{
    return store->now_us != NULL ? store->now_us() : db_now_us(store->db);
}

/* Changes that are made together see the same now. */
int64_t store_own_instant(struct store *store)
{
    store->own_instant_us = MAX(store_now_us(store), store->own_instant_us + 1);
    return store->own_instant_us;
}

static const char DESCRIBE[] =
    "SELECT uuid, epoch, schema, created_at_us, next_run FROM store WHERE id = 1";

enum status store_describe(struct store *store, struct store_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, DESCRIBE, "") != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_CORRUPT, "the store has no store row");
    *out = (struct store_info){
        .epoch = db_int(stmt, 1),
        .schema = db_int(stmt, 2),
        .created_at_us = db_int(stmt, 3),
        .next_run = db_int(stmt, 4),
    };
    (void)snprintf(out->uuid, sizeof out->uuid, "%s", db_text(stmt, 0));
    db_reset(stmt);
    return STATUS_OK;
}

static const char IDS_TAKE[] =
    "UPDATE store SET next_run = next_run + $1, next_task = next_task + $2 WHERE id = 1"
    " RETURNING next_run, next_task";
static const char BLOCK_ADD[] = "INSERT INTO block (run, first, count) VALUES ($1, $2, $3)";

static const char IDS_KEEP[] = "UPDATE store SET next_run = next_run WHERE id = 1";

enum status store_wait_for_ids(struct store *store, struct err *err)
{
    return db_do(store->db, err, IDS_KEEP, "");
}

enum status store_ask_ids(struct store *store, int64_t runs, int64_t tasks, struct db_stmt **out,
                          struct err *err)
{
    return db_query_ahead(store->db, out, err, IDS_TAKE, "ii", runs, tasks);
}

enum status store_read_ids(struct db_stmt *stmt, int64_t runs, int64_t tasks, struct id_block *out,
                           struct err *err)
{
    bool row = false;
    if (db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "take ids");
    if (!row)
        return err_set(err, STATUS_CORRUPT, "the store has no store row");
    *out = (struct id_block){.run = db_int(stmt, 0) - runs, .task = db_int(stmt, 1) - tasks};
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_take_ids(struct store *store, int64_t runs, int64_t tasks, struct id_block *out,
                           struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (store_ask_ids(store, runs, tasks, &stmt, err) != STATUS_OK)
        return err_wrap(err, "take ids");
    return store_read_ids(stmt, runs, tasks, out, err);
}

enum status store_take_task_ids(struct store *store, int64_t run, int64_t count, int64_t *out_first,
                                struct err *err)
{
    struct id_block block = {0};
    if (store_take_ids(store, 0, count, &block, err) != STATUS_OK)
        return err->code;
    *out_first = block.task;
    return db_later(store->db, err, BLOCK_ADD, "iii", run, *out_first, count);
}

enum status store_rehearse(struct store *store, struct err *err)
{
    return db_rehearse(store->db, err);
}

enum status store_together_begin(struct store *store, struct err *err)
{
    return db_together_begin(store->db, err);
}

enum status store_together_commit(struct store *store, struct err *err)
{
    return db_together_commit(store->db, err);
}

void store_together_spoil(struct store *store)
{
    db_together_spoil(store->db);
}

bool store_together_undo(struct store *store)
{
    return db_together_undo(store->db);
}
