#include "store/event_scan.h"

#include "base/check.h"
#include "base/mem.h"
#include "store/sight.h"
#include "store/store_priv.h"

/* $1-$2 ids, $3 run */
#define ANY_RUN " AND $3 = 0"
/* The index of runs leaves out jobs, which is to be said. */
#define OF_RUN " AND e.run = $3 AND e.run > 0"

/* --- a stretch ------------------------------------------------------------------------------- */

#define STRETCH(of, order)                                                                         \
    "SELECT count(*), coalesce(min(s.id), 0), coalesce(max(s.id), 0) FROM (SELECT e.id FROM event" \
    " e WHERE e.id > $1 AND e.id < $2" of " ORDER BY " order " LIMIT $4) s"

/* By whether a run is meant, then by the direction. */
static const char *const STRETCHES[2][2] = {
    {STRETCH(ANY_RUN, "e.id"), STRETCH(ANY_RUN, "e.id DESC")},
    {STRETCH(OF_RUN, "e.run, e.id"), STRETCH(OF_RUN, "e.run DESC, e.id DESC")},
};

enum status store_event_stretch(struct store *store, const struct event_scan *scan, int64_t count,
                                struct event_stretch *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct event_stretch stretch = {0};
    enum status status =
        db_query(store->db, &stmt, err, STRETCHES[scan->run != 0][scan->is_descending], "iiii",
                 scan->after, scan->before != 0 ? scan->before : INT64_MAX, scan->run, count);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        stretch = (struct event_stretch){db_int(stmt, 0), db_int(stmt, 1), db_int(stmt, 2)};
    if (status == STATUS_OK)
        *out = stretch;
    return status;
}

/* --- what is meant of it --------------------------------------------------------------------- */

/* $4 kinds, $5-$6 time, $7 actor, $8 attempt */
#define IN_STRETCH                                                                                 \
    " WHERE e.id >= $1 AND e.id <= $2 AND substr($4, e.kind + 1, 1) = '1' AND e.at_us >= $5"       \
    " AND e.at_us <= $6 AND (e.actor = $7 OR $7 IS NULL)"                                          \
    " AND (CAST(e.attempt AS BIGINT) = $8 OR $8 = 0)"
/*
 * $9 DAG, $10 name of the run, $11 what is seen, $12 most, $13 whether of tasks. The runs of the
 * DAG are told before any other table is looked into: of most events no more is needed. Others name
 * it in their data, as it is, or a backfill of it.
 */
#define NAMES(text) "replace(e.data, " text ", '') <> e.data"
#define ROWS                                                                                       \
    "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM IN_STRETCH                                          \
    " AND ($13 = 0 OR (e.task > 0 AND e.run > 0))"                                                 \
    " AND (e.run IN (SELECT o.id FROM run o WHERE o.dag = (SELECT x.id FROM dag x"                 \
    " WHERE x.dag_id = $9)) OR " NAMES("$9") " OR " NAMES(                                         \
        "'\"backfill\"'") " OR $9 IS NULL)"                                                        \
                          " AND (r.run_id = $10 OR $10 IS NULL) AND (coalesce(d.namespace, "       \
                          "j.namespace) IS NULL"                                                   \
                          " OR " SEEN("$11", "coalesce(d.namespace, j.namespace)") ")"

static const char *const SCANS[2][2] = {
    {ROWS ANY_RUN " ORDER BY e.id LIMIT $12", ROWS ANY_RUN " ORDER BY e.id DESC LIMIT $12"},
    {ROWS OF_RUN " ORDER BY e.run, e.id LIMIT $12",
     ROWS OF_RUN " ORDER BY e.run DESC, e.id DESC LIMIT $12"},
};
static const char *const COUNTS[2] = {
    "SELECT count(*) FROM event e" IN_STRETCH ANY_RUN,
    "SELECT count(*) FROM event e" IN_STRETCH OF_RUN,
};

/* Of a newer program's events and of those without a kind nothing can be told. */
static const char *kinds_of(const struct event_wish *wish)
{
    static const char KNOWN[] = {
#define X(name, text) EVENT_##name == EVENT_NONE ? '0' : '1',
        EVENT_KIND_MAP(X)
#undef X
            '\0'};
    return wish->kinds != NULL ? wish->kinds : KNOWN;
}

static int64_t last_us(const struct event_wish *wish)
{
    return wish->to_us != 0 ? wish->to_us : INT64_MAX;
}

enum status store_event_scan(struct store *store, const struct event_scan *scan,
                             const struct event_stretch *stretch,
                             enum status (*each)(void *context, const struct event_row *row,
                                                 struct err *err),
                             void *context, struct err *err)
{
    const struct event_wish *wish = &scan->wish;
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, SCANS[scan->run != 0][scan->is_descending], "iiitiititttii",
                 stretch->lowest, stretch->highest, scan->run, kinds_of(wish), wish->from_us,
                 last_us(wish), wish->actor, wish->attempt, wish->dag_id, wish->run_id,
                 store_sight(store), scan->most, (int64_t)wish->is_of_task);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct event_row row = event_row_read(stmt);
        status = each(context, &row, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

enum status store_event_count(struct store *store, const struct event_scan *scan,
                              const struct event_stretch *stretch, int64_t *out, struct err *err)
{
    const struct event_wish *wish = &scan->wish;
    CHECK(store_sees_all(store));
    CHECK(wish->dag_id == NULL);
    CHECK(wish->run_id == NULL);
    CHECK(!wish->is_of_task);
    return db_get_int(store->db, 0, out, err, COUNTS[scan->run != 0], "iiitiiti", stretch->lowest,
                      stretch->highest, scan->run, kinds_of(wish), wish->from_us, last_us(wish),
                      wish->actor, wish->attempt);
}

/* --- by time --------------------------------------------------------------------------------- */

static const char NEWEST[] = "SELECT coalesce(max(id), 0) FROM event";
static const char TIME_FROM[] = "SELECT at_us FROM event WHERE id >= $1 ORDER BY id LIMIT 1";

enum status store_event_find(struct store *store, int64_t at_us, int64_t *out_id, struct err *err)
{
    int64_t low = 0;
    int64_t high = 0;
    if (db_get_int(store->db, 0, &high, err, NEWEST, "") != STATUS_OK)
        return err->code;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int64_t there_us = INT64_MAX;
        if (db_get_int(store->db, INT64_MAX, &there_us, err, TIME_FROM, "i", middle) != STATUS_OK)
            return err->code;
        if (there_us < at_us)
            low = middle + 1;
        else
            high = middle;
    }
    *out_id = MAX(low - EVENT_FIND_SLACK, (int64_t)0);
    return STATUS_OK;
}
