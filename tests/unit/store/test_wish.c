/*
 * Tasks that run and are asked to stop, or to stop and run again, while their run goes on.
 */
#include "model/event_kind.h"
#include "store/control.h"
#include "store/task_cancel.h"
#include "store/wish.h"
#include "store_bench.h"

enum { HOST = 7, CHAIN_B = 1 };

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

TestSuite(wish, .init = setup, .fini = teardown);

static const char CHAIN[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", "
                            "\"needs\": [\"a\"]}, \"c\": {\"run\": \"x\", \"needs\": [\"b\"]}, "
                            "\"side\": {\"run\": \"x\"}}}";
static const char ALONE[] = "{\"tasks\": {\"a\": {\"run\": \"x\", \"retries\": 2, \"retry_delay\":"
                            " 1}}}";
static const char MAPPED[] =
    "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}, \"r\": {\"run\": \"x\", \"needs\": "
    "[\"m\"]}, \"alarm\": {\"run\": \"x\", \"needs\": [\"m\"], \"trigger_rule\": \"one_failed\"}}}";

/* --- what people ask for --------------------------------------------------------------------- */

static enum status stop_as(const char *task, int64_t map_index, const char *actor, struct err *err)
{
    struct task_cancel_request request = {.run = bench.run.id,
                                          .node = dag_find_task(bench.dag, task),
                                          .map_index = map_index,
                                          .actor = actor};
    return store_task_cancel(bench.store, &request, err);
}

static void stop(const char *task, int64_t map_index)
{
    struct err err = {0};
    EXPECT_OK(stop_as(task, map_index, "ann", &err), &err);
}

struct choice {
    int64_t map_index; /* -1: the whole task */
    bool dry_run;
};

static enum status try_clear_into(const char *task, struct choice choice, struct clear_result *out,
                                  struct err *err)
{
    bool *nodes = arena_array(bench.arena, bench.dag->tasks_count, sizeof *nodes);
    nodes[dag_find_task(bench.dag, task)] = true;
    struct clear_request request = {.run = bench.run.id,
                                    .nodes = nodes,
                                    .map_index = choice.map_index,
                                    .whole = choice.map_index < 0,
                                    .stops_running = true,
                                    .dry_run = choice.dry_run,
                                    .actor = "ann"};
    return store_clear(bench.store, &request, bench.arena, out, err);
}

static enum status try_clear(const char *task, struct choice choice, struct err *err)
{
    struct clear_result ignored;
    return try_clear_into(task, choice, &ignored, err);
}

static struct clear_result clear_as(const char *task, struct choice choice)
{
    struct err err = {0};
    struct clear_result result;
    EXPECT_OK(try_clear_into(task, choice, &result, &err), &err);
    return result;
}

static struct clear_result clear(const char *task)
{
    return clear_as(task, (struct choice){.map_index = -1});
}

static void cancel_run(void)
{
    struct err err = {0};
    struct cancel_request request = {.run = bench.run.id, .cause = CANCEL_ASKED, .actor = "ann"};
    EXPECT_OK(store_run_cancel(bench.store, &request, &err), &err);
}

/* --- what owners do -------------------------------------------------------------------------- */

static struct claim claim_of(const struct advance_result *result, const char *task,
                             int64_t map_index)
{
    for (size_t i = 0; i < result->claims_count; i++)
        if (strcmp(bench.dag->tasks[result->claims[i].node].id, task) == 0 &&
            result->claims[i].map_index == map_index)
            return result->claims[i];
    cr_assert(false, "%s[%lld] was not claimed", task, (long long)map_index);
    return result->claims[0];
}

static struct outcome stopped(const struct claim *claim)
{
    struct outcome outcome = bench_outcome(claim, 0);
    outcome.end.reason = REASON_CANCELLED;
    return outcome;
}

static struct advance_result end(const struct outcome *outcome, int64_t slots)
{
    bench_now_us += 1000;
    struct advance_result result = bench_advance(&bench, outcome, 1, slots);
    cr_assert(result.accepted[0]);
    return result;
}

static size_t wishes_of(int64_t host, struct stop_wish **out)
{
    struct err err = {0};
    size_t count = 0;
    EXPECT_OK(store_stop_wishes(bench.store, host, bench.arena, out, &count, &err), &err);
    return count;
}

static bool nobody_lives(void *context, int64_t host)
{
    (void)context;
    (void)host;
    return false;
}

static void lose_owners(void)
{
    struct err err = {0};
    int64_t lost = 0;
    EXPECT_OK(store_recover(bench.store, bench.run.id, nobody_lives, NULL, &lost, &err), &err);
    cr_assert_gt(lost, 0);
}

/* a is done; b and side run. */
static struct claim start_chain(void)
{
    bench_start(&bench, CHAIN);
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    struct claim a = claim_of(&result, "a", -1);
    struct outcome good = bench_outcome(&a, 0);
    result = end(&good, 1);
    return claim_of(&result, "b", -1);
}

/* m has three instances, of which two run. */
static struct advance_result start_mapped(void)
{
    bench_start(&bench, MAPPED);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 3;
    result = bench_advance(&bench, &expand, 1, 2);
    cr_assert_eq(result.claims_count, 2);
    return result;
}

static int64_t events_of(enum event_kind kind)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM event WHERE run = $1 AND kind = %d",
                   (int)kind);
    return bench_number(&bench, sql, bench.run.id);
}

