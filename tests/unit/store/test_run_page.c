/*
 * Pages of runs: whatever is asked for, in whatever order, is what a walk over all of them finds.
 */
#include "store/run_page.h"
#include "store/run_task_match.h"
#include "store/sight.h"
#include "store/store_priv.h"
#include "store_bench.h"

static struct bench_store bench;

enum { RUNS = 120, QUESTIONS = 3000, DAGS = 3, HOUR = 3600 };

static const char *const NAMES[DAGS] = {"a_b", "axb", "c"};
static const char *const SPACES[DAGS] = {"default", "sales", "sales"};

/* What each run is made to be. */
struct made {
    int64_t id;
    int dag;
    enum run_state state;
    int64_t logical_us;
    int64_t created_us;
    int64_t started_us; /* 0: never */
    int64_t ended_us;
};

static struct made made[RUNS];
static uint64_t seed;

static uint64_t below(uint64_t bound)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33) % bound;
}

static int64_t version_of(int dag)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    const char *text = arena_format(bench.arena,
                                    "{\"dag\": \"%s\", \"namespace\": \"%s\","
                                    " \"tasks\": {\"t\": {\"run\": \"x\"}}}",
                                    NAMES[dag], SPACES[dag]);
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *read = dag_read(tree, &(struct dag_read_options){0}, &diags);
    struct version_ref ref;
    struct version_source source = {.path = "", .text = text};
    EXPECT_OK(store_version_save(bench.store, read, &source, &ref, &err), &err);
    dag_free(read);
    return ref.version;
}

static const char SET[] = "UPDATE run SET state = $2, created_at_us = $3, started_at_us = $4,"
                          " ended_at_us = $5 WHERE id = $1";

static void make_run(size_t i, const int64_t *versions)
{
    struct err err = {0};
    struct made *run = &made[i];
    *run = (struct made){
        .dag = (int)below(DAGS),
        .state = (enum run_state)below(RUN_STATE_COUNT),
        .logical_us = (int64_t)(1 + below(20)) * HOUR,
        .created_us = (int64_t)(1 + below(20)) * HOUR,
    };
    if (run->state != RUN_QUEUED)
        run->started_us = run->created_us + (int64_t)below(5) * HOUR;
    if (run_state_is_final(run->state))
        run->ended_us = run->started_us + (int64_t)below(5) * HOUR;
    struct run_request request = {
        .version = versions[run->dag],
        .run_id = arena_format(bench.arena, "run%zu", i / 2),
        .kind = "manual",
        .logical_at_us = run->logical_us,
        .params = "{}",
        .conf = "{}",
        .note = "",
        .actor = "test",
    };
    struct run_created created;
    /* Two DAGs may have a run of one name, but not one of them two. */
    if (store_run_create(bench.store, &request, &created, &err) != STATUS_OK) {
        request.run_id = arena_format(bench.arena, "other%zu", i);
        err = (struct err){0};
        EXPECT_OK(store_run_create(bench.store, &request, &created, &err), &err);
    }
    run->id = created.id;
    EXPECT_OK(db_do(bench.store->db, &err, SET, "iiizz", run->id, (int64_t)run->state,
                    run->created_us, run->started_us, run->ended_us),
              &err);
}

