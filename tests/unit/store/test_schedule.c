/*
 * Runs from time: what is due becomes exactly one run, whoever asks how often, whatever the clock
 * does.
 */
#include "base/clock.h"
#include "os/thread.h"
#include "store/admission.h"
#include "store/audit.h"
#include "store/schedule_priv.h"
#include "store/store_priv.h"
#include "store_bench.h"

static struct bench_store bench;

#define HOUR_US   ((int64_t)3600000000)
#define MINUTE_US ((int64_t)60000000)

/* 2023-11-14T22:00:00Z; a clock that starts in between. */
static const int64_t START_US = (int64_t)1699999200000000;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_now_us = START_US + 20 * MINUTE_US;
    bench_open(&bench);
}

static void teardown(void)
{
    struct err err = {0};
    struct check_report report;
    EXPECT_OK(store_check(bench.store, &report, &err), &err);
    for (size_t i = 0; i < report.count; i++)
        cr_expect(false, "store check: %s: %lld", report.findings[i].rule,
                  (long long)report.findings[i].count);
    bench_close(&bench);
}

TestSuite(schedule, .init = setup, .fini = teardown);

/* Keep `dag_json`, whose id is "d" unless it says otherwise. */
static struct version_ref save_from(const char *dag_json, struct version_source source)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    EXPECT_OK(json_parse(dag_json, strlen(dag_json), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    struct version_ref ref;
    source.path = "";
    source.text = dag_json;
    EXPECT_OK(store_version_save(bench.store, dag, &source, &ref, &err), &err);
    dag_free(dag);
    return ref;
}

static struct version_ref save(const char *dag_json)
{
    return save_from(dag_json, (struct version_source){0});
}

#define DAG(keys) "{" keys ", \"tasks\": {\"a\": {\"run\": \"x\"}}}"
#define HOURLY    "\"schedule\": \"@hourly\""

static struct schedule_info info_of(const char *dag_id)
{
    struct err err = {0};
    struct schedule_info info;
    EXPECT_OK(store_schedule_load(bench.store, dag_id, &info, &err), &err);
    return info;
}

static struct due_started start_due_of(struct store *store)
{
    struct err err = {0};
    struct due_started all = {0};
    for (int i = 0; i < 1000; i++) {
        struct due_started part;
        EXPECT_OK(store_schedule_start_due(store, &part, &err), &err);
        all.runs += part.runs;
        all.waiting += part.waiting;
        all.missed += part.missed;
        all.needs_room |= part.needs_room;
        all.next_us = part.next_us;
        if (part.next_us > bench_now_us)
            return all;
    }
    cr_assert(false, "it is always due");
    return all;
}

static struct due_started start_due(void)
{
    return start_due_of(bench.store);
}

/* The moves of the hands of a clock: to the next whole hour, plus minutes. */
static void at_hour(int64_t hour, int64_t minute)
{
    bench_now_us = START_US + hour * HOUR_US + minute * MINUTE_US;
}

/* "scheduled 23:00 queued, ..." of all runs by number. */
static enum status add_run(void *context, const struct run_info *run, struct err *err)
{
    (void)err;
    const char **text = context;
    char date[INSTANT_TEXT_MAX];
    (void)instant_format(run->logical_at_us, date);
    *text = arena_format(bench.arena, "%.4s %.5s %s%s%s", run->kind, date + 11,
                         run_state_name(run->state), (*text)[0] != '\0' ? ", " : "", *text);
    return STATUS_OK;
}

static const char *runs(void)
{
    struct err err = {0};
    const char *text = "";
    struct run_filter filter = {.state = -1, .limit = 100};
    EXPECT_OK(store_run_each(bench.store, &filter, add_run, &text, &err), &err);
    return text;
}

static const char *missed_of(const char *dag_id)
{
    struct err err = {0};
    struct missed_list missed = {0};
    const char *text = "";
    EXPECT_OK(
        store_missed_list(bench.store, bench.arena, info_of(dag_id).dag_key, 10, &missed, &err),
        &err);
    for (size_t i = 0; i < missed.count; i++) {
        const struct missed_info *items = missed.items;
        char first[INSTANT_TEXT_MAX];
        char last[INSTANT_TEXT_MAX];
        (void)instant_format(items[i].first_us, first);
        (void)instant_format(items[i].last_us, last);
        text = arena_format(bench.arena, "%s%.5s-%.5s %lld %s;", text, first + 11, last + 11,
                            (long long)items[i].count, missed_why_text(items[i].why));
    }
    return text;
}

/* Claim and finish whatever can run; `exit_code` of every task. Returns how many ran. */
static size_t work_off(int exit_code)
{
    struct err err = {0};
    struct advance_request request = {.host = 7, .process_slots = 100, .inline_slots = 100};
    struct advance_result result = {0};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    struct outcome *outcomes = arena_array(bench.arena, result.claims_count + 1, sizeof *outcomes);
    for (size_t i = 0; i < result.claims_count; i++)
        outcomes[i] = bench_outcome(&result.claims[i], exit_code);
    size_t count = result.claims_count;
    struct advance_request finish = {.host = 7, .outcomes = outcomes, .outcomes_count = count};
    if (count > 0)
        EXPECT_OK(store_advance(bench.store, &finish, bench.arena, &result, &err), &err);
    return count;
}

/* What the duty does. */
static int64_t let_go(void)
{
    struct err err = {0};
    int64_t dags[10];
    size_t count = 0;
    int64_t all = 0;
    EXPECT_OK(store_admission_ready(bench.store, 0, dags, 10, &count, &err), &err);
    for (size_t i = 0; i < count; i++) {
        int64_t gone = 0;
        struct let_go_request request = {.dag_key = dags[i]};
        EXPECT_OK(store_admission_let_go(bench.store, &request, &gone, &err), &err);
        all += gone;
    }
    return all;
}

static struct run_created trigger(int64_t version, const char *kind, int64_t backfill,
                                  int64_t at_us)
{
    struct err err = {0};
    struct run_created created;
    struct run_request request = {
        .version = version,
        .kind = kind,
        .logical_at_us = at_us,
        .params = "{}",
        .conf = "{}",
        .note = "",
        .actor = "test",
        .backfill = backfill,
        .is_limited = true,
    };
    EXPECT_OK(store_run_create(bench.store, &request, &created, &err), &err);
    return created;
}

static const char *why(int64_t run)
{
    struct err err = {0};
    const char *text = NULL;
    EXPECT_OK(store_admission_why(bench.store, bench.arena, run, &text, &err), &err);
    return text != NULL ? text : "";
}

static int64_t find_at(const char *hour)
{
    struct err err = {0};
    char name[128];
    int64_t id = 0;
    (void)snprintf(name, sizeof name, "d/scheduled__2023-11-%s:00:00+00:00", hour);
    EXPECT_OK(store_run_find(bench.store, name, &id, &err), &err);
    return id;
}

/* --- ticks ----------------------------------------------------------------------------------- */

STORE_TEST(schedule, each_tick_becomes_one_run)
{
    save(DAG(HOURLY ", \"max_active_runs\": 10"));

    cr_assert_eq(start_due().runs, 0);
    cr_assert_eq(start_due().next_us, START_US + HOUR_US);
    at_hour(1, 0);
    cr_assert_eq(start_due().runs, 1);
    cr_assert_eq(start_due().runs, 0, "asking again starts nothing");
    at_hour(2, 1);
    cr_assert_eq(start_due().runs, 1, "a minute late is within the grace");

    EXPECT_STR(runs(), "sche 23:00 queued, sche 00:00 queued");
    struct err err = {0};
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct run_info run;
    int64_t id = 0;
    EXPECT_OK(store_run_find(bench.store, "d/scheduled__2023-11-14T23:00:00+00:00", &id, &err),
              &err);
    EXPECT_OK(store_run_load(bench.store, arena, id, &run, &err), &err);
    cr_assert_eq(run.interval_start_us, START_US);
    cr_assert_eq(run.interval_end_us, START_US + HOUR_US);
    EXPECT_STR(run.actor, "schedule");
    cr_assert_eq(work_off(0), 2);
}

STORE_TEST(schedule, a_dag_without_a_schedule_never_starts)
{
    save(DAG("\"title\": \"by hand\""));
    at_hour(1000, 0);
    struct due_started started = start_due();
    cr_assert_eq(started.runs, 0);
    cr_assert_eq(started.next_us, INT64_MAX);
}

STORE_TEST(schedule, what_was_missed_is_caught_up_as_the_policy_says)
{
    static const struct {
        const char *id;
        const char *catchup;
        size_t runs;
        const char *missed;
    } CASES[] = {
        {"none", "none", 0, "23:00-03:00 5 late or paused;"},
        {"latest", "latest", 1, "23:00-02:00 4 late or paused;"},
        {"all", "all", 5, ""},
        {"window", "3h", 3, "23:00-00:00 2 late or paused;"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        at_hour(0, 20);
        save(arena_format(bench.arena,
                          "{\"dag\": \"%s\", " HOURLY ", \"catchup\": \"%s\","
                          " \"max_active_runs\": 9, \"tasks\": {\"a\": {\"run\": \"x\"}}}",
                          CASES[i].id, CASES[i].catchup));
        at_hour(5, 30);
        cr_assert_eq(start_due().runs, CASES[i].runs, "%s", CASES[i].id);
        EXPECT_STR(missed_of(CASES[i].id), CASES[i].missed);
    }
}

STORE_TEST(schedule, what_lies_before_the_first_sight_is_missed_where_some_of_it_is_caught_up)
{
    static const struct {
        const char *id;
        const char *catchup;
        size_t runs;
        const char *missed;
    } CASES[] = {
        {"none", "none", 0, ""}, {"latest", "latest", 1, "00:00-02:00 3 late or paused;"},
        {"all", "all", 4, ""},   {"window", "2h", 2, "00:00-01:00 2 late or paused;"},
        {"wide", "9h", 4, ""},
    };
    at_hour(5, 30);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        save(arena_format(bench.arena,
                          "{\"dag\": \"%s\", " HOURLY ", \"catchup\": \"%s\","
                          " \"start_date\": \"2023-11-15T00:00:00Z\","
                          " \"max_active_runs\": 9, \"tasks\": {\"a\": {\"run\": \"x\"}}}",
                          CASES[i].id, CASES[i].catchup));
        cr_assert_eq(start_due().runs, CASES[i].runs, "%s", CASES[i].id);
        EXPECT_STR(missed_of(CASES[i].id), CASES[i].missed);
    }
}

STORE_TEST(schedule, a_clock_that_is_set_back_doubles_nothing_and_loses_nothing)
{
    save(DAG(HOURLY ", \"max_active_runs\": 10"));
    at_hour(1, 0);
    cr_assert_eq(start_due().runs, 1);
    at_hour(2, 0);
    cr_assert_eq(start_due().runs, 1);

    at_hour(0, 30);
    cr_assert_eq(start_due().runs, 0);
    at_hour(1, 1);
    cr_assert_eq(start_due().runs, 0);
    at_hour(2, 2);
    cr_assert_eq(start_due().runs, 0);
    at_hour(3, 0);
    cr_assert_eq(start_due().runs, 1);
    EXPECT_STR(runs(), "sche 23:00 queued, sche 00:00 queued, sche 01:00 queued");

    at_hour(10, 30);
    cr_assert_eq(start_due().runs, 0, "set forward: as after a long sleep");
    EXPECT_STR(missed_of("d"), "02:00-08:00 7 late or paused;");
}

STORE_TEST(schedule, a_date_that_has_a_run_is_left_alone)
{
    struct version_ref ref = save(DAG(HOURLY ", \"max_active_runs\": 10, \"catchup\": \"all\""));
    (void)trigger(ref.version, "backfill", 5, START_US + 2 * HOUR_US);
    struct err err = {0};
    struct run_created created;
    struct run_request named = {.version = ref.version,
                                .run_id = "scheduled__2023-11-15T01:00:00+00:00",
                                .kind = "manual",
                                .logical_at_us = bench_now_us,
                                .params = "{}",
                                .conf = "{}",
                                .note = "",
                                .actor = "test"};
    EXPECT_OK(store_run_create(bench.store, &named, &created, &err), &err);

    at_hour(4, 0);
    cr_assert_eq(start_due().runs, 2);
    EXPECT_STR(runs(),
               "back 00:00 queued, manu 22:20 queued, sche 23:00 queued, sche 02:00 queued");
    cr_assert_eq(info_of("d").cursor_us, START_US + 4 * HOUR_US);
}

STORE_TEST(schedule, a_run_from_an_event_takes_no_date)
{
    struct version_ref ref = save(DAG(HOURLY ", \"max_active_runs\": 10, \"catchup\": \"all\""));
    (void)trigger(ref.version, "event", 0, START_US + 3 * HOUR_US);
    (void)trigger(ref.version, "backfill", 5, START_US + 2 * HOUR_US);

    at_hour(4, 0);
    cr_assert_eq(start_due().runs, 3, "all but that of the backfill");
    EXPECT_STR(runs(), "even 01:00 queued, back 00:00 queued, sche 23:00 queued, sche 01:00 queued,"
                       " sche 02:00 queued");
}

STORE_TEST(schedule, many_dags_are_due_at_once)
{
    enum { DAGS = 230 };
    for (int i = 0; i < DAGS; i++)
        save(arena_format(bench.arena,
                          "{\"dag\": \"d%d\", " HOURLY ", \"tasks\": {\"a\": {\"run\": \"x\"}}}",
                          i));
    at_hour(1, 0);
    struct due_started started = start_due();
    cr_assert_eq(started.runs, DAGS);
    cr_assert_eq(started.waiting, 0);
    cr_assert_eq(started.next_us, START_US + 2 * HOUR_US);
    size_t ran = 0;
    for (size_t part; (part = work_off(0)) > 0;)
        ran += part;
    cr_assert_eq(ran, DAGS);
}

STORE_TEST(schedule, two_schedulers_start_each_tick_once)
{
    struct err err = {0};
    CLEANUP(store_closep) struct store *other = NULL;
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &other, &err), &err);
    save(DAG(HOURLY ", \"max_active_runs\": 10"));
    for (int64_t hour = 1; hour <= 6; hour++) {
        at_hour(hour, 0);
        size_t made = start_due_of(hour % 2 == 0 ? other : bench.store).runs +
                      start_due_of(hour % 2 == 0 ? bench.store : other).runs;
        cr_assert_eq(made, 1);
    }
}

