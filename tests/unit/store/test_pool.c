/*
 * Pools: who gets slots, who waits, and who is let in when.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/strbuf.h"
#include "model/event_kind.h"
#include "store/host.h"
#include "store/pool.h"
#include "store/queue.h"
#include "store/task_cancel.h"
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

TestSuite(pool, .init = setup, .fini = teardown);

/* --- steps ----------------------------------------------------------------------------------- */

static void set_in(const char *namespace_, const char *name, int64_t slots)
{
    struct err err = {0};
    struct pool_change change = {
        .namespace_ = namespace_, .name = name, .slots = &slots, .actor = "test"};
    EXPECT_OK(store_pool_set(bench.store, &change, &err), &err);
}

static void set(const char *name, int64_t slots)
{
    set_in("default", name, slots);
}

static struct pool_info load(const char *name)
{
    struct err err = {0};
    struct pool_info info;
    EXPECT_OK(store_pool_load(bench.store, bench.arena, "default", name, &info, &err), &err);
    return info;
}

/* A run whose tasks any host takes. */
static void start(const char *json)
{
    bench_start(&bench, json);
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE ready SET scope = 0");
    bench.run.scope = 0;
}

static struct advance_result claim(int64_t slots)
{
    return bench_advance(&bench, NULL, 0, slots);
}

static struct advance_result finish(const struct claim *done, int64_t slots)
{
    struct outcome outcome = bench_outcome(done, 0);
    bench_now_us += 1000;
    return bench_advance(&bench, &outcome, 1, slots);
}

static const char *name_of(const struct claim *one)
{
    return bench.dag->tasks[one->node].id;
}

static int64_t held(void)
{
    return bench_number(&bench, "SELECT count(*) FROM pool_slot WHERE pool > $1", 0);
}

#define THREE                                                                                      \
    "{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\"},"                                      \
    " \"b\": {\"run\": \"x\", \"pool\": \"db\"}, \"c\": {\"run\": \"x\", \"pool\": \"db\"}}}"

/* --- taking and leaving ---------------------------------------------------------------------- */

STORE_TEST(pool, a_task_runs_only_while_it_holds_a_slot)
{
    set("db", 2);
    start(THREE);

    struct advance_result first = claim(10);

    cr_assert_eq(first.claims_count, 2);
    EXPECT_STATE(&bench, "c", "scheduled");
    cr_assert_eq(bench_row(&bench, "c", -1).reason, REASON_POOL);
    struct pool_info info = load("db");
    cr_assert_eq(info.occupied, 2);
    cr_assert_eq(info.running, 2);
    cr_assert_eq(info.queued, 1);
    cr_assert_eq(info.waiting, 1);

    struct advance_result second = finish(&first.claims[0], 10);
    cr_assert_eq(second.claims_count, 1, "the slot is handed over in the same transaction");
    EXPECT_STR("c", name_of(&second.claims[0]));
    cr_assert_eq(load("db").waiting, 0);
}

STORE_TEST(pool, tasks_without_a_pool_have_no_slot_rows)
{
    start("{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}}}");
    cr_assert_eq(claim(10).claims_count, 2);
    cr_assert_eq(held(), 0);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM pool WHERE id > $1", 1), 0);
}

static bool nobody_lives(void *context, int64_t host)
{
    (void)context;
    (void)host;
    return false;
}

