/*
 * Backfills in the store: one run per date, a few at a time, whoever works them off.
 */
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "model/event_kind.h"
#include "store/audit.h"
#include "store/backfill_store.h"
#include "store/host.h"
#include "store/queue.h"
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

TestSuite(backfill_store, .init = setup, .fini = teardown, .timeout = 60);

#define DAY_US ((int64_t)86400 * 1000000)

static const char DAILY[] =
    "{\"dag\": \"d\", \"schedule\": \"0 0 * * *\", \"tasks\": {\"a\": {\"run\": \"x\"},"
    " \"b\": {\"run\": \"x\", \"needs\": [\"a\"]}}}";

static int64_t us(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us;
}

/* The DAG, without a run in the way. */
static struct version_ref save_dag(const char *text)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    struct version_ref ref;
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    const struct version_source source = {.path = "", .text = text};
    EXPECT_OK(store_version_save(bench.store, dag, &source, &ref, &err), &err);
    dag_free(dag);
    EXPECT_OK(store_version_dag(bench.store, ref.version, &bench.dag, &err), &err);
    return ref;
}

/* The first days of 2023; the bench's clock stands in November of that year. */
static struct backfill_request request_of(const struct version_ref *ref, int64_t days)
{
    return (struct backfill_request){
        .dag_key = ref->dag_key,
        .version = ref->version,
        .from_us = us("2023-01-01"),
        .to_us = us("2023-01-01") + (days - 1) * DAY_US,
        .until_us = bench_now_us,
        .max_active = 2,
        .params = "{\"p\": 1}",
        .conf = "{}",
        .tasks = "[]",
        .note = "why",
        .reason = "",
        .actor = "ann",
        .size = days,
        .cursor_us = us("2023-01-01") - 1,
    };
}

static int64_t create(const struct backfill_request *request)
{
    struct err err = {0};
    int64_t id = 0;
    EXPECT_OK(store_backfill_create(bench.store, request, &id, &err), &err);
    return id;
}

static struct backfill_progress step_in(struct store *store, int64_t id)
{
    struct err err = {0};
    struct backfill_progress progress;
    EXPECT_OK(store_backfill_step(store, id, NULL, &progress, &err), &err);
    return progress;
}

static struct backfill_progress step(int64_t id)
{
    return step_in(bench.store, id);
}

static struct backfill_info load(int64_t id)
{
    struct err err = {0};
    struct backfill_info info;
    EXPECT_OK(store_backfill_load(bench.store, bench.arena, id, &info, &err), &err);
    return info;
}

static void change(int64_t id, enum backfill_verb verb, bool running)
{
    struct err err = {0};
    const struct backfill_change request = {
        .id = id, .verb = verb, .stops_running = running, .actor = "bob", .reason = "because"};
    EXPECT_OK(store_backfill_change(bench.store, &request, &err), &err);
}

/* Claim and finish whatever there is; tasks of failing dates fail. Returns how many runs ended. */
static int64_t work_off(int exit_code)
{
    int64_t ended = 0;
    bench.run.scope = 0;
    struct advance_result result = bench_advance(&bench, NULL, 0, 100);
    while (result.claims_count > 0 || result.runs_count > 0) {
        ended += (int64_t)result.runs_count;
        struct outcome *outcomes =
            arena_array(bench.arena, result.claims_count + 1, sizeof *outcomes);
        for (size_t i = 0; i < result.claims_count; i++)
            outcomes[i] = bench_outcome(&result.claims[i], exit_code);
        bench_now_us += 1000;
        result = bench_advance(&bench, outcomes, result.claims_count, 100);
    }
    return ended;
}

static int64_t count_runs(void)
{
    return bench_number(&bench, "SELECT count(*) FROM run WHERE kind = 'backfill' AND $1 = $1", 0);
}