/* A scheduler of its own, until nothing is due any more. */
struct racer {
    struct thread *thread;
    int64_t offset_us; /* of its dates, so that names do not collide */
    size_t runs;
    bool has_failed;
    char problem[ERR_TEXT_MAX];
};

static void race(void *context)
{
    struct racer *racer = context;
    struct err err = {0};
    CLEANUP(store_closep) struct store *store = NULL;
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    struct due_started part = {0};
    enum status status = store_open(&options, &store, &err);
    while (status == STATUS_OK && part.next_us <= bench_now_us) {
        status = store_schedule_start_due(store, &part, &err);
        racer->runs += status == STATUS_OK ? part.runs : 0;
    }
    racer->has_failed = status != STATUS_OK;
    (void)snprintf(racer->problem, sizeof racer->problem, "%s", err.text);
}

STORE_TEST(schedule, schedulers_that_race_start_each_tick_once)
{
    enum { DAGS = 150, RACERS = 4, TICKS = 3 };
    struct err err = {0};
    struct racer racers[RACERS] = {0};
    for (int i = 0; i < DAGS; i++)
        save(arena_format(bench.arena,
                          "{\"dag\": \"d%d\", " HOURLY ", \"catchup\": \"all\","
                          " \"max_active_runs\": 2, \"tasks\": {\"a\": {\"run\": \"x\"}}}",
                          i));
    at_hour(TICKS, 30);
    size_t made = 0;
    for (size_t i = 0; i < RACERS; i++)
        EXPECT_OK(thread_start("racer", race, &racers[i], &racers[i].thread, &err), &err);
    for (size_t i = 0; i < RACERS; i++) {
        thread_join(racers[i].thread);
        cr_assert(!racers[i].has_failed, "%s", racers[i].problem);
        made += racers[i].runs;
    }
    cr_assert_eq(made, (size_t)DAGS * TICKS, "%zu", made);
    struct admission_count count;
    for (int i = 0; i < DAGS; i++) {
        const char *id = arena_format(bench.arena, "d%d", i);
        EXPECT_OK(store_admission_count(bench.store, info_of(id).dag_key, 0, &count, &err), &err);
        cr_assert_eq(count.going, 2, "%s: %lld", id, (long long)count.going);
        cr_assert_eq(count.waiting, 1);
    }
}