static void setup(void)
{
    int64_t versions[DAGS];
    bench = (struct bench_store){0};
    bench_open(&bench);
    seed = 7;
    for (int i = 0; i < DAGS; i++)
        versions[i] = version_of(i);
    for (size_t i = 0; i < RUNS; i++)
        make_run(i, versions);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(run_page, .init = setup, .fini = teardown);

/* --- the same, by a walk ---------------------------------------------------------------------- */

static bool is_in(const struct run_range *range, int64_t at_us)
{
    if (range->from_us == 0 && range->to_us == 0)
        return true;
    return at_us != 0 && at_us >= range->from_us && (range->to_us == 0 || at_us <= range->to_us);
}

static int64_t updated_us(const struct made *run)
{
    return run->ended_us != 0     ? run->ended_us
           : run->started_us != 0 ? run->started_us
                                  : run->created_us;
}

static bool matches(const struct run_page *page, const struct made *run)
{
    const char *name = arena_format(bench.arena, ",%s,", NAMES[run->dag]);
    return (page->dag_id == NULL || strcmp(page->dag_id, NAMES[run->dag]) == 0) &&
           (page->dags == NULL || strstr(page->dags, name) != NULL) &&
           (page->states == 0 || (page->states >> run->state & 1U) != 0) &&
           is_in(&page->logical, run->logical_us) && is_in(&page->started, run->started_us) &&
           is_in(&page->ended, run->ended_us) && is_in(&page->updated, updated_us(run)) &&
           (page->below == 0 || run->id < page->below) && store_sees(bench.store, SPACES[run->dag]);
}

static enum run_order sorted_by;
static bool is_backwards;

/* What has no duration comes last, whichever way. */
static int64_t took_us(const struct made *run)
{
    if (run->started_us == 0 || run->ended_us == 0)
        return is_backwards ? INT64_MIN : INT64_MAX;
    return run->ended_us - run->started_us;
}

static int64_t key_of(const struct made *run)
{
    if (sorted_by == RUN_BY_DURATION)
        return took_us(run);
    int64_t key = sorted_by == RUN_BY_LOGICAL ? run->logical_us
                  : sorted_by == RUN_BY_START ? run->started_us
                  : sorted_by == RUN_BY_END   ? run->ended_us
                                              : run->id;
    return key != 0 ? key : INT64_MAX;
}

static int compare(const void *one, const void *other)
{
    const struct made *a = *(const struct made *const *)one;
    const struct made *b = *(const struct made *const *)other;
    int64_t left = key_of(a) != key_of(b) ? key_of(a) : a->id;
    int64_t right = key_of(a) != key_of(b) ? key_of(b) : b->id;
    int order = left < right ? -1 : left > right;
    return is_backwards ? -order : order;
}

struct seen {
    int64_t ids[RUNS];
    size_t count;
};

static enum status note(void *context, const struct run_info *info, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    seen->ids[seen->count++] = info->id;
    return STATUS_OK;
}

static void note_id(void *context, int64_t id, int64_t version)
{
    struct seen *seen = context;
    cr_assert_gt(version, 0);
    seen->ids[seen->count++] = id;
}

/* Where that is asked for, the same in short. */
static void check_ids(const struct run_page *page, const struct seen *seen)
{
    struct err err = {0};
    struct seen brief = {.count = 0};
    if (page->order != RUN_BY_ID || !page->is_descending)
        return;
    EXPECT_OK(store_run_page_ids(bench.store, page, note_id, &brief, &err), &err);
    cr_assert_eq(brief.count, seen->count);
    cr_assert_eq(memcmp(brief.ids, seen->ids, brief.count * sizeof brief.ids[0]), 0);
}

static void check(const struct run_page *page)
{
    struct err err = {0};
    const struct made *expected[RUNS];
    size_t count = 0;
    int64_t before = 0;
    int64_t total = 0;
    struct seen seen = {.count = 0};
    for (size_t i = 0; i < RUNS; i++) {
        bool is_before = made[i].id <= page->above;
        before += is_before && matches(page, &made[i]);
        if (!is_before && matches(page, &made[i]))
            expected[count++] = &made[i];
    }
    sorted_by = page->order;
    is_backwards = page->is_descending;
    qsort(expected, count, sizeof expected[0], compare);
    EXPECT_OK(store_run_page(bench.store, page, note, &seen, &err), &err);
    size_t first = MIN((size_t)page->offset, count);
    size_t on_page = MIN(count - first, (size_t)page->limit);
    cr_assert_eq(seen.count, on_page, "%zu runs instead of %zu", seen.count, on_page);
    for (size_t i = 0; i < on_page; i++)
        cr_assert_eq(seen.ids[i], expected[first + i]->id, "place %zu of %zu", i, on_page);
    check_ids(page, &seen);
    EXPECT_OK(store_run_page_count(bench.store, page, 1000, &total, &err), &err);
    cr_assert_eq(total, before + (int64_t)count);
}

static struct run_range some_range(void)
{
    struct run_range range = {0};
    if (below(3) > 0)
        return range;
    if (below(3) > 0)
        range.from_us = (int64_t)(1 + below(25)) * HOUR;
    if (below(3) > 0)
        range.to_us = (int64_t)(1 + below(25)) * HOUR;
    return range;
}

static struct run_page some_page(void)
{
    static const char *const LISTS[] = {",a_b,", ",axb,c,", ",", ",unknown,c,"};
    bool is_descending = below(2) == 0;
    int64_t bound = below(5) == 0 ? made[below(RUNS)].id : 0;
    return (struct run_page){
        .dag_id = below(3) == 0 ? NAMES[below(DAGS)] : NULL,
        .dags = below(4) == 0 ? LISTS[below(ARRAY_LEN(LISTS))] : NULL,
        .states = below(2) == 0 ? (unsigned)below(1U << RUN_STATE_COUNT) : 0,
        .logical = some_range(),
        .started = some_range(),
        .ended = some_range(),
        .updated = some_range(),
        .below = is_descending ? bound : 0,
        .above = is_descending ? 0 : bound,
        .order = (enum run_order)below(RUN_ORDER_COUNT),
        .is_descending = is_descending,
        .limit = (int64_t)below(40),
        .offset = below(2) == 0 ? (int64_t)below(30) : 0,
    };
}

Test(run_page, every_page_is_what_a_walk_finds)
{
    for (int i = 0; i < QUESTIONS; i++) {
        struct run_page page = some_page();
        check(&page);
    }
}

Test(run_page, what_is_not_seen_is_not_there)
{
    store_set_sight(bench.store, " sales ");
    for (int i = 0; i < QUESTIONS / 10; i++) {
        struct run_page page = some_page();
        check(&page);
    }
}

Test(run_page, runs_of_one_name_in_several_dags)
{
    struct err err = {0};
    int64_t ids[8];
    size_t count = 0;
    EXPECT_OK(store_run_named(bench.store, "run3", ids, ARRAY_LEN(ids), &count, &err), &err);
    cr_assert(count == 1 || count == 2);
    EXPECT_OK(store_run_named(bench.store, "no such run", ids, ARRAY_LEN(ids), &count, &err), &err);
    cr_assert_eq(count, 0);
}

static int64_t tasks_of(const struct run_page *page, int64_t enough)
{
    struct err err = {0};
    int64_t total = 0;
    EXPECT_OK(store_run_page_tasks(bench.store, page, enough, &total, &err), &err);
    return total;
}

Test(run_page, tasks_are_counted)
{
    struct err err = {0};
    const struct run_page all = {.limit = 1};
    const struct run_page below = {.limit = 1, .below = made[RUNS - 1].id + 1};
    int64_t tasks = 0;
    EXPECT_OK(db_get_int(bench.store->db, 0, &tasks, &err, "SELECT count(*) FROM task", ""), &err);
    cr_assert_eq(tasks_of(&all, 100000), tasks);
    cr_assert_eq(tasks_of(&below, 100000), tasks);
    cr_assert_geq(tasks_of(&all, 10), 10);
    cr_assert_lt(tasks_of(&below, 10), tasks);
    EXPECT_OK(db_do(bench.store->db, &err,
                    "INSERT INTO block (run, first, count) VALUES ($1, 1000000, 5)", "i",
                    made[0].id),
              &err);
    /* Of a task that was cleared: it has none now. */
    cr_assert_eq(tasks_of(&all, 100000), tasks);
    EXPECT_OK(db_do(bench.store->db, &err,
                    "UPDATE task SET instance_base = 1000000, parents = 5 WHERE id ="
                    " (SELECT first_task FROM run WHERE id = $1)",
                    "i", made[0].id),
              &err);
    cr_assert_eq(tasks_of(&all, 100000), tasks + 4);
    cr_assert_eq(tasks_of(&below, 100000), tasks + 4);
}

Test(run_page, runs_are_found_by_what_their_tasks_are)
{
    struct err err = {0};
    int64_t ids[RUNS];
    bool has[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        ids[i] = made[i].id;
    struct run_task_filter filter = {.runs = ids, .count = RUNS, .states = 1U << TASK_FAILED};
    EXPECT_OK(store_runs_with_tasks(bench.store, &filter, has, &err), &err);
    for (size_t i = 0; i < RUNS; i++)
        cr_assert_not(has[i]);
    EXPECT_OK(db_do(bench.store->db, &err,
                    "UPDATE task SET state = $2, ended_at_us = 5 WHERE run = $1", "ii", ids[7],
                    (int64_t)TASK_FAILED),
              &err);
    EXPECT_OK(store_runs_with_tasks(bench.store, &filter, has, &err), &err);
    for (size_t i = 0; i < RUNS; i++)
        cr_assert_eq(has[i], i == 7);
    filter.ended.from_us = 6;
    EXPECT_OK(store_runs_with_tasks(bench.store, &filter, has, &err), &err);
    cr_assert_not(has[7]);
}

Test(run_page, tasks_of_several_runs_are_counted_by_what_they_are)
{
    struct err err = {0};
    const int64_t ids[] = {made[9].id, made[7].id, made[RUNS - 1].id + 1, made[8].id};
    struct run_task_count counts[ARRAY_LEN(ids)];
    struct run_task_filter filter = {
        .runs = ids, .count = ARRAY_LEN(ids), .states = 1U << TASK_FAILED};
    EXPECT_OK(db_do(bench.store->db, &err,
                    "UPDATE task SET state = $2, ended_at_us = 5 WHERE run = $1", "ii", ids[1],
                    (int64_t)TASK_FAILED),
              &err);

    EXPECT_OK(store_runs_count_tasks(bench.store, &filter, counts, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        cr_expect_eq(counts[i].rows, i != 2, "the third is no run");
        cr_expect_eq(counts[i].matching, i == 1);
    }
    filter.ended.from_us = 6;
    EXPECT_OK(store_runs_count_tasks(bench.store, &filter, counts, &err), &err);
    cr_assert_eq(counts[1].matching, 0);
    cr_assert_eq(counts[1].rows, 1);
}

/* --- more than a range is read for ------------------------------------------------------------ */

/*
 * So many that every range is wide. The dates of most grow with the ids; those of every hundredth
 * are drawn, so that some are far from the others, and some go on or never started.
 */
enum { MANY = 45000, FAR = 1000000 };

static const char MAKE_MANY[] =
    "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1)"
    " INSERT INTO run (id, dag, version, run_id, namespace, kind, state, scope, logical_at_us,"
    " interval_start_us, interval_end_us, params, conf, note, actor, first_task, open_main,"
    " open_finally, created_at_us, started_at_us, ended_at_us)"
    " SELECT $2 + i, r.dag, r.version, 'many' || i, 'default', 'manual',"
    " CASE WHEN i % 100 = 7 THEN 1 WHEN i % 100 = 8 THEN 0 WHEN i % 50 = 9 THEN 3 ELSE 2 END, 0,"
    " CASE WHEN i % 100 = 5 THEN 1 + i * 7919 % $1 ELSE i END, 0, 0, '{}', '{}', '', 'test', 0, 0,"
    " 0, 1, CASE WHEN i % 100 = 8 THEN NULL WHEN i % 100 = 5 THEN 1 + i * 7919 % $1 ELSE i END,"
    " CASE WHEN i % 100 IN (7, 8) THEN NULL WHEN i % 100 = 5 THEN 20 + i * 7919 % $1"
    " ELSE i + 20 END FROM n CROSS JOIN (SELECT dag, version FROM run WHERE id = $3) r";

static const char EXPECTED[] =
    "SELECT id FROM run WHERE logical_at_us >= $1 AND logical_at_us <= $2"
    " AND ($3 = 0 OR coalesce(started_at_us, -1) >= $3) AND ($4 = 0 OR started_at_us <= $4)"
    " AND ($5 = 0 OR coalesce(ended_at_us, -1) >= $5) AND ($6 = 0 OR ended_at_us <= $6)"
    " AND coalesce(ended_at_us, started_at_us, created_at_us) >= $7"
    " AND coalesce(ended_at_us, started_at_us, created_at_us) <= $8"
    " AND ($9 = 0 OR ($9 >> CAST(state AS INTEGER)) & 1 = 1) AND id > $10 AND id < $11 ORDER BY id";

static void make_many(void)
{
    struct err err = {0};
    EXPECT_OK(
        db_do(bench.store->db, &err, MAKE_MANY, "iii", (int64_t)MANY, (int64_t)FAR, made[0].id),
        &err);
    EXPECT_OK(db_do(bench.store->db, &err, "DELETE FROM run WHERE id <= $1", "i", (int64_t)FAR),
              &err);
}

static int64_t expected_ids[MANY];

static size_t expect_ids(const struct run_page *page)
{
    struct err err = {0};
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status =
        db_query(bench.store->db, &stmt, &err, EXPECTED, "iiiiiiiiiii",
                 run_range_first(&page->logical), run_range_last(&page->logical),
                 page->started.from_us, page->started.to_us, page->ended.from_us, page->ended.to_us,
                 run_range_first(&page->updated), run_range_last(&page->updated),
                 (int64_t)page->states, page->above, page->below != 0 ? page->below : INT64_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, &err))
        expected_ids[count++] = db_int(stmt, 0);
    EXPECT_OK(status, &err);
    return count;
}

static void check_wide(const struct run_page *page)
{
    enum { COUNTED = 10001 };
    struct err err = {0};
    struct run_page all = *page;
    struct seen seen = {.count = 0};
    int64_t total = 0;
    size_t count = expect_ids(page);
    EXPECT_OK(store_run_page(bench.store, page, note, &seen, &err), &err);
    size_t first = MIN((size_t)page->offset, count);
    size_t on_page = MIN(count - first, (size_t)page->limit);
    cr_assert_eq(seen.count, on_page, "%zu runs instead of %zu", seen.count, on_page);
    for (size_t i = 0; i < on_page; i++) {
        size_t place = page->is_descending ? count - 1 - first - i : first + i;
        cr_assert_eq(seen.ids[i], expected_ids[place], "place %zu: %lld instead of %lld", i,
                     (long long)seen.ids[i], (long long)expected_ids[place]);
    }
    check_ids(page, &seen);
    all.above = all.below = 0;
    count = expect_ids(&all);
    EXPECT_OK(store_run_page_count(bench.store, &all, COUNTED, &total, &err), &err);
    cr_assert_eq(total, MIN((int64_t)count, (int64_t)COUNTED));
}

static struct run_range wide_range(void)
{
    struct run_range range = {0};
    if (below(3) != 1)
        range.from_us = (int64_t)(1 + below(MANY));
    if (below(3) != 1)
        range.to_us = (int64_t)(1 + below(MANY));
    return range;
}

Test(run_page, pages_of_wide_ranges_are_what_a_walk_finds)
{
    static const unsigned STATES[] = {
        0, 0, 0, 1U << RUN_SUCCESS, 1U << RUN_FAILED, 1U << RUN_SUCCESS | 1U << RUN_RUNNING};
    make_many();
    for (int i = 0; i < QUESTIONS / 30; i++) {
        bool is_descending = below(2) == 0;
        int64_t bound = below(4) == 0 ? (int64_t)(FAR + below(MANY)) : 0;
        struct run_page page = {
            .states = STATES[below(ARRAY_LEN(STATES))],
            .below = is_descending ? bound : 0,
            .above = is_descending ? 0 : bound,
            .is_descending = is_descending,
            .limit = (int64_t)(1 + below(40)),
            .offset = below(3) == 0 ? (int64_t)below(10000) : 0,
        };
        struct run_range *const ranges[] = {&page.logical, &page.started, &page.ended,
                                            &page.updated};
        *ranges[below(ARRAY_LEN(ranges))] = wide_range();
        if (below(5) == 0)
            *ranges[below(ARRAY_LEN(ranges))] = wide_range();
        check_wide(&page);
    }
}
