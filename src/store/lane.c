#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/share.h"
#include "model/word_set.h"
#include "store/id_list.h"
#include "store/lane_cache.h"
#include "store/lane_priv.h"

/* --- the lanes of a DAG ---------------------------------------------------------------------- */

static const char LANE_FIND[] = "SELECT l.id FROM lane l JOIN queue q ON q.id = l.queue"
                                " WHERE q.name = $1 AND l.labels = $2";
static const char QUEUE_MAKE[] = "INSERT INTO queue (name, created_at_us) VALUES ($1, $2)"
                                 " ON CONFLICT (name) DO NOTHING";
static const char LANE_MAKE[] = "INSERT INTO lane (queue, labels)"
                                " SELECT id, $2 FROM queue WHERE name = $1"
                                " ON CONFLICT (queue, labels) DO NOTHING";

static enum status find_or_make(struct store *store, const char *queue, const char *labels,
                                int64_t *out, struct err *err)
{
    struct lane_cache *cache = store->lane_cache;
    bool is_usual = labels[0] == '\0' && strcmp(queue, "default") == 0;
    *out = is_usual ? cache->usual : 0;
    if (*out == 0 &&
        db_get_int(store->db, 0, out, err, LANE_FIND, "tt", queue, labels) != STATUS_OK)
        return err->code;
    if (*out != 0) {
        cache->usual = is_usual ? *out : cache->usual;
        return STATUS_OK;
    }
    /* Known only once it is committed. */
    store->lane_cache->unsure = true;
    if (db_do(store->db, err, QUEUE_MAKE, "ti", queue, store_now_us(store)) != STATUS_OK ||
        db_do(store->db, err, LANE_MAKE, "tt", queue, labels) != STATUS_OK)
        return err->code;
    return db_get_int(store->db, 0, out, err, LANE_FIND, "tt", queue, labels);
}

/* With `only`, whatever queues the tasks name. */
static enum status list_lanes(struct store *store, const struct dag *dag, const char *only,
                              int64_t *lanes, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *queue = NULL;
    const char *labels = NULL;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct task_def *def = &dag->tasks[i];
        const char *own = task_def_labels(def, arena);
        const char *wanted = only != NULL ? only : def->queue;
        bool same = queue != NULL && strcmp(queue, wanted) == 0 && strcmp(labels, own) == 0;
        if (same) {
            lanes[i] = lanes[i - 1];
        } else if (find_or_make(store, wanted, own, &lanes[i], err) != STATUS_OK) {
            return err_wrap(err, "queue '%s'", wanted);
        }
        queue = wanted;
        labels = own;
    }
    return STATUS_OK;
}

static enum status keep_lanes(struct store *store, struct idmap *versions, int64_t version,
                              const struct dag *dag, const char *only, struct err *err)
{
    int64_t *lanes = mem_zalloc(dag->tasks_count + 1, sizeof *lanes);
    if (list_lanes(store, dag, only, lanes, err) != STATUS_OK) {
        free(lanes);
        return err->code;
    }
    idmap_set(versions, version, lanes);
    return STATUS_OK;
}

enum status store_lanes_of(struct store *store, int64_t version, const struct dag *dag,
                           const int64_t **out, struct err *err)
{
    struct idmap *versions = store->lane_cache->versions;
    if (idmap_find(versions, version) == NULL &&
        keep_lanes(store, versions, version, dag, NULL, err) != STATUS_OK)
        return err->code;
    *out = idmap_find(versions, version);
    return STATUS_OK;
}

static const char QUEUE_NAME[] = "SELECT name FROM queue WHERE id = $1";

/* A queue with runs in it cannot be deleted, but one of a run that is over can. */
static enum status keep_lanes_in(struct store *store, struct idmap *versions,
                                 const struct run_row *run, struct err *err)
{
    CLEANUP(mem_freep) char *name = NULL;
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, QUEUE_NAME, "i", run->queue) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (row) {
        name = mem_strdup(db_text(stmt, 0));
        db_reset(stmt);
    }
    return keep_lanes(store, versions, run->version, run->dag, name, err);
}

