/*
 * What hosts hold, on both databases.
 */
#include "base/str.h"
#include "store/sight.h"
#include "store/started.h"
#include "store_bench.h"

static struct bench_store bench;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(started, .init = setup, .fini = teardown);

static const char THREE[] = "{\"tasks\":{\"a\":{\"run\":\"true\",\"retries\":1},"
                            "\"b\":{\"run\":\"true\"},"
                            "\"c\":{\"run\":\"true\",\"needs\":[\"a\",\"b\"]}}}";

struct seen {
    size_t count;
    int64_t nodes; /* as bits */
    int64_t attempt;
};

static enum status note(void *context, const struct started_task *task, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    cr_assert(task->run > 0);
    cr_assert(task->host > 0);
    cr_assert(task->version > 0);
    cr_assert(task->started_at_us > 0);
    cr_assert_eq(task->map_index, -1);
    cr_assert_eq(task->tries, task->attempt);
    EXPECT_STR("default", task->space);
    seen->count++;
    seen->nodes |= 1 << task->node;
    seen->attempt = task->attempt;
    return STATUS_OK;
}

static struct seen look(int64_t limit, bool is_more)
{
    struct err err = {0};
    struct seen seen = {0};
    bool more = !is_more;
    EXPECT_OK(store_started_each(bench.store, limit, note, &seen, &more, &err), &err);
    cr_assert_eq(more, is_more);
    return seen;
}

STORE_TEST(started, what_is_held_is_seen_with_its_attempt_while_it_is_held)
{
    cr_assert_eq(look(10, false).count, 0);
    bench_start(&bench, THREE);
    cr_assert_eq(look(10, false).count, 0, "nobody claimed it");
    struct advance_result claimed = bench_advance(&bench, NULL, 0, 2);
    cr_assert_eq(claimed.claims_count, 2);
    cr_assert_eq(look(10, false).nodes, 3);
    cr_assert_eq(look(2, false).count, 2);
    cr_assert_eq(look(1, true).count, 1);

    store_set_sight(bench.store, " other ");
    cr_assert_eq(look(10, false).count, 0);
    store_set_sight(bench.store, " default ");
    cr_assert_eq(look(10, false).count, 2);
    store_set_sight(bench.store, "");

    struct outcome outcomes[] = {bench_outcome(&claimed.claims[0], 0),
                                 bench_outcome(&claimed.claims[1], 0)};
    claimed = bench_advance(&bench, outcomes, 2, 1);
    cr_assert_eq(claimed.claims_count, 1);
    cr_assert_eq(look(10, false).nodes, 4);
    struct outcome last = bench_outcome(&claimed.claims[0], 0);
    (void)bench_advance(&bench, &last, 1, 0);
    cr_assert_eq(look(10, false).count, 0);
}
