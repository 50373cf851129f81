#include "store/pool.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/event_kind.h"
#include "model/limits.h"
#include "store/channel.h"
#include "store/lane_cache.h"
#include "store/pool_priv.h"
#include "store/to_come.h"

/* --- looking --------------------------------------------------------------------------------- */

static const char POOL_LIST[] =
    "SELECT p.namespace, p.name, p.description, p.slots,"
    " (SELECT count(*) FROM pool_slot s WHERE s.pool = p.id),"
    " (SELECT count(DISTINCT s.task) FROM pool_slot s WHERE s.pool = p.id),"
    " (SELECT CAST(coalesce(sum(w.need), 0) AS BIGINT) FROM pool_wait w WHERE w.pool = p.id),"
    " (SELECT count(*) FROM pool_wait w WHERE w.pool = p.id)"
    " FROM pool p WHERE p.kind = 0 AND p.removed = 0"
    " AND (CAST($1 AS TEXT) IS NULL OR p.namespace = CAST($1 AS TEXT))"
    " AND (CAST($2 AS TEXT) IS NULL OR p.name = CAST($2 AS TEXT))"
    " AND " SEEN("$3", "p.namespace") " ORDER BY p.name, p.namespace";
static const char POOL_NAMES[] = "SELECT name FROM pool WHERE kind = 0 AND removed = 0"
                                 " AND " SEEN("$1", "namespace") " ORDER BY name";

enum status pool_infos_read(struct store *store, struct arena *arena, const char *namespace_,
                            const char *name, struct pool_infos *out, struct err *err)
{
    CLEANUP(mem_freep) struct pool_info *found = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, POOL_LIST, "ttt", namespace_, name, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        found = mem_grow(found, &capacity, count, sizeof *found);
        found[count++] = (struct pool_info){
            .namespace_ = arena_strdup(arena, db_text(stmt, 0)),
            .name = arena_strdup(arena, db_text(stmt, 1)),
            .description = arena_strdup(arena, db_text(stmt, 2)),
            .slots = db_int(stmt, 3),
            .occupied = db_int(stmt, 4),
            .running = db_int(stmt, 5),
            .queued = db_int(stmt, 6),
            .waiting = db_int(stmt, 7),
        };
    }
    if (status != STATUS_OK)
        return status;
    out->items = arena_array(arena, count + 1, sizeof *out->items);
    if (count > 0)
        memcpy(out->items, found, count * sizeof *found);
    out->count = count;
    return STATUS_OK;
}

/* Instances that have no rows yet wait for slots, too. */
static void add_to_come(const struct to_come_list *list, struct pool_info *pool)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct to_come *item = &list->items[i];
        if (item->pool == NULL || !str_equal(item->pool->name, pool->name) ||
            !str_equal(item->pool->namespace_, pool->namespace_))
            continue;
        pool->waiting += item->count;
        pool->queued += item->count * item->def->slots;
    }
}

