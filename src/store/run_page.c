/*
 * run_page: statements for each way to a page of runs.
 *
 * A way is the index that the rows come from. Either database takes the one we mean because it is
 * not told of what the others are for.
 *
 * Who asks for some DAGs, or sees only some, may be far from the newest runs of all: then each of
 * these DAGs gives as many runs as the page could need, and the page is taken from these.
 */
#include "store/run_page.h"

#include <string.h>

#include "base/check.h"
#include "store/run_query_priv.h"
#include "store/store_priv.h"

/* $1 DAG, $2 states, $3-$10 ranges, $11 DAGs, $12 below or above, $13 limit, $14 offset, $15 what
 * is seen */
#define NEVER   "9223372036854775807"
#define STARTED "coalesce(r.started_at_us, " NEVER ")"
#define AMONG(dags, seen)                                                                          \
    "(" dags " = '' OR replace(" dags ", ',' || x.dag_id || ',', '') <> " dags                     \
    ") AND " SEEN(seen, "x.namespace")
#define DAGS_ASKED AMONG("$11", "$15")
#define OF_ASKED                                                                                   \
    " AND (($11 = '' AND $15 = '') OR r.dag IN (SELECT x.id FROM dag x WHERE " DAGS_ASKED "))"
#define OF_ANY  "$1 = ''" OF_ASKED
#define IN_DAG  "r.dag = (SELECT x.id FROM dag x WHERE x.dag_id = $1)"
#define OF_DAG  IN_DAG OF_ASKED
#define OF_EACH "r.dag = x.id"

/*
 * All that is asked for stands in one CASE, of which PostgreSQL knows nothing: taken one by one, it
 * would think that hardly a run is left, and read and sort them all instead of walking an index.
 * What the index of a way is for is said once more beside it.
 */
#define FITS                                                                                       \
    "CASE WHEN (($2 >> CAST(r.state AS INTEGER)) & 1) = 1 AND r.logical_at_us >= $3"               \
    " AND r.logical_at_us <= $4 AND coalesce(r.started_at_us, -1) >= $5 AND " STARTED " <= $6"     \
    " AND coalesce(r.ended_at_us, -1) >= $7 AND coalesce(r.ended_at_us, " NEVER ") <= $8"          \
    " AND coalesce(r.ended_at_us, r.started_at_us, r.created_at_us) >= $9"                         \
    " AND coalesce(r.ended_at_us, r.started_at_us, r.created_at_us) <= $10 THEN true ELSE false "  \
    "END"
#define MATCHES(of, indexed, more) of indexed " AND " FITS more
/* Where a page begins: rows before it have larger ids, or smaller ones when these come first. */
#define BELOW " AND r.id < $12"
#define ABOVE " AND r.id > $12"

#define IN_LOGICAL " AND r.logical_at_us >= $3 AND r.logical_at_us <= $4"
#define IN_START   " AND " STARTED " >= $5 AND " STARTED " <= $6"
#define IN_END     " AND r.ended_at_us >= $7 AND r.ended_at_us <= $8"

/* Where rows come from, and the first of them in an order: from the table as a whole, or of each
 * DAG. The list of a DAG is bounded, so that neither database makes one question of both. */
#define WHOLE(matches)           " FROM run r WHERE " matches
#define FIRST_OF_WHOLE(m, order) "SELECT r.id" WHOLE(m)
/* Either they go on or they ended lately: one after the other, so that few are read to count few.
 */
#define UPDATED(matches)                                                                           \
    " FROM (SELECT o.id FROM run o WHERE o.state IN (0, 1) UNION ALL SELECT o.id FROM run o"       \
    " WHERE o.ended_at_us >= $9 AND o.state NOT IN (0, 1)) u CROSS JOIN run r WHERE r.id = u.id"   \
    " AND " matches
#define FIRST_OF_UPDATED(m, order) "SELECT r.id" UPDATED(m)
#define EACH_SQLITE(matches)                                                                       \
    " FROM dag x CROSS JOIN run r WHERE $1 = '' AND " DAGS_ASKED " AND " matches
