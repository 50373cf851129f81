#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/word_set.h"
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

enum { LABELS_BYTES_MAX = 64 << 10 };

/* `worker: gpu` or `worker: [gpu, eu]`, sorted and separated by blanks; what is no text is none. */
static const char *labels_of(const struct task_def *def, struct arena *arena)
{
    const json_t *worker = json_object_get(def->rest, "worker");
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, LABELS_BYTES_MAX);
    if (json_is_string(worker))
        strbuf_add(&text, json_string_value(worker));
    for (size_t i = 0; i < json_array_size(worker); i++) {
        const char *label = json_string_value(json_array_get(worker, i));
        strbuf_addf(&text, "%s,", label != NULL ? label : "");
    }
    CLEANUP(mem_freep) char *labels = word_set_parse(text.text);
    return arena_strdup(arena, labels);
}

static enum status find_or_make(struct store *store, const char *queue, const char *labels,
                                int64_t *out, struct err *err)
{
    if (db_get_int(store->db, 0, out, err, LANE_FIND, "tt", queue, labels) != STATUS_OK)
        return err->code;
    if (*out != 0)
        return STATUS_OK;
    /* Known only once it is committed. */
    store->lane_cache->unsure = true;
    if (db_do(store->db, err, QUEUE_MAKE, "ti", queue, store_now_us(store)) != STATUS_OK ||
        db_do(store->db, err, LANE_MAKE, "tt", queue, labels) != STATUS_OK)
        return err->code;
    return db_get_int(store->db, 0, out, err, LANE_FIND, "tt", queue, labels);
}

static enum status list_lanes(struct store *store, const struct dag *dag, int64_t *lanes,
                              struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *queue = NULL;
    const char *labels = NULL;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct task_def *def = &dag->tasks[i];
        const char *own = def->rest != NULL ? labels_of(def, arena) : "";
        bool same = queue != NULL && strcmp(queue, def->queue) == 0 && strcmp(labels, own) == 0;
        if (same) {
            lanes[i] = lanes[i - 1];
        } else if (find_or_make(store, def->queue, own, &lanes[i], err) != STATUS_OK) {
            return err_wrap(err, "queue '%s'", def->queue);
        }
        queue = def->queue;
        labels = own;
    }
    return STATUS_OK;
}

enum status store_lanes_of(struct store *store, int64_t version, const struct dag *dag,
                           const int64_t **out, struct err *err)
{
    int64_t *lanes = idmap_find(store->lane_cache->versions, version);
    if (lanes == NULL) {
        lanes = mem_zalloc(dag->tasks_count + 1, sizeof *lanes);
        if (list_lanes(store, dag, lanes, err) != STATUS_OK) {
            free(lanes);
            return err->code;
        }
        idmap_set(store->lane_cache->versions, version, lanes);
    }
    *out = lanes;
    return STATUS_OK;
}

enum status lanes_ensure(struct store *store, const struct dag *dag, struct err *err)
{
    CLEANUP(mem_freep) int64_t *lanes = mem_zalloc(dag->tasks_count + 1, sizeof *lanes);
    return list_lanes(store, dag, lanes, err);
}

/* --- the cache ------------------------------------------------------------------------------- */

struct lane_cache *lane_cache_new(void)
{
    struct lane_cache *cache = mem_zalloc(1, sizeof *cache);
    cache->versions = idmap_new();
    return cache;
}

static void forget_versions(struct lane_cache *cache)
{
    size_t cursor = 0;
    for (int64_t *lanes; (lanes = idmap_next(cache->versions, &cursor)) != NULL;)
        free(lanes);
    idmap_free(cache->versions);
    cache->versions = idmap_new();
    cache->unsure = false;
}

void lane_cache_begin(struct lane_cache *cache)
{
    if (cache->unsure)
        forget_versions(cache);
}

void lane_cache_free(struct lane_cache *cache)
{
    if (cache == NULL)
        return;
    forget_versions(cache);
    idmap_free(cache->versions);
    free(cache->rows);
    arena_free(cache->texts);
    free(cache);
}

/* --- which are open -------------------------------------------------------------------------- */

enum { CACHE_US = 200000 };

static const char LANES[] =
    "SELECT l.id, l.queue, q.name, l.labels, q.max_running FROM lane l"
    " JOIN queue q ON q.id = l.queue WHERE q.paused = 0 ORDER BY q.priority DESC, q.id, l.id";
static const char RUNNING_IN_QUEUE[] = "SELECT count(*) FROM running r JOIN lane l ON l.id = r.lane"
                                       " WHERE l.queue = $1";
