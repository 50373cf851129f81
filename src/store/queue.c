#include "store/queue.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/event_kind.h"
#include "model/limits.h"
#include "store/channel.h"
#include "store/store_priv.h"
#include "store/to_come.h"

bool queue_is_among(const char *queues, const char *name)
{
    size_t length = strlen(name);
    if (queues[0] == '\0')
        return true;
    while (queues[0] != '\0') {
        size_t word = strcspn(queues, " ");
        if (word == length && memcmp(queues, name, length) == 0)
            return true;
        queues += word + (queues[word] == ' ');
    }
    return false;
}

/* --- looking --------------------------------------------------------------------------------- */

/* Work of runs in the foreground (scope not 0) is not the queue's: only its own process takes it.
 */
static const char QUEUE_LIST[] =
    "SELECT q.id, q.name, q.priority, q.max_running, q.soft_pending, q.hard_pending, q.paused,"
    " coalesce(p.number, 0), coalesce(p.oldest, 0), coalesce(w.number, 0), coalesce(a.number, 0),"
    " q.max_share FROM queue q"
    " LEFT JOIN (SELECT l.queue AS queue, count(*) AS number, min(t.queued_at_us) AS oldest"
    " FROM ready r JOIN lane l ON l.id = r.lane JOIN task t ON t.id = r.task WHERE r.scope = 0"
    " GROUP BY l.queue) p ON p.queue = q.id"
    " LEFT JOIN (SELECT j.queue AS queue, count(*) AS number FROM timer r"
    " JOIN job j ON j.id = r.task WHERE r.scope = 0 GROUP BY j.queue) w ON w.queue = q.id"
    " LEFT JOIN (SELECT l.queue AS queue, count(*) AS number FROM running r"
    " JOIN lane l ON l.id = r.lane GROUP BY l.queue) a ON a.queue = q.id"
    " WHERE CAST($1 AS TEXT) IS NULL OR q.name = CAST($1 AS TEXT)"
    " ORDER BY q.priority DESC, q.name";
static const char QUEUE_HOSTS[] =
    "SELECT queues, renewed_at_us, lease_until_us FROM host WHERE ended_at_us IS NULL"
    " AND lease_ms > 0 AND draining = 0 AND kind = 'daemon'"
    " AND ' ' || roles || ' ' LIKE '% worker %'";

struct queue_found {
    struct queue_info *items;
    size_t count;
    size_t capacity;
};

static void found_fini(struct queue_found *found)
{
    mem_freep(&found->items);
}

static enum status find_queues(struct store *store, struct arena *arena, const char *name,
                               struct queue_found *found, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, QUEUE_LIST, "t", name);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        found->items = mem_grow(found->items, &found->capacity, found->count, sizeof *found->items);
        found->items[found->count++] = (struct queue_info){
            .id = db_int(stmt, 0),
            .name = arena_strdup(arena, db_text(stmt, 1)),
            .priority = db_int(stmt, 2),
            .max_running = db_int(stmt, 3),
            .soft_pending = db_int(stmt, 4),
            .hard_pending = db_int(stmt, 5),
            .paused = db_int(stmt, 6) != 0,
            .pending = db_int(stmt, 7),
            .oldest_us = db_int(stmt, 8),
            .delayed = db_int(stmt, 9),
            .running = db_int(stmt, 10),
            .max_share = db_int(stmt, 11),
        };
    }
    return status;
}

static enum status add_hosts(struct store *store, struct queue_found *found, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t now_us = store_now_us(store);
    enum status status = db_query(store->db, &stmt, err, QUEUE_HOSTS, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        for (size_t i = 0; i < found->count; i++) {
            struct queue_info *queue = &found->items[i];
            if (!queue_is_among(db_text(stmt, 0), queue->name))
                continue;
            queue->served_at_us = MAX(queue->served_at_us, db_int(stmt, 1));
            queue->serving_hosts += db_int(stmt, 2) > now_us;
        }
    }
    return status;
}

/* Instances that have no rows yet, where no pool or limit keeps them from being claimed. */
static enum status add_to_come(struct store *store, struct arena *arena, struct queue_found *found,
                               struct err *err)
{
    struct to_come_list list;
    if (to_come_read(store, arena, &list, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < list.count; i++) {
        const struct to_come *item = &list.items[i];
        if (item->scope != 0 || item->limit != NULL || item->pool != NULL || item->is_poolless)
            continue;
        for (size_t q = 0; q < found->count; q++) {
            struct queue_info *queue = &found->items[q];
            if (!str_equal(queue->name, item->queue))
                continue;
            bool is_older = queue->pending == 0 || item->since_us < queue->oldest_us;
            queue->oldest_us = is_older ? item->since_us : queue->oldest_us;
            queue->pending += item->count;
        }
    }
    return STATUS_OK;
}

static enum status find(struct store *store, struct arena *arena, const char *name,
                        struct queue_found *found, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin_read(db, err) != STATUS_OK ||
        find_queues(store, arena, name, found, err) != STATUS_OK ||
        add_to_come(store, arena, found, err) != STATUS_OK)
        return err->code;
    return add_hosts(store, found, err);
}

