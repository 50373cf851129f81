#include "store/limit.h"

#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "store/channel.h"
#include "store/lane_cache.h"
#include "store/pool_priv.h"
#include "store/tier_count.h"
#include "store/to_come.h"

static const char *const NAMES[LIMIT_KIND_COUNT] = {
    [LIMIT_OF_NAMESPACE] = "namespace", [LIMIT_OF_DAG] = "dag", [LIMIT_OF_TIER] = "tier"};
static const enum pool_kind POOL_KIND[LIMIT_KIND_COUNT] = {
    [LIMIT_OF_NAMESPACE] = POOL_OF_NAMESPACE,
    [LIMIT_OF_DAG] = POOL_OF_DAG,
    [LIMIT_OF_TIER] = POOL_OF_TIER,
};
/* The other way around. */
static const enum limit_kind LIMIT_KIND[POOL_KIND_COUNT] = {
    [POOL_OF_NAMESPACE] = LIMIT_OF_NAMESPACE,
    [POOL_OF_DAG] = LIMIT_OF_DAG,
    [POOL_OF_TIER] = LIMIT_OF_TIER,
};

const char *limit_kind_name(enum limit_kind kind)
{
    CHECK(kind < LIMIT_KIND_COUNT);
    return NAMES[kind];
}

bool limit_kind_parse(const char *name, enum limit_kind *out)
{
    for (enum limit_kind kind = 0; kind < LIMIT_KIND_COUNT; kind++)
        if (str_equal(NAMES[kind], name)) {
            *out = kind;
            return true;
        }
    return false;
}

const char *limit_name_of(enum limit_kind kind, const struct dag *dag)
{
    const char *const names[LIMIT_KIND_COUNT] = {
        [LIMIT_OF_NAMESPACE] = dag->namespace_,
        [LIMIT_OF_DAG] = dag->id,
        [LIMIT_OF_TIER] = dag->tier,
    };
    CHECK(kind < LIMIT_KIND_COUNT);
    return names[kind];
}

/* --- looking --------------------------------------------------------------------------------- */

static const char LIMIT_LIST[] =
    "SELECT p.kind, p.name, p.slots, (SELECT count(*) FROM pool_wait w WHERE w.pool = p.id),"
    " CASE p.kind WHEN 1 THEN (SELECT count(*) FROM running r JOIN task t ON t.id = r.task"
    " LEFT JOIN run u ON u.id = t.run LEFT JOIN job j ON j.id = t.id AND t.run = 0"
    " WHERE coalesce(u.namespace, j.namespace) = p.name)"
    " WHEN 2 THEN (SELECT count(*) FROM running r JOIN task t ON t.id = r.task"
    " JOIN run u ON u.id = t.run JOIN dag d ON d.id = u.dag WHERE d.dag_id = p.name) ELSE 0 END"
    " FROM pool p WHERE p.kind > 0 AND p.removed = 0 ORDER BY p.kind, p.name";

enum status limit_infos_read(struct store *store, struct arena *arena, struct limit_infos *out,
                             struct err *err)
{
    CLEANUP(mem_freep) struct limit_info *found = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, LIMIT_LIST, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        found = mem_grow(found, &capacity, count, sizeof *found);
        found[count++] = (struct limit_info){
            .kind = LIMIT_KIND[db_int(stmt, 0)],
            .name = arena_strdup(arena, db_text(stmt, 1)),
            .max_running = db_int(stmt, 2),
            .waiting = db_int(stmt, 3),
            .running = db_int(stmt, 4),
        };
    }
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        if (found[i].kind == LIMIT_OF_TIER)
            status = tier_count(store, found[i].name, NULL, 0, &found[i].running, err);
    if (status != STATUS_OK)
        return err_wrap(err, "list limits");
    out->items = arena_array(arena, count + 1, sizeof *out->items);
    if (count > 0)
        memcpy(out->items, found, count * sizeof *found);
    out->count = count;
    return STATUS_OK;
}

/* Instances that have no rows yet wait, too. */
static void add_to_come(const struct to_come_list *list, struct limit_info *limit)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct to_come *item = &list->items[i];
        if (item->limit != NULL && item->limit->kind == limit->kind &&
            str_equal(item->limit->name, limit->name))
            limit->waiting += item->count;
    }
}