static const char QUEUE_LOCK[] = "SELECT id FROM queue WHERE id = $1 FOR UPDATE SKIP LOCKED";

/* Whether every word of `some` is a word of `all`; words are separated by blanks. */
static bool has_words(const char *all, const char *some)
{
    for (const char *word = some; *word != '\0';) {
        size_t length = strcspn(word, " ");
        bool found = false;
        for (const char *other = all; *other != '\0' && !found;) {
            size_t other_length = strcspn(other, " ");
            found = other_length == length && memcmp(other, word, length) == 0;
            other += other_length;
            other += strspn(other, " ");
        }
        if (!found)
            return false;
        word += length;
        word += strspn(word, " ");
    }
    return true;
}

static enum status read_rows(struct store *store, struct err *err)
{
    struct lane_cache *cache = store->lane_cache;
    /* A queue that is paused now must not be served on, where looking costs nothing. */
    bool is_fresh = db_dialect(store->db) == DB_POSTGRES && cache->rows != NULL &&
                    clock_mono_us() - cache->read_us < CACHE_US;
    if (is_fresh)
        return STATUS_OK;
    arena_free(cache->texts);
    cache->texts = arena_new();
    cache->count = 0;
    cache->read_us = clock_mono_us();
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, LANES, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        cache->rows = mem_grow(cache->rows, &cache->capacity, cache->count, sizeof *cache->rows);
        cache->rows[cache->count++] = (struct lane_facts){
            .id = db_int(stmt, 0),
            .queue = db_int(stmt, 1),
            .queue_name = arena_strdup(cache->texts, db_text(stmt, 2)),
            .labels = arena_strdup(cache->texts, db_text(stmt, 3)),
            .max_running = db_int(stmt, 4),
        };
    }
    if (status != STATUS_OK)
        cache->count = 0;
    return status;
}

static enum status room_in_queue(struct store *store, const struct lane_facts *facts, int64_t *out,
                                 struct err *err)
{
    int64_t running = 0;
    *out = INT64_MAX;
    if (facts->max_running == 0)
        return STATUS_OK;
    if (db_dialect(store->db) == DB_POSTGRES) {
        int64_t locked = 0;
        if (db_get_int(store->db, 0, &locked, err, QUEUE_LOCK, "i", facts->queue) != STATUS_OK)
            return err->code;
        if (locked == 0) {
            *out = INT64_MIN; /* what others make of it is not known yet */
            return STATUS_OK;
        }
    }
    if (db_get_int(store->db, 0, &running, err, RUNNING_IN_QUEUE, "i", facts->queue) != STATUS_OK)
        return err->code;
    *out = facts->max_running - running;
    return STATUS_OK;
}

enum status lanes_open(struct store *store, const char *labels, const char *queues,
                       struct arena *arena, struct lane **out, size_t *out_count, struct err *err)
{
    if (read_rows(store, err) != STATUS_OK)
        return err_wrap(err, "list queues");
    const struct lane_cache *cache = store->lane_cache;
    struct lane *lanes = arena_array(arena, cache->count, sizeof *lanes);
    size_t count = 0;
    for (size_t i = 0; i < cache->count; i++) {
        const struct lane_facts *facts = &cache->rows[i];
        bool is_served = queues == NULL || *queues == '\0' || has_words(queues, facts->queue_name);
        if (!is_served || !has_words(labels != NULL ? labels : "", facts->labels))
            continue;
        struct lane *lane = &lanes[count];
        *lane = (struct lane){
            .id = facts->id,
            .queue = facts->queue,
            .queue_name = arena_strdup(arena, facts->queue_name),
        };
        bool same_queue = count > 0 && lanes[count - 1].queue == facts->queue;
        if (same_queue)
            lane->room = lanes[count - 1].room;
        else if (room_in_queue(store, facts, &lane->room, err) != STATUS_OK)
            return err_wrap(err, "look into queue '%s'", facts->queue_name);
        if (lane->room != INT64_MIN)
            count++;
    }
    *out = lanes;
    *out_count = count;
    return STATUS_OK;
}

struct lane *lanes_find(struct lane *lanes, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (lanes[i].id == id)
            return &lanes[i];
    return NULL;
}

void lanes_add_room(struct lane *lanes, size_t count, int64_t id, int64_t change)
{
    const struct lane *lane = lanes_find(lanes, count, id);
    if (lane == NULL || lane->room == INT64_MAX)
        return;
    for (size_t i = 0; i < count; i++)
        if (lanes[i].queue == lane->queue)
            lanes[i].room += change;
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
