#include "store/tiding.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/channel.h"

/* Kinds are those of trigger_watch. */
#define WAITING_DATASET                                                                            \
    " FROM trigger_watch w JOIN trigger_dag d ON d.dag = w.dag"                                    \
    " WHERE w.kind = 0 AND w.name = $1 AND (d.paused = 0 OR d.keeps <> 0)"

static const char ASSET_ENSURE[] =
    "INSERT INTO asset (uri, created_at_us) VALUES ($1, $2) ON CONFLICT (uri) DO NOTHING";
static const char EVENT_ADD[] =
    "INSERT INTO asset_event (asset, at_us, run, task_id, map_index, actor, extra)"
    " SELECT a.id, $2, $3, $4, $5, $6, $7 FROM asset a WHERE a.uri = $1";
static const char PENDING_ADD[] =
    "INSERT INTO trigger_pending (dag, kind, source, name, state, at_us, seen)"
    " SELECT w.dag, 0, last_insert_rowid(), w.name, 0, $2, 0" WAITING_DATASET;
/* Both in one question, which is answered by how many wait. */
static const char EVENT_AND_PENDING[] =
    "WITH e AS (INSERT INTO asset_event (asset, at_us, run, task_id, map_index, actor, extra)"
    " SELECT a.id, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::text, $7::text"
    " FROM asset a WHERE a.uri = $1 RETURNING id)"
    " INSERT INTO trigger_pending (dag, kind, source, name, state, at_us, seen)"
    " SELECT w.dag, 0, (SELECT id FROM e), w.name, 0, $2, 0" WAITING_DATASET;
static const char END_ADD[] =
    "INSERT INTO trigger_pending (dag, kind, source, name, state, at_us, seen)"
    " SELECT w.dag, 1, $2, w.name, $3, $5, 0"
    " FROM trigger_watch w JOIN trigger_dag d ON d.dag = w.dag"
    " WHERE w.kind = 1 AND w.name = $1 AND (w.states & $4) <> 0"
    " AND (d.paused = 0 OR d.keeps <> 0)";

void tiding_list_add(struct tiding_list *list, const struct tiding *tiding)
{
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = *tiding;
}

void tiding_list_fini(struct tiding_list *list)
{
    free(list->items);
    *list = (struct tiding_list){0};
}

/* Hosts that make the same datasets known wait for each other in turn. */
static int by_uri(const void *a, const void *b)
{
    const struct tiding *x = a;
    const struct tiding *y = b;
    int order = strcmp(x->uri, y->uri);
    if (order != 0)
        return order;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    order = strcmp(x->task_id != NULL ? x->task_id : "", y->task_id != NULL ? y->task_id : "");
    if (order != 0)
        return order;
    return (x->map_index > y->map_index) - (x->map_index < y->map_index);
}

static enum status save_one(struct db *db, int64_t now_us, const struct tiding *tiding, bool *news,
                            struct err *err)
{
    const char *extra = tiding->extra != NULL ? tiding->extra : "{}";
    bool is_file = db_dialect(db) == DB_SQLITE;
    if (db_later(db, err, ASSET_ENSURE, "ti", tiding->uri, now_us) != STATUS_OK ||
        db_do(db, err, is_file ? EVENT_ADD : EVENT_AND_PENDING, "tiititt", tiding->uri, now_us,
              tiding->run, tiding->task_id, tiding->map_index, tiding->actor, extra) != STATUS_OK ||
        (is_file && db_do(db, err, PENDING_ADD, "ti", tiding->uri, now_us) != STATUS_OK))
        return err_wrap(err, "tell of dataset '%s'", tiding->uri);
    *news |= db_changes(db) > 0;
    return STATUS_OK;
}

enum status tidings_save(struct db *db, int64_t now_us, struct tiding_list *list, bool *news,
                         struct err *err)
{
    if (list->count == 0)
        return STATUS_OK;
    qsort(list->items, list->count, sizeof *list->items, by_uri);
    for (size_t i = 0; i < list->count; i++)
        if ((i == 0 || by_uri(&list->items[i - 1], &list->items[i]) != 0) &&
            save_one(db, now_us, &list->items[i], news, err) != STATUS_OK)
            return err->code;
    list->count = 0;
    return STATUS_OK;
}

enum status tiding_save_end(struct db *db, int64_t now_us, const struct tiding_end *end, bool *news,
                            struct err *err)
{
    if (db_do(db, err, END_ADD, "tiiii", end->dag_id, end->run, (int64_t)end->state,
              (int64_t)1 << end->state, now_us) != STATUS_OK)
        return err_wrap(err, "tell of the end of run %lld", (long long)end->run);
    *news |= db_changes(db) > 0;
    return STATUS_OK;
}

enum status tiding_spread(struct db *db, bool news, struct err *err)
{
    return news ? db_notify(db, STORE_CHANNEL_NEWS, "", err) : STATUS_OK;
}
