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

#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/id_list.h"
#include "store/run_query_priv.h"
#include "store/store_priv.h"

/* $1 DAG, $2 states, $3-$10 ranges, $11 DAGs, $12 below or above, $13 limit, $14 offset, $15 what
 * is seen */
#define NEVER   "9223372036854775807"
#define STARTED "coalesce(r.started_at_us, " NEVER ")"
/* Every id is above 0: on PostgreSQL, to read a table without an index hides all other costs. */
#define AMONG(dags, seen)                                                                          \
    "x.id > 0 AND (" dags " = '' OR replace(" dags ", ',' || x.dag_id || ',', '') <> " dags        \
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
#define IN_UNDONE                                                                                  \
    " AND r.id IN (SELECT o.id FROM run o WHERE o.state IN (0, 1) UNION ALL SELECT o.id"           \
    " FROM run o WHERE o.state IN (3, 4))"

/* Where rows come from, and the first of them in an order: from the table as a whole, or of each
 * DAG. The list of a DAG is bounded, so that neither database makes one question of both. */
#define WHOLE(matches)           " FROM run r WHERE " matches
#define FIRST_OF_WHOLE(m, order) "SELECT r.id" WHOLE(m)
#define ONE(matches)             WHOLE(matches)
#define FIRST_OF_ONE(m, order)   "SELECT r.id" WHOLE(m)
/* Either they go on or they ended lately: one after the other, so that few are read to count few.
 */
#define UPDATED(matches)                                                                           \
    " FROM (SELECT o.id FROM run o WHERE o.state IN (0, 1) UNION ALL SELECT o.id FROM run o"       \
    " WHERE o.ended_at_us >= $9 AND o.ended_at_us <= $10 AND o.state NOT IN (0, 1)) u"             \
    " CROSS JOIN run r WHERE r.id = u.id"                                                          \
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