static int64_t wishes_left(void)
{
    return bench_number(&bench, "SELECT count(*) FROM task_wish WHERE task > $1", 0);
}

#define EXPECT_ROW(task, map_index, wanted_state, wanted_reason)                                   \
    do {                                                                                           \
        struct task_row row_ = bench_row(&bench, task, map_index);                                 \
        cr_assert_eq(row_.state, wanted_state, "%s is %s", task, task_state_name(row_.state));     \
        cr_assert_eq(row_.reason, wanted_reason, "%s: %s", task, reason_name(row_.reason));        \
    } while (0)

/* --- stop ------------------------------------------------------------------------------------ */

STORE_TEST(wish, a_running_task_is_stopped_and_the_rest_of_the_run_goes_on)
{
    struct claim b = start_chain();
    struct stop_wish *wishes = NULL;
    cr_assert_eq(wishes_of(HOST, &wishes), 0);

    stop("b", -1);

    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_STOPPING);
    cr_assert_eq(wishes_of(HOST, &wishes), 1);
    cr_assert_eq(wishes[0].task, b.task);
    cr_assert_eq(wishes[0].attempt, b.attempt);
    cr_assert_eq(wishes_of(HOST + 1, &wishes), 0, "only its owner hears of it");
    struct outcome outcome = stopped(&b);
    (void)end(&outcome, 0);
    EXPECT_ROW("b", -1, TASK_CANCELLED, REASON_CANCELLED);
    EXPECT_STATE(&bench, "c", "upstream_failed");
    EXPECT_STATE(&bench, "side", "running");
    cr_assert_eq(wishes_left(), 0);
}

STORE_TEST(wish, who_asks_again_finds_what_he_wants)
{
    struct claim b = start_chain();
    struct err err = {0};
    stop("b", -1);
    stop("b", -1);
    cr_assert_eq(events_of(EVENT_TASK_CANCEL_ASKED), 1);
    struct outcome outcome = stopped(&b);
    (void)end(&outcome, 0);

    stop("b", -1);

    cr_assert_eq(events_of(EVENT_TASK_CANCEL_ASKED), 1);
    EXPECT_STATUS(STATUS_CONFLICT, stop_as("a", -1, "ann", &err), &err);
    EXPECT_CONTAINS(err.text, "over already: success");
}

/* The host of the bench, of a program that never told which schema it knows. */
static void add_older_host(void)
{
    bench_sql(&bench, "INSERT INTO host (id, maker, name, pid, boot, kind, slots, started_at_us)"
                      " VALUES (7, 0, 'older', 1, '', 'daemon', 4, 1)");
}