enum status store_lanes_of_run(struct store *store, const struct run_row *run, const int64_t **out,
                               struct err *err)
{
    struct idmap *queues = store->lane_cache->queues;
    if (run->queue == 0)
        return store_lanes_of(store, run->version, run->dag, out, err);
    if (idmap_find(queues, run->queue) == NULL)
        idmap_set(queues, run->queue, idmap_new());
    struct idmap *versions = idmap_find(queues, run->queue);
    if (idmap_find(versions, run->version) == NULL &&
        keep_lanes_in(store, versions, run, err) != STATUS_OK)
        return err->code;
    *out = idmap_find(versions, run->version);
    return STATUS_OK;
}

enum status lanes_ensure(struct store *store, const struct dag *dag, struct err *err)
{
    CLEANUP(mem_freep) int64_t *lanes = mem_zalloc(dag->tasks_count + 1, sizeof *lanes);
    return list_lanes(store, dag, NULL, lanes, err);
}

/* --- the cache ------------------------------------------------------------------------------- */

struct lane_cache *lane_cache_new(void)
{
    struct lane_cache *cache = mem_zalloc(1, sizeof *cache);
    cache->versions = idmap_new();
    cache->queues = idmap_new();
    cache->pools = idmap_new();
    return cache;
}

static void free_kept(struct idmap *map)
{
    size_t cursor = 0;
    for (void *kept; (kept = idmap_next(map, &cursor)) != NULL;)
        free(kept);
    idmap_free(map);
}

static void forget_versions(struct lane_cache *cache)
{
    size_t cursor = 0;
    free_kept(cache->versions);
    free_kept(cache->pools);
    for (struct idmap *versions; (versions = idmap_next(cache->queues, &cursor)) != NULL;)
        free_kept(versions);
    idmap_free(cache->queues);
    cache->versions = idmap_new();
    cache->queues = idmap_new();
    cache->pools = idmap_new();
    cache->usual = 0;
    cache->unsure = false;
}

void lane_cache_begin(struct lane_cache *cache)
{
    if (cache->unsure)
        forget_versions(cache);
}

void lane_cache_doubt(struct lane_cache *cache)
{
    cache->unsure = true;
}

void lane_cache_free(struct lane_cache *cache)
{
    if (cache == NULL)
        return;
    forget_versions(cache);
    idmap_free(cache->versions);
    idmap_free(cache->queues);
    idmap_free(cache->pools);
    free(cache);
}

/* --- which are open -------------------------------------------------------------------------- */

/* One question for all that there may be to claim; most of what follows is then not asked. */
_Static_assert(CLASS_PROCESS == 0 && CLASS_INLINE == 1, "as in the SQL");
static const char LOOK[] =
    "SELECT l.id, l.queue, q.name, l.labels, q.max_running,"
    " (SELECT r.run FROM ready r WHERE r.scope = $1 AND r.class = 0 AND r.lane = l.id"
    " ORDER BY r.scope, r.class, r.lane, r.rank, r.age_us, r.task LIMIT 1),"
    " (SELECT r.run FROM ready r WHERE r.scope = $1 AND r.class = 1 AND r.lane = l.id"
    " ORDER BY r.scope, r.class, r.lane, r.rank, r.age_us, r.task LIMIT 1),"
    " (SELECT t.due_at_us FROM timer t WHERE t.scope = $1 ORDER BY t.scope, t.due_at_us LIMIT 1),"
    " (SELECT 1 FROM expansion e WHERE e.scope = $1 LIMIT 1),"
    " q.max_share, (SELECT 1 FROM pool p WHERE p.kind > 0 AND (p.removed = 0"
    " OR EXISTS (SELECT 1 FROM pool_wait w WHERE w.pool = p.id)) LIMIT 1)"
    " FROM lane l JOIN queue q ON q.id = l.queue WHERE q.paused = 0"
    " ORDER BY q.priority DESC, q.id, l.id";
static const char RUNNING_IN_QUEUE[] = "SELECT count(*) FROM running r JOIN lane l ON l.id = r.lane"
                                       " WHERE l.queue = $1";