/* Every way in which a task stops running. */
STORE_TEST(pool, slots_are_left_however_a_task_stops)
{
    enum way { END, FAIL, RETRY, RETURN, LOST, SWEEP, CANCEL, CLEAR, WAYS };
    set("db", 4);
    for (enum way way = 0; way < WAYS; way++) {
        struct err err = {0};
        bool retries = way == RETRY;
        start(retries ? "{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"slots\": 3,"
                        " \"retries\": 3}}}"
                      : "{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"slots\": 3}}}");
        struct claim one = claim(1).claims[0];
        cr_assert_eq(held(), 3);
        struct outcome outcome = bench_outcome(&one, way == FAIL || way == RETRY || way == CLEAR);
        if (way == RETURN)
            outcome.kind = OUTCOME_RETURN;
        if (way == LOST)
            outcome.kind = OUTCOME_LOST;
        if (way == CANCEL) {
            struct cancel_request stop = {
                .run = bench.run.id, .cause = CANCEL_ASKED, .actor = "test"};
            EXPECT_OK(store_run_cancel(bench.store, &stop, &err), &err);
            cr_assert_eq(held(), 3, "it still runs");
            outcome.end = (struct attempt_end){.reason = REASON_CANCELLED};
        }
        if (way == SWEEP) {
            int64_t lost = 0;
            EXPECT_OK(store_recover(bench.store, bench.run.id, nobody_lives, NULL, &lost, &err),
                      &err);
            cr_assert_eq(lost, 1);
        } else {
            (void)bench_advance(&bench, &outcome, 1, 0);
        }
        cr_assert_eq(held(), 0, "way %d", (int)way);
        bench_check(&bench);
        /* What it left behind must not be claimed instead of the next one. */
        struct cancel_request rest = {.run = bench.run.id, .cause = CANCEL_ASKED, .actor = "test"};
        cr_assert_neq(store_run_cancel(bench.store, &rest, &err), STATUS_NOT_FOUND);
        if (way == CLEAR) {
            struct clear_result cleared;
            struct clear_request again = {.run = bench.run.id, .map_index = -1, .actor = "test"};
            EXPECT_OK(store_clear(bench.store, &again, bench.arena, &cleared, &err), &err);
            cr_assert_eq(claim(1).claims_count, 1);
            cr_assert_eq(held(), 3);
            cr_assert_eq(
                bench_number(&bench, "SELECT max(attempt) FROM pool_slot WHERE pool > $1", 0), 2);
        }
    }
}

STORE_TEST(pool, a_task_that_is_lost_and_claimed_at_once_holds_its_slots_anew)
{
    set("db", 2);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"slots\": 2}}}");
    struct claim one = claim(1).claims[0];
    struct outcome outcome = bench_outcome(&one, 0);
    outcome.kind = OUTCOME_LOST;

    struct advance_result again = bench_advance(&bench, &outcome, 1, 1);

    cr_assert_eq(again.claims_count, 1);
    cr_assert_eq(again.claims[0].attempt, 2);
    cr_assert_eq(held(), 2);
}

/* --- order ----------------------------------------------------------------------------------- */

STORE_TEST(pool, urgent_tasks_come_first_then_older_runs)
{
    set("db", 1);
    start(THREE);
    struct claim running = claim(10).claims[0];
    int64_t older = bench.run.id;
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\"},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\", \"priority\": 5}}}");
    cr_assert_eq(claim(10).claims_count, 0);
    cr_assert_eq(load("db").waiting, 4);

    struct advance_result next = finish(&running, 10);
    cr_assert_eq(next.claims_count, 1);
    cr_assert_eq(next.claims[0].run, bench.run.id, "the urgent one of the younger run");
    cr_assert_eq(next.claims[0].node, 1);
    next = finish(&next.claims[0], 10);
    cr_assert_eq(next.claims[0].run, older);
    next = finish(&next.claims[0], 10);
    cr_assert_eq(next.claims[0].run, older);
    next = finish(&next.claims[0], 10);
    cr_assert_eq(next.claims[0].run, bench.run.id);
}

STORE_TEST(pool, a_task_that_needs_several_slots_is_not_overtaken)
{
    set("db", 4);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"slots\": 3, \"priority\": 9},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\", \"slots\": 2, \"priority\": 5},"
          " \"c\": {\"run\": \"x\", \"pool\": \"db\", \"priority\": 1}}}");
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 1);
    EXPECT_STR("a", name_of(&first.claims[0]));
    cr_assert_eq(claim(10).claims_count, 0, "c would fit, but comes after b");
    start("{\"tasks\": {\"n\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    cr_assert_eq(claim(10).claims_count, 0, "nor does a newcomer");
    start("{\"tasks\": {\"u\": {\"run\": \"x\", \"pool\": \"db\", \"priority\": 7}}}");
    cr_assert_eq(claim(10).claims_count, 1, "unless it is more urgent");

    struct advance_result second = finish(&first.claims[0], 10);
    cr_assert_eq(second.claims_count, 2, "b and c");
    cr_assert_eq(load("db").occupied, 4);
}