enum status store_limit_list(struct store *store, struct arena *arena, struct limit_info **out,
                             size_t *out_count, struct err *err)
{
    struct limit_infos found = {0};
    struct to_come_list list = {0};
    if (limit_infos_read(store, arena, &found, err) != STATUS_OK ||
        (found.count > 0 && to_come_read(store, arena, &list, err) != STATUS_OK))
        return err->code;
    for (size_t i = 0; i < found.count; i++)
        add_to_come(&list, &found.items[i]);
    *out = found.items;
    *out_count = found.count;
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

enum { MAX_RUNNING_MAX = 1000000 };

static const char LIMIT_WRITE[] = "UPDATE pool SET slots = $2, removed = 0 WHERE id = $1";
static const char LIMIT_REMOVE[] = "UPDATE pool SET removed = 1 WHERE kind = $1"
                                   " AND namespace = '' AND name = $2 AND removed = 0";

static const char LIMIT_NOW[] = "SELECT slots FROM pool WHERE kind = $1 AND namespace = ''"
                                " AND name = $2 AND removed = 0";

/* Before it is changed: what it was is told, too. */
static enum status tell(struct store *store, enum event_kind kind,
                        const struct limit_change *change, struct err *err)
{
    int64_t before = 0;
    if (db_get_int(store->db, 0, &before, err, LIMIT_NOW, "it", (int64_t)POOL_KIND[change->kind],
                   change->name) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "kind", NAMES[change->kind]);
    json_put_string(data, "name", change->name);
    if (kind == EVENT_LIMIT_SET)
        json_put_int(data, "max_running", change->max_running);
    else
        json_put(data, "max_running", json_null());
    if (before > 0) {
        json_t *was = json_object();
        json_put_int(was, "max_running", before);
        json_put(data, "was", was);
    }
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, change->actor, text, err);
}

/* What waits is let in by the next claim that could take it. */
static enum status set_once(struct store *store, const void *context, struct err *err)
{
    const struct limit_change *change = context;
    int64_t id = 0;
    CLEANUP(db_endp) struct db *db = store->db;
    lane_cache_begin(store->lane_cache);
    if (db_begin(db, err) != STATUS_OK || tell(store, EVENT_LIMIT_SET, change, err) != STATUS_OK ||
        pool_find_or_make(store, POOL_KIND[change->kind], "", change->name, &id, err) !=
            STATUS_OK ||
        db_do(db, err, LIMIT_WRITE, "ii", id, change->max_running) != STATUS_OK ||
        db_notify(db, STORE_CHANNEL_WORK, "", err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_limit_set(struct store *store, const struct limit_change *change, struct err *err)
{
    if (!dag_name_is_valid(change->name))
        return err_set(err, STATUS_INVALID, "'%.100s' cannot be the name of a %s: " DAG_NAME_RULE,
                       change->name, NAMES[change->kind]);
    if (change->max_running < 1 || change->max_running > MAX_RUNNING_MAX)
        return err_set(err, STATUS_INVALID, "max_running is a number from 1 to %d, not %lld",
                       MAX_RUNNING_MAX, (long long)change->max_running);
    return store_repeat(store, set_once, change, err) == STATUS_OK
               ? STATUS_OK
               : err_wrap(err, "set the limit of %s '%s'", NAMES[change->kind], change->name);
}

static enum status delete_once(struct store *store, const void *context, struct err *err)
{
    const struct limit_change *change = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        tell(store, EVENT_LIMIT_DELETED, change, err) != STATUS_OK ||
        db_do(db, err, LIMIT_REMOVE, "it", (int64_t)POOL_KIND[change->kind], change->name) !=
            STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_NOT_FOUND, "%s '%s' has no limit; see `eider limits list`",
                       NAMES[change->kind], change->name);
    if (db_notify(db, STORE_CHANNEL_WORK, "", err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_limit_delete(struct store *store, enum limit_kind kind, const char *name,
                               const char *actor, struct err *err)
{
    const struct limit_change change = {.kind = kind, .name = name, .actor = actor};
    return store_repeat(store, delete_once, &change, err);
}