/* Steps and work in turns until there is a verdict; no more may go on than were asked for. */
static enum backfill_state work_through(int64_t id, int exit_code)
{
    for (int round = 0; round < 1000; round++) {
        (void)step(id);
        struct backfill_info info = load(id);
        if (backfill_state_is_final(info.state))
            return info.state;
        cr_assert_leq(backfill_info_active(&info), info.max_active);
        cr_assert_leq(
            bench_number(&bench, "SELECT count(*) FROM run WHERE state IN (0, 1) AND $1 = $1", 0),
            info.max_active);
        (void)work_off(exit_code);
    }
    cr_assert(false, "the backfill never ends");
    return BACKFILL_STATE_COUNT;
}

static int64_t make_run(const struct version_ref *ref, const char *date, const char *kind)
{
    struct err err = {0};
    struct run_created created;
    struct run_request request = {.version = ref->version,
                                  .kind = kind,
                                  .logical_at_us = us(date),
                                  .params = "{}",
                                  .conf = "{}",
                                  .note = "",
                                  .actor = "test"};
    EXPECT_OK(store_run_create(bench.store, &request, &created, &err), &err);
    return created.id;
}

STORE_TEST(backfill_store, every_date_gets_one_run_a_few_at_a_time)
{
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 7);
    int64_t id = create(&request);

    cr_assert_eq(step(id).created, 2);
    cr_assert_eq(step(id).created, 0, "the room is used up");
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
    struct backfill_info info = load(id);
    cr_assert_eq(info.created, 7);
    cr_assert_eq(info.succeeded, 7);
    cr_assert_eq(count_runs(), 7);
    cr_assert_neq(info.ended_at_us, 0);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(DISTINCT logical_at_us) FROM run WHERE run_id LIKE"
                              " 'backfill\\_\\_2023-01-0%T00:00:00+00:00' ESCAPE '\\' AND $1 = $1",
                              0),
                 7);
}

STORE_TEST(backfill_store, runs_have_interval_params_and_note)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 1);
    (void)step(create(&request));
    struct run_info run;
    int64_t number = 0;

    EXPECT_OK(store_run_find(bench.store, "d/backfill__2023-01-01T00:00:00+00:00", &number, &err),
              &err);
    EXPECT_OK(store_run_load(bench.store, bench.arena, number, &run, &err), &err);
    cr_assert_str_eq(run.kind, "backfill");
    cr_assert_eq(run.interval_start_us, us("2022-12-31"));
    cr_assert_eq(run.interval_end_us, us("2023-01-01"));
    cr_assert_str_eq(run.params, "{\"p\": 1}");
    cr_assert_str_eq(run.note, "why");
    cr_assert_str_eq(run.actor, "backfill 1");
}

static enum status note_date(void *context, const struct backfill_date *date, struct err *err)
{
    (void)err;
    *(int64_t *)context = date->logical_at_us;
    return STATUS_OK;
}

STORE_TEST(backfill_store, the_newest_date_can_come_first)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 5);
    request.newest_first = true;
    request.cursor_us = request.to_us + 1;
    request.max_active = 1;
    int64_t id = create(&request);
    int64_t date_us = 0;

    (void)step(id);
    EXPECT_OK(store_backfill_date_each(bench.store, id, 10, note_date, &date_us, &err), &err);
    cr_assert_eq(date_us, us("2023-01-05"));
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
    cr_assert_eq(count_runs(), 5);
}

STORE_TEST(backfill_store, a_failed_run_fails_the_backfill_but_stops_nothing)
{
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 5);
    int64_t id = create(&request);

    cr_assert_eq(work_through(id, 1), BACKFILL_FAILED);
    struct backfill_info info = load(id);
    cr_assert_eq(info.failed, 5);
    cr_assert_eq(info.succeeded, 0);
}