#define FIRST_OF_EACH_SQLITE(m, order)                                                             \
    "SELECT r.id FROM dag x CROSS JOIN run r WHERE $1 = '' AND " DAGS_ASKED                        \
    " AND r.id IN (SELECT r.id FROM run r WHERE " m " ORDER BY " order " LIMIT $13 + $14)"
#define EACH_POSTGRES(matches)                                                                     \
    " FROM dag x CROSS JOIN LATERAL (SELECT r.id, r.first_task FROM run r WHERE " matches          \
    " LIMIT $13) r WHERE $1 = '' AND " DAGS_ASKED
#define FIRST_OF_EACH_POSTGRES(m, order)                                                           \
    "SELECT r.id FROM dag x CROSS JOIN LATERAL (SELECT r.id, r.logical_at_us, r.started_at_us,"    \
    " r.ended_at_us FROM run r WHERE " m " ORDER BY " order                                        \
    " LIMIT $13 + $14) r WHERE $1 = '' AND " DAGS_ASKED

#define PAGE(first, order)                                                                         \
    "SELECT " RUN_COLUMNS " FROM (" first " ORDER BY " order                                       \
    " LIMIT $13 OFFSET $14) p CROSS JOIN run r" RUN_JOINED " WHERE r.id = p.id ORDER BY " order
#define IDS(first, order)                                                                          \
    "SELECT r.id, r.version FROM (" first " ORDER BY " order                                       \
    " LIMIT $13 OFFSET $14) p CROSS JOIN run r WHERE r.id = p.id ORDER BY " order
#define COUNT(from) COUNT_OF("SELECT 1 AS one" from " LIMIT $13 OFFSET $14")
/*
 * The first block of a run has its tasks, others have instances of mapped ones, which stand for
 * their task; or had them until it was cleared, so the tasks of such runs are asked.
 */
#define TASKS(from)                                                                                \
    "SELECT count(*), CAST(coalesce(sum(p.tasks + CASE WHEN (SELECT count(*) FROM block b"         \
    " WHERE b.run = p.id) > 1 THEN (SELECT coalesce(sum(t.parents - 1), 0) FROM task t"            \
    " WHERE t.id >= p.first_task AND t.id < p.first_task + p.tasks"                                \
    " AND t.instance_base IS NOT NULL AND t.parents > 0) ELSE 0 END), 0) AS BIGINT)"               \
    " FROM (SELECT r.id, r.first_task, coalesce((SELECT b.count FROM block b WHERE b.run = r.id"   \
    " AND b.first = r.first_task), 0) AS tasks" from " LIMIT $13 OFFSET $14) p"

struct way {
    const char *ascending; /* NULL: there is no such way */
    const char *descending;
    const char *ids; /* the same in short */
    const char *count;
    const char *tasks;
};