static void trigger_one(void *context)
{
    struct racer *racer = context;
    struct err err = {0};
    CLEANUP(store_closep) struct store *store = NULL;
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    struct run_created created;
    struct run_request request = {
        .version = bench.run.id, /* set by the test */
        .kind = "manual",
        .logical_at_us = bench_now_us + racer->offset_us,
        .params = "{}",
        .conf = "{}",
        .note = "",
        .actor = "test",
        .is_limited = true,
    };
    enum status status = store_open(&options, &store, &err);
    for (int i = 0; i < 5 && status == STATUS_OK; i++) {
        status = store_run_create(store, &request, &created, &err);
        racer->runs += status == STATUS_OK && !created.is_waiting;
    }
    racer->has_failed = status != STATUS_OK;
    (void)snprintf(racer->problem, sizeof racer->problem, "%s", err.text);
}

/* Those that wait for this connection, and for those. */
static const char BLOCKED[] =
    "WITH RECURSIVE b (pid) AS (SELECT $1::bigint UNION SELECT a.pid::bigint"
    " FROM pg_stat_activity a JOIN b ON b.pid::int = ANY (pg_blocking_pids(a.pid)))"
    " SELECT count(*) - 1 FROM b";

/* Keeps everybody from making ids, so that all are under way at the same time. */
static void hold_until_all_wait(struct db *holder, struct db *watcher, int64_t racers)
{
    struct err err = {0};
    int64_t pid = 0;
    int64_t blocked = 0;
    EXPECT_OK(db_get_int(holder, 0, &pid, &err, "SELECT pg_backend_pid()", ""), &err);
    while (blocked < racers)
        EXPECT_OK(db_get_int(watcher, 0, &blocked, &err, BLOCKED, "i", pid), &err);
    EXPECT_OK(db_commit(holder, &err), &err);
}