/* Four dates: one failed, one succeeded, one goes on, one is free. */
static int64_t with_existing(enum backfill_redo redo, struct version_ref *ref)
{
    *ref = save_dag(DAILY);
    (void)make_run(ref, "2023-01-01", "scheduled");
    (void)work_off(1);
    (void)make_run(ref, "2023-01-02", "scheduled");
    (void)work_off(0);
    (void)make_run(ref, "2023-01-03", "scheduled");
    struct backfill_request request = request_of(ref, 4);
    request.redo = redo;
    request.max_active = 10;
    return create(&request);
}

STORE_TEST(backfill_store, runs_that_are_there_are_redone_as_asked)
{
    static const struct {
        enum backfill_redo redo;
        int64_t redone;
        int64_t kept;
    } CASES[] = {{REDO_NONE, 0, 3}, {REDO_FAILED, 1, 2}, {REDO_ALL, 2, 1}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct version_ref ref;
        int64_t id = with_existing(CASES[i].redo, &ref);

        (void)step(id);
        struct backfill_info info = load(id);
        cr_expect_eq(info.redone, CASES[i].redone, "redo %zu: %lld", i, (long long)info.redone);
        cr_expect_eq(info.kept, CASES[i].kept);
        cr_expect_eq(info.created, 1);
        (void)work_off(0);
        (void)step(id);
        cr_expect_eq(load(id).state, BACKFILL_SUCCESS);
        cr_expect_eq(load(id).succeeded, 1 + CASES[i].redone);
        bench_check(&bench);
        bench_close(&bench);
        bench_open(&bench);
    }
}

STORE_TEST(backfill_store, a_redo_of_what_failed_leaves_alone_what_succeeded)
{
    struct version_ref ref = save_dag(DAILY);
    int64_t run = make_run(&ref, "2023-01-01", "scheduled");
    bench.run.scope = 0;
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome good = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &good, 1, 1);
    struct outcome bad = bench_outcome(&result.claims[0], 1);
    (void)bench_advance(&bench, &bad, 1, 0);
    struct backfill_request request = request_of(&ref, 1);
    request.redo = REDO_FAILED;

    (void)step(create(&request));
    bench.run.id = run;
    EXPECT_STATE(&bench, "a", "success");
    EXPECT_STATE(&bench, "b", "queued");
    (void)work_off(0);
}

STORE_TEST(backfill_store, a_subset_of_tasks_runs_or_is_cleared_alone)
{
    struct version_ref ref = save_dag(DAILY);
    int64_t run = make_run(&ref, "2023-01-01", "scheduled");
    (void)work_off(0);
    struct backfill_request request = request_of(&ref, 2);
    request.redo = REDO_ALL;
    request.tasks = "[\"b\"]";
    int64_t id = create(&request);

    (void)step(id);
    bench.run.id = run;
    EXPECT_STATE(&bench, "a", "success");
    EXPECT_STATE(&bench, "b", "queued");
    bench.run.id =
        bench_number(&bench, "SELECT id FROM run WHERE kind = 'backfill' AND $1 = $1", 0);
    EXPECT_STATE(&bench, "a", "removed");
    EXPECT_STATE(&bench, "b", "queued");
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
}

STORE_TEST(backfill_store, a_paused_one_begins_nothing_and_a_resumed_one_goes_on)
{
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 5);
    int64_t id = create(&request);
    (void)step(id);

    change(id, VERB_PAUSE, false);
    cr_assert_eq(work_off(0), 2);
    struct backfill_progress progress = step(id);
    cr_assert_eq(progress.ended, 2, "what ran is noted all the same");
    cr_assert_eq(progress.created, 0);
    change(id, VERB_RESUME, false);
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
    cr_assert_eq(count_runs(), 5);
}

static size_t doomed(struct doomed_run *runs)
{
    struct err err = {0};
    size_t count = 0;
    EXPECT_OK(store_backfill_doomed(bench.store, runs, 10, &count, &err), &err);
    return count;
}