STORE_TEST(pool, who_needs_more_than_there_is_waits_and_keeps_nobody_else)
{
    set("db", 2);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"slots\": 3, \"priority\": 9},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\"}, \"c\": {\"run\": \"x\", \"pool\": \"db\"},"
          " \"d\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 2);
    cr_assert_eq(finish(&first.claims[0], 10).claims_count, 1);
    EXPECT_STATE(&bench, "a", "scheduled");

    set("db", 5);
    struct advance_result second = claim(10);
    cr_assert_eq(second.claims_count, 1);
    EXPECT_STR("a", name_of(&second.claims[0]));
}

STORE_TEST(pool, when_the_first_in_line_is_cancelled_those_behind_it_are_let_in)
{
    struct err err = {0};
    set("db", 3);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"priority\": 9},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\", \"slots\": 3, \"priority\": 5},"
          " \"c\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    cr_assert_eq(claim(10).claims_count, 1);
    struct task_cancel_request stop = {
        .run = bench.run.id, .node = 1, .map_index = -1, .actor = "test"};
    EXPECT_OK(store_task_cancel(bench.store, &stop, &err), &err);

    EXPECT_STATE(&bench, "c", "queued");
    cr_assert_eq(claim(10).claims_count, 1);
}

STORE_TEST(pool, a_line_of_a_paused_queue_keeps_nobody_from_the_slots)
{
    struct err err = {0};
    bool paused = true;
    struct queue_change change = {.name = "slow", .paused = &paused, .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &change, true, &err), &err);
    set("db", 1);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"priority\": 1},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\", \"queue\": \"slow\", \"priority\": 9},"
          " \"c\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 1);
    cr_assert_eq(finish(&first.claims[0], 10).claims_count, 1, "c");
}

/* --- instances ------------------------------------------------------------------------------- */