enum status store_queue_list(struct store *store, struct arena *arena, struct queue_info **out,
                             size_t *out_count, struct err *err)
{
    CLEANUP(found_fini) struct queue_found found = {0};
    if (find(store, arena, NULL, &found, err) != STATUS_OK)
        return err_wrap(err, "list queues");
    *out = arena_array(arena, found.count + 1, sizeof **out);
    if (found.count > 0)
        memcpy(*out, found.items, found.count * sizeof **out);
    *out_count = found.count;
    return STATUS_OK;
}

static const char QUEUE_NAMES[] = "SELECT name FROM queue ORDER BY name";

static const char *nth_text(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

/* Says so, with the nearest one and how to make it. */
static enum status no_such_queue(struct store *store, const char *name, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char **names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, QUEUE_NAMES, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        names = mem_grow(names, &capacity, count, sizeof *names);
        names[count++] = arena_strdup(arena, db_text(stmt, 0));
    }
    const char *near = str_nearest(name, count, nth_text, names);
    mem_freep(&names);
    if (status != STATUS_OK)
        return status;
    return err_set(err, STATUS_NOT_FOUND,
                   "there is no queue '%.100s'; %s%s%s`eider queues set %.100s` makes it", name,
                   near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'? " : "", name);
}

enum status store_queue_load(struct store *store, struct arena *arena, const char *name,
                             struct queue_info *out, struct err *err)
{
    CLEANUP(found_fini) struct queue_found found = {0};
    if (find(store, arena, name, &found, err) != STATUS_OK)
        return err_wrap(err, "look at a queue");
    if (found.count == 0)
        return no_such_queue(store, name, err);
    *out = found.items[0];
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

static const char QUEUE_FIND[] = "SELECT id FROM queue WHERE name = $1";
static const char QUEUE_ADD[] =
    "INSERT INTO queue (name, created_at_us) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
static const char LANE_ADD[] =
    "INSERT INTO lane (queue, labels) VALUES ($1, '') ON CONFLICT (queue, labels) DO NOTHING";

static enum status write_event(struct store *store, enum event_kind kind, const char *actor,
                               json_t *taken_data, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = taken_data;
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, actor, text, err);
}

/* What a change may set: which member, which column, within which bounds. */
struct queue_column {
    const char *name;
    const char *sql;
    int64_t least;
    int64_t most;
};

enum { MOST_PENDING = 1000000000 };

/* clang-format off */
static const struct queue_column COLUMNS[] = {
    {"priority", "UPDATE queue SET priority = $2 WHERE id = $1", -LIMIT_PRIORITY, LIMIT_PRIORITY},
    {"max_running", "UPDATE queue SET max_running = $2 WHERE id = $1", 0, MOST_PENDING},
    {"soft_pending", "UPDATE queue SET soft_pending = $2 WHERE id = $1", 0, MOST_PENDING},
    {"hard_pending", "UPDATE queue SET hard_pending = $2 WHERE id = $1", 0, MOST_PENDING},
    {"paused", "UPDATE queue SET paused = $2 WHERE id = $1", 0, 1},
    {"max_share", "UPDATE queue SET max_share = $2 WHERE id = $1", 0, 100},
};
/* clang-format on */

struct queue_values {
    const int64_t *items[ARRAY_LEN(COLUMNS)];
    int64_t paused;
};

static void collect(const struct queue_change *change, struct queue_values *out)
{
    out->paused = change->paused != NULL && *change->paused;
    out->items[0] = change->priority;
    out->items[1] = change->max_running;
    out->items[2] = change->soft_pending;
    out->items[3] = change->hard_pending;
    out->items[4] = change->paused != NULL ? &out->paused : NULL;
    out->items[5] = change->max_share;
}

static enum status check_change(const struct queue_change *change,
                                const struct queue_values *values, struct err *err)
{
    if (!dag_name_is_valid(change->name))
        return err_set(err, STATUS_INVALID,
                       "'%.100s' cannot be the name of a queue: letters, digits, '_', '-' and '.', "
                       "at most %d, a letter or digit first",
                       change->name, LIMIT_ID_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++) {
        int64_t most = COLUMNS[i].most;
        const int64_t *value = values->items[i];
        if (value != NULL && (*value < COLUMNS[i].least || *value > most))
            return err_set(err, STATUS_INVALID, "%s is a number from %lld to %lld, not %lld",
                           COLUMNS[i].name, (long long)COLUMNS[i].least, (long long)most,
                           (long long)*value);
    }
    return STATUS_OK;
}

static enum status find_or_make(struct store *store, const char *name, bool may_create,
                                int64_t *out_id, struct err *err)
{
    struct db *db = store->db;
    if (db_get_int(db, 0, out_id, err, QUEUE_FIND, "t", name) != STATUS_OK)
        return err->code;
    if (*out_id != 0)
        return STATUS_OK;
    if (!may_create)
        return no_such_queue(store, name, err);
    if (db_do(db, err, QUEUE_ADD, "ti", name, store_now_us(store)) != STATUS_OK ||
        db_get_int(db, 0, out_id, err, QUEUE_FIND, "t", name) != STATUS_OK)
        return err->code;
    return db_do(db, err, LANE_ADD, "i", *out_id);
}

static const char QUEUE_NOW[] = "SELECT priority, max_running, soft_pending, hard_pending, paused,"
                                " max_share FROM queue WHERE id = $1";

/* What they were before, of the values that are set. */
static enum status put_before(struct store *store, int64_t id, const struct queue_values *values,
                              json_t *data, struct err *err)
{
    struct db_stmt *stmt = NULL;
    json_t *was = json_object();
    json_put(data, "was", was);
    enum status status = db_query(store->db, &stmt, err, QUEUE_NOW, "i", id);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++)
            if (values->items[i] != NULL)
                json_put_int(was, COLUMNS[i].name, db_int(stmt, (int)i));
    return status;
}