/* The bound is that of the row as it is locked. What runs is counted after that, not with it. */
static const char QUEUES_LOCK[] = "SELECT id, max_running FROM queue WHERE id = ANY($1)"
                                  " AND paused = 0 ORDER BY id FOR NO KEY UPDATE SKIP LOCKED";
static const char RUNNING_IN_QUEUES[] =
    "SELECT l.queue, count(*) FROM running r JOIN lane l ON l.id = r.lane"
    " WHERE l.queue = ANY($1) GROUP BY l.queue";

static bool is_job_at(struct db_stmt *stmt, int column)
{
    return !db_is_null(stmt, column) && db_int(stmt, column) == RUN_OF_JOBS;
}

static struct lane read_lane(struct db_stmt *stmt, const struct lane_question *question,
                             struct arena *arena)
{
    const char *queues = question->queues;
    bool is_served = queues == NULL || *queues == '\0' || word_set_has(queues, db_text(stmt, 2));
    int64_t max_running = db_int(stmt, 4);
    return (struct lane){
        .id = db_int(stmt, 0),
        .queue = db_int(stmt, 1),
        .queue_name = arena_strdup(arena, db_text(stmt, 2)),
        .is_bounded = max_running > 0,
        .is_served =
            is_served &&
            word_set_is_part(db_text(stmt, 3), question->labels != NULL ? question->labels : ""),
        .has_ready = {!db_is_null(stmt, 5), !db_is_null(stmt, 6)},
        .has_job_first = {is_job_at(stmt, 5), is_job_at(stmt, 6)},
        .room = max_running > 0 ? 0 : INT64_MAX,
        .max_share = db_int(stmt, 9),
    };
}

enum status lanes_look(struct store *store, const struct lane_question *question,
                       struct arena *arena, struct lanes *out, struct err *err)
{
    struct lanes lanes = {.has_expansions = true};
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, LOOK, "i", question->scope);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        if (lanes.count == capacity) {
            capacity = MAX(2 * capacity, (size_t)16);
            struct lane *more = arena_array(arena, capacity, sizeof *more);
            if (lanes.count > 0)
                memcpy(more, lanes.items, lanes.count * sizeof *more);
            lanes.items = more;
        }
        lanes.items[lanes.count++] = read_lane(stmt, question, arena);
        lanes.next_due_us = db_int(stmt, 7);
        lanes.has_expansions = !db_is_null(stmt, 8);
        lanes.has_limits = !db_is_null(stmt, 10);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list queues");
    *out = lanes;
    return STATUS_OK;
}

/* Where a bound was lifted meanwhile. */
#define ROOM_ENOUGH (INT64_MAX / 2)

static void set_room(struct lanes *lanes, int64_t queue, int64_t room)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->items[i].queue == queue) {
            lanes->items[i].room = room;
            lanes->items[i].is_bound = true;
        }
}

static void add_room(struct lanes *lanes, int64_t queue, int64_t change)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->items[i].queue == queue && lanes->items[i].is_bound)
            lanes->items[i].room += change;
}

static enum status bind_singly(struct store *store, const struct id_list *queues,
                               struct lanes *lanes, struct err *err)
{
    for (size_t i = 0; i < queues->count; i++) {
        int64_t bound = 0;
        int64_t running = 0;
        if (db_get_int(store->db, 0, &bound, err, "SELECT max_running FROM queue WHERE id = $1",
                       "i", queues->items[i]) != STATUS_OK ||
            db_get_int(store->db, 0, &running, err, RUNNING_IN_QUEUE, "i", queues->items[i]) !=
                STATUS_OK)
            return err->code;
        set_room(lanes, queues->items[i], bound - running);
    }
    return STATUS_OK;
}

static enum status bind_together(struct store *store, const struct id_list *queues,
                                 struct lanes *lanes, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, QUEUES_LOCK, "I", queues->items, queues->count);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        set_room(lanes, db_int(stmt, 0), db_int(stmt, 1) > 0 ? db_int(stmt, 1) : ROOM_ENOUGH);
    if (status == STATUS_OK)
        status =
            db_query(store->db, &stmt, err, RUNNING_IN_QUEUES, "I", queues->items, queues->count);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        add_room(lanes, db_int(stmt, 0), -db_int(stmt, 1));
    return status;
}