STORE_TEST(schedule, no_race_lets_more_runs_go_than_may)
{
    enum { RACERS = 4 };
    struct err err = {0};
    struct racer racers[RACERS] = {0};
    struct version_ref ref = save(DAG("\"max_active_runs\": 3"));
    bench.run.id = ref.version;
    CLEANUP(db_closep) struct db *holder = NULL;
    CLEANUP(db_closep) struct db *watcher = NULL;
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &holder, &err), &err);
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &watcher, &err), &err);
    bool is_postgres = db_dialect(holder) == DB_POSTGRES;
    if (is_postgres) {
        EXPECT_OK(db_begin(holder, &err), &err);
        EXPECT_OK(db_do(holder, &err, "UPDATE store SET next_run = next_run", ""), &err);
    }
    size_t going = 0;
    for (size_t i = 0; i < RACERS; i++) {
        racers[i].offset_us = (int64_t)i;
        EXPECT_OK(thread_start("racer", trigger_one, &racers[i], &racers[i].thread, &err), &err);
    }
    if (is_postgres)
        hold_until_all_wait(holder, watcher, RACERS);
    for (size_t i = 0; i < RACERS; i++) {
        thread_join(racers[i].thread);
        cr_assert(!racers[i].has_failed, "%s", racers[i].problem);
        going += racers[i].runs;
    }
    cr_assert_eq(going, 3, "%zu", going);
}

