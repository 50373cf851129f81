#include "store/asset_event.h"

#include "store/sight.h"
#include "store/store_priv.h"

/* $1 dataset, $2 event, $3 DAG, $4 run, $5 task, $6 map index, $7 most to look at */
#define LOOKED_AT(of, order)                                                                       \
    "(SELECT * FROM asset_event WHERE " of " AND ($2 = 0 OR id = $2) ORDER BY " order " LIMIT "    \
    "$7) e"
/* One of each DAG at most: found once, not by asking for the run of every update. */
#define RUNS_NAMED                                                                                 \
    "(SELECT coalesce((SELECT w.id FROM run w WHERE w.dag = x.id AND w.run_id = $4), -1)"          \
    " FROM dag x WHERE x.id > 0)"
#define MATCHES(looked_at)                                                                         \
    " FROM " looked_at " CROSS JOIN asset a LEFT JOIN run r ON r.id = e.run"                       \
    " LEFT JOIN dag d ON d.id = r.dag WHERE a.id = e.asset AND ($3 = '' OR d.dag_id = $3)"         \
    " AND ($4 = '' OR e.run IN " RUNS_NAMED ") AND ($5 = '' OR e.task_id = $5)"                    \
    " AND ($6 < -1 OR e.map_index = $6) AND (d.id IS NULL OR " SEEN("$10", "d.namespace") ")"
#define COLUMNS                                                                                    \
    "SELECT e.id, e.at_us, e.run, d.dag_id, r.run_id, e.task_id, e.map_index, e.actor, e.extra,"   \
    " e.asset, a.uri"
#define PAGE(of, order, last)                                                                      \
    COLUMNS MATCHES(LOOKED_AT(of, order)) " ORDER BY " last " LIMIT $8 OFFSET $9"
/* Where nothing is left out, those before the page are not named: every update has its dataset. */
#define OPEN_PAGE(of, order, last)                                                                 \
    COLUMNS MATCHES("(SELECT * FROM " LOOKED_AT(                                                   \
        of, order) " ORDER BY " last " LIMIT $8 OFFSET $9) e") " ORDER BY " last

#define OF_ANY "$1 = 0"
#define OF_ONE "asset = $1"

/* By whether something is left out and a dataset is meant, then by the direction. */
static const char *const PAGES[2][2][2] = {
    {{OPEN_PAGE(OF_ANY, "id", "e.id"), OPEN_PAGE(OF_ANY, "id DESC", "e.id DESC")},
     {OPEN_PAGE(OF_ONE, "asset, id", "e.id"),
      OPEN_PAGE(OF_ONE, "asset DESC, id DESC", "e.id DESC")}},
    {{PAGE(OF_ANY, "id", "e.id"), PAGE(OF_ANY, "id DESC", "e.id DESC")},
     {PAGE(OF_ONE, "asset, id", "e.id"), PAGE(OF_ONE, "asset DESC, id DESC", "e.id DESC")}},
};
#define COUNT(of)                                                                                  \
    COUNT_OF("SELECT 1 AS one" MATCHES(LOOKED_AT(of, "id DESC")) " LIMIT $8 OFFSET $9")
static const char *const COUNTS[2] = {COUNT(OF_ANY), COUNT(OF_ONE)};

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static bool is_open(const struct store *store, const struct asset_event_page *page)
{
    return page->dag_id == NULL && page->run_id == NULL && page->task_id == NULL &&
           page->map_index < -1 && store_sees_all(store);
}

/* Where nothing is left out, no more than a page reaches to. */
static int64_t most_of(const struct store *store, const struct asset_event_page *page)
{
    return is_open(store, page) ? MIN(page->limit + page->offset, (int64_t)ASSET_EVENT_SCAN_MAX)
                                : ASSET_EVENT_SCAN_MAX;
}

static enum status ask(struct store *store, const char *sql, const struct asset_event_page *page,
                       struct db_stmt **out, struct err *err)
{
    return db_query(store->db, out, err, sql, "iitttiiiit", page->asset, page->id,
                    or_empty(page->dag_id), or_empty(page->run_id), or_empty(page->task_id),
                    page->map_index, most_of(store, page), page->limit, page->offset,
                    store_sight(store));
}

enum status store_asset_event_page(struct store *store, const struct asset_event_page *page,
                                   enum status (*each)(void *context,
                                                       const struct asset_event_row *row,
                                                       struct err *err),
                                   void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    const char *sql = PAGES[!is_open(store, page)][page->asset != 0][page->is_descending];
    enum status status = ask(store, sql, page, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct asset_event_row row = {
            .update =
                {
                    .id = db_int(stmt, 0),
                    .at_us = db_int(stmt, 1),
                    .run = db_int(stmt, 2),
                    .dag_id = db_text(stmt, 3),
                    .run_id = db_text(stmt, 4),
                    .task_id = db_text(stmt, 5),
                    .map_index = db_int(stmt, 6),
                    .actor = db_text(stmt, 7),
                    .extra = db_text(stmt, 8),
                },
            .asset = db_int(stmt, 9),
            .uri = db_text(stmt, 10),
        };
        status = each(context, &row, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

enum status store_asset_event_count(struct store *store, const struct asset_event_page *page,
                                    int64_t most, int64_t *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct asset_event_page counted = *page;
    counted.limit = most;
    counted.offset = 0;
    enum status status = ask(store, COUNTS[page->asset != 0], &counted, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        *out = db_int(stmt, 0);
    return status;
}

static const char RUNS[] =
    "SELECT run FROM run_cause WHERE kind = 0 AND source = $1 ORDER BY run LIMIT $2";

enum status store_asset_event_runs(struct store *store, int64_t event, int64_t *out, size_t most,
                                   size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, RUNS, "ii", event, (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out[count++] = db_int(stmt, 0);
    if (status == STATUS_OK)
        *out_count = count;
    return status;
}