STORE_TEST(backfill_store, a_cancel_spares_what_runs_unless_told_otherwise)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 5);
    int64_t id = create(&request);
    struct doomed_run runs[10];
    (void)step(id);
    bench.run.scope = 0;
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);

    change(id, VERB_CANCEL, false);
    cr_assert_eq(step(id).created, 0);
    cr_assert_eq(doomed(runs), 1, "one of two has started");
    cr_assert_neq(runs[0].run, result.claims[0].run);
    change(id, VERB_CANCEL, true);
    cr_assert_eq(doomed(runs), 2);
    for (size_t i = 0; i < 2; i++)
        EXPECT_OK(store_run_cancel(bench.store,
                                   &(struct cancel_request){
                                       .run = runs[i].run, .cause = CANCEL_ASKED, .actor = "test"},
                                   &err),
                  &err);
    cr_assert_eq(doomed(runs), 0);
    cr_assert_eq(load(id).state, BACKFILL_CANCELLING);
    struct outcome outcome = bench_outcome(&result.claims[0], 1);
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert(step(id).is_over);
    cr_assert_eq(load(id).state, BACKFILL_CANCELLED);
    cr_assert_eq(load(id).cancelled, 2);
}

STORE_TEST(backfill_store, a_large_one_waits_for_approval)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 3);
    request.awaits_approval = true;
    int64_t id = create(&request);

    cr_assert_eq(step(id).created, 0);
    cr_assert_eq(load(id).started_at_us, 0);
    const struct backfill_change pause = {.id = id, .verb = VERB_PAUSE, .actor = "bob"};
    cr_assert_eq(store_backfill_change(bench.store, &pause, &err), STATUS_CONFLICT);
    cr_assert_not_null(strstr(err.text, "awaiting_approval"));
    change(id, VERB_APPROVE, false);
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
}

STORE_TEST(backfill_store, every_change_is_an_event_with_who_and_why)
{
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 1);
    int64_t id = create(&request);
    change(id, VERB_PAUSE, false);
    change(id, VERB_RESUME, false);
    (void)work_through(id, 0);

    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM event WHERE kind = $1 AND actor = 'ann'",
                              EVENT_BACKFILL_CREATED),
                 1);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM event WHERE kind = $1 AND actor = 'bob'"
                              " AND data LIKE '%because%'",
                              EVENT_BACKFILL_CHANGED),
                 2);
    cr_assert_eq(
        bench_number(&bench, "SELECT count(*) FROM event WHERE kind = $1", EVENT_BACKFILL_ENDED),
        1);
}

STORE_TEST(backfill_store, a_deleted_run_counts_as_cancelled)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 1);
    int64_t id = create(&request);
    (void)step(id);
    (void)work_off(0);
    int64_t run = bench_number(&bench, "SELECT id FROM run WHERE kind = 'backfill' AND $1 = $1", 0);

    EXPECT_OK(store_run_delete(bench.store, run, "test", &err), &err);
    (void)step(id);
    cr_assert_eq(load(id).cancelled, 1);
    cr_assert_eq(load(id).state, BACKFILL_FAILED);
}

/* --- who comes first ------------------------------------------------------------------------- */

STORE_TEST(backfill_store, production_comes_before_a_backfill_of_the_same_queue)
{
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 5);
    request.max_active = 5;
    (void)step(create(&request));
    bench_now_us += 1000000;
    int64_t production = make_run(&ref, "2023-10-01", "manual");

    bench.run.scope = 0;
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(result.claims[0].run, production, "though it is younger");
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &outcome, 1, 1);
    cr_assert_eq(result.claims[0].run, production, "its second task, too");
    outcome = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &outcome, 1, 0);
    (void)work_off(0);
}