STORE_TEST(pool, instances_of_a_mapped_task_keep_to_the_pool_and_its_list_needs_no_slot)
{
    set("db", 2);
    start("{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1], \"pool\": \"db\"}}}");
    struct claim expander = claim(10).claims[0];
    cr_assert_eq(held(), 0);
    struct outcome outcome = bench_outcome(&expander, 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 5;

    struct advance_result first = bench_advance(&bench, &outcome, 1, 10);
    cr_assert_eq(first.claims_count, 2);
    cr_assert_eq(held(), 2);
    cr_assert_eq(load("db").waiting, 3, "those that have no row yet");
    cr_assert_eq(load("db").queued, 3);
    cr_assert_eq(claim(10).claims_count, 0);
    int rest = 0;
    struct advance_result next = finish(&first.claims[0], 10);
    struct claim last = first.claims[1];
    for (; next.claims_count > 0; rest++)
        next = finish(&next.claims[0], 10);
    cr_assert_eq(rest, 3);
    next = finish(&last, 10);
    cr_assert_eq(next.runs_count, 1);
    cr_assert_eq(held(), 0);
}

static struct queue_info load_queue(void)
{
    struct err err = {0};
    struct queue_info queue;
    EXPECT_OK(store_queue_load(bench.store, bench.arena, "default", &queue, &err), &err);
    return queue;
}

STORE_TEST(pool, instances_without_rows_wait_in_one_place)
{
    set("db", 2);
    start("{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1], \"pool\": \"db\","
          " \"max_parallel\": 4}}}");
    struct claim expander = claim(1).claims[0];
    struct outcome outcome = bench_outcome(&expander, 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 9;

    cr_assert_eq(bench_advance(&bench, &outcome, 1, 1).claims_count, 1);
    bench_sql(&bench, "UPDATE expansion SET scope = 0");
    cr_assert_eq(load("db").waiting, 0, "it has a slot left");
    cr_assert_eq(load_queue().pending, 3, "four at once are enough, one runs");
    cr_assert_neq(load_queue().oldest_us, 0);
    cr_assert_eq(claim(1).claims_count, 1);
    cr_assert_eq(load("db").waiting, 2, "the pool is full");
    cr_assert_eq(load_queue().pending, 0);
}

/* --- changing pools -------------------------------------------------------------------------- */

STORE_TEST(pool, a_pool_made_smaller_retires_slots_as_they_become_free)
{
    set("db", 3);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\"},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\"}, \"c\": {\"run\": \"x\", \"pool\": \"db\"},"
          " \"d\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 3);

    set("db", 1);
    bench_check(&bench);
    cr_assert_eq(load("db").occupied, 3, "what runs goes on");
    cr_assert_eq(finish(&first.claims[0], 10).claims_count, 0);
    cr_assert_eq(finish(&first.claims[1], 10).claims_count, 0, "one is still held");
    cr_assert_eq(finish(&first.claims[2], 10).claims_count, 1);
    cr_assert_eq(load("db").occupied, 1);
}

STORE_TEST(pool, a_pool_made_larger_lets_in_what_waits_at_once)
{
    set("db", 0);
    start(THREE);
    cr_assert_eq(claim(10).claims_count, 0);
    EXPECT_STATE(&bench, "a", "scheduled");

    set("db", 2);

    EXPECT_STATE(&bench, "a", "queued");
    EXPECT_STATE(&bench, "b", "queued");
    EXPECT_STATE(&bench, "c", "scheduled");
    cr_assert_eq(claim(10).claims_count, 2);
}

STORE_TEST(pool, a_task_waits_for_a_pool_that_is_not_there)
{
    struct err err = {0};
    struct pool_info info;
    struct pool_place place;
    start(THREE);
    cr_assert_eq(claim(10).claims_count, 0);
    EXPECT_STATE(&bench, "a", "scheduled");
    EXPECT_STATUS(STATUS_NOT_FOUND,
                  store_pool_load(bench.store, bench.arena, "default", "db", &info, &err), &err);
    err = (struct err){0};
    EXPECT_OK(
        store_pool_place(bench.store, bench.arena, bench_row(&bench, "b", -1).id, &place, &err),
        &err);
    cr_assert(place.is_waiting);
    cr_assert(!place.is_there);
    EXPECT_STR("db", place.name);
    cr_assert_eq(place.ahead, 1);

    set("db", 8);
    cr_assert_eq(claim(10).claims_count, 3);
}

#define OF_SALES                                                                                   \
    "{\"namespace\": \"sales\", \"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\"},"            \
    " \"b\": {\"run\": \"x\", \"pool\": \"db\"}}}"

STORE_TEST(pool, a_namespace_without_a_pool_of_its_own_uses_that_of_default)
{
    set("db", 1);
    start(OF_SALES);
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 1);
    cr_assert_eq(load("db").waiting, 1);

    set_in("sales", "db", 5);
    cr_assert_eq(load("db").waiting, 0, "what waits goes over to its own");
    cr_assert_eq(claim(10).claims_count, 1);
    cr_assert_eq(load("db").occupied, 1);
    cr_assert_eq(held(), 2);
}

STORE_TEST(pool, a_pool_of_default_that_is_made_later_serves_every_namespace_that_waits)
{
    start(OF_SALES);
    cr_assert_eq(claim(10).claims_count, 0);
    set_in("other", "db", 9);
    cr_assert_eq(claim(10).claims_count, 0, "it is not theirs");
    set("db", 1);
    cr_assert_eq(claim(10).claims_count, 1);
}

STORE_TEST(pool, a_pool_that_is_deleted_lets_its_tasks_end_and_others_wait_or_go_elsewhere)
{
    struct err err = {0};
    set_in("sales", "db", 1);
    start(OF_SALES);
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 1);

    EXPECT_OK(store_pool_delete(bench.store, "sales", "db", "test", &err), &err);
    bench_check(&bench);
    cr_assert_eq(finish(&first.claims[0], 10).claims_count, 0, "there is no pool");
    set("db", 1);
    cr_assert_eq(claim(10).claims_count, 1);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_pool_delete(bench.store, "sales", "db", "test", &err),
                  &err);
    err = (struct err){0};
    EXPECT_STATUS(STATUS_CONFLICT,
                  store_pool_delete(bench.store, "default", "default", "test", &err), &err);
}

STORE_TEST(pool, a_pool_that_is_made_again_counts_what_still_holds_its_slots)
{
    struct err err = {0};
    set("db", 2);
    start(THREE);
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 2);
    EXPECT_OK(store_pool_delete(bench.store, "default", "db", "test", &err), &err);
    set("db", 1);
    cr_assert_eq(claim(10).claims_count, 0);
    cr_assert_eq(finish(&first.claims[0], 10).claims_count, 0);
    cr_assert_eq(finish(&first.claims[1], 10).claims_count, 1);
}