/* --- versions, pause ------------------------------------------------------------------------- */

STORE_TEST(schedule, a_changed_schedule_goes_on_from_now)
{
    save(DAG(HOURLY ", \"max_active_runs\": 10, \"catchup\": \"all\""));
    at_hour(3, 30);
    save(DAG("\"schedule\": \"*/20 * * * *\", \"max_active_runs\": 10, \"catchup\": \"all\""));
    cr_assert_eq(start_due().runs, 0, "the old ticks are not made up by the new schedule");
    at_hour(3, 40);
    cr_assert_eq(start_due().runs, 1);

    save(DAG("\"schedule\": \"*/20 * * * *\", \"max_active_runs\": 9, \"catchup\": \"all\""));
    at_hour(4, 20);
    cr_assert_eq(start_due().runs, 2, "another change keeps the cursor");
    save(DAG("\"title\": \"by hand\""));
    at_hour(9, 0);
    cr_assert_eq(start_due().runs, 0);
    cr_assert_eq(info_of("d").next_us, 0);
}

STORE_TEST(schedule, a_run_in_the_foreground_does_not_schedule)
{
    save_from(DAG(HOURLY), (struct version_source){.is_foreground = true});
    at_hour(1, 0);
    cr_assert_eq(start_due().runs, 0);
    cr_assert(!info_of("d").is_offered);
    save(DAG(HOURLY));
    cr_assert(info_of("d").is_offered);
    at_hour(2, 0);
    cr_assert_eq(start_due().runs, 1);

    struct err err = {0};
    EXPECT_OK(db_begin(bench.store->db, &err), &err);
    EXPECT_OK(schedule_withdraw(bench.store, info_of("d").dag_key, &err), &err);
    EXPECT_OK(db_commit(bench.store->db, &err), &err);
    at_hour(3, 0);
    cr_assert_eq(start_due().runs, 0, "nobody offers it any more");
}

static bool set_paused(const char *dag_id, bool is_paused)
{
    struct err err = {0};
    bool changed = false;
    struct pause_request request = {.dag_id = dag_id, .is_paused = is_paused, .actor = "me"};
    EXPECT_OK(store_schedule_pause(bench.store, &request, &changed, &err), &err);
    return changed;
}

STORE_TEST(schedule, a_paused_dag_starts_nothing_and_goes_on_as_after_a_restart)
{
    save_from(DAG(HOURLY ", \"catchup\": \"latest\""),
              (struct version_source){.starts_paused = true});
    cr_assert(info_of("d").is_paused);
    at_hour(3, 30);
    cr_assert_eq(start_due().runs, 0);
    cr_assert(!set_paused("d", true), "it is paused already");
    cr_assert(set_paused("d", false));
    cr_assert_eq(start_due().runs, 1);
    EXPECT_STR(missed_of("d"), "23:00-00:00 2 late or paused;");
    cr_assert(set_paused("d", true));
    save_from(DAG(HOURLY ", \"title\": \"t\""), (struct version_source){0});
    cr_assert(info_of("d").is_paused, "a new version does not end the pause");

    struct err err = {0};
    bool changed = false;
    struct pause_request none = {.dag_id = "nobody", .actor = "me"};
    EXPECT_STATUS(STATUS_NOT_FOUND, store_schedule_pause(bench.store, &none, &changed, &err), &err);
}

/* --- overlap --------------------------------------------------------------------------------- */

STORE_TEST(schedule, runs_of_a_dag_wait_for_each_other)
{
    struct version_ref ref = save(DAG(HOURLY));
    at_hour(1, 0);
    cr_assert_eq(start_due().waiting, 0);
    at_hour(2, 0);
    cr_assert_eq(start_due().waiting, 1);
    struct run_created manual = trigger(ref.version, "manual", 0, bench_now_us + 1);
    cr_assert(manual.is_waiting);
    EXPECT_CONTAINS(why(manual.id), "1 of 1 runs of 'd' go now, 1 wait before it");

    cr_assert_eq(let_go(), 0);
    cr_assert_eq(work_off(0), 1);
    cr_assert_eq(let_go(), 1);
    cr_assert_eq(let_go(), 0);
    cr_assert_eq(work_off(1), 1, "what goes next is the older one");
    EXPECT_STR(runs(), "sche 23:00 success, sche 00:00 failed, manu 00:00 queued");
    cr_assert_eq(let_go(), 1);
    EXPECT_STR(why(manual.id), "");
    cr_assert_eq(work_off(0), 1);
}