STORE_TEST(backfill_store, its_runs_wait_in_its_own_queue)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    int64_t bound = 1;
    const struct queue_change lane = {.name = "slow", .max_running = &bound, .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &lane, true, &err), &err);
    struct queue_info queue;
    EXPECT_OK(store_queue_load(bench.store, bench.arena, "slow", &queue, &err), &err);
    int64_t redone = make_run(&ref, "2023-01-01", "scheduled");
    (void)work_off(1);
    struct backfill_request request = request_of(&ref, 3);
    request.queue = queue.id;
    request.redo = REDO_ALL;
    request.max_active = 3;
    int64_t id = create(&request);

    (void)step(id);
    cr_assert_eq(bench_number(&bench, "SELECT queue FROM run WHERE id = $1", redone), queue.id);
    cr_assert_eq(
        bench_number(&bench,
                     "SELECT count(*) FROM ready r JOIN lane l ON l.id = r.lane WHERE l.queue = $1",
                     queue.id),
        3);
    cr_assert_eq(store_queue_delete(bench.store, "slow", "test", &err), STATUS_CONFLICT);
    bench.run.scope = 0;
    struct advance_result result = bench_advance(&bench, NULL, 0, 10);
    cr_assert_eq(result.claims_count, 1, "the bound of its queue holds");
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
}

/* Held by max_parallel, its instances stand at the gate with the same rank as in the queue. */
STORE_TEST(backfill_store, mapped_tasks_of_a_backfill_pass_their_gate)
{
    struct version_ref ref = save_dag("{\"dag\": \"d\", \"schedule\": \"0 0 * * *\", \"tasks\":"
                                      " {\"m\": {\"run\": \"x\", \"foreach\": [1, 2, 3],"
                                      " \"max_parallel\": 1, \"priority\": 3}}}");
    struct backfill_request request = request_of(&ref, 1);
    int64_t id = create(&request);
    (void)step(id);
    bench.run.scope = 0;
    static const struct bench_script script[] = {{.task = "m", .expand = 3}, {NULL}};

    cr_assert_eq(bench_drain(&bench, script, 10), RUN_SUCCESS);
    (void)step(id);
    cr_assert_eq(load(id).state, BACKFILL_SUCCESS);
}

/* --- several at once ------------------------------------------------------------------------- */

/* The schedule may have been quicker; and somebody may have used up the name. */
STORE_TEST(backfill_store, a_name_that_is_taken_gets_a_number)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct run_created created;
    struct run_request manual = {.version = ref.version,
                                 .run_id = "backfill__2023-01-01T00:00:00+00:00",
                                 .kind = "manual",
                                 .logical_at_us = us("2023-01-01"),
                                 .params = "{}",
                                 .conf = "{}",
                                 .note = "",
                                 .actor = "test"};
    EXPECT_OK(store_run_create(bench.store, &manual, &created, &err), &err);
    struct backfill_request request = request_of(&ref, 1);
    int64_t id = create(&request);

    cr_assert_eq(step(id).created, 1);
    (void)work_off(0);
}

enum { RACERS = 4, RACE_DATES = 120 };

/* Works it off with a connection of its own until it is over; the first is killed on its way. */
static void race(int64_t id, int index)
{
    struct err err = {0};
    struct store *store = NULL;
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    if (store_open(&options, &store, &err) != STATUS_OK)
        _exit(1);
    for (int round = 0;; round++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct backfill_progress progress;
        struct backfill_info info;
        if (index == 0 && round == 3)
            (void)raise(SIGKILL);
        if (store_backfill_step(store, id, NULL, &progress, &err) != STATUS_OK &&
            err.code != STATUS_BUSY)
            _exit(2);
        if (store_backfill_load(store, arena, id, &info, &err) != STATUS_OK)
            _exit(3);
        if (info.is_spent)
            _exit(0);
    }
}

