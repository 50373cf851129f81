/*
 * Who looks whether what tasks wait for is there: files by itself, runs of other DAGs in the store.
 */
#include <fcntl.h>

#include "model/run_state.h"
#include "os/file.h"
#include "store_bench.h"
#include "worker/lookout.h"

enum { HOST = 7, /* the bench's */ EVERY_MS = 20, PATIENCE_MS = 30000, LATER_MS = 3600000 };

static struct bench_store bench;
static struct loop *loop;
static struct loop_timer *patience;
static struct store_thread *thread;
static struct lookout *lookout;
static char dir[64];
static int64_t met[16];
static size_t met_count;
static size_t met_wanted;

static void on_met(void *context, const struct wait_info *wait)
{
    (void)context;
    cr_assert_lt(met_count, ARRAY_LEN(met));
    met[met_count++] = wait->task;
    if (met_count >= met_wanted)
        loop_stop(loop);
}

static void on_late(void *context)
{
    (void)context;
    loop_stop(loop);
}

static void setup(void)
{
    struct err err = {0};
    bench = (struct bench_store){0};
    bench_open(&bench);
    (void)snprintf(dir, sizeof dir, "/tmp/eider-lookout-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    EXPECT_OK(loop_new(&loop, &err), &err);
    patience = loop_timer_new(loop, on_late, NULL);
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_thread_start(loop, &options, &thread, &err), &err);
    lookout = lookout_new(loop, &(struct lookout_events){.met = on_met});
    met_count = 0;
}

static void teardown(void)
{
    store_thread_stop(thread);
    lookout_free(lookout);
    loop_timer_free(patience);
    loop_free(loop);
    cr_assert_eq(rmdir(dir), 0);
    bench_close(&bench);
}

TestSuite(lookout, .init = setup, .fini = teardown, .timeout = 120);

static void begin(void)
{
    lookout_begin(
        lookout,
        &(struct lookout_options){
            .store_thread = thread,
            .taker = {.host = HOST, .scope = bench.run.scope, .labels = "", .queues = ""}});
}

/* Until so many were met, or patience ends. */
static void run_until_met(size_t wanted)
{
    met_wanted = wanted;
    if (met_count >= wanted)
        return;
    loop_timer_start(patience, PATIENCE_MS, 0);
    loop_run(loop);
    loop_timer_stop(patience);
}

static const char *path_in(const char *name)
{
    return arena_format(bench.arena, "%s/%s", dir, name);
}

static void touch(const char *path)
{
    CLEANUP(file_closep) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_geq(fd, 0);
}

/* As a task that keeps its slot: the store, which does not list it, does not end it. */
static struct wait_info wait_for_file(int64_t task, const char *path)
{
    return (struct wait_info){.task = task,
                              .attempt = 1,
                              .kind = SENSOR_FILE,
                              .every_ms = EVERY_MS,
                              .every_max_ms = EVERY_MS,
                              .backoff = 1,
                              .subject = path};
}

static struct wait_info wait_for_dag(int64_t task, const char *dag)
{
    return (struct wait_info){.task = task,
                              .attempt = 1,
                              .kind = SENSOR_DAG,
                              .every_ms = LATER_MS,
                              .every_max_ms = LATER_MS,
                              .backoff = 1,
                              .dag = dag,
                              .states = 1U << RUN_SUCCESS};
}

static void add_held(struct wait_info wait)
{
    lookout_add_held(lookout, &wait);
}

Test(lookout, a_file_is_found_and_told_of_once)
{
    const char *path = path_in("a");
    add_held(wait_for_file(1, path));
    add_held(wait_for_file(2, path_in("never")));
    touch(path);
    begin();

    run_until_met(1);

    cr_assert_eq(met_count, 1);
    cr_assert_eq(met[0], 1);
    cr_assert_eq(lookout_count(lookout), 1, "the other one is still waited for");
    cr_assert_eq(unlink(path), 0);
}

Test(lookout, one_that_was_removed_is_not_told_of)
{
    const char *gone = path_in("gone");
    const char *here = path_in("here");
    touch(gone);
    touch(here);
    add_held(wait_for_file(1, gone));
    add_held(wait_for_file(2, here));
    lookout_remove(lookout, 1);
    lookout_remove(lookout, 99);
    begin();

    run_until_met(1);

    cr_assert_eq(met[0], 2);
    cr_assert_eq(lookout_count(lookout), 0);
    cr_assert_eq(unlink(gone) + unlink(here), 0);
}