STORE_TEST(wish, an_owner_that_would_not_hear_it_is_named)
{
    struct err err = {0};
    struct claim b = start_chain();
    add_older_host();

    EXPECT_STATUS(STATUS_CONFLICT, stop_as("b", -1, "ann", &err), &err);
    EXPECT_CONTAINS(err.text, "task 'b' runs on the host 'older'");
    EXPECT_CONTAINS(err.text, "eider stop");
    for (int dry = 0; dry < 2; dry++) {
        err = (struct err){0};
        EXPECT_STATUS(STATUS_CONFLICT, try_clear("b", (struct choice){-1, dry == 1}, &err), &err);
        EXPECT_CONTAINS(err.text, "'older'");
    }
    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_NONE);
    cr_assert_eq(wishes_left(), 0);
    stop("c", -1); /* nobody runs it */

    bench_sql(&bench, "UPDATE host SET schema = 13");
    stop("b", -1);
    struct outcome outcome = stopped(&b);
    (void)end(&outcome, 0);
    EXPECT_STATE(&bench, "b", "cancelled");
}

STORE_TEST(wish, of_a_mapped_task_the_owners_of_what_is_meant_count)
{
    struct err err = {0};
    (void)start_mapped();
    add_older_host();

    EXPECT_STATUS(STATUS_CONFLICT, stop_as("m", -1, "ann", &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, stop_as("m", 0, "ann", &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, try_clear("m", (struct choice){1, false}, &err), &err);
    cr_assert_eq(wishes_left(), 0);
    /* What it left is taken back by others, who read the wish. */
    bench_sql(&bench, "UPDATE host SET ended_at_us = 1");
    stop("m", 0);
    cr_assert_eq(wishes_left(), 1);
}

STORE_TEST(wish, what_ended_by_itself_keeps_its_verdict_but_is_not_tried_again)
{
    bench_start(&bench, ALONE);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    stop("a", -1);
    struct outcome good = bench_outcome(&result.claims[0], 0);
    (void)end(&good, 0);
    EXPECT_ROW("a", -1, TASK_SUCCESS, REASON_EXIT);

    bench_start(&bench, ALONE);
    result = bench_advance(&bench, NULL, 0, 1);
    stop("a", -1);
    struct outcome bad = bench_outcome(&result.claims[0], 1);
    (void)end(&bad, 0);
    EXPECT_STATE(&bench, "a", "cancelled");
}

STORE_TEST(wish, a_dead_owner_does_not_undo_it)
{
    (void)start_chain();
    stop("b", -1);

    lose_owners();

    EXPECT_ROW("b", -1, TASK_CANCELLED, REASON_CANCELLED);
    EXPECT_STATE(&bench, "side", "queued");
    EXPECT_STATE(&bench, "c", "upstream_failed");
}

STORE_TEST(wish, what_is_handed_back_or_wants_to_wait_is_cancelled)
{
    struct claim b = start_chain();
    stop("b", -1);
    struct outcome back = bench_outcome(&b, 0);
    back.kind = OUTCOME_RETURN;
    (void)end(&back, 0);
    EXPECT_ROW("b", -1, TASK_CANCELLED, REASON_CANCELLED);

    bench_start(&bench, MAPPED);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    stop("m", -1);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 3;
    (void)end(&expand, 0);
    EXPECT_ROW("m", -1, TASK_CANCELLED, REASON_CANCELLED);
}

STORE_TEST(wish, a_mapped_task_stops_with_all_its_instances_or_one_of_them)
{
    struct advance_result result = start_mapped();
    struct claim first = claim_of(&result, "m", 0);
    struct claim second = claim_of(&result, "m", 1);
    stop("m", 1);
    EXPECT_ROW("m", 0, TASK_RUNNING, REASON_NONE);
    EXPECT_ROW("m", 1, TASK_RUNNING, REASON_STOPPING);
    EXPECT_ROW("m", -1, TASK_DEFERRED, REASON_NONE);

    stop("m", -1);

    EXPECT_ROW("m", 0, TASK_RUNNING, REASON_STOPPING);
    EXPECT_ROW("m", -1, TASK_DEFERRED, REASON_STOPPING);
    struct outcome outcome = stopped(&first);
    (void)end(&outcome, 2);
    EXPECT_STATE(&bench, "alarm", "running");
    outcome = stopped(&second);
    (void)end(&outcome, 0);
    EXPECT_STATE(&bench, "m", "cancelled");
    EXPECT_STATE(&bench, "r", "upstream_failed");
    cr_assert_eq(wishes_left(), 0);
}

STORE_TEST(wish, a_mapped_task_of_which_nothing_runs_is_cancelled_at_once)
{
    bench_start(&bench, MAPPED);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 3;
    (void)end(&expand, 0);

    stop("m", -1);

    EXPECT_STATE(&bench, "m", "cancelled");
    cr_assert_eq(wishes_left(), 0);
}

/* --- clear ----------------------------------------------------------------------------------- */

STORE_TEST(wish, a_running_task_stops_and_runs_again_in_the_next_generation)
{
    struct claim b = start_chain();

    struct clear_result cleared = clear("b");

    cr_assert_eq(cleared.count, 1);
    cr_assert(cleared.stops[CHAIN_B]);
    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_CLEARING);
    cr_assert_eq(bench_row(&bench, "b", -1).generation, 0);
    cr_assert_eq(events_of(EVENT_TASK_CLEAR_ASKED), 1);
    struct outcome outcome = stopped(&b);
    struct advance_result result = end(&outcome, 1);
    struct task_row row = bench_row(&bench, "b", -1);
    cr_assert_eq(row.state, TASK_RUNNING);
    cr_assert_eq(row.reason, REASON_NONE);
    cr_assert_eq(row.generation, 1);
    cr_assert_eq(row.attempt, 2);
    cr_assert_eq(wishes_left(), 0);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM attempt WHERE task = $1 AND state = 12"
                              " AND reason = 7 AND generation = 0",
                              b.task),
                 1, "the stopped attempt is kept");
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM event WHERE task = $1 AND kind = 11"
                              " AND actor = 'ann'",
                              b.task),
                 1, "it was cleared by who asked for it");
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM event WHERE task = $1 AND kind = 6"
                              " AND new_state = 12 AND generation = 0 AND attempt = 1",
                              b.task),
                 1, "it is told that the attempt ended");
    struct claim again = claim_of(&result, "b", -1);
    outcome = bench_outcome(&again, 0);
    (void)end(&outcome, 0);
    EXPECT_STATE(&bench, "c", "queued");
}