STORE_TEST(schedule, at_the_limit_a_tick_is_skipped_if_the_schedule_says_so)
{
    save(DAG("\"schedule\": {\"cron\": \"@hourly\", \"overlap\": \"skip\"}"));
    for (int64_t hour = 1; hour <= 4; hour++) {
        at_hour(hour, 0);
        (void)start_due();
    }
    EXPECT_STR(runs(), "sche 23:00 queued");
    EXPECT_STR(missed_of("d"), "00:00-02:00 3 overlap;");
    cr_assert_eq(work_off(0), 1);
    at_hour(5, 0);
    cr_assert_eq(start_due().runs, 1);
}

STORE_TEST(schedule, runs_overlap_if_the_schedule_allows_it)
{
    save(DAG("\"schedule\": {\"cron\": \"@hourly\", \"overlap\": \"allow\"}"));
    for (int64_t hour = 1; hour <= 3; hour++) {
        at_hour(hour, 0);
        cr_assert_eq(start_due().waiting, 0);
    }
    cr_assert_eq(work_off(0), 3);
}

STORE_TEST(schedule, a_newer_run_replaces_older_ones_if_the_schedule_says_so)
{
    struct err err = {0};
    struct replaced_run replaced[5];
    size_t count = 0;
    save(DAG("\"schedule\": {\"cron\": \"@hourly\", \"overlap\": \"replace\"}"));
    at_hour(1, 0);
    (void)start_due();
    EXPECT_OK(store_admission_replaced(bench.store, replaced, 5, &count, &err), &err);
    cr_assert_eq(count, 0);
    at_hour(2, 0);
    cr_assert(start_due().needs_room);
    at_hour(3, 0);
    (void)start_due();
    EXPECT_OK(store_admission_replaced(bench.store, replaced, 5, &count, &err), &err);
    cr_assert_eq(count, 2);
    for (size_t i = 0; i < count; i++)
        EXPECT_OK(store_run_cancel(bench.store,
                                   &(struct cancel_request){.run = replaced[i].run,
                                                            .cause = CANCEL_ASKED,
                                                            .replaced_by = replaced[i].by,
                                                            .actor = "t"},
                                   &err),
                  &err);
    struct stop_info stop;
    EXPECT_OK(store_stop_load(bench.store, bench.arena, replaced[0].run, 0, &stop, &err), &err);
    EXPECT_STR(stop.actor, "t");
    cr_assert_eq(stop.at_us, bench_now_us);
    cr_assert_eq(stop.replaced_by, find_at("15T01"));
    EXPECT_STR(runs(), "sche 23:00 cancelled, sche 00:00 cancelled, sche 01:00 queued");
    cr_assert_eq(let_go(), 1);
    cr_assert_eq(work_off(0), 1);
}

STORE_TEST(schedule, what_is_caught_up_is_made_a_few_at_a_time)
{
    save(DAG(HOURLY ", \"catchup\": \"all\""));
    at_hour(100, 30);
    cr_assert_eq(start_due().runs, 20);
    cr_assert_eq(start_due().runs, 0);
    size_t ran = 0;
    for (int i = 0; i < 300; i++) {
        ran += work_off(0);
        (void)let_go();
        (void)start_due();
    }
    cr_assert_eq(ran, 100, "ran %zu", ran);
    EXPECT_STR(missed_of("d"), "");
}

/* --- the past -------------------------------------------------------------------------------- */

STORE_TEST(schedule, a_run_that_depends_on_its_past_waits_for_success)
{
    struct version_ref ref =
        save(DAG(HOURLY ", \"max_active_runs\": 5, \"depends_on_past\": true"));
    at_hour(1, 0);
    cr_assert_eq(start_due().waiting, 0, "there is nothing before the first");
    at_hour(2, 0);
    cr_assert_eq(start_due().waiting, 1);
    cr_assert_eq(work_off(1), 1);
    cr_assert_eq(let_go(), 0, "the one before has failed");
    struct run_created manual = trigger(ref.version, "manual", 0, bench_now_us + 1);
    cr_assert(!manual.is_waiting, "what was asked for by hand has no past");
    cr_assert_eq(work_off(0), 1);

    struct err err = {0};
    int64_t first = 0;
    int64_t second = 0;
    EXPECT_OK(store_run_find(bench.store, "d/scheduled__2023-11-14T23:00:00+00:00", &first, &err),
              &err);
    EXPECT_OK(store_run_find(bench.store, "d/scheduled__2023-11-15T00:00:00+00:00", &second, &err),
              &err);
    EXPECT_CONTAINS(why(second), "the run before, scheduled__2023-11-14T23:00:00+00:00, is failed");
    struct clear_result cleared;
    struct clear_request clear = {.run = first, .map_index = -1, .actor = "me"};
    EXPECT_OK(store_clear(bench.store, &clear, bench.arena, &cleared, &err), &err);
    cr_assert_eq(work_off(0), 1);
    cr_assert_eq(let_go(), 1);
    cr_assert_eq(work_off(0), 1);
}