enum status store_queue_set(struct store *store, const struct queue_change *change, bool may_create,
                            struct err *err)
{
    struct queue_values values;
    int64_t id = 0;
    collect(change, &values);
    if (check_change(change, &values, err) != STATUS_OK)
        return err->code;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        find_or_make(store, change->name, may_create, &id, err) != STATUS_OK)
        return err->code;
    json_t *data = json_object();
    json_put_string(data, "queue", change->name);
    enum status status = put_before(store, id, &values, data, err);
    for (size_t i = 0; status == STATUS_OK && i < ARRAY_LEN(COLUMNS); i++) {
        if (values.items[i] == NULL)
            continue;
        json_put_int(data, COLUMNS[i].name, *values.items[i]);
        status = db_do(db, err, COLUMNS[i].sql, "ii", id, *values.items[i]);
    }
    if (status != STATUS_OK) {
        json_decref(data);
        return err_wrap(err, "change the queue '%s'", change->name);
    }
    /* It may be resumed, or take more: whoever waits looks again. */
    if (write_event(store, EVENT_QUEUE_SET, change->actor, data, err) != STATUS_OK ||
        db_notify(db, STORE_CHANNEL_WORK, "", err) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "change the queue '%s'", change->name);
    return STATUS_OK;
}

/* Jobs that are over keep their queue's name alive; they go with a purge. */
static const char QUEUE_USE[] =
    "SELECT (SELECT count(*) FROM job j WHERE j.queue = $1)"
    " + (SELECT count(*) FROM ready r JOIN lane l ON l.id = r.lane WHERE l.queue = $1"
    " AND r.run <> 0)"
    " + (SELECT count(*) FROM pool_wait w JOIN lane l ON l.id = w.lane WHERE l.queue = $1)"
    " + (SELECT count(*) FROM running r JOIN lane l ON l.id = r.lane JOIN task t ON t.id = r.task"
    " WHERE l.queue = $1 AND t.run <> 0)"
    " + (SELECT count(*) FROM dead d JOIN lane l ON l.id = d.lane WHERE l.queue = $1"
    " AND d.run <> 0)"
    " + (SELECT count(*) FROM backfill b WHERE b.queue = $1 AND b.state IN (0, 1, 2, 3))";
static const char LANES_DELETE[] = "DELETE FROM lane WHERE queue = $1";
static const char QUEUE_DELETE[] = "DELETE FROM queue WHERE id = $1";

enum status store_queue_delete(struct store *store, const char *name, const char *actor,
                               struct err *err)
{
    int64_t id = 0;
    int64_t used = 0;
    if (str_equal(name, "default"))
        return err_set(err, STATUS_CONFLICT, "the queue 'default' is always there");
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || find_or_make(store, name, false, &id, err) != STATUS_OK ||
        db_get_int(db, 0, &used, err, QUEUE_USE, "i", id) != STATUS_OK)
        return err->code;
    if (used > 0)
        return err_set(err, STATUS_CONFLICT,
                       "the queue '%s' is in use: jobs and tasks that wait, run or are kept: %lld; "
                       "cancel and purge them first (eider jobs list --queue %s)",
                       name, (long long)used, name);
    json_t *data = json_object();
    json_put_string(data, "queue", name);
    if (write_event(store, EVENT_QUEUE_DELETED, actor, data, err) != STATUS_OK ||
        db_do(db, err, LANES_DELETE, "i", id) != STATUS_OK ||
        db_do(db, err, QUEUE_DELETE, "i", id) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "delete the queue '%s'", name);
    return STATUS_OK;
}