STORE_TEST(pool, changes_are_refused_in_words_and_told_with_who_made_them)
{
    static const struct {
        const char *namespace_, *name;
        int64_t slots;
        const char *part;
    } BAD[] = {
        {"default", "a b", 1, "cannot be the name of a pool"},
        {"a b", "db", 1, "cannot be the name of a namespace"},
        {"default", "db", -1, "slots is a number from 0 to 1000000, not -1"},
        {"default", "db", 1000001, "slots is a number"},
    };
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        struct err err = {0};
        struct pool_change change = {.namespace_ = BAD[i].namespace_,
                                     .name = BAD[i].name,
                                     .slots = &BAD[i].slots,
                                     .actor = "test"};
        EXPECT_STATUS(STATUS_INVALID, store_pool_set(bench.store, &change, &err), &err);
        EXPECT_CONTAINS(err.text, BAD[i].part);
    }
    struct err err = {0};
    struct pool_change unnumbered = {.namespace_ = "default", .name = "db", .actor = "test"};
    EXPECT_STATUS(STATUS_INVALID, store_pool_set(bench.store, &unnumbered, &err), &err);
    EXPECT_CONTAINS(err.text, "a new one needs slots");

    set("db", 3);
    err = (struct err){0};
    struct pool_change words = {
        .namespace_ = "default", .name = "db", .description = "for them", .actor = "test"};
    EXPECT_OK(store_pool_set(bench.store, &words, &err), &err);
    EXPECT_STR("for them", load("db").description);
    cr_assert_eq(load("db").slots, 3);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM event WHERE kind = $1 AND actor = 'test'",
                              EVENT_POOL_SET),
                 2);
}

/* --- doubts ---------------------------------------------------------------------------------- */

STORE_TEST(pool, a_dag_whose_tasks_would_wait_for_ever_raises_doubts)
{
    struct err err = {0};
    struct pool_doubt *doubts = NULL;
    size_t count = 0;
    set("small", 2);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"none\"},"
          " \"b\": {\"run\": \"x\", \"pool\": \"none\"}, \"c\": {\"run\": \"x\", \"pool\": "
          "\"small\"},"
          " \"d\": {\"run\": \"x\", \"pool\": \"small\", \"slots\": 3}}}");
    EXPECT_OK(store_pool_doubts(bench.store, bench.arena, bench.dag, &doubts, &count, &err), &err);
    cr_assert_eq(count, 2);
    EXPECT_CONTAINS(pool_doubt_text(bench.arena, "default", &doubts[0]), "there is no pool 'none'");
    EXPECT_CONTAINS(pool_doubt_text(bench.arena, "default", &doubts[1]), "which has 2");
    cr_assert_eq(claim(10).claims_count, 1);
}

/* --- others are not kept waiting ------------------------------------------------------------- */

static char *many_tasks(int count)
{
    struct strbuf json;
    strbuf_init(&json, 10 << 20);
    strbuf_add(&json, "{\"tasks\": {\"free\": {\"run\": \"x\", \"priority\": -5}");
    for (int i = 0; i < count; i++)
        strbuf_addf(&json, ", \"t%d\": {\"run\": \"x\", \"pool\": \"%s\"}", i,
                    i % 2 == 0 ? "full" : "absent");
    strbuf_add(&json, "}}");
    return strbuf_take(&json);
}

/* What waits for a pool is looked at once, and then stands in no claim's way. */
STORE_TEST(pool, ten_thousand_that_wait_are_not_among_what_claims_look_at)
{
    enum { MANY = 10000 };
    CLEANUP(mem_freep) char *json = many_tasks(MANY);
    set("full", 1);
    start(json);

    struct advance_result first = claim(4);

    cr_assert_eq(first.claims_count, 2, "the free one behind all of them, and one of the pool");
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM ready WHERE scope = $1", 0), 0);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM pool_wait WHERE pool > $1", 0),
                 MANY - 1);
    /* Nor do they come back when a slot is handed on: the next in line alone does. */
    const struct claim *of_pool =
        &first.claims[bench.dag->tasks[first.claims[0].node].pool == NULL];
    struct advance_result second = finish(of_pool, 4);
    cr_assert_eq(second.claims_count, 1);
    cr_assert_eq(second.changes_count, 2, "the one that ended and the one that follows");
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM ready WHERE scope = $1", 0), 0);
}

/* --- two at once ----------------------------------------------------------------------------- */