STORE_TEST(schedule, a_run_at_the_end_of_a_line_names_the_one_that_holds_it_up)
{
    save(DAG(HOURLY ", \"max_active_runs\": 5, \"depends_on_past\": true"));
    for (int hour = 1; hour <= 4; hour++) {
        at_hour(hour, 0);
        (void)start_due();
    }
    int64_t first = find_at("14T23");
    const char *explained = arena_format(bench.arena, "eider explain %lld", (long long)first);
    EXPECT_CONTAINS(why(find_at("15T02")), explained);

    cr_assert_eq(work_off(1), 1);
    const char *wanted = arena_format(
        bench.arena, "back to run %lld, scheduled__2023-11-14T23:00:00+00:00, which is failed",
        (long long)first);
    EXPECT_CONTAINS(why(find_at("15T02")), "scheduled__2023-11-15T01:00:00+00:00, is queued");
    EXPECT_CONTAINS(why(find_at("15T02")), wanted);
    const char *retried = arena_format(bench.arena, "eider retry %lld", (long long)first);
    EXPECT_CONTAINS(why(find_at("15T02")), retried);
    EXPECT_CONTAINS(why(find_at("15T00")), retried);
}

STORE_TEST(schedule, a_task_at_the_end_of_a_line_names_the_one_that_holds_it_up)
{
    struct err err = {0};
    save("{" HOURLY ", \"max_active_runs\": 5, \"tasks\": {\"a\": {\"run\": \"x\","
         " \"depends_on_past\": true}}}");
    for (int hour = 1; hour <= 4; hour++) {
        at_hour(hour, 0);
        (void)start_due();
    }
    cr_assert_eq(work_off(1), 1);

    struct past_reason reason;
    struct run_info last;
    EXPECT_OK(store_run_load(bench.store, bench.arena, find_at("15T02"), &last, &err), &err);
    EXPECT_OK(store_past_why(bench.store, bench.arena, last.first_task, &reason, &err), &err);
    cr_assert_eq(reason.run, find_at("14T23"));
    cr_assert_eq(reason.state, TASK_FAILED);
    EXPECT_CONTAINS(reason.text, "of run scheduled__2023-11-15T01:00:00+00:00 is none and waits");
    EXPECT_CONTAINS(reason.text, "scheduled__2023-11-14T23:00:00+00:00, which is failed");
    EXPECT_CONTAINS(reason.remedy, "eider retry ");
}

static int64_t past_let_go(bool *out_left)
{
    struct err err = {0};
    int64_t count = 0;
    EXPECT_OK(store_past_let_go(bench.store, &count, out_left, &err), &err);
    return count;
}

STORE_TEST(schedule, a_task_that_depends_on_its_past_waits_for_the_same_task)
{
    struct err err = {0};
    bool left = false;
    save("{" HOURLY ", \"max_active_runs\": 5, \"tasks\": {\"a\": {\"run\": \"x\","
         " \"depends_on_past\": true}, \"b\": {\"run\": \"x\"},"
         " \"c\": {\"run\": \"x\", \"needs\": [\"b\"], \"depends_on_past\": true}}}");
    at_hour(1, 0);
    (void)start_due();
    at_hour(2, 0);
    cr_assert_eq(start_due().waiting, 0);

    /* a and b of the first, b of the second; its a waits. */
    struct advance_request request = {.host = 7, .process_slots = 9, .inline_slots = 9};
    struct advance_result result = {0};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    cr_assert_eq(result.claims_count, 3);
    cr_assert_eq(past_let_go(&left), 0);
    cr_assert(left);
    struct outcome outcomes[3];
    int64_t runs_seen[2] = {INT64_MAX, 0};
    for (size_t i = 0; i < 3; i++) {
        runs_seen[0] = MIN(runs_seen[0], result.claims[i].run);
        runs_seen[1] = MAX(runs_seen[1], result.claims[i].run);
    }
    for (size_t i = 0; i < 3; i++)
        outcomes[i] = bench_outcome(&result.claims[i], result.claims[i].node == 0);
    struct advance_request finish = {.host = 7, .outcomes = outcomes, .outcomes_count = 3};
    EXPECT_OK(store_advance(bench.store, &finish, bench.arena, &result, &err), &err);
    cr_assert_eq(past_let_go(&left), 0, "the one before has failed");
    cr_assert_eq(work_off(0), 1, "c of the first; that of the second waits for it");
    cr_assert_eq(past_let_go(&left), 1);
    cr_assert_eq(work_off(0), 1, "c of the second");

    struct mark_request mark = {
        .run = runs_seen[0], .node = 0, .map_index = -1, .state = TASK_SUCCESS, .actor = "me"};
    EXPECT_OK(store_mark(bench.store, &mark, &err), &err);
    cr_assert_eq(past_let_go(&left), 1);
    cr_assert(!left);
    cr_assert_eq(work_off(0), 1);
    EXPECT_STR(runs(), "sche 23:00 success, sche 00:00 success");
}