/* Texts are the lookout's own: whoever added them may forget them. */
Test(lookout, the_same_attempt_is_one_wait_and_another_is_another)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s", path_in("b"));
    add_held(wait_for_file(1, path_in("never")));
    struct wait_info again = wait_for_file(1, path);
    add_held(again);
    cr_assert_eq(lookout_count(lookout), 1);
    again.attempt = 2;
    add_held(again);
    memset(path, 'x', sizeof path - 1);
    cr_assert_eq(lookout_count(lookout), 1);
    touch(path_in("b"));
    begin();

    run_until_met(1);

    cr_assert_eq(met_count, 1, "the second attempt waits for another file");
    cr_assert_eq(unlink(path_in("b")), 0);
}

Test(lookout, kinds_that_nobody_looks_at_are_left_alone)
{
    struct wait_info wait = wait_for_file(1, path_in("a"));
    wait.kind = SENSOR_DURATION;
    add_held(wait);
    lookout_add(lookout, &wait);
    cr_assert_eq(lookout_count(lookout), 0);
}

static void run_other_dag(int exit_code)
{
    const struct bench_script script[] = {{.task = "a", .exit_code = exit_code}, {.task = NULL}};
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    cr_assert_eq(bench_drain(&bench, script, 1), exit_code == 0 ? RUN_SUCCESS : RUN_FAILED);
}

static const char *other_dag(void)
{
    struct err err = {0};
    struct run_info run;
    EXPECT_OK(store_run_load(bench.store, bench.arena, bench.run.id, &run, &err), &err);
    return run.dag_id;
}

Test(lookout, a_run_that_has_ended_is_found_at_once)
{
    run_other_dag(0);
    add_held(wait_for_dag(1, other_dag()));
    add_held(wait_for_dag(2, "nobody_has_it"));
    begin();

    run_until_met(1);

    cr_assert_eq(met_count, 1);
    cr_assert_eq(met[0], 1);
    cr_assert_eq(lookout_count(lookout), 1);
}

/* Its own time would come in an hour; both are looked at with one question at first. */
Test(lookout, the_end_of_a_run_is_looked_at_when_it_is_told_of)
{
    run_other_dag(1);
    struct wait_info failed = wait_for_dag(1, other_dag());
    failed.states = 1U << RUN_FAILED;
    add_held(failed);
    add_held(wait_for_dag(2, other_dag()));
    begin();
    run_until_met(1);
    cr_assert_eq(met[0], 1);

    run_other_dag(0);
    lookout_runs_changed(lookout);
    run_until_met(2);

    cr_assert_eq(met_count, 2);
    cr_assert_eq(met[1], 2);
}

/* Whoever becomes a host, even the same again, reads what is listed for it. */
static void read_again(void *context)
{
    (void)context;
    lookout_set_host(lookout, HOST);
    if (lookout_count(lookout) < 2)
        loop_stop(loop);
}

/* What the store does not list for this host is over; a task that has a slot it does not know. */
Test(lookout, what_the_store_does_not_list_is_let_go_unless_its_task_has_a_slot_here)
{
    struct wait_info deferred = wait_for_file(1, path_in("never"));
    lookout_add(lookout, &deferred);
    add_held(wait_for_file(2, path_in("never")));
    begin();
    struct loop_timer *reader = loop_timer_new(loop, read_again, NULL);
    loop_timer_start(reader, EVERY_MS, EVERY_MS);
    loop_timer_start(patience, PATIENCE_MS, 0);
    loop_run(loop);
    loop_timer_free(reader);

    cr_assert_eq(met_count, 0);
    cr_assert_eq(lookout_count(lookout), 1);
    touch(path_in("never"));
    run_until_met(1);
    cr_assert_eq(met[0], 2);
    cr_assert_eq(unlink(path_in("never")), 0);
}

/* As after a restart: nobody told of it, the store lists it. */
Test(lookout, what_the_store_lists_for_this_host_is_looked_at)
{
    const struct wait_plan plan = {.kind = SENSOR_FILE, .subject = path_in("listed")};
    bench_start(&bench, "{\"tasks\": {\"s\": {\"sensor\": {\"file\": \"a\","
                        " \"every\": \"100ms\"}}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    outcome.kind = OUTCOME_DEFER;
    outcome.wait = &plan;
    (void)bench_advance(&bench, &outcome, 1, 1);
    touch(plan.subject);
    begin();

    run_until_met(1);

    cr_assert_eq(met_count, 1);
    cr_assert_eq(met[0], result.claims[0].task);
    cr_assert_eq(unlink(plan.subject), 0);
}
