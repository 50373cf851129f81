/*
 * A scan gives what a look at every event would, and its counts are those of the rows it gives.
 */
#include "store/audit.h"
#include "store/event_scan.h"
#include "store/sight.h"
#include "store/store_priv.h"
#include "store_bench.h"

static struct bench_store bench;

static const char FIRST[] = "{\"dag\":\"first\",\"tasks\":{\"a\":{\"run\":\"x\"}}}";
static const char OTHER[] =
    "{\"dag\":\"other\",\"namespace\":\"sales\",\"tasks\":{\"a\":{\"run\":\"x\"}}}";

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(event_scan, .init = setup, .fini = teardown);

enum { ALL = 1000 };

struct seen {
    char text[4096]; /* what tells each row from the others, and a blank */
    int64_t ids[ALL];
    size_t count;
};

static enum status note_row(void *context, const struct event_row *row, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    size_t length = strlen(seen->text);
    (void)snprintf(seen->text + length, sizeof seen->text - length, "%s ",
                   row->data != NULL ? row->data : event_kind_name(row->kind));
    seen->ids[seen->count++] = row->id;
    return STATUS_OK;
}

static struct event_stretch stretch_of(const struct event_scan *scan, int64_t count)
{
    struct err err = {0};
    struct event_stretch stretch = {0};
    EXPECT_OK(store_event_stretch(bench.store, scan, count, &stretch, &err), &err);
    return stretch;
}

static struct seen look(const struct event_scan *scan, int64_t count, int64_t most)
{
    struct err err = {0};
    struct seen seen = {.count = 0};
    struct event_scan some = *scan;
    struct event_stretch stretch = stretch_of(scan, count);
    some.most = most;
    EXPECT_OK(store_event_scan(bench.store, &some, &stretch, note_row, &seen, &err), &err);
    return seen;
}

static void expect_rows(const struct event_scan *scan, const char *wanted)
{
    struct err err = {0};
    struct seen seen = look(scan, ALL, ALL);
    struct event_stretch stretch = stretch_of(scan, ALL);
    int64_t count = 0;
    EXPECT_STR(wanted, seen.text);
    if (scan->wish.dag_id != NULL || scan->wish.run_id != NULL || !store_sees_all(bench.store))
        return;
    EXPECT_OK(store_event_count(bench.store, scan, &stretch, &count, &err), &err);
    cr_assert_eq(count, (int64_t)seen.count, "%lld counted", (long long)count);
}

static void tell(enum event_kind kind, const char *actor, const char *data)
{
    struct err err = {0};
    EXPECT_OK(store_audit_add(bench.store, kind, actor, data, &err), &err);
    bench_now_us++;
}

/* The letters of store_event_scan, with one kind. */
static const char *only(enum event_kind kind)
{
    char *kinds = arena_alloc(bench.arena, EVENT_KIND_COUNT + 1);
    memset(kinds, '0', EVENT_KIND_COUNT);
    kinds[EVENT_KIND_COUNT] = '\0';
    kinds[kind] = '1';
    return kinds;
}

STORE_TEST(event_scan, stretches_follow_one_another_from_either_end)
{
    for (int i = 1; i < 6; i++)
        tell(EVENT_POOL_SET, "ann", (char[]){(char)('0' + i), '\0'});

    struct event_scan scan = {0};
    struct event_stretch two = stretch_of(&scan, 2);
    cr_assert_eq(two.count, 2);
    cr_assert_lt(two.lowest, two.highest);
    EXPECT_STR("1 2 ", look(&scan, 2, ALL).text);
    scan.after = two.highest;
    EXPECT_STR("3 4 5 ", look(&scan, 7, ALL).text);
    cr_assert_eq(stretch_of(&scan, 7).count, 3);

    scan = (struct event_scan){.is_descending = true};
    EXPECT_STR("5 4 ", look(&scan, 2, ALL).text);
    EXPECT_STR("5 4 3 ", look(&scan, 5, 3).text);
    scan.before = stretch_of(&scan, 2).lowest;
    EXPECT_STR("3 2 1 ", look(&scan, ALL, ALL).text);
    scan.before = stretch_of(&scan, ALL).lowest;
    struct event_stretch none = stretch_of(&scan, ALL);
    cr_assert_eq(none.count, 0);
    EXPECT_STR("", look(&scan, ALL, ALL).text);
}