enum status lanes_bind(struct store *store, struct lanes *lanes, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list queues = {0};
    for (size_t i = 0; i < lanes->count; i++) {
        const struct lane *lane = &lanes->items[i];
        bool is_new = queues.count == 0 || queues.items[queues.count - 1] != lane->queue;
        if (lane->is_bounded && lane->is_wanted && is_new)
            id_list_add(&queues, lane->queue);
    }
    if (queues.count == 0)
        return STATUS_OK;
    enum status status = db_dialect(store->db) == DB_POSTGRES
                             ? bind_together(store, &queues, lanes, err)
                             : bind_singly(store, &queues, lanes, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look into queues");
}

/* --- shares ---------------------------------------------------------------------------------- */

static const char HOST_SLOTS[] = "SELECT slots FROM host WHERE id = $1";
static const char RUNNING_WITH_SHARE[] =
    "SELECT count(*) FROM running r JOIN lane l ON l.id = r.lane JOIN queue q ON q.id = l.queue"
    " WHERE r.host = $1 AND q.max_share > 0";

enum status lanes_bind_share(struct store *store, int64_t host, int64_t slots, struct lanes *lanes,
                             struct err *err)
{
    bool is_wanted = false;
    for (size_t i = 0; i < lanes->count; i++)
        is_wanted |= lanes->items[i].is_wanted && lanes->items[i].max_share > 0;
    if (!is_wanted)
        return STATUS_OK;
    lanes->host_slots = slots;
    if ((slots == 0 &&
         db_get_int(store->db, 0, &lanes->host_slots, err, HOST_SLOTS, "i", host) != STATUS_OK) ||
        db_get_int(store->db, 0, &lanes->sharing, err, RUNNING_WITH_SHARE, "i", host) != STATUS_OK)
        return err_wrap(err, "look at the host's slots");
    return STATUS_OK;
}

int64_t lanes_share_room(const struct lanes *lanes, const struct lane *lane)
{
    int64_t room = share_of_slots(lanes->host_slots, lane->max_share) - lanes->sharing;
    return MAX(room, (int64_t)0);
}

/* --- room ------------------------------------------------------------------------------------ */

struct lane *lanes_find(struct lanes *lanes, int64_t id)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->items[i].id == id)
            return &lanes->items[i];
    return NULL;
}

void lanes_add_room(struct lanes *lanes, int64_t id, int64_t change)
{
    const struct lane *lane = lanes_find(lanes, id);
    if (lane != NULL && lane->max_share > 0)
        lanes->sharing -= change;
    if (lane == NULL || !lane->is_bounded)
        return;
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->items[i].queue == lane->queue) {
            lanes->items[i].room += lanes->items[i].is_bound ? change : 0;
            lanes->items[i].freed += change;
        }
}

bool lanes_have_freed(const struct lanes *lanes)
{
    bool freed = false;
    for (size_t i = 0; i < lanes->count; i++) {
        const struct lane *lane = &lanes->items[i];
        bool is_waited_for = lane->has_ready[CLASS_PROCESS] || lane->has_ready[CLASS_INLINE];
        freed |= lane->is_bounded && lane->freed > 0 && is_waited_for;
    }
    return freed;
}

/* --- queues by name -------------------------------------------------------------------------- */

static const char QUEUE_FIND[] =
    "SELECT q.id, l.id, q.soft_pending, q.hard_pending FROM queue q"
    " JOIN lane l ON l.queue = q.id AND l.labels = '' WHERE q.name = $1";

enum status queue_find(struct store *store, const char *name, struct queue_facts *out,
                       struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, QUEUE_FIND, "t", name) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for queue '%s'", name);
    if (!row)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no queue '%s'; `eider queues set %s` makes it", name, name);
    *out = (struct queue_facts){
        .id = db_int(stmt, 0),
        .lane = db_int(stmt, 1),
        .soft_pending = db_int(stmt, 2),
        .hard_pending = db_int(stmt, 3),
    };
    db_reset(stmt);
    return STATUS_OK;
}