STORE_TEST(pool, who_finds_a_pool_in_other_hands_claims_the_rest_and_looks_again_soon)
{
    if (!db_bench_is_postgres())
        cr_skip_test("one writer at a time has the whole database");
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    set("db", 2);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\"}, \"b\": {\"run\": \"x\"}}}");
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &other, &err), &err);
    EXPECT_OK(db_begin(other, &err), &err);
    EXPECT_OK(db_do(other, &err, "UPDATE pool SET slots = 1 WHERE name = 'db'", ""), &err);

    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 1);
    EXPECT_STR("b", name_of(&first.claims[0]));
    cr_assert_neq(first.next_due_us, 0);
    EXPECT_STATE(&bench, "a", "queued");

    EXPECT_OK(db_commit(other, &err), &err);
    cr_assert_eq(claim(10).claims_count, 1);
}

/* What was taken is still stored: the next look goes past it as well, or there is no end. */
STORE_TEST(pool, a_pool_in_other_hands_at_the_front_does_not_keep_a_claim_looking_for_ever)
{
    if (!db_bench_is_postgres())
        cr_skip_test("one writer at a time has the whole database");
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    set("db", 2);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\", \"priority\": 9},"
          " \"b\": {\"run\": \"x\"}, \"c\": {\"run\": \"x\"}, \"d\": {\"run\": \"x\"},"
          " \"e\": {\"run\": \"x\"}, \"f\": {\"run\": \"x\"}}}");
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &other, &err), &err);
    EXPECT_OK(db_begin(other, &err), &err);
    EXPECT_OK(db_do(other, &err, "UPDATE pool SET slots = 1 WHERE name = 'db'", ""), &err);

    cr_assert_eq(claim(6).claims_count, 5);
}

STORE_TEST(pool, two_stores_never_hold_more_than_there_is)
{
    struct err err = {0};
    struct store *mine = bench.store;
    struct store *other = NULL;
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &other, &err), &err);
    set("db", 2);
    start("{\"tasks\": {\"a\": {\"run\": \"x\", \"pool\": \"db\"},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\"}, \"c\": {\"run\": \"x\", \"pool\": \"db\"},"
          " \"d\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    struct claim first = claim(1).claims[0];
    bench.store = other;
    cr_assert_eq(claim(5).claims_count, 1);
    bench.store = mine;
    cr_assert_eq(finish(&first, 0).claims_count, 0);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM ready WHERE scope = $1", 0), 1,
                 "who leaves lets in the next, whoever takes it");
    bench.store = other;
    cr_assert_eq(claim(5).claims_count, 1);
    cr_assert_eq(claim(5).claims_count, 0);
    bench.store = mine;
    store_close(other);
    cr_assert_eq(held(), 2);
}

struct leaving {
    struct claim claim;
    _Atomic bool is_done;
};

static void *leave(void *context)
{
    struct leaving *leaving = context;
    (void)finish(&leaving->claim, 0);
    atomic_store(&leaving->is_done, true);
    return NULL;
}

static const char WAITERS[] = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN"
                              " (SELECT pid FROM pg_locks WHERE relation = 'pool'::regclass)";

/* Whoever has the pool may be about to wait for the very slot that is left here. */
STORE_TEST(pool, who_leaves_a_slot_waits_for_who_has_the_pool)
{
    if (!db_bench_is_postgres())
        cr_skip_test("one writer at a time has the whole database");
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    CLEANUP(db_closep) struct db *looking = NULL;
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &other, &err), &err);
    EXPECT_OK(db_open(bench.url, DB_READ_ONLY, &looking, &err), &err);
    set("db", 1);
    start(THREE);
    struct leaving leaving = {.claim = claim(10).claims[0]};
    EXPECT_OK(db_begin(other, &err), &err);
    EXPECT_OK(db_do(other, &err, "UPDATE pool SET description = 'x' WHERE name = 'db'", ""), &err);

    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, leave, &leaving), 0);
    int64_t waiters = 0;
    while (waiters == 0 && !atomic_load(&leaving.is_done))
        EXPECT_OK(db_get_int(looking, 0, &waiters, &err, WAITERS, ""), &err);
    cr_assert_eq(waiters, 1);
    EXPECT_OK(db_commit(other, &err), &err);
    cr_assert_eq(pthread_join(thread, NULL), 0);

    EXPECT_STATE(&bench, "b", "queued");
}