STORE_TEST(backfill_store, several_schedulers_make_one_run_per_date)
{
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, RACE_DATES);
    request.max_active = 1000;
    int64_t id = create(&request);
    pid_t racers[RACERS];
    for (int i = 0; i < RACERS; i++) {
        racers[i] = fork();
        cr_assert_geq(racers[i], 0);
        if (racers[i] == 0)
            race(id, i);
    }

    /* The schedule makes some of the same runs. */
    for (int64_t day = 0; day < RACE_DATES; day += 10) {
        struct err err = {0};
        struct run_created created;
        struct run_request run = {.version = ref.version,
                                  .kind = "scheduled",
                                  .logical_at_us = request.from_us + day * DAY_US,
                                  .params = "{}",
                                  .conf = "{}",
                                  .note = "",
                                  .actor = "test"};
        enum status status = store_run_create(bench.store, &run, &created, &err);
        cr_assert(status == STATUS_OK || status == STATUS_CONFLICT, "%s", err.text);
    }
    for (int i = 0; i < RACERS; i++) {
        int how = 0;
        cr_assert_eq(waitpid(racers[i], &how, 0), racers[i]);
        cr_assert(WIFSIGNALED(how) || WEXITSTATUS(how) == 0, "racer %d: %d", i, how);
    }
    struct backfill_info info = load(id);
    cr_assert_eq(info.created + info.kept, RACE_DATES);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM run WHERE dag = $1", ref.dag_key),
                 RACE_DATES);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM backfill_run WHERE backfill = $1", id),
                 RACE_DATES);
}

/* --- looking --------------------------------------------------------------------------------- */

STORE_TEST(backfill_store, a_survey_tells_what_would_happen)
{
    struct err err = {0};
    struct version_ref ref;
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    (void)with_existing(REDO_NONE, &ref);
    EXPECT_OK(timetable_of_dag(bench.dag, NULL, &timetable, &err), &err);
    struct backfill_survey survey;
    struct backfill_question question = {.range = {.timetable = timetable,
                                                   .from_us = us("2023-01-01"),
                                                   .to_us = us("2023-01-08"),
                                                   .until_us = bench_now_us,
                                                   .newest_first = true},
                                         .redo = REDO_FAILED,
                                         .dag_key = ref.dag_key,
                                         .most = 100};

    EXPECT_OK(store_backfill_survey(bench.store, &question, &survey, &err), &err);
    cr_assert_eq(survey.size, 8);
    cr_assert_eq(survey.actions[ACTION_CREATE], 5);
    cr_assert_eq(survey.actions[ACTION_REDO], 1);
    cr_assert_eq(survey.actions[ACTION_KEEP], 2);
    cr_assert_eq(survey.existing[RUN_FAILED], 1);
    cr_assert_eq(survey.existing[RUN_SUCCESS], 1);
    cr_assert_eq(survey.existing[RUN_QUEUED], 1);
    cr_assert_eq(survey.first_us, us("2023-01-01"));
    cr_assert_eq(survey.last_us, us("2023-01-08"));
    question.most = 3;
    EXPECT_OK(store_backfill_survey(bench.store, &question, &survey, &err), &err);
    cr_assert_eq(survey.size, 4, "counting stops");
}

STORE_TEST(backfill_store, only_those_with_something_to_do_are_due)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    int64_t ids[10];
    size_t count = 9;
    bool goes_on = true;
    EXPECT_OK(store_backfill_due(bench.store, ids, 10, &count, &goes_on, &err), &err);
    cr_assert(count == 0 && !goes_on);
    struct backfill_request request = request_of(&ref, 3);
    int64_t id = create(&request);

    EXPECT_OK(store_backfill_due(bench.store, ids, 10, &count, &goes_on, &err), &err);
    cr_assert(count == 1 && ids[0] == id && goes_on);
    (void)step(id);
    EXPECT_OK(store_backfill_due(bench.store, ids, 10, &count, &goes_on, &err), &err);
    cr_assert(count == 0 && goes_on, "its room is used up");
    (void)work_off(0);
    EXPECT_OK(store_backfill_due(bench.store, ids, 10, &count, &goes_on, &err), &err);
    cr_assert_eq(count, 1, "runs ended");
    (void)work_through(id, 0);
    EXPECT_OK(store_backfill_due(bench.store, ids, 10, &count, &goes_on, &err), &err);
    cr_assert(count == 0 && !goes_on);
}