STORE_TEST(wish, a_dry_run_tells_what_would_stop_and_changes_nothing)
{
    (void)start_chain();

    struct clear_result result = clear_as("a", (struct choice){.map_index = -1, .dry_run = true});

    cr_assert_eq(result.count, 2);
    cr_assert(!result.stops[0]);
    cr_assert(result.stops[CHAIN_B]);
    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_NONE);
}

STORE_TEST(wish, what_started_after_a_cleared_task_stops_too_and_waits_for_it)
{
    struct claim b = start_chain();

    cr_assert_eq(clear("a").count, 2);

    EXPECT_STATE(&bench, "a", "queued");
    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_CLEARING);
    struct outcome outcome = stopped(&b);
    struct advance_result result = end(&outcome, 1);
    struct claim a = claim_of(&result, "a", -1);
    EXPECT_STATE(&bench, "b", "none");
    outcome = bench_outcome(&a, 0);
    (void)end(&outcome, 0);
    EXPECT_STATE(&bench, "b", "queued");
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_RUNNING, "side runs still");
    EXPECT_STATE(&bench, "c", "success");
}

STORE_TEST(wish, the_order_of_a_new_success_and_an_old_stop_does_not_matter)
{
    struct claim b = start_chain();
    (void)clear("a");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct claim a = claim_of(&result, "a", -1);
    struct outcome outcome = bench_outcome(&a, 0);
    (void)end(&outcome, 0);
    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_CLEARING);

    outcome = stopped(&b);
    (void)end(&outcome, 0);

    EXPECT_STATE(&bench, "b", "queued");
}

