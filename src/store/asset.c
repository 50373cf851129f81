#include "store/asset.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/trigger_expr.h"
#include "store/store_priv.h"
#include "store/tiding.h"

/* Of a dataset, when it is asked who wrote it. */
enum { WRITERS_SCAN_MAX = 10000 };

/* Updates that no run wrote, or one that is gone, are everybody's, as in asset_event.c. */
#define UPDATE_IS_SEEN(sight)                                                                      \
    " AND (" sight " = '' OR NOT EXISTS (SELECT 1 FROM run r JOIN dag d ON d.id = r.dag"           \
    " WHERE r.id = e.run AND NOT " SEEN(sight, "d.namespace") "))"
#define KNOWN(sight)                                                                               \
    "SELECT a.id, a.uri, a.created_at_us,"                                                         \
    " (SELECT count(*) FROM asset_event e WHERE e.asset = a.id" UPDATE_IS_SEEN(                    \
        sight) "),"                                                                                \
               " coalesce((SELECT e.at_us FROM asset_event e WHERE e.asset = a.id" UPDATE_IS_SEEN( \
                   sight) " ORDER BY e.asset DESC, e.id DESC LIMIT 1), 0),"                        \
                          " (SELECT count(*) FROM trigger_watch w JOIN dag d ON d.id = w.dag "     \
                          "WHERE w.kind = 0"                                                       \
                          " AND w.name = a.uri AND " SEEN(sight, "d.namespace") ") FROM asset a"
/* URIs are everybody's, whoever waits for them. */
#define WAITED_FOR(sight)                                                                          \
    "SELECT 0, w.name, 0, 0, 0, count(d.id) FROM trigger_watch w"                                  \
    " LEFT JOIN dag d ON d.id = w.dag AND " SEEN(                                                  \
        sight, "d.namespace") " WHERE w.kind = 0 AND NOT EXISTS (SELECT 1 FROM asset a WHERE "     \
                              "a.uri = w.name)"

/* $1 part of the URI, $2 limit, $3 offset, $4 DAGs, $5 sight, $6 most updates to look at */
#define IS_NAMED "replace($4, ',' || d.dag_id || ',', '') <> $4 AND " SEEN("$5", "d.namespace")
#define AWAITED(uri)                                                                               \
    "EXISTS (SELECT 1 FROM trigger_watch o JOIN dag d ON d.id = o.dag"                             \
    " WHERE o.kind = 0 AND o.name = " uri " AND " IS_NAMED ")"
#define WRITTEN                                                                                    \
    "EXISTS (SELECT 1 FROM (SELECT e.run FROM asset_event e WHERE e.asset = a.id"                  \
    " ORDER BY e.asset DESC, e.id DESC LIMIT $6) u JOIN run r ON r.id = u.run"                     \
    " JOIN dag d ON d.id = r.dag WHERE " IS_NAMED ")"
#define LISTED(order)                                                                              \
    KNOWN("$5")                                                                                    \
    " WHERE a.uri LIKE $1 ESCAPE '!' AND ($4 = '' OR " AWAITED(                                    \
        "a.uri") " OR " WRITTEN                                                                    \
                 ") UNION ALL " WAITED_FOR("$5") " AND w.name LIKE $1 ESCAPE '!' AND ($4 = '' "    \
                                                 "OR " AWAITED("w.name") ") GROUP BY w.name"       \
                                                                         " ORDER BY " order        \
                                                                         " LIMIT $2 OFFSET $3"
static const char LIST[] = LISTED("2");
static const char LIST_BACKWARDS[] = LISTED("2 DESC");
static const char LIST_COUNT[] = COUNT_OF(LISTED("2"));
static const char LOAD[] =
    KNOWN("$2") " WHERE a.uri = $1 UNION ALL " WAITED_FOR("$2") " AND w.name = $1 GROUP BY w.name";
static const char UPDATES[] =
    "SELECT e.id, e.at_us, e.run, d.dag_id, r.run_id, e.task_id, e.map_index, e.actor, e.extra"
    " FROM asset_event e LEFT JOIN run r ON r.id = e.run LEFT JOIN dag d ON d.id = r.dag"
    " WHERE e.asset = $1 AND (d.id IS NULL OR " SEEN(
        "$3", "d.namespace") ") ORDER BY e.asset DESC, e.id DESC LIMIT $2";

static void read_asset(struct db_stmt *stmt, struct arena *arena, struct asset_info *out)
{
    *out = (struct asset_info){
        .id = db_int(stmt, 0),
        .uri = arena_strdup(arena, db_text(stmt, 1)),
        .created_at_us = db_int(stmt, 2),
        .updates = db_int(stmt, 3),
        .last_us = db_int(stmt, 4),
        .waiters = db_int(stmt, 5),
    };
}