static enum status find(struct store *store, struct arena *arena, const char *namespace_,
                        const char *name, struct pool_infos *found, struct err *err)
{
    struct to_come_list list;
    if (pool_infos_read(store, arena, namespace_, name, found, err) != STATUS_OK ||
        to_come_read(store, arena, &list, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < found->count; i++)
        add_to_come(&list, &found->items[i]);
    return STATUS_OK;
}

enum status store_pool_list(struct store *store, struct arena *arena, struct pool_info **out,
                            size_t *out_count, struct err *err)
{
    struct pool_infos found = {0};
    if (find(store, arena, NULL, NULL, &found, err) != STATUS_OK)
        return err_wrap(err, "list pools");
    *out = found.items;
    *out_count = found.count;
    return STATUS_OK;
}

static const char *nth_text(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

static enum status no_such_pool(struct store *store, const char *namespace_, const char *name,
                                struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(mem_freep) const char **names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, POOL_NAMES, "t", store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        names = mem_grow(names, &capacity, count, sizeof *names);
        names[count++] = arena_strdup(arena, db_text(stmt, 0));
    }
    if (status != STATUS_OK)
        return status;
    const char *near = str_nearest(name, count, nth_text, names);
    bool is_other = near != NULL && !str_equal(near, name);
    return err_set(err, STATUS_NOT_FOUND,
                   "there is no pool '%.100s' in namespace '%.100s'; %s%s%s`eider pools set` makes "
                   "one",
                   name, namespace_, is_other ? "did you mean '" : "", is_other ? near : "",
                   is_other ? "'? " : "");
}

enum status store_pool_load(struct store *store, struct arena *arena, const char *namespace_,
                            const char *name, struct pool_info *out, struct err *err)
{
    struct pool_infos found = {0};
    if (find(store, arena, namespace_, name, &found, err) != STATUS_OK)
        return err_wrap(err, "look at a pool");
    if (found.count == 0)
        return no_such_pool(store, namespace_, name, err);
    *out = found.items[0];
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

enum { SLOTS_MAX = 1000000, DESCRIPTION_MAX = 10000 };

/* All of that name, since tasks of one namespace may have to go over to the pool of another. */
static const char *const NAMESAKES_LOCK[] = {
    [DB_SQLITE] = "SELECT id FROM pool WHERE kind = 0 AND name = $1 ORDER BY id",
    [DB_POSTGRES] = "SELECT id FROM pool WHERE kind = 0 AND name = $1 ORDER BY id"
                    " FOR NO KEY UPDATE",
};
static const char POOL_READ[] = "SELECT slots, retiring, removed FROM pool WHERE id = $1";
static const char POOL_WRITE[] = "UPDATE pool SET slots = $2, retiring = $3, removed = 0,"
                                 " description = coalesce(CAST($4 AS TEXT), description)"
                                 " WHERE id = $1";
static const char POOL_REMOVE[] = "UPDATE pool SET removed = 1, description = '' WHERE id = $1";
static const char WAIT_OF_NAMESPACE[] =
    "UPDATE pool_wait SET pool = $2 WHERE pool = $1 AND namespace = $3";
static const char WAIT_OF_NAMELESS[] =
    "UPDATE pool_wait SET pool = $1 WHERE pool IN (SELECT id FROM pool WHERE kind = 0"
    " AND name = $2 AND removed = 1 AND id <> $1)";
static const char WAIT_ALL[] = "UPDATE pool_wait SET pool = $2 WHERE pool = $1";

struct pool_row {
    int64_t id;
    int64_t slots;
    int64_t retiring;
    bool is_there;
    bool is_shared; /* the one of all namespaces */
    int64_t shared; /* that one's id */
};

static enum status lock_namesakes(struct store *store, const char *name, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, NAMESAKES_LOCK[db_dialect(store->db)], "t", name);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        continue;
    return status;
}

static enum status read_row(struct store *store, int64_t id, struct pool_row *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, POOL_READ, "i", id);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        *out = (struct pool_row){
            .id = id,
            .slots = db_int(stmt, 0),
            .retiring = db_int(stmt, 1),
            .is_there = db_int(stmt, 2) == 0,
        };
    return status;
}

/* The row and its namesakes are ours from here on. */
static enum status lock_row(struct store *store, const char *namespace_, const char *name,
                            struct pool_row *out, struct err *err)
{
    int64_t own = 0;
    int64_t shared = 0;
    if (pool_find_or_make(store, POOL_NAMED, namespace_, name, &own, err) != STATUS_OK ||
        pool_find_or_make(store, POOL_NAMED, POOL_NAMESPACE_OF_ALL, name, &shared, err) !=
            STATUS_OK ||
        lock_namesakes(store, name, err) != STATUS_OK ||
        read_row(store, own, out, err) != STATUS_OK)
        return err->code;
    out->is_shared = own == shared;
    out->shared = shared;
    return STATUS_OK;
}

/* A pool that comes into being is waited for by those who have had to do without, or elsewhere. */
static enum status call_over(struct store *store, const struct pool_change *change,
                             const struct pool_row *row, struct err *err)
{
    if (row->is_there)
        return STATUS_OK;
    return row->is_shared ? db_do(store->db, err, WAIT_OF_NAMELESS, "it", row->id, change->name)
                          : db_do(store->db, err, WAIT_OF_NAMESPACE, "iit", row->shared, row->id,
                                  change->namespace_);
}

static enum status let_in(struct store *store, const struct pool_row *row, const char *actor,
                          struct err *err)
{
    struct work work;
    work_init(&work, store, actor);
    enum status status = pools_open(&work, row->id, err);
    if (status == STATUS_OK && !row->is_shared)
        status = pools_open(&work, row->shared, err);
    if (status == STATUS_OK)
        status = work_save(&work, err);
    work_fini(&work);
    return status;
}

static enum status tell(struct store *store, enum event_kind kind, const char *actor,
                        json_t *taken_data, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = taken_data;
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, actor, text, err);
}