STORE_TEST(wish, what_ended_by_itself_is_cleared_all_the_same_and_tells_nobody)
{
    struct claim b = start_chain();
    (void)clear("b");
    (void)clear("b");
    cr_assert_eq(events_of(EVENT_TASK_CLEAR_ASKED), 1, "asking again changes nothing");
    struct outcome good = bench_outcome(&b, 0);
    struct outcome_value value = {.key = "k", .json = "1", .bytes = 1};
    good.values = &value;
    good.values_count = 1;

    (void)end(&good, 0);

    EXPECT_STATE(&bench, "b", "queued");
    EXPECT_STATE(&bench, "c", "none");
    cr_assert_eq(bench_row(&bench, "b", -1).generation, 1);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM value WHERE task = $1", b.task), 0);
}

STORE_TEST(wish, the_last_task_of_a_run_does_not_end_it_before_it_ran_again)
{
    bench_start(&bench, ALONE);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    (void)clear("a");

    struct outcome bad = bench_outcome(&result.claims[0], 1);
    result = end(&bad, 0);

    cr_assert_eq(result.runs_count, 0);
    EXPECT_STATE(&bench, "a", "queued");
    cr_assert_eq(bench_row(&bench, "a", -1).failures, 0, "retries start anew");
    cr_assert_eq(events_of(EVENT_RUN_ENDED), 0);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
}

STORE_TEST(wish, a_clear_survives_a_dead_owner)
{
    (void)start_chain();
    (void)clear("b");

    lose_owners();

    struct task_row b = bench_row(&bench, "b", -1);
    cr_assert_eq(b.state, TASK_QUEUED);
    cr_assert_eq(b.generation, 1);
    cr_assert_eq(b.losses, 0);
    cr_assert_eq(wishes_left(), 0);
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
}

STORE_TEST(wish, the_last_word_counts)
{
    struct claim b = start_chain();
    (void)clear("b");
    stop("b", -1);
    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_STOPPING);
    (void)clear("b");
    stop("b", -1);

    struct outcome outcome = stopped(&b);
    (void)end(&outcome, 0);

    EXPECT_STATE(&bench, "b", "cancelled");
    EXPECT_STATE(&bench, "c", "upstream_failed");
}

STORE_TEST(wish, nothing_runs_again_in_a_run_that_was_stopped_meanwhile)
{
    struct claim b = start_chain();
    (void)clear("b");
    cancel_run();
    EXPECT_ROW("b", -1, TASK_RUNNING, REASON_STOPPING);

    struct outcome outcome = stopped(&b);
    (void)end(&outcome, 1);

    EXPECT_ROW("b", -1, TASK_CANCELLED, REASON_CANCELLED);
    EXPECT_STATE(&bench, "c", "cancelled");
    cr_assert_eq(bench_row(&bench, "b", -1).generation, 0);
}

STORE_TEST(wish, a_run_that_was_only_marked_as_stopping_lets_nothing_run_again)
{
    struct claim b = start_chain();
    (void)clear("b");
    bench_sql(&bench, "UPDATE run SET cancel_asked = 1, row_version = row_version + 1");

    struct outcome outcome = stopped(&b);
    (void)end(&outcome, 1);

    EXPECT_ROW("b", -1, TASK_CANCELLED, REASON_CANCELLED);
    cr_assert_eq(bench_row(&bench, "b", -1).generation, 0);
}