/* "%part%", with what LIKE gives a meaning of its own made plain. */
static char *like_text(const char *part)
{
    size_t length = part != NULL ? strlen(part) : 0;
    char *text = mem_alloc(2 * length + 3);
    size_t at = 0;
    text[at++] = '%';
    for (size_t i = 0; i < length; i++) {
        if (strchr("%_!", part[i]) != NULL)
            text[at++] = '!';
        text[at++] = part[i];
    }
    if (length > 0)
        text[at++] = '%';
    text[at] = '\0';
    return text;
}

static int64_t writers_most(const struct asset_filter *filter)
{
    return filter->is_awaited ? 0 : WRITERS_SCAN_MAX;
}

enum status store_asset_count(struct store *store, const struct asset_filter *filter, int64_t most,
                              int64_t *out, struct err *err)
{
    CLEANUP(mem_freep) char *like = like_text(filter->contains);
    return db_get_int(store->db, 0, out, err, LIST_COUNT, "tiitti", like, most, (int64_t)0,
                      filter->dags != NULL ? filter->dags : "", store_sight(store),
                      writers_most(filter));
}

enum status store_asset_list(struct store *store, struct arena *arena,
                             const struct asset_filter *filter, struct asset_info **out,
                             size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) char *like = like_text(filter->contains);
    CLEANUP(mem_freep) struct asset_info *list = NULL;
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status =
        db_query(store->db, &stmt, err, filter->is_descending ? LIST_BACKWARDS : LIST, "tiitti",
                 like, filter->limit, filter->offset, filter->dags != NULL ? filter->dags : "",
                 store_sight(store), writers_most(filter));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        read_asset(stmt, arena, &list[count++]);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list datasets");
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

enum status store_asset_load(struct store *store, struct arena *arena, const char *uri,
                             struct asset_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, LOAD, "tt", uri, store_sight(store)) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no dataset '%.200s': nobody updated it or waits for it; "
                       "`eider assets list` shows those there are",
                       uri);
    read_asset(stmt, arena, out);
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_asset_updates(struct store *store, struct arena *arena, int64_t asset,
                                int64_t limit, struct asset_updates *out, struct err *err)
{
    CLEANUP(mem_freep) struct asset_update *list = NULL;
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status =
        db_query(store->db, &stmt, err, UPDATES, "iit", asset, limit, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        list[count++] = (struct asset_update){
            .id = db_int(stmt, 0),
            .at_us = db_int(stmt, 1),
            .run = db_int(stmt, 2),
            .dag_id = arena_strdup_null(arena, db_text(stmt, 3)),
            .run_id = arena_strdup_null(arena, db_text(stmt, 4)),
            .task_id = arena_strdup_null(arena, db_text(stmt, 5)),
            .map_index = db_int(stmt, 6),
            .actor = arena_strdup_null(arena, db_text(stmt, 7)),
            .extra = arena_strdup_null(arena, db_text(stmt, 8)),
        };
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list updates");
    struct asset_update *kept = arena_array(arena, count + 1, sizeof *kept);
    if (count > 0)
        memcpy(kept, list, count * sizeof *list);
    *out = (struct asset_updates){kept, count};
    return STATUS_OK;
}

/* --- saying so ------------------------------------------------------------------------------- */

static enum status emit(struct store *store, const struct asset_emission *emission, struct err *err)
{
    struct tiding_list list = {0};
    bool news = false;
    tiding_list_add(&list, &(struct tiding){
                               .uri = emission->uri,
                               .map_index = -1,
                               .actor = emission->actor,
                               .extra = emission->extra,
                           });
    enum status status = tidings_save(store->db, store_now_us(store), &list, &news, err);
    tiding_list_fini(&list);
    if (status != STATUS_OK)
        return status;
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "uri", emission->uri);
    CLEANUP(mem_freep) char *text = json_format(data);
    if (store_tell(store, EVENT_ASSET_EMITTED, emission->actor, text, err) != STATUS_OK)
        return err->code;
    return tiding_spread(store->db, news, err);
}

static enum status emit_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || emit(store, context, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_asset_emit(struct store *store, const struct asset_emission *emission,
                             struct err *err)
{
    if (!dataset_uri_is_valid(emission->uri))
        return err_set(err, STATUS_INVALID,
                       "'%.200s' cannot be a dataset: its URI has no blanks and at most %d bytes",
                       emission->uri != NULL ? emission->uri : "", LIMIT_URI_BYTES);
    if (emission->extra != NULL && strlen(emission->extra) > LIMIT_EXTRA_BYTES)
        return err_set(err, STATUS_LIMIT, "more than %d bytes are told with dataset '%s'",
                       LIMIT_EXTRA_BYTES, emission->uri);
    if (store_repeat(store, emit_once, emission, err) != STATUS_OK)
        return err_wrap(err, "tell of dataset '%s'", emission->uri);
    return STATUS_OK;
}