STORE_TEST(backfill_store, how_long_runs_take_is_the_middle_of_the_last)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    int64_t usual_ms = -1;
    EXPECT_OK(store_dag_usual_ms(bench.store, ref.dag_key, &usual_ms, &err), &err);
    cr_assert_eq(usual_ms, 0);
    static const char *const DATES[] = {"2023-01-01", "2023-01-02", "2023-01-03"};
    for (size_t i = 0; i < ARRAY_LEN(DATES); i++)
        (void)make_run(&ref, DATES[i], "scheduled");
    (void)work_off(0);
    bench_sql(&bench, "UPDATE run SET ended_at_us = started_at_us + 5000000;"
                      "UPDATE run SET ended_at_us = started_at_us + 90000000 WHERE id = 1;"
                      "UPDATE run SET ended_at_us = started_at_us + 7000000 WHERE id = 2;");

    EXPECT_OK(store_dag_usual_ms(bench.store, ref.dag_key, &usual_ms, &err), &err);
    cr_assert_eq(usual_ms, 7000);
}

STORE_TEST(backfill_store, how_long_runs_take_is_not_that_of_runs_done_in_part)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 3);
    (void)work_through(create(&request), 0);
    bench_sql(&bench, "UPDATE run SET ended_at_us = started_at_us + 5000000;");
    request.redo = REDO_ALL;
    request.to_us -= DAY_US;
    request.size = 2;
    bench_now_us += DAY_US;
    (void)work_through(create(&request), 0);

    int64_t usual_ms = -1;
    EXPECT_OK(store_dag_usual_ms(bench.store, ref.dag_key, &usual_ms, &err), &err);
    cr_assert_eq(usual_ms, 5000, "%lld", (long long)usual_ms);
    request.to_us += DAY_US;
    request.size = 3;
    bench_now_us += DAY_US;
    (void)work_through(create(&request), 0);
    EXPECT_OK(store_dag_usual_ms(bench.store, ref.dag_key, &usual_ms, &err), &err);
    cr_assert(usual_ms > 0 && usual_ms < 5000, "all were redone: %lld", (long long)usual_ms);
}

static void retry_run(int64_t run)
{
    struct err err = {0};
    struct clear_result cleared;
    struct clear_request request = {.run = run, .map_index = -1, .actor = "ann"};
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &cleared, &err), &err);
    cr_assert_gt(cleared.count, 0);
}

static const char *held(int64_t id)
{
    struct err err = {0};
    const char *text = NULL;
    struct backfill_info info = load(id);
    EXPECT_OK(store_backfill_held(bench.store, bench.arena, &info, &text, &err), &err);
    return text != NULL ? text : "";
}

static const char OF_THE_PAST[] =
    "{\"dag\": \"d\", \"schedule\": \"0 0 * * *\", \"depends_on_past\": true,"
    " \"tasks\": {\"a\": {\"run\": \"x\"}}}";

STORE_TEST(backfill_store, a_failed_date_that_was_mended_counts_as_it_ended_then)
{
    struct version_ref ref = save_dag(OF_THE_PAST);
    struct backfill_request request = request_of(&ref, 3);
    request.max_active = 3;
    int64_t id = create(&request);
    (void)step(id);
    EXPECT_STR(held(id), "");
    cr_assert_eq(work_off(1), 1);
    (void)step(id);
    cr_assert_eq(load(id).failed, 1);
    int64_t first = bench_number(&bench, "SELECT min(id) FROM run WHERE id > $1", 0);
    const char *command = arena_format(bench.arena, "`eider retry %lld`", (long long)first);
    EXPECT_CONTAINS(held(id), command);
    EXPECT_CONTAINS(held(id), "is failed");

    retry_run(first);
    cr_assert_eq(load(id).failed, 0, "it is open again");
    EXPECT_STR(held(id), "");
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
    struct backfill_info info = load(id);
    cr_assert_eq(info.succeeded, 3);
    cr_assert_eq(info.failed, 0);
}