STORE_TEST(wish, one_instance_stops_and_runs_again_while_others_go_on)
{
    struct advance_result result = start_mapped();
    struct claim second = claim_of(&result, "m", 1);

    (void)clear_as("m", (struct choice){.map_index = 1});

    EXPECT_ROW("m", 1, TASK_RUNNING, REASON_CLEARING);
    EXPECT_ROW("m", -1, TASK_DEFERRED, REASON_NONE);
    struct outcome outcome = stopped(&second);
    (void)end(&outcome, 0);
    cr_assert_eq(bench_row(&bench, "m", 1).generation, 1);
    EXPECT_ROW("m", 1, TASK_QUEUED, REASON_NONE);
    EXPECT_ROW("m", 0, TASK_RUNNING, REASON_NONE);
    EXPECT_STATE(&bench, "alarm", "none");
}

STORE_TEST(wish, a_mapped_task_is_expanded_again_after_its_last_instance_stopped)
{
    struct advance_result result = start_mapped();
    struct claim first = claim_of(&result, "m", 0);
    struct claim second = claim_of(&result, "m", 1);

    (void)clear("m");

    EXPECT_ROW("m", -1, TASK_DEFERRED, REASON_CLEARING);
    struct outcome outcome = stopped(&first);
    result = end(&outcome, 4);
    cr_assert_eq(result.claims_count, 0, "neither its third instance nor who waits for failures");
    EXPECT_STATE(&bench, "alarm", "none");
    outcome = stopped(&second);
    result = end(&outcome, 4);
    EXPECT_STATE(&bench, "alarm", "none");
    struct task_row m = bench_row(&bench, "m", -1);
    cr_assert_eq(m.generation, 1);
    cr_assert_eq(m.state, TASK_RUNNING, "it lists its items");
    struct claim lists = claim_of(&result, "m", -1);
    outcome = bench_outcome(&lists, 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 1;
    result = end(&outcome, 4);
    struct claim only = claim_of(&result, "m", 0);
    outcome = bench_outcome(&only, 0);
    (void)end(&outcome, 0);
    EXPECT_STATE(&bench, "m", "success");
    EXPECT_STATE(&bench, "r", "queued");
    EXPECT_STATE(&bench, "alarm", "skipped");
}

STORE_TEST(wish, what_a_mapped_task_counted_is_there_when_its_clear_becomes_a_stop)
{
    struct advance_result result = start_mapped();
    struct claim first = claim_of(&result, "m", 0);
    struct claim second = claim_of(&result, "m", 1);
    (void)clear("m");
    struct outcome outcome = stopped(&first);
    (void)end(&outcome, 0);
    EXPECT_STATE(&bench, "alarm", "none");

    stop("m", -1);

    EXPECT_STATE(&bench, "alarm", "queued");
    outcome = stopped(&second);
    (void)end(&outcome, 0);
    EXPECT_STATE(&bench, "m", "cancelled");
    EXPECT_STATE(&bench, "r", "upstream_failed");
}

STORE_TEST(wish, two_that_end_together_are_cleared_together)
{
    static const char PAIR[] =
        "{\"tasks\": {\"x\": {\"run\": \"x\"}, \"y\": {\"run\": \"x\"}, \"z\": {\"run\": \"x\","
        " \"needs\": [\"x\", \"y\"], \"trigger_rule\": \"one_failed\"}}}";
    bench_start(&bench, PAIR);
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    (void)clear("x");
    (void)clear("y");
    struct outcome both[2] = {stopped(&result.claims[0]), stopped(&result.claims[1])};

    result = bench_advance(&bench, both, 2, 4);

    cr_assert_eq(result.claims_count, 2);
    EXPECT_STATE(&bench, "z", "none");
    cr_assert_eq(events_of(EVENT_TASK_CLEARED), 2);
}

STORE_TEST(wish, what_was_let_go_in_the_same_breath_is_claimed_once)
{
    static const char EITHER[] =
        "{\"tasks\": {\"x\": {\"run\": \"x\"}, \"y\": {\"run\": \"x\"}, \"z\": {\"run\": \"x\","
        " \"needs\": [\"x\", \"y\"], \"trigger_rule\": \"one_success\"}}}";
    bench_start(&bench, EITHER);
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    struct claim x = claim_of(&result, "x", -1);
    struct claim y = claim_of(&result, "y", -1);
    (void)clear("y");
    struct outcome both[2] = {bench_outcome(&x, 0), stopped(&y)};

    result = bench_advance(&bench, both, 2, 8);

    cr_assert_eq(result.claims_count, 2);
    (void)claim_of(&result, "y", -1);
    (void)claim_of(&result, "z", -1);
    cr_assert_eq(bench_row(&bench, "z", -1).attempt, 1);
}

STORE_TEST(wish, what_comes_after_a_task_and_started_meanwhile_stops_with_it)
{
    static const char EITHER[] =
        "{\"tasks\": {\"x\": {\"run\": \"x\"}, \"y\": {\"run\": \"x\"}, \"z\": {\"run\": \"x\","
        " \"needs\": [\"x\", \"y\"], \"trigger_rule\": \"one_success\"}}}";
    bench_start(&bench, EITHER);
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    struct claim x = claim_of(&result, "x", -1);
    struct claim y = claim_of(&result, "y", -1);
    (void)clear("y");
    struct outcome outcome = bench_outcome(&x, 0);
    result = end(&outcome, 8);
    struct claim z = claim_of(&result, "z", -1);

    outcome = stopped(&y);
    (void)end(&outcome, 0);

    EXPECT_ROW("y", -1, TASK_QUEUED, REASON_NONE);
    EXPECT_ROW("z", -1, TASK_RUNNING, REASON_CLEARING);
    struct stop_wish *wishes = NULL;
    cr_assert_eq(wishes_of(HOST, &wishes), 1);
    cr_assert_eq(wishes[0].task, z.task);
    outcome = stopped(&z);
    (void)end(&outcome, 0);
    EXPECT_ROW("z", -1, TASK_QUEUED, REASON_NONE);
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
}

STORE_TEST(wish, finally_tasks_run_again_even_in_a_run_that_is_stopped)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}, \"finally\": {\"z\": {\"run\": "
                        "\"x\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    result = end(&outcome, 1);
    struct claim z = claim_of(&result, "z", -1);
    (void)clear("a");
    EXPECT_ROW("z", -1, TASK_RUNNING, REASON_CLEARING);
    cancel_run();

    outcome = stopped(&z);
    (void)end(&outcome, 0);

    EXPECT_STATE(&bench, "a", "cancelled");
    EXPECT_STATE(&bench, "z", "queued");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_CANCELLED);
    EXPECT_STATE(&bench, "z", "success");
}