static enum status check_change(const struct pool_change *change, struct err *err)
{
    if (!dag_name_is_valid(change->name) || !dag_name_is_valid(change->namespace_))
        return err_set(err, STATUS_INVALID, "'%.100s' cannot be the name of a %s: " DAG_NAME_RULE,
                       dag_name_is_valid(change->name) ? change->namespace_ : change->name,
                       dag_name_is_valid(change->name) ? "namespace" : "pool");
    if (change->slots != NULL && (*change->slots < 0 || *change->slots > SLOTS_MAX))
        return err_set(err, STATUS_INVALID, "slots is a number from 0 to %d, not %lld", SLOTS_MAX,
                       (long long)*change->slots);
    if (change->description != NULL && strlen(change->description) > DESCRIPTION_MAX)
        return err_set(err, STATUS_INVALID, "the description has more than %d bytes",
                       DESCRIPTION_MAX);
    return STATUS_OK;
}

/* Slots above the new number that are held are let go of as they become free. */
static enum status write_change(struct store *store, const struct pool_change *change,
                                const struct pool_row *row, struct err *err)
{
    int64_t slots = change->slots != NULL ? *change->slots : row->slots;
    int64_t before = MAX(row->slots, row->retiring);
    json_t *data = json_object();
    json_put_string(data, "namespace", change->namespace_);
    json_put_string(data, "pool", change->name);
    json_put_int(data, "slots", slots);
    if (row->is_there) {
        json_t *was = json_object();
        json_put_int(was, "slots", row->slots);
        json_put(data, "was", was);
    }
    if (change->description != NULL)
        json_put_string(data, "description", change->description);
    if (tell(store, EVENT_POOL_SET, change->actor, data, err) != STATUS_OK)
        return err->code;
    return db_do(store->db, err, POOL_WRITE, "iiit", row->id, slots,
                 slots >= before ? (int64_t)0 : before, change->description);
}

static enum status set_once(struct store *store, const void *context, struct err *err)
{
    const struct pool_change *change = context;
    struct pool_row row = {0};
    CLEANUP(db_endp) struct db *db = store->db;
    lane_cache_begin(store->lane_cache);
    if (db_begin(db, err) != STATUS_OK ||
        lock_row(store, change->namespace_, change->name, &row, err) != STATUS_OK)
        return err->code;
    if (!row.is_there && change->slots == NULL)
        return err_set(err, STATUS_INVALID, "there is no pool '%s' yet, and a new one needs slots",
                       change->name);
    if (write_change(store, change, &row, err) != STATUS_OK ||
        call_over(store, change, &row, err) != STATUS_OK ||
        let_in(store, &row, change->actor, err) != STATUS_OK ||
        db_notify(db, STORE_CHANNEL_WORK, "", err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_pool_set(struct store *store, const struct pool_change *change, struct err *err)
{
    if (check_change(change, err) != STATUS_OK)
        return err->code;
    return store_repeat(store, set_once, change, err) == STATUS_OK
               ? STATUS_OK
               : err_wrap(err, "change the pool '%s'", change->name);
}

static enum status remove_row(struct store *store, const struct pool_change *change,
                              const struct pool_row *row, struct err *err)
{
    json_t *data = json_object();
    json_put_string(data, "namespace", change->namespace_);
    json_put_string(data, "pool", change->name);
    if (tell(store, EVENT_POOL_DELETED, change->actor, data, err) != STATUS_OK ||
        db_do(store->db, err, POOL_REMOVE, "i", row->id) != STATUS_OK)
        return err->code;
    struct pool_row shared = {0};
    if (row->is_shared || read_row(store, row->shared, &shared, err) != STATUS_OK ||
        !shared.is_there)
        return row->is_shared || !shared.is_there ? STATUS_OK : err->code;
    return db_do(store->db, err, WAIT_ALL, "ii", row->id, row->shared);
}

static enum status delete_once(struct store *store, const void *context, struct err *err)
{
    const struct pool_change *change = context;
    struct pool_row row = {0};
    CLEANUP(db_endp) struct db *db = store->db;
    lane_cache_begin(store->lane_cache);
    if (db_begin(db, err) != STATUS_OK ||
        lock_row(store, change->namespace_, change->name, &row, err) != STATUS_OK)
        return err->code;
    if (!row.is_there)
        return no_such_pool(store, change->namespace_, change->name, err);
    if (remove_row(store, change, &row, err) != STATUS_OK ||
        let_in(store, &row, change->actor, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_pool_delete(struct store *store, const char *namespace_, const char *name,
                              const char *actor, struct err *err)
{
    const struct pool_change change = {.namespace_ = namespace_, .name = name, .actor = actor};
    if (check_change(&change, err) != STATUS_OK)
        return err->code;
    if (str_equal(namespace_, POOL_NAMESPACE_OF_ALL) && str_equal(name, "default"))
        return err_set(err, STATUS_CONFLICT, "the pool 'default' is always there");
    return store_repeat(store, delete_once, &change, err);
}