STORE_TEST(backfill_store, one_that_ended_as_failed_goes_on_with_what_is_mended)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 2);
    int64_t id = create(&request);
    cr_assert_eq(work_through(id, 1), BACKFILL_FAILED);
    int64_t first = bench_number(&bench, "SELECT min(id) FROM run WHERE id > $1", 0);

    retry_run(first);
    cr_assert_eq(load(id).state, BACKFILL_RUNNING);
    cr_assert_eq(load(id).ended_at_us, 0);
    cr_assert_eq(work_through(id, 0), BACKFILL_FAILED, "the other date is as it was");
    retry_run(bench_number(&bench, "SELECT max(id) FROM run WHERE id > $1", 0));
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
    cr_assert_eq(load(id).succeeded, 2);
    bool only_a[] = {true, false};
    struct clear_result cleared;
    struct clear_request again = {.run = first, .nodes = only_a, .map_index = -1, .actor = "ann"};
    EXPECT_OK(store_clear(bench.store, &again, bench.arena, &cleared, &err), &err);
    cr_assert_eq(load(id).state, BACKFILL_SUCCESS, "what succeeded keeps its verdict");
}

static enum status count_row(void *context, const struct event_row *row, bool *out_enough,
                             struct err *err)
{
    (void)err;
    (void)row;
    (void)out_enough;
    ++*(int64_t *)context;
    return STATUS_OK;
}

static int64_t audited(const struct audit_filter *filter)
{
    struct err err = {0};
    int64_t count = 0;
    EXPECT_OK(store_audit_each(bench.store, filter, count_row, &count, &err), &err);
    return count;
}

STORE_TEST(backfill_store, what_it_does_by_itself_is_under_its_own_name)
{
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 3);
    int64_t before = audited(&(struct audit_filter){0});
    int64_t first = create(&request);
    (void)work_through(first, 0);
    request.redo = REDO_ALL;
    int64_t second = create(&request);
    (void)work_through(second, 0);

    cr_assert_eq(audited(&(struct audit_filter){0}), before + 2, "people made two backfills");
    cr_assert_eq(audited(&(struct audit_filter){.actor = "ann"}), 2);
    cr_assert_eq(audited(&(struct audit_filter){.actor = "backfill"}), 3 + 6,
                 "runs of the one, cleared tasks of the other");
    const char *name = arena_format(bench.arena, "backfill %lld", (long long)second);
    cr_assert_eq(audited(&(struct audit_filter){.actor = name}), 6);
}

STORE_TEST(backfill_store, nothing_of_a_dag_whose_file_is_gone_begins)
{
    struct err err = {0};
    int64_t ids[10];
    size_t count = 0;
    bool goes_on = false;
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 3);
    int64_t id = create(&request);
    bench_sql(&bench, "UPDATE dag SET active = 0");

    cr_assert_eq(step(id).created, 0);
    EXPECT_OK(store_backfill_due(bench.store, ids, 10, &count, &goes_on, &err), &err);
    cr_assert(count == 0 && goes_on);
    EXPECT_CONTAINS(held(id), "'d' is inactive");
    bench_sql(&bench, "UPDATE dag SET active = 1");
    EXPECT_STR(held(id), "");
    cr_assert_eq(work_through(id, 0), BACKFILL_SUCCESS);
}

STORE_TEST(backfill_store, the_number_of_one_that_is_gone_is_not_given_again)
{
    struct err err = {0};
    struct version_ref ref = save_dag(DAILY);
    struct backfill_request request = request_of(&ref, 1);
    int64_t first = create(&request);
    (void)work_through(first, 0);
    EXPECT_OK(store_backfill_forget(bench.store, first, "ann", &err), &err);

    cr_assert_gt(create(&request), first);
}