#define WAY(from, matches, ascending, descending)                                                  \
    {                                                                                              \
        PAGE(FIRST_OF_##from(matches ABOVE, ascending), ascending),                                \
            PAGE(FIRST_OF_##from(matches BELOW, descending), descending),                          \
            IDS(FIRST_OF_##from(matches BELOW, descending), descending),                           \
            COUNT(from(matches BELOW)), TASKS(from(matches BELOW))                                 \
    }
#define BY(key)      key ", r.id"
#define BY_BACK(key) key " DESC, r.id DESC"

enum way_name {
    WAY_ID,
    WAY_LOGICAL,
    WAY_START,
    WAY_END,
    WAY_DURATION,
    WAY_IN_LOGICAL, /* by id, of a range of dates */
    WAY_IN_START,
    WAY_IN_END,
    WAY_UPDATED, /* by id, of those that go on or ended lately */
    WAY_ACTIVE,  /* by id, of those that go on */
    WAY_FAILED,  /* by id, of those that failed */
    WAY_BAD,     /* by id, of those that went wrong in any way */
    WAY_UNDONE,  /* by id, of both */
    WAY_COUNT
};

/* Sorted: the other index by ids would have them in order, among all that do not match. */
#define OF_FEW(from, of, more) WAY(from, MATCHES(of, "", more), "+r.id", "+r.id DESC")
#define ENDED                  "coalesce(r.ended_at_us, " NEVER ")"
/* Those that are not over, or never started, come last either way. */
#define TOOK(otherwise) "coalesce(r.ended_at_us - r.started_at_us, " otherwise ")"

/* clang-format off */
#define WAYS_OF_MANY(from, of)                                                                     \
    [WAY_ID] = WAY(from, MATCHES(of, "", ""),                                                      \
        "r.id", "r.id DESC"),                                                                      \
    [WAY_LOGICAL] = WAY(from, MATCHES(of, IN_LOGICAL, ""),                                         \
        BY("r.logical_at_us"), BY_BACK("r.logical_at_us")),                                        \
    [WAY_START] = WAY(from, MATCHES(of, IN_START, ""),                                             \
        BY(STARTED), BY_BACK(STARTED)),                                                            \
    [WAY_END] = WAY(from, MATCHES(of, "", ""),                                                     \
        BY(ENDED), BY_BACK(ENDED)),                                                                \
    [WAY_DURATION] = WAY(from, MATCHES(of, "", ""),                                                \
        BY(TOOK(NEVER)), BY_BACK(TOOK("-1"))),                                                     \
    [WAY_IN_LOGICAL] = WAY(from, MATCHES(of, IN_LOGICAL, ""),                                      \
        "+r.id", "+r.id DESC"),                                                                    \
    [WAY_IN_START] = WAY(from, MATCHES(of, IN_START, ""),                                          \
        "+r.id", "+r.id DESC"),                                                                    \
    [WAY_FAILED] = WAY(from, MATCHES(of, "",                                                       \
        " AND r.state IN (3, 4) AND r.state = 3"), "r.id", "r.id DESC"),                           \
    [WAY_BAD] = OF_FEW(from, of, " AND r.state IN (3, 4)"),
#define WAYS_OF_FEW(of)                                                                            \
    [WAY_IN_END] = WAY(WHOLE, MATCHES(of, IN_END, ""),                                             \
        "+r.id", "+r.id DESC"),                                                                    \
    [WAY_UPDATED] = OF_FEW(UPDATED, of, ""),                                                       \
    [WAY_ACTIVE] = OF_FEW(WHOLE, of, " AND r.state IN (0, 1)"),                                    \
    [WAY_UNDONE] = OF_FEW(WHOLE, of, " AND r.id IN (SELECT o.id FROM run o"                        \
        " WHERE o.state IN (0, 1) UNION ALL SELECT o.id FROM run o WHERE o.state IN (3, 4))"),
/* clang-format on */

static const struct way OF_ALL_DAGS[WAY_COUNT] = {WAYS_OF_MANY(WHOLE, OF_ANY) WAYS_OF_FEW(OF_ANY)};
static const struct way OF_ONE_DAG[WAY_COUNT] = {WAYS_OF_MANY(WHOLE, OF_DAG) WAYS_OF_FEW(OF_DAG)};
/* What few runs are is found among them all. */
static const struct way OF_SOME_DAGS[2][WAY_COUNT] = {
    [DB_SQLITE] = {WAYS_OF_MANY(EACH_SQLITE, OF_EACH)},
    [DB_POSTGRES] = {WAYS_OF_MANY(EACH_POSTGRES, OF_EACH)},
};

/*
 * In an order that has no index, of a way that leads to few of all runs: the same rows, sorted.
 * Otherwise the whole table would be read to find them.
 */
#define SORTED_BY(ascending, descending)                                                           \
    {                                                                                              \
        [WAY_IN_LOGICAL] = WAY(WHOLE, MATCHES(OF_ANY, IN_LOGICAL, ""), ascending, descending),     \
        [WAY_IN_START] = WAY(WHOLE, MATCHES(OF_ANY, IN_START, ""), ascending, descending),         \
        [WAY_IN_END] = WAY(WHOLE, MATCHES(OF_ANY, IN_END, ""), ascending, descending),             \
        [WAY_BAD] =                                                                                \
            WAY(WHOLE, MATCHES(OF_ANY, "", " AND r.state IN (3, 4)"), ascending, descending),      \
    }
static const struct way SORTED[2][WAY_COUNT] = {
    SORTED_BY(BY(ENDED), BY_BACK(ENDED)),
    SORTED_BY(BY(TOOK(NEVER)), BY_BACK(TOOK("-1"))),
};

_Static_assert(RUN_QUEUED == 0 && RUN_RUNNING == 1, "run_active has the states that go on");
_Static_assert(RUN_FAILED == 3 && RUN_CANCELLED == 4, "run_bad has the states that went wrong");

enum {
    STATES_ACTIVE = 1 << RUN_QUEUED | 1 << RUN_RUNNING,
    STATES_BAD = 1 << RUN_FAILED | 1 << RUN_CANCELLED,
};

static const char *const ORDERS[] = {
#define X(name, text) [RUN_BY_##name] = (text),
    RUN_ORDER_MAP(X)
#undef X
};

bool run_order_parse(const char *text, enum run_order *out)
{
    for (enum run_order order = 0; order < RUN_ORDER_COUNT; order++) {
        if (strcmp(text, ORDERS[order]) == 0) {
            *out = order;
            return true;
        }
    }
    return false;
}

const char *run_order_name(enum run_order order)
{
    CHECK(order < RUN_ORDER_COUNT);
    return ORDERS[order];
}

static bool is_within(unsigned states, unsigned all)
{
    return states != 0 && (states & ~all) == 0;
}

/* By id, along the index of what leads to the fewest. */
static enum way_name narrow_way(const struct run_page *page)
{
    if (is_within(page->states, STATES_ACTIVE))
        return WAY_ACTIVE;
    if (page->started.from_us != 0)
        return WAY_IN_START;
    if (page->ended.from_us != 0)
        return WAY_IN_END;
    if (page->logical.from_us != 0)
        return WAY_IN_LOGICAL;
    if (page->updated.from_us != 0)
        return WAY_UPDATED;
    if (page->states == 1U << RUN_FAILED)
        return WAY_FAILED;
    if (is_within(page->states, STATES_BAD))
        return WAY_BAD;
    return is_within(page->states, STATES_BAD | STATES_ACTIVE) ? WAY_UNDONE : WAY_ID;
}

static enum way_name way_of(const struct run_page *page)
{
    switch (page->order) {
    case RUN_BY_LOGICAL:
        return WAY_LOGICAL;
    case RUN_BY_START:
        return WAY_START;
    case RUN_BY_END:
        return WAY_END;
    case RUN_BY_DURATION:
        return WAY_DURATION;
    case RUN_BY_ID:
    case RUN_ORDER_COUNT:
        break;
    }
    return narrow_way(page);
}

/* NULL: there is none that is narrower than all runs. */
static const struct way *sorted_way(const struct run_page *page, enum way_name name)
{
    enum way_name narrow = narrow_way(page);
    if (name != WAY_END && name != WAY_DURATION)
        return NULL;
    const struct way *way = &SORTED[name == WAY_DURATION][narrow == WAY_FAILED ? WAY_BAD : narrow];
    return way->ascending != NULL ? way : NULL;
}

static int64_t first_of(const struct run_range *range)
{
    return range->from_us != 0 ? range->from_us : INT64_MIN;
}

static int64_t last_of(const struct run_range *range)
{
    return range->to_us != 0 ? range->to_us : INT64_MAX;
}

static int64_t below_of(const struct run_page *page)
{
    return page->below != 0 ? page->below : INT64_MAX;
}

static enum status ask(struct store *store, const char *sql, const struct run_page *page,
                       int64_t bound, struct db_stmt **out, struct err *err)
{
    return db_query(store->db, out, err, sql, "tiiiiiiiiitiiit",
                    page->dag_id != NULL ? page->dag_id : "",
                    (int64_t)(page->states != 0 ? page->states : ~0U), first_of(&page->logical),
                    last_of(&page->logical), first_of(&page->started), last_of(&page->started),
                    first_of(&page->ended), last_of(&page->ended), first_of(&page->updated),
                    last_of(&page->updated), page->dags != NULL ? page->dags : "", bound,
                    page->limit, page->offset, store_sight(store));
}

/* Nothing is asked for but a DAG: the index alone tells how many there are. */
static const char COUNT_ALL[] = COUNT_OF("SELECT 1 AS one FROM run r WHERE $1 = '' LIMIT $2");
static const char COUNT_OF_DAG[] = COUNT_OF("SELECT 1 AS one FROM run r WHERE " IN_DAG " LIMIT $2");

static bool is_whole(const struct run_range *range)
{
    return range->from_us == 0 && range->to_us == 0;
}

static bool asks_for_dag_alone(const struct store *store, const struct run_page *page)
{
    return page->states == 0 && page->dags == NULL && page->below == 0 &&
           is_whole(&page->logical) && is_whole(&page->started) && is_whole(&page->ended) &&
           is_whole(&page->updated) && store_sight(store)[0] == '\0';
}

static struct run_page first_rows(const struct run_page *page, int64_t limit)
{
    struct run_page first = *page;
    first.limit = limit;
    first.offset = 0;
    return first;
}

/* A range that many runs are in is no way to its open end: ids lead to the first of these soon.
 * Whoever only counts them has no order to keep. */
enum { WIDE = 20000 };
#define COUNT_IN(key)                                                                              \
    COUNT_OF("SELECT 1 AS one FROM run r WHERE " key " >= $1 AND " key " <= $2 LIMIT $3")
static const char COUNT_IN_LOGICAL[] = COUNT_IN("r.logical_at_us");
static const char COUNT_IN_START[] = COUNT_IN(STARTED);
static const char COUNT_IN_END[] = COUNT_IN("r.ended_at_us");

static const char *range_of(const struct run_page *page, enum way_name way,
                            const struct run_range **out)
{
    *out = way == WAY_IN_LOGICAL ? &page->logical
           : way == WAY_IN_START ? &page->started
           : way == WAY_IN_END   ? &page->ended
           : way == WAY_UPDATED  ? &page->updated
                                 : NULL;
    /* What was updated ended then, but for the few that go on. */
    return way == WAY_IN_LOGICAL ? COUNT_IN_LOGICAL
           : way == WAY_IN_START ? COUNT_IN_START
                                 : COUNT_IN_END;
}

static enum status avoid_wide(struct store *store, const struct run_page *page, enum way_name *way,
                              struct err *err)
{
    const struct run_range *range = NULL;
    const char *sql = range_of(page, *way, &range);
    int64_t count = 0;
    if (range == NULL || !page->is_descending || range->to_us != 0)
        return STATUS_OK;
    if (db_get_int(store->db, 0, &count, err, sql, "iii", first_of(range), last_of(range),
                   (int64_t)WIDE) != STATUS_OK)
        return err->code;
    if (count == WIDE)
        *way = WAY_ID;
    return STATUS_OK;
}

/* Whether the first runs of all are enough to fill the page with those of the DAGs asked for. */
enum { NEAR = 5000 };
#define COUNT_NEAR(bound, order)                                                                   \
    COUNT_OF("SELECT 1 AS one FROM (SELECT n.dag FROM run n WHERE n.id " bound                     \
             " $3 ORDER BY n.id" order " LIMIT $4) r WHERE r.dag IN (SELECT x.id FROM dag x"       \
             " WHERE " AMONG("$1", "$2") ") LIMIT $5")
static const char *const COUNTS_NEAR[2] = {COUNT_NEAR(">", ""), COUNT_NEAR("<", " DESC")};

static enum status are_near(struct store *store, const struct run_page *page, bool *out,
                            struct err *err)
{
    int64_t wanted = page->limit + page->offset;
    int64_t count = 0;
    if (db_get_int(store->db, 0, &count, err, COUNTS_NEAR[page->is_descending], "ttiii",
                   page->dags != NULL ? page->dags : "", store_sight(store),
                   page->is_descending ? below_of(page) : page->above, (int64_t)NEAR,
                   wanted) != STATUS_OK)
        return err->code;
    *out = count >= wanted;
    return STATUS_OK;
}

/* For a page, or for all that match: these are not near, however few a page has. */
static enum status choose(struct store *store, const struct run_page *page, bool is_for_page,
                          const struct way **out, struct err *err)
{
    enum way_name name = way_of(page);
    const struct way *each = &OF_SOME_DAGS[db_dialect(store->db)][name];
    bool is_some = page->dags != NULL || store_sight(store)[0] != '\0';
    bool is_near = false;
    *out = page->dag_id != NULL ? &OF_ONE_DAG[name] : &OF_ALL_DAGS[name];
    if (page->dag_id != NULL || (is_some && each->ascending == NULL))
        return STATUS_OK;
    if ((is_some && is_for_page && are_near(store, page, &is_near, err) != STATUS_OK) ||
        (!is_some && is_for_page && avoid_wide(store, page, &name, err) != STATUS_OK))
        return err->code;
    const struct way *sorted = sorted_way(page, name);
    *out = is_some && !is_near ? each : sorted != NULL ? sorted : &OF_ALL_DAGS[name];
    return STATUS_OK;
}

enum status store_run_page_count(struct store *store, const struct run_page *page, int64_t most,
                                 int64_t *out, struct err *err)
{
    const struct run_page counted = first_rows(page, most);
    const struct way *way = NULL;
    struct db_stmt *stmt = NULL;
    int64_t count = 0;
    if (asks_for_dag_alone(store, page))
        return db_get_int(store->db, 0, out, err, page->dag_id != NULL ? COUNT_OF_DAG : COUNT_ALL,
                          "ti", page->dag_id != NULL ? page->dag_id : "", most);
    if (choose(store, page, false, &way, err) != STATUS_OK)
        return err->code;
    enum status status = ask(store, way->count, &counted, below_of(page), &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        count = db_int(stmt, 0);
    if (status == STATUS_OK)
        *out = count;
    return status;
}

static enum status check_sort(struct store *store, const struct run_page *page, struct err *err)
{
    int64_t count = 0;
    enum way_name way = way_of(page);
    if (way != WAY_END && way != WAY_DURATION)
        return STATUS_OK;
    if (store_run_page_count(store, page, RUN_PAGE_SORT_MAX + 1, &count, err) != STATUS_OK)
        return err->code;
    if (count > RUN_PAGE_SORT_MAX)
        return err_set(err, STATUS_LIMIT,
                       "more than %d runs would have to be sorted by %s: narrow the list down by "
                       "dates, or order it by id, logical_date or start_date",
                       RUN_PAGE_SORT_MAX, run_order_name(page->order));
    return STATUS_OK;
}

enum status store_run_page(struct store *store, const struct run_page *page,
                           enum status (*each)(void *context, const struct run_info *info,
                                               struct err *err),
                           void *context, struct err *err)
{
    const struct way *way = NULL;
    struct db_stmt *stmt = NULL;
    CHECK(page->offset <= RUN_PAGE_OFFSET_MAX);
    CHECK((page->is_descending ? page->above : page->below) == 0);
    if (check_sort(store, page, err) != STATUS_OK ||
        choose(store, page, true, &way, err) != STATUS_OK)
        return err->code;
    enum status status = page->is_descending
                             ? ask(store, way->descending, page, below_of(page), &stmt, err)
                             : ask(store, way->ascending, page, page->above, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct run_info info;
        run_info_read(stmt, NULL, &info);
        status = each(context, &info, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

enum status store_run_page_ids(struct store *store, const struct run_page *page,
                               void (*each)(void *context, int64_t id, int64_t version),
                               void *context, struct err *err)
{
    const struct way *way = NULL;
    struct db_stmt *stmt = NULL;
    CHECK(page->order == RUN_BY_ID);
    CHECK(page->is_descending);
    if (choose(store, page, true, &way, err) != STATUS_OK)
        return err->code;
    enum status status = ask(store, way->ids, page, below_of(page), &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        each(context, db_int(stmt, 0), db_int(stmt, 1));
    return status;
}

/* Nothing is asked for: so many tasks at least, instances included. */
static const char TASKS_OF_SOME[] =
    "SELECT CAST(coalesce(sum(f.count), 0) AS BIGINT) FROM (SELECT b.count FROM run r"
    " JOIN block b ON b.run = r.id AND b.first = r.first_task LIMIT 1000) f";

enum { COUNT_RUNS_FIRST = 64, COUNT_RUNS_MORE = 8 };

/* So many runs first; times as many, while those before had few tasks. */
static enum status count_tasks(struct store *store, const struct run_page *page, int64_t enough,
                               int64_t *out, struct err *err)
{
    const struct way *way = NULL;
    enum status status = choose(store, page, false, &way, err);
    int64_t runs = INT64_MAX;
    for (int64_t most = COUNT_RUNS_FIRST; status == STATUS_OK; most *= COUNT_RUNS_MORE) {
        const struct run_page counted = first_rows(page, most);
        struct db_stmt *stmt = NULL;
        status = ask(store, way->tasks, &counted, below_of(page), &stmt, err);
        while (status == STATUS_OK && db_next(stmt, &status, err)) {
            runs = db_int(stmt, 0);
            *out = db_int(stmt, 1);
        }
        if (runs < most || *out >= enough)
            break;
    }
    return status;
}

enum status store_run_page_tasks(struct store *store, const struct run_page *page, int64_t enough,
                                 int64_t *out, struct err *err)
{
    *out = 0;
    if (page->dag_id == NULL && asks_for_dag_alone(store, page)) {
        if (db_get_int(store->db, 0, out, err, TASKS_OF_SOME, "") != STATUS_OK)
            return err->code;
        if (*out >= enough)
            return STATUS_OK;
    }
    return count_tasks(store, page, enough, out, err);
}

/* $1 runs, $2 states, $3-$6 ranges. A run's tasks stand in the blocks it has. In one CASE, so that
 * of most tasks PostgreSQL looks at the state alone. */
#define TASK_MATCHES                                                                               \
    "t.id >= b.first AND t.id < b.first + b.count AND CASE WHEN"                                   \
    " (($2 >> CAST(t.state AS INTEGER)) & 1) = 1 AND coalesce(t.started_at_us, -1) >= $3"          \
    " AND coalesce(t.started_at_us, " NEVER ") <= $4 AND coalesce(t.ended_at_us, -1) >= $5"        \
    " AND coalesce(t.ended_at_us, " NEVER ") <= $6 THEN true ELSE false END"
static const char RUN_WITH[] =
    "SELECT b.run FROM block b JOIN task t ON " TASK_MATCHES " WHERE b.run = $1 LIMIT 1";
/* Of each block the first, or PostgreSQL would read all tasks there are. */
static const char RUNS_WITH[] =
    "SELECT b.run FROM block b CROSS JOIN LATERAL (SELECT t.id FROM task t WHERE " TASK_MATCHES
    " ORDER BY t.id LIMIT 1) f WHERE b.run = ANY($1)";

static void note_run(const struct run_task_filter *filter, int64_t run, bool *out)
{
    for (size_t i = 0; i < filter->count; i++)
        out[i] |= filter->runs[i] == run;
}

static enum status find_singly(struct store *store, const struct run_task_filter *filter, bool *out,
                               struct err *err)
{
    for (size_t i = 0; i < filter->count; i++) {
        int64_t found = 0;
        if (db_get_int(store->db, 0, &found, err, RUN_WITH, "iiiiii", filter->runs[i],
                       (int64_t)(filter->states != 0 ? filter->states : ~0U),
                       first_of(&filter->started), last_of(&filter->started),
                       first_of(&filter->ended), last_of(&filter->ended)) != STATUS_OK)
            return err->code;
        out[i] = found != 0;
    }
    return STATUS_OK;
}

enum status store_runs_with_tasks(struct store *store, const struct run_task_filter *filter,
                                  bool *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    memset(out, 0, filter->count * sizeof *out);
    if (db_dialect(store->db) == DB_SQLITE)
        return find_singly(store, filter, out, err);
    enum status status =
        db_query(store->db, &stmt, err, RUNS_WITH, "Iiiiii", filter->runs, filter->count,
                 (int64_t)(filter->states != 0 ? filter->states : ~0U), first_of(&filter->started),
                 last_of(&filter->started), first_of(&filter->ended), last_of(&filter->ended));
    while (status == STATUS_OK && db_next(stmt, &status, err))
        note_run(filter, db_int(stmt, 0), out);
    return status;
}

/* $1 runs; what a task is to be as above. */
#define TASK_COUNTS                                                                                \
    "SELECT b.run, count(*), count(CASE WHEN " TASK_MATCHES " THEN 1 END) FROM block b "
static const char COUNT_OF_RUN[] =
    TASK_COUNTS "JOIN task t ON t.id >= b.first AND t.id < b.first + b.count WHERE b.run = $1"
                " GROUP BY b.run";
/* Bounded, or PostgreSQL would read all tasks there are. */
static const char COUNT_OF_RUNS[] =
    TASK_COUNTS "CROSS JOIN LATERAL (SELECT * FROM task WHERE id >= b.first"
                " AND id < b.first + b.count ORDER BY id LIMIT 1000000) t WHERE b.run = ANY($1)"
                " GROUP BY b.run";

static enum status ask_counts(struct store *store, const struct run_task_filter *filter,
                              size_t place, struct db_stmt **out, struct err *err)
{
    int64_t states = (int64_t)(filter->states != 0 ? filter->states : ~0U);
    if (db_dialect(store->db) == DB_SQLITE)
        return db_query(store->db, out, err, COUNT_OF_RUN, "iiiiii", filter->runs[place], states,
                        first_of(&filter->started), last_of(&filter->started),
                        first_of(&filter->ended), last_of(&filter->ended));
    return db_query(store->db, out, err, COUNT_OF_RUNS, "Iiiiii", filter->runs, filter->count,
                    states, first_of(&filter->started), last_of(&filter->started),
                    first_of(&filter->ended), last_of(&filter->ended));
}

enum status store_runs_count_tasks(struct store *store, const struct run_task_filter *filter,
                                   struct run_task_count *out, struct err *err)
{
    enum status status = STATUS_OK;
    size_t questions = db_dialect(store->db) == DB_SQLITE ? filter->count : 1;
    memset(out, 0, filter->count * sizeof *out);
    for (size_t i = 0; i < questions && status == STATUS_OK; i++) {
        struct db_stmt *stmt = NULL;
        status = ask_counts(store, filter, i, &stmt, err);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            for (size_t k = 0; k < filter->count; k++)
                if (filter->runs[k] == db_int(stmt, 0))
                    out[k] = (struct run_task_count){db_int(stmt, 1), db_int(stmt, 2)};
    }
    return status;
}

/* One look into each DAG's names: there is no index of names alone. */
static const char NAMED[] =
    "SELECT r.id FROM dag d CROSS JOIN run r WHERE r.dag = d.id AND r.run_id = $1"
    " AND " SEEN("$3", "d.namespace") " ORDER BY 1 LIMIT $2";

enum status store_run_named(struct store *store, const char *run_id, int64_t *out, size_t most,
                            size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status =
        db_query(store->db, &stmt, err, NAMED, "tit", run_id, (int64_t)most, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out[count++] = db_int(stmt, 0);
    if (status == STATUS_OK)
        *out_count = count;
    return status;
}