#define WAY_BY(from, matches, counted, ascending, descending)                                      \
    {                                                                                              \
        PAGE(FIRST_OF_##from(matches ABOVE, ascending), ascending),                                \
            PAGE(FIRST_OF_##from(matches BELOW, descending), descending),                          \
            IDS(FIRST_OF_##from(matches BELOW, descending), descending),                           \
            COUNT(from(matches BELOW) counted), TASKS(from(matches BELOW) counted)                 \
    }
#define WAY(from, matches, ascending, descending) WAY_BY(from, matches, "", ascending, descending)
/* Runs of a range are counted in its order, or PostgreSQL would look for them along their ids. */
#define WAY_IN(from, matches, key)                                                                 \
    WAY_BY(from, matches, COUNTED_OF_##from(key), "+r.id", "+r.id DESC")
#define COUNTED_OF_WHOLE(key)         " ORDER BY " key
#define COUNTED_OF_ONE(key)           ""
#define COUNTED_OF_EACH_SQLITE(key)   ""
#define COUNTED_OF_EACH_POSTGRES(key) ""
#define BY(key)                       key ", r.id"
#define BY_BACK(key)                  key " DESC, r.id DESC"

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
    [WAY_IN_LOGICAL] = WAY_IN(from, MATCHES(of, IN_LOGICAL, ""), "r.logical_at_us"),               \
    [WAY_IN_START] = WAY_IN(from, MATCHES(of, IN_START, ""), STARTED),                             \
    [WAY_FAILED] = WAY(from, MATCHES(of, "",                                                       \
        " AND r.state IN (3, 4) AND r.state = 3"), "r.id", "r.id DESC"),                           \
    [WAY_BAD] = OF_FEW(from, of, " AND r.state IN (3, 4)"),
#define WAYS_OF_FEW(from, of)                                                                      \
    [WAY_IN_END] = WAY_IN(from, MATCHES(of, IN_END, ""), "r.ended_at_us"),                         \
    [WAY_UPDATED] = OF_FEW(UPDATED, of, ""),                                                       \
    [WAY_ACTIVE] = OF_FEW(WHOLE, of, " AND r.state IN (0, 1)"),                                    \
    [WAY_UNDONE] = OF_FEW(WHOLE, of, IN_UNDONE),
/* clang-format on */

static const struct way OF_ALL_DAGS[WAY_COUNT] = {WAYS_OF_MANY(WHOLE, OF_ANY)
                                                      WAYS_OF_FEW(WHOLE, OF_ANY)};
static const struct way OF_ONE_DAG[WAY_COUNT] = {WAYS_OF_MANY(ONE, OF_DAG)
                                                     WAYS_OF_FEW(ONE, OF_DAG)};
/* What few runs are is found among them all. */
static const struct way OF_SOME_DAGS[2][WAY_COUNT] = {
    [DB_SQLITE] = {WAYS_OF_MANY(EACH_SQLITE, OF_EACH)},
    [DB_POSTGRES] = {WAYS_OF_MANY(EACH_POSTGRES, OF_EACH)},
};

/* Of a way that leads to few of all runs, the same rows, sorted; not found along all of them. */
#define SORTED_IN(from, in, more, order, back) WAY(from, MATCHES(OF_ANY, in, more), order, back)
#define SORTED_BY(order, back)                                                                     \
    {                                                                                              \
        [WAY_IN_LOGICAL] = SORTED_IN(WHOLE, IN_LOGICAL, "", order, back),                          \
        [WAY_IN_START] = SORTED_IN(WHOLE, IN_START, "", order, back),                              \
        [WAY_IN_END] = SORTED_IN(WHOLE, IN_END, "", order, back),                                  \
        [WAY_UPDATED] = SORTED_IN(UPDATED, "", "", order, back),                                   \
        [WAY_ACTIVE] = SORTED_IN(WHOLE, "", " AND r.state IN (0, 1)", order, back),                \
        [WAY_BAD] = SORTED_IN(WHOLE, "", " AND r.state IN (3, 4)", order, back),                   \
        [WAY_UNDONE] = SORTED_IN(WHOLE, "", IN_UNDONE, order, back),                               \
    }
static const struct way SORTED[RUN_ORDER_COUNT][WAY_COUNT] = {
    [RUN_BY_LOGICAL] = SORTED_BY(BY("+r.logical_at_us"), BY_BACK("+r.logical_at_us")),
    [RUN_BY_START] = SORTED_BY(BY("+" STARTED), BY_BACK("+" STARTED)),
    [RUN_BY_END] = SORTED_BY(BY(ENDED), BY_BACK(ENDED)),
    [RUN_BY_DURATION] = SORTED_BY(BY(TOOK(NEVER)), BY_BACK(TOOK("-1"))),
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

static bool is_whole(const struct run_range *range)
{
    return range->from_us == 0 && range->to_us == 0;
}

/* By id, of states that few runs are in. */
static enum way_name way_of_states(const struct run_page *page)
{
    if (is_within(page->states, STATES_ACTIVE))
        return WAY_ACTIVE;
    if (page->states == 1U << RUN_FAILED)
        return WAY_FAILED;
    if (is_within(page->states, STATES_BAD))
        return WAY_BAD;
    return is_within(page->states, STATES_BAD | STATES_ACTIVE) ? WAY_UNDONE : WAY_ID;
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
    return page->updated.from_us != 0 ? WAY_UPDATED : way_of_states(page);
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

static int64_t below_of(const struct run_page *page)
{
    return page->below != 0 ? page->below : INT64_MAX;
}

static enum status ask(struct store *store, const char *sql, const struct run_page *page,
                       int64_t bound, struct db_stmt **out, struct err *err)
{
    return db_query(
        store->db, out, err, sql, "tiiiiiiiiitiiit", page->dag_id != NULL ? page->dag_id : "",
        (int64_t)(page->states != 0 ? page->states : ~0U), run_range_first(&page->logical),
        run_range_last(&page->logical), run_range_first(&page->started),
        run_range_last(&page->started), run_range_first(&page->ended), run_range_last(&page->ended),
        run_range_first(&page->updated), run_range_last(&page->updated),
        page->dags != NULL ? page->dags : "", bound, page->limit, page->offset, store_sight(store));
}

/* Nothing is asked for but a DAG: the index alone tells how many there are. */
static const char COUNT_ALL[] = COUNT_OF("SELECT 1 AS one FROM run r WHERE $1 = '' LIMIT $2");
static const char COUNT_OF_DAG[] = COUNT_OF("SELECT 1 AS one FROM run r WHERE " IN_DAG " LIMIT $2");

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

/* --- ranges ---------------------------------------------------------------------------------- */

/*
 * Few runs in a range are read and sorted. Where there are many, the page may be near, or a state
 * that few are in leads to it; else the index of the range tells their first ids by itself. */
enum { WIDE = 20000 };
#define COUNT_IN(key)                                                                              \
    COUNT_OF("SELECT 1 AS one FROM run r WHERE " key " >= $1 AND " key " <= $2 LIMIT $3")
static const struct {
    enum way_name way;
    size_t range; /* where it stands in the page */
    const char *count;
} RANGES[] = {
    {WAY_IN_START, offsetof(struct run_page, started), COUNT_IN(STARTED)},
    {WAY_IN_END, offsetof(struct run_page, ended), COUNT_IN("r.ended_at_us")},
    {WAY_IN_LOGICAL, offsetof(struct run_page, logical), COUNT_IN("r.logical_at_us")},
    /* What was updated ended then, but for the few that go on. */
    {WAY_UPDATED, offsetof(struct run_page, updated), COUNT_IN("r.ended_at_us")},
};

static int64_t last_in(const struct run_range *range, enum way_name way)
{
    int64_t last_us = run_range_last(range);
    return way == WAY_IN_START ? MIN(last_us, INT64_MAX - 1) : last_us; /* the last: never */
}

/* The way along a range that few runs are in; WAY_ID: there is none. *out_wide: a range of many. */
static enum status find_narrow(struct store *store, const struct run_page *page, enum way_name *out,
                               enum way_name *out_wide, struct err *err)
{
    *out = *out_wide = WAY_ID;
    for (size_t i = 0; i < ARRAY_LEN(RANGES) && *out == WAY_ID; i++) {
        const struct run_range *range = (const void *)((const char *)page + RANGES[i].range);
        int64_t count = 0;
        if (is_whole(range))
            continue;
        if (db_get_int(store->db, 0, &count, err, RANGES[i].count, "iii", run_range_first(range),
                       last_in(range, RANGES[i].way), (int64_t)WIDE) != STATUS_OK)
            return err->code;
        if (count < WIDE)
            *out = RANGES[i].way;
        else if (*out_wide == WAY_ID)
            *out_wide = RANGES[i].way;
    }
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

/* The same of a range of dates: whether the page is among the first runs of all. */
#define RUNS_NEAR(bound, order)                                                                    \
    COUNT_OF(                                                                                      \
        "SELECT 1 AS one FROM (SELECT n.id, n.dag, n.state, n.logical_at_us, n.created_at_us,"     \
        " n.started_at_us, n.ended_at_us FROM run n WHERE n.id " bound " $12 ORDER BY n.id" order  \
        " LIMIT $13) r WHERE " MATCHES(OF_ANY, "", "") " LIMIT $14")
static const char *const DATES_NEAR[2] = {RUNS_NEAR(">", ""), RUNS_NEAR("<", " DESC")};

static enum status is_page_near(struct store *store, const struct run_page *page, bool *out,
                                struct err *err)
{
    int64_t wanted = page->limit + page->offset;
    struct run_page near = *page;
    struct db_stmt *stmt = NULL;
    int64_t count = 0;
    near.limit = wanted + NEAR;
    near.offset = wanted;
    enum status status = ask(store, DATES_NEAR[page->is_descending], &near,
                             page->is_descending ? below_of(page) : page->above, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        count = db_int(stmt, 0);
    *out = count >= wanted;
    return status;
}

/* How a page is found: by one way; or by its ids, which an index gives, if these are enough. */
struct choice {
    const struct way *way;
    enum way_name ids_of; /* WAY_ID: by the way alone */
    bool has_many;        /* WIDE match at least */
};

/* How many are in the range is how many match. */
static bool asks_for_range_alone(const struct run_page *page)
{
    size_t ranges = 0;
    for (size_t i = 0; i < ARRAY_LEN(RANGES); i++)
        ranges += !is_whole((const void *)((const char *)page + RANGES[i].range));
    return ranges == 1 && page->states == 0 && page->below == 0;
}

/* On PostgreSQL an index of an expression does not do without the rows, which lie by their ids. */
static bool is_dear(const struct store *store, const struct run_page *page, enum way_name way)
{
    return db_dialect(store->db) == DB_POSTGRES && way == WAY_IN_START &&
           page->started.from_us == 0;
}

/* By id, of dates; a page, or all that match: these are not near, however few a page has. */
static enum status choose_dates(struct store *store, const struct run_page *page, bool is_for_page,
                                struct choice *out, struct err *err)
{
    enum way_name narrow = WAY_ID;
    enum way_name wide = WAY_ID;
    bool is_near = false;
    if (is_within(page->states, STATES_ACTIVE))
        return STATUS_OK;
    if (find_narrow(store, page, &narrow, &wide, err) != STATUS_OK)
        return err->code;
    enum way_name way = narrow != WAY_ID ? narrow : way_of_states(page);
    if (way == WAY_ID && wide != WAY_ID) {
        out->has_many = asks_for_range_alone(page);
        if (is_for_page && is_page_near(store, page, &is_near, err) != STATUS_OK)
            return err->code;
        way = is_near || (is_for_page && is_dear(store, page, wide)) ? WAY_ID : wide;
        out->ids_of = is_for_page ? way : WAY_ID;
    }
    out->way = &OF_ALL_DAGS[way];
    return STATUS_OK;
}

/* Whether so few match along a way that they are sorted rather than found in their order. */
static enum status are_few(struct store *store, const struct run_page *page, const struct way *way,
                           bool *out, struct err *err)
{
    const struct run_page counted = first_rows(page, WIDE);
    struct db_stmt *stmt = NULL;
    enum status status = ask(store, way->count, &counted, below_of(page), &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        *out = db_int(stmt, 0) < WIDE;
    return status;
}

/* In another order than by id: of the fewest runs that can be told. */
static enum status choose_sorted(struct store *store, const struct run_page *page,
                                 struct choice *out, struct err *err)
{
    enum way_name narrow = WAY_ID;
    enum way_name wide = WAY_ID;
    bool has_index = page->order == RUN_BY_LOGICAL || page->order == RUN_BY_START;
    bool are_sorted = !has_index;
    if (find_narrow(store, page, &narrow, &wide, err) != STATUS_OK)
        return err->code;
    if (narrow == WAY_ID)
        narrow = way_of_states(page);
    if (narrow == WAY_ID && !has_index)
        narrow = wide;
    const struct way *sorted = &SORTED[page->order][narrow == WAY_FAILED ? WAY_BAD : narrow];
    if (sorted->ascending == NULL)
        return STATUS_OK;
    if (has_index && are_few(store, page, sorted, &are_sorted, err) != STATUS_OK)
        return err->code;
    if (are_sorted)
        out->way = sorted;
    return STATUS_OK;
}

static enum status choose(struct store *store, const struct run_page *page, bool is_for_page,
                          struct choice *out, struct err *err)
{
    enum way_name name = way_of(page);
    const struct way *each = &OF_SOME_DAGS[db_dialect(store->db)][name];
    bool is_some = page->dags != NULL || store_sight(store)[0] != '\0';
    bool is_near = false;
    *out = (struct choice){.way = page->dag_id != NULL ? &OF_ONE_DAG[name] : &OF_ALL_DAGS[name],
                           .ids_of = WAY_ID};
    if (page->dag_id != NULL || (is_some && each->ascending == NULL))
        return STATUS_OK;
    if (is_some && is_for_page && are_near(store, page, &is_near, err) != STATUS_OK)
        return err->code;
    if (is_some && !is_near)
        out->way = each;
    else if (page->order != RUN_BY_ID)
        return choose_sorted(store, page, out, err);
    else if (!is_some)
        return choose_dates(store, page, is_for_page, out, err);
    return STATUS_OK;
}

/* --- ids of a wide range --------------------------------------------------------------------- */

/*
 * The first ids of a range are read from its index alone; then the runs are looked at for the rest
 * of what is asked for, some more than the page has. Whether that was enough is told by the number
 * of ids in front of each row. So many at one end of the index bound the ids that can be among the
 * first, so that of most entries one comparison is all that is done.
 */
enum { SPARE = 5000 };
#define MOST "$13 + $14 + 5000"
#define AT_END(in, key, order)                                                                     \
    "(SELECT r.id FROM run r WHERE " in " ORDER BY " key order ", r.id" order " LIMIT " MOST ") t"
#define FIRST_UP(in, key)                                                                          \
    "SELECT r.id FROM run r WHERE " UP in                                                          \
    " AND +r.id <= (SELECT max(t.id) FROM " AT_END(UP in, key, "") ") ORDER BY +r.id LIMIT " MOST
#define FIRST_DOWN(in, key)                                                                        \
    "SELECT r.id FROM run r WHERE " DOWN in " AND +r.id >= (SELECT min(t.id) FROM " AT_END(        \
        DOWN in, key, " DESC") ") ORDER BY +r.id DESC LIMIT " MOST
#define UP   "+r.id > $12"
#define DOWN "+r.id < $12"
#define FIRST_PAGE(first, order)                                                                   \
    "WITH c AS MATERIALIZED (" first                                                               \
    ") SELECT k.ids, p.id, p.version FROM (SELECT count(*) AS ids"                                 \
    " FROM c) k LEFT JOIN (SELECT r.id, r.version FROM c CROSS JOIN run r WHERE r.id = c.id"       \
    " AND " MATCHES(OF_ANY, "", "") " ORDER BY +r.id" order " LIMIT $13 OFFSET $14) p ON 1 = 1"    \
                                    " ORDER BY p.id" order
#define FIRST_IN(in, key)                                                                          \
    {                                                                                              \
        FIRST_PAGE(FIRST_UP(in, key), ""), FIRST_PAGE(FIRST_DOWN(in, key), " DESC")                \
    }
/* One that goes on may have an end from before, and is told of once. */
#define OR_ACTIVE(first, in, order)                                                                \
    "SELECT u.id FROM (SELECT * FROM (" first ") e UNION SELECT * FROM (SELECT r.id FROM run r"    \
    " WHERE r.state IN (0, 1) AND " in " ORDER BY +r.id" order " LIMIT " MOST ") a) u"             \
    " ORDER BY u.id" order " LIMIT " MOST
#define FIRST_ENDED(in)                                                                            \
    {                                                                                              \
        FIRST_PAGE(OR_ACTIVE(FIRST_UP(in, "r.ended_at_us"), UP, ""), ""),                          \
            FIRST_PAGE(OR_ACTIVE(FIRST_DOWN(in, "r.ended_at_us"), DOWN, " DESC"), " DESC")         \
    }

/* By the way along the range, then by the direction. */
static const char *const FIRSTS[WAY_COUNT][2] = {
    [WAY_IN_START] = FIRST_IN(IN_START, STARTED),
    [WAY_IN_END] = FIRST_IN(IN_END, "r.ended_at_us"),
    [WAY_IN_LOGICAL] = FIRST_IN(IN_LOGICAL, "r.logical_at_us"),
    [WAY_UPDATED] = FIRST_ENDED(" AND r.ended_at_us >= $9 AND r.ended_at_us <= $10"),
};
/*
 * On PostgreSQL an index of an expression does not do without the rows. What started then or later
 * goes on or ended later, give or take what a clock was set back.
 */
static const char *const STARTED_SINCE[2] = FIRST_ENDED(" AND r.ended_at_us >= $5 - 60000000");

/* NULL: there is none that is worth it. */
static const char *first_ids(const struct store *store, const struct run_page *page,
                             enum way_name way)
{
    bool is_open = page->started.from_us != 0 && (page->started.to_us == 0 || !page->is_descending);
    if (way != WAY_IN_START || db_dialect(store->db) == DB_SQLITE)
        return FIRSTS[way][page->is_descending];
    return is_open ? STARTED_SINCE[page->is_descending] : NULL;
}

struct found_ids {
    int64_t *ids;
    int64_t *versions;
    size_t count;
};

static void found_ids_fini(struct found_ids *found)
{
    mem_freep(&found->ids);
    mem_freep(&found->versions);
}

/* *out_enough: those are the page, in its order. */
static enum status find_ids(struct store *store, const struct run_page *page, enum way_name way,
                            struct found_ids *out, bool *out_enough, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t looked_at = 0;
    size_t capacity = (size_t)page->limit + 1;
    const char *sql = first_ids(store, page, way);
    *out_enough = false;
    if (sql == NULL)
        return STATUS_OK;
    out->ids = mem_zalloc(capacity, sizeof *out->ids);
    out->versions = mem_zalloc(capacity, sizeof *out->versions);
    enum status status =
        ask(store, sql, page, page->is_descending ? below_of(page) : page->above, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        looked_at = db_int(stmt, 0);
        if (db_is_null(stmt, 1))
            continue;
        out->ids[out->count] = db_int(stmt, 1);
        out->versions[out->count++] = db_int(stmt, 2);
    }
    *out_enough =
        (int64_t)out->count == page->limit || looked_at < page->limit + page->offset + SPARE;
    return status;
}

#define BY_IDS(list, order)                                                                        \
    "SELECT " RUN_COLUMNS " FROM run r" RUN_JOINED " WHERE r.id " list " ORDER BY r.id" order
static const char *const RUNS_BY_IDS[2][2] = {
    [DB_SQLITE] = {BY_IDS("IN (SELECT value FROM json_each($1))", ""),
                   BY_IDS("IN (SELECT value FROM json_each($1))", " DESC")},
    [DB_POSTGRES] = {BY_IDS("= ANY ($1)", ""), BY_IDS("= ANY ($1)", " DESC")},
};

static enum status ask_runs(struct store *store, const struct run_page *page,
                            const struct found_ids *found, struct db_stmt **out, struct err *err)
{
    const char *sql = RUNS_BY_IDS[db_dialect(store->db)][page->is_descending];
    if (db_dialect(store->db) == DB_POSTGRES)
        return db_query(store->db, out, err, sql, "I", found->ids, found->count);
    CLEANUP(mem_freep) char *list = ids_as_json(found->ids, found->count);
    return db_query(store->db, out, err, sql, "t", list);
}

/* --- pages ----------------------------------------------------------------------------------- */

enum status store_run_page_count(struct store *store, const struct run_page *page, int64_t most,
                                 int64_t *out, struct err *err)
{
    const struct run_page counted = first_rows(page, most);
    struct choice choice;
    struct db_stmt *stmt = NULL;
    int64_t count = 0;
    if (asks_for_dag_alone(store, page))
        return db_get_int(store->db, 0, out, err, page->dag_id != NULL ? COUNT_OF_DAG : COUNT_ALL,
                          "ti", page->dag_id != NULL ? page->dag_id : "", most);
    if (choose(store, page, false, &choice, err) != STATUS_OK)
        return err->code;
    if (choice.has_many && most <= WIDE) {
        *out = most;
        return STATUS_OK;
    }
    enum status status = ask(store, choice.way->count, &counted, below_of(page), &stmt, err);
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

/* The rows of a page in its order: by ids that are found first, or along a way. */
static enum status ask_page(struct store *store, const struct run_page *page, struct db_stmt **out,
                            struct err *err)
{
    CLEANUP(found_ids_fini) struct found_ids found = {0};
    bool is_enough = false;
    struct choice choice;
    if (choose(store, page, true, &choice, err) != STATUS_OK)
        return err->code;
    if (choice.ids_of != WAY_ID &&
        find_ids(store, page, choice.ids_of, &found, &is_enough, err) != STATUS_OK)
        return err->code;
    if (is_enough)
        return ask_runs(store, page, &found, out, err);
    return page->is_descending ? ask(store, choice.way->descending, page, below_of(page), out, err)
                               : ask(store, choice.way->ascending, page, page->above, out, err);
}

enum status store_run_page(struct store *store, const struct run_page *page,
                           enum status (*each)(void *context, const struct run_info *info,
                                               struct err *err),
                           void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    CHECK(page->offset <= RUN_PAGE_OFFSET_MAX);
    CHECK((page->is_descending ? page->above : page->below) == 0);
    if (check_sort(store, page, err) != STATUS_OK)
        return err->code;
    enum status status = ask_page(store, page, &stmt, err);
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
    CLEANUP(found_ids_fini) struct found_ids found = {0};
    bool is_enough = false;
    struct choice choice;
    struct db_stmt *stmt = NULL;
    CHECK(page->order == RUN_BY_ID);
    CHECK(page->is_descending);
    if (choose(store, page, true, &choice, err) != STATUS_OK ||
        (choice.ids_of != WAY_ID &&
         find_ids(store, page, choice.ids_of, &found, &is_enough, err) != STATUS_OK))
        return err->code;
    for (size_t i = 0; is_enough && i < found.count; i++)
        each(context, found.ids[i], found.versions[i]);
    if (is_enough)
        return STATUS_OK;
    enum status status = ask(store, choice.way->ids, page, below_of(page), &stmt, err);
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
    struct choice choice = {0};
    enum status status = choose(store, page, false, &choice, err);
    int64_t runs = INT64_MAX;
    for (int64_t most = COUNT_RUNS_FIRST; status == STATUS_OK; most *= COUNT_RUNS_MORE) {
        const struct run_page counted = first_rows(page, most);
        struct db_stmt *stmt = NULL;
        status = ask(store, choice.way->tasks, &counted, below_of(page), &stmt, err);
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