STORE_TEST(event_scan, what_the_row_tells_is_left_out_and_not_counted)
{
    int64_t begun_us = bench_now_us;
    tell(EVENT_POOL_SET, "ann", "1");
    tell(EVENT_POOL_SET, "bob", "2");
    tell(EVENT_POOL_DELETED, "ann", "3");
    tell(EVENT_NONE, "ann", "4");

    expect_rows(&(struct event_scan){0}, "1 2 3 ");
    expect_rows(&(struct event_scan){.wish.kinds = only(EVENT_POOL_SET)}, "1 2 ");
    expect_rows(&(struct event_scan){.wish.kinds = only(EVENT_KIND_COUNT - 1)}, "");
    expect_rows(&(struct event_scan){.wish.actor = "ann", .is_descending = true}, "3 1 ");
    expect_rows(&(struct event_scan){.wish.actor = ""}, "");
    expect_rows(&(struct event_scan){.wish.from_us = begun_us + 1}, "2 3 ");
    expect_rows(&(struct event_scan){.wish.to_us = begun_us + 1}, "1 2 ");
    expect_rows(&(struct event_scan){.wish.attempt = 1}, "");
    expect_rows(&(struct event_scan){.wish.run_id = "x"}, "");
}

/* An event that a newer program wrote, whose kind is behind all that are known here. */
STORE_TEST(event_scan, kinds_that_are_not_known_are_not_told)
{
    struct err err = {0};
    tell(EVENT_POOL_SET, "ann", "1");
    EXPECT_OK(
        db_do(bench.store->db, &err, "UPDATE event SET kind = $1", "i", (int64_t)EVENT_KIND_COUNT),
        &err);
    expect_rows(&(struct event_scan){0}, "");
    cr_assert_eq(stretch_of(&(struct event_scan){0}, ALL).count, 1);
}

STORE_TEST(event_scan, events_of_a_dag_are_those_of_its_runs_and_what_may_name_it)
{
    bench_start(&bench, FIRST);
    const char *run_id = arena_strdup(bench.arena, bench.run.run_id);
    int64_t run = bench.run.id;
    bench_start(&bench, OTHER);
    const struct event_wish created = {.kinds = only(EVENT_RUN_CREATED)};

    struct event_scan scan = {.wish = created};
    cr_assert_eq(look(&scan, ALL, ALL).count, 2);
    scan.wish.dag_id = "first";
    cr_assert_eq(look(&scan, ALL, ALL).count, 1);
    scan.wish.dag_id = "nothing";
    cr_assert_eq(look(&scan, ALL, ALL).count, 0);
    scan.wish = created;
    scan.wish.run_id = run_id;
    cr_assert_eq(look(&scan, ALL, ALL).count, 1);
    scan = (struct event_scan){.run = run, .wish = created};
    expect_rows(&scan, look(&scan, ALL, ALL).text);
    cr_assert_eq(look(&scan, ALL, ALL).count, 1);

    scan = (struct event_scan){.wish = {.is_of_task = true}};
    size_t of_tasks = look(&scan, ALL, ALL).count;
    int64_t wanted =
        bench_number(&bench, "SELECT count(*) FROM event WHERE task IS NOT NULL AND run > $1", 0);
    cr_assert_eq((int64_t)of_tasks, wanted);
    cr_assert_lt(of_tasks, look(&(struct event_scan){0}, ALL, ALL).count);

    tell(EVENT_DAG_PAUSED, "ann", "{\"dag_id\":\"first\"}");
    scan = (struct event_scan){.wish = {.kinds = only(EVENT_DAG_PAUSED), .dag_id = "first"}};
    expect_rows(&scan, "{\"dag_id\":\"first\"} ");
    tell(EVENT_DAG_PAUSED, "ann", "{\"dag_id\":\"other\"}");
    expect_rows(&scan, "{\"dag_id\":\"first\"} ");
    tell(EVENT_DAG_PAUSED, "ann", "{\"backfill\":7}");
    expect_rows(&scan, "{\"dag_id\":\"first\"} {\"backfill\":7} ");
}

STORE_TEST(event_scan, of_other_namespaces_only_what_the_rows_do_not_tell_is_given)
{
    bench_start(&bench, FIRST);
    bench_start(&bench, OTHER);
    tell(EVENT_POOL_SET, "ann", "1");
    store_set_sight(bench.store, " sales ");

    struct event_scan scan = {.wish = {.kinds = only(EVENT_RUN_CREATED)}};
    cr_assert_eq(look(&scan, ALL, ALL).count, 1);
    scan.wish.kinds = only(EVENT_POOL_SET);
    expect_rows(&scan, "1 ");
}