STORE_TEST(schedule, a_task_that_waits_for_its_past_can_be_cancelled)
{
    struct err err = {0};
    bool left = true;
    save("{" HOURLY ", \"max_active_runs\": 5,"
         " \"tasks\": {\"a\": {\"run\": \"x\", \"depends_on_past\": true}}}");
    at_hour(1, 0);
    (void)start_due();
    at_hour(2, 0);
    (void)start_due();
    int64_t second = 0;
    EXPECT_OK(store_run_find(bench.store, "d", &second, &err), &err);
    struct cancel_request cancel = {.run = second, .cause = CANCEL_ASKED, .actor = "me"};
    EXPECT_OK(store_run_cancel(bench.store, &cancel, &err), &err);
    cr_assert_eq(past_let_go(&left), 0);
    cr_assert(!left);
    EXPECT_STR(runs(), "sche 23:00 queued, sche 00:00 cancelled");
}

/* --- what people do to runs that wait -------------------------------------------------------- */

STORE_TEST(schedule, a_waiting_run_can_be_cancelled_marked_cleared_and_deleted)
{
    struct err err = {0};
    struct version_ref ref =
        save("{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", \"needs\": [\"a\"]}},"
             " \"finally\": {\"z\": {\"run\": \"x\"}}}");
    (void)trigger(ref.version, "manual", 0, bench_now_us);
    struct run_created cancelled = trigger(ref.version, "manual", 0, bench_now_us + 1);
    struct run_created marked = trigger(ref.version, "manual", 0, bench_now_us + 2);
    cr_assert(cancelled.is_waiting);

    struct cancel_request cancel = {.run = cancelled.id, .cause = CANCEL_ASKED, .actor = "me"};
    EXPECT_OK(store_run_cancel(bench.store, &cancel, &err), &err);
    EXPECT_OK(store_run_delete(bench.store, cancelled.id, "me", &err), &err);

    struct mark_request mark = {
        .run = marked.id, .node = 0, .map_index = -1, .state = TASK_SUCCESS, .actor = "me"};
    EXPECT_OK(store_mark(bench.store, &mark, &err), &err);
    cr_assert_eq(work_off(0), 1, "only a of the first: the marked one still waits");
    struct clear_result cleared;
    bool nodes[3] = {true, false, false};
    struct clear_request clear = {.run = marked.id, .nodes = nodes, .map_index = -1, .actor = "me"};
    EXPECT_OK(store_clear(bench.store, &clear, bench.arena, &cleared, &err), &err);
    EXPECT_OK(store_mark(bench.store, &mark, &err), &err);

    cr_assert_eq(work_off(0), 1);
    cr_assert_eq(work_off(0), 1);
    cr_assert_eq(let_go(), 1);
    cr_assert_eq(work_off(0), 1, "b, since a was marked");
    cr_assert_eq(work_off(0), 1, "z");
    EXPECT_STR(runs(), "manu 22:20 success, manu 22:20 success");
}

STORE_TEST(schedule, a_backfill_has_a_line_of_its_own)
{
    struct err err = {0};
    struct version_ref ref = save(DAG(HOURLY));
    for (int64_t i = 0; i < 5; i++)
        cr_assert(trigger(ref.version, "backfill", 9, START_US - i * HOUR_US).is_waiting);
    at_hour(1, 0);
    cr_assert_eq(start_due().waiting, 0, "a backfill takes no room from the schedule");
    cr_assert_eq(let_go(), 0, "and is not let go with it");

    int64_t gone = 0;
    struct let_go_request request = {
        .dag_key = ref.dag_key, .backfill = 9, .most = 2, .newest_first = true};
    EXPECT_OK(store_admission_let_go(bench.store, &request, &gone, &err), &err);
    cr_assert_eq(gone, 2);
    EXPECT_OK(store_admission_let_go(bench.store, &request, &gone, &err), &err);
    cr_assert_eq(gone, 0);
    struct admission_count count;
    EXPECT_OK(store_admission_count(bench.store, ref.dag_key, 9, &count, &err), &err);
    cr_assert_eq(count.going, 2);
    cr_assert_eq(count.waiting, 3);
    cr_assert_eq(work_off(0), 3);
    EXPECT_STR(runs(), "back 22:00 success, back 21:00 success, back 20:00 queued,"
                       " back 19:00 queued, back 18:00 queued, sche 23:00 success");
}