STORE_TEST(wish, it_is_known_who_wants_it_and_why)
{
    struct err err = {0};
    struct wish_info info;
    struct claim b = start_chain();
    store_set_reason(bench.store, "wrong file");
    EXPECT_OK(stop_as("b", -1, "bob", &err), &err);
    store_set_reason(bench.store, NULL);

    EXPECT_OK(store_wish_find(bench.store, bench.arena, b.task, &info, &err), &err);

    cr_assert(info.is_found);
    EXPECT_STR("bob", info.actor);
    EXPECT_CONTAINS(info.data, "wrong file");
    cr_assert_eq(info.asked_at_us, bench_now_us);
}

STORE_TEST(wish, a_run_that_is_deleted_leaves_nothing)
{
    struct err err = {0};
    struct claim b = start_chain();
    stop("b", -1);
    cancel_run();
    struct outcome outcome = stopped(&b);
    (void)end(&outcome, 0);
    lose_owners();
    char sql[160];
    (void)snprintf(sql, sizeof sql, "INSERT INTO task_wish VALUES (%lld, 1, 'x', NULL, 5)",
                   (long long)b.task);
    bench_sql(&bench, sql);

    EXPECT_OK(store_run_delete(bench.store, bench.run.id, "ann", &err), &err);

    cr_assert_eq(wishes_left(), 0);
}
