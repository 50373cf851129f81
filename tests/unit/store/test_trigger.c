/*
 * Runs from events: each update counts once, for each DAG that waits for it, whoever comes in
 * between.
 */
#include "os/thread.h"
#include "store/asset.h"
#include "store/event_store.h"
#include "store/run_create_priv.h"
#include "store/schedule_priv.h"
#include "store/tiding.h"
#include "store/trigger_priv.h"
#include "store/trigger_store.h"
#include "store/webhook.h"
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

TestSuite(trigger, .init = setup, .fini = teardown);

/* --- what tests say ----------------------------------------------------------------------------
 */

/* Keep a DAG with this schedule; gives its key. */
static int64_t keep_dag(const char *id, const char *schedule)
{
    struct err err = {0};
    CLEANUP(mem_freep)
    char *text = mem_format("{\"dag\":\"%s\",\"schedule\":%s,\"tasks\":{\"a\":{\"run\":\"x\"}}}",
                            id, schedule);
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){0}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    struct version_ref ref;
    struct version_source source = {.path = "/dags/some.yaml", .text = text};
    EXPECT_OK(store_version_save(bench.store, dag, &source, &ref, &err), &err);
    dag_free(dag);
    return ref.dag_key;
}

static void emit(const char *uri)
{
    struct err err = {0};
    struct asset_emission emission = {.uri = uri, .extra = "{\"n\":1}", .actor = "test"};
    bench_now_us += 1000;
    EXPECT_OK(store_asset_emit(bench.store, &emission, &err), &err);
}

static bool is_due(int64_t dag)
{
    struct err err = {0};
    int64_t dags[100];
    size_t count = 0;
    EXPECT_OK(store_triggers_due(bench.store, dags, ARRAY_LEN(dags), &count, &err), &err);
    for (size_t i = 0; i < count; i++)
        if (dags[i] == dag)
            return true;
    return false;
}

static size_t start(int64_t dag)
{
    struct err err = {0};
    struct trigger_started started;
    EXPECT_OK(store_trigger_start(bench.store, dag, 100, &started, &err), &err);
    return started.runs;
}

static void set_paused(int64_t dag, bool paused)
{
    struct err err = {0};
    EXPECT_OK(db_begin(bench.store->db, &err), &err);
    EXPECT_OK(trigger_set_paused(bench.store, dag, paused, &err), &err);
    EXPECT_OK(db_commit(bench.store->db, &err), &err);
}

static struct run_info last_run(const char *dag_id)
{
    struct err err = {0};
    struct run_info info;
    int64_t id = 0;
    EXPECT_OK(store_run_find(bench.store, dag_id, &id, &err), &err);
    EXPECT_OK(store_run_load(bench.store, bench.arena, id, &info, &err), &err);
    return info;
}

static size_t count_causes(int64_t run)
{
    struct err err = {0};
    struct cause_list causes;
    EXPECT_OK(store_run_causes(bench.store, bench.arena, run, 1000, &causes, &err), &err);
    return causes.count;
}

static const char *missing(const char *dag_id)
{
    struct err err = {0};
    struct trigger_state state;
    EXPECT_OK(store_trigger_state(bench.store, bench.arena, dag_id, &state, &err), &err);
    return state.missing != NULL ? state.missing : "";
}

static int64_t count_runs(int64_t dag)
{
    return bench_number(&bench, "SELECT count(*) FROM run WHERE dag = $1", dag);
}

/* --- datasets ----------------------------------------------------------------------------------
 */

STORE_TEST(trigger, a_run_is_made_when_all_were_updated_and_takes_what_it_saw)
{
    int64_t dag = keep_dag("d", "{\"datasets\":[\"a\",\"b\"]}");
    emit("a");
    emit("a");
    emit("other");
    cr_assert(is_due(dag));
    cr_assert_eq(start(dag), 0);
    cr_assert(!is_due(dag), "it was looked at, and b is missing");
    EXPECT_STR("b", missing("d"));
    emit("b");
    cr_assert(is_due(dag));

    cr_assert_eq(start(dag), 1);

    struct run_info run = last_run("d");
    EXPECT_STR("dataset", run.kind);
    cr_assert_eq(run.logical_at_us, bench_now_us);
    cr_assert_eq(count_causes(run.id), 3);
    cr_assert_not_null(strstr(run.conf, "\"triggering_dataset_events\":{\"a\":[{"), "%s", run.conf);
    cr_assert_not_null(strstr(run.conf, "\"extra\":{\"n\":1}"), "%s", run.conf);
    EXPECT_STR("a and b", missing("d"));
    cr_assert(!is_due(dag));
    cr_assert_eq(start(dag), 0, "no empty run");
    emit("a");
    cr_assert_eq(start(dag), 0, "what made a run does not make another");
    emit("b");
    cr_assert_eq(start(dag), 1);
    cr_assert_eq(count_causes(last_run("d").id), 2);
}

STORE_TEST(trigger, each_dag_that_waits_takes_an_update_for_itself)
{
    int64_t first = keep_dag("first", "{\"datasets\":\"a\"}");
    int64_t second = keep_dag("second", "{\"datasets\":{\"any\":[\"a\",\"b\"]}}");
    emit("a");
    cr_assert_eq(start(first), 1);
    cr_assert_eq(start(second), 1);
    emit("b");
    cr_assert(!is_due(first));
    cr_assert_eq(start(second), 1);
}

STORE_TEST(trigger, updates_before_anybody_waited_start_nothing)
{
    emit("a");
    int64_t dag = keep_dag("d", "{\"datasets\":\"a\"}");
    cr_assert(!is_due(dag));
    cr_assert_eq(start(dag), 0);
}

STORE_TEST(trigger, a_changed_schedule_keeps_what_waits_and_is_still_asked_for)
{
    int64_t dag = keep_dag("d", "{\"datasets\":[\"a\",\"b\",\"c\"]}");
    emit("a");
    emit("c");
    cr_assert_eq(start(dag), 0);
    cr_assert(!is_due(dag));

    cr_assert_eq(keep_dag("d", "{\"datasets\":[\"a\",\"x\"]}"), dag);

    cr_assert(is_due(dag));
    cr_assert_eq(start(dag), 0);
    EXPECT_STR("x", missing("d"));
    cr_assert_eq(keep_dag("d", "{\"datasets\":[\"a\"]}"), dag);
    cr_assert_eq(start(dag), 1);
    cr_assert_eq(count_causes(last_run("d").id), 1);
    cr_assert_eq(keep_dag("d", "\"@daily\""), dag);
    emit("a");
    cr_assert(!is_due(dag));
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM trigger_watch WHERE dag = $1", dag), 0);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM trigger_pending WHERE dag = $1", dag),
                 0);
}

STORE_TEST(trigger, while_paused_nothing_is_kept_unless_catchup_says_so)
{
    int64_t plain = keep_dag("plain", "{\"datasets\":\"a\"}");
    int64_t keeps = keep_dag("keeps", "{\"datasets\":\"a\",\"catchup\":\"all\"}");
    set_paused(plain, true);
    set_paused(keeps, true);
    emit("a");
    cr_assert(!is_due(plain));
    cr_assert(!is_due(keeps));
    cr_assert_eq(start(keeps), 0);
    set_paused(plain, false);
    set_paused(keeps, false);

    cr_assert(!is_due(plain));
    cr_assert_eq(start(plain), 0);
    cr_assert(is_due(keeps));
    cr_assert_eq(start(keeps), 1);
}

STORE_TEST(trigger, what_cannot_be_a_run_is_kept_as_refused_and_not_tried_again)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    const char *text = "{\"dag\":\"d\",\"params\":{\"p\":{\"type\":\"integer\"}},"
                       "\"schedule\":{\"datasets\":\"a\"},\"tasks\":{\"a\":{\"noop\":true}}}";
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){0}, &diags);
    struct version_ref ref;
    EXPECT_OK(store_version_save(bench.store, dag,
                                 &(struct version_source){.path = "", .text = text}, &ref, &err),
              &err);
    dag_free(dag);
    emit("a");

    struct trigger_started started;
    EXPECT_OK(store_trigger_start(bench.store, ref.dag_key, 100, &started, &err), &err);

    cr_assert_eq(started.runs, 0);
    cr_assert_eq(started.refused, 1);
    cr_assert_not_null(strstr(started.why, "p: is required"), "%s", started.why);
    cr_assert(!is_due(ref.dag_key));
    cr_assert_eq(
        bench_number(&bench, "SELECT count(*) FROM event WHERE kind = $1", EVENT_TRIGGER_REFUSED),
        1);
    EXPECT_STR("d", started.dag_id);

    emit("a");
    EXPECT_OK(store_trigger_start(bench.store, ref.dag_key, 100, &started, &err), &err);
    struct trigger_state state;
    EXPECT_OK(store_trigger_state(bench.store, bench.arena, "d", &state, &err), &err);
    cr_assert_not_null(state.refusal);
    cr_assert_eq(state.refusal->at_us, bench_now_us, "the last of them");
    EXPECT_STR("a", state.refusal->what);
    EXPECT_CONTAINS(state.refusal->why, "p: is required");
}

STORE_TEST(trigger, pausing_a_dag_and_taking_its_file_away_hold_its_events)
{
    struct err err = {0};
    int64_t dag = keep_dag("d", "{\"datasets\":\"a\"}");
    struct pause_request request = {.dag_id = "d", .is_paused = true, .actor = "test"};
    bool changed = false;
    EXPECT_OK(store_schedule_pause(bench.store, &request, &changed, &err), &err);
    emit("a");
    cr_assert_eq(start(dag), 0);
    request.is_paused = false;
    EXPECT_OK(store_schedule_pause(bench.store, &request, &changed, &err), &err);
    emit("a");
    cr_assert_eq(start(dag), 1);
    cr_assert_eq(count_causes(last_run("d").id), 1);

    EXPECT_OK(db_begin(bench.store->db, &err), &err);
    EXPECT_OK(schedule_withdraw(bench.store, dag, &err), &err);
    EXPECT_OK(db_commit(bench.store->db, &err), &err);
    emit("a");
    cr_assert_eq(start(dag), 0);
    (void)keep_dag("d", "{\"datasets\":\"a\"}");
    cr_assert(!is_due(dag));
    emit("a");
    cr_assert_eq(start(dag), 1);
}

/* --- tasks -------------------------------------------------------------------------------------
 */

static void finish_with(int exit_code, const char *const *uris, size_t count)
{
    struct advance_result claimed = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(claimed.claims_count, 1);
    struct outcome outcome = bench_outcome(&claimed.claims[0], exit_code);
    outcome.datasets = uris;
    outcome.datasets_count = count;
    (void)bench_advance(&bench, &outcome, 1, 0);
}

STORE_TEST(trigger, a_task_that_succeeds_updates_its_outputs_once_and_others_do_not)
{
    static const char *const URIS[] = {"b", "a", "b"};
    struct err err = {0};
    int64_t dag = keep_dag("waits", "{\"datasets\":[\"a\",\"b\"]}");
    bench_start(&bench, "{\"dag\":\"p\",\"tasks\":{\"t\":{\"run\":\"x\"},"
                        "\"u\":{\"run\":\"x\",\"needs\":[\"t\"],\"trigger_rule\":\"all_done\"}}}");
    finish_with(1, URIS, 3);
    cr_assert(!is_due(dag));
    finish_with(0, URIS, 3);

    cr_assert_eq(start(dag), 1);

    struct cause_list causes;
    EXPECT_OK(store_run_causes(bench.store, bench.arena, last_run("waits").id, 10, &causes, &err),
              &err);
    cr_assert_eq(causes.count, 2);
    EXPECT_STR("p", causes.items[0].dag_id);
    EXPECT_STR("u", causes.items[0].task_id);
    cr_assert_eq(causes.items[0].run, bench.run.id);
    struct asset_info asset;
    EXPECT_OK(store_asset_load(bench.store, bench.arena, "b", &asset, &err), &err);
    cr_assert_eq(asset.updates, 1);
    cr_assert_eq(asset.waiters, 1);
}

STORE_TEST(trigger, news_are_told_only_when_somebody_waits)
{
    static const char *const URIS[] = {"a"};
    for (int waits = 0; waits < 2; waits++) {
        if (waits)
            (void)keep_dag("waits", "{\"datasets\":\"a\"}");
        bench_start(&bench, "{\"dag\":\"p\",\"tasks\":{\"t\":{\"run\":\"x\"}}}");
        struct advance_result claimed = bench_advance(&bench, NULL, 0, 1);
        struct outcome outcome = bench_outcome(&claimed.claims[0], 0);
        outcome.datasets = URIS;
        outcome.datasets_count = 1;
        struct advance_result done = bench_advance(&bench, &outcome, 1, 0);
        cr_assert_eq(done.has_news, waits);
    }
}

/* --- ends of runs ------------------------------------------------------------------------------
 */

static void run_other(const char *conf)
{
    bench_start(&bench, "{\"dag\":\"other\",\"tasks\":{\"t\":{\"run\":\"x\"}}}");
    CLEANUP(mem_freep)
    char *sql =
        mem_format("UPDATE run SET conf = '%s' WHERE id = %lld", conf, (long long)bench.run.id);
    bench_sql(&bench, sql);
}

STORE_TEST(trigger, every_end_of_the_other_dag_makes_a_run_with_its_date_and_conf)
{
    int64_t dag = keep_dag("d", "{\"after\":{\"dag\":\"other\",\"conf\":true}}");
    run_other("{\"k\":5}");
    int64_t first_at_us = bench_now_us - 1;
    finish_with(0, NULL, 0);
    run_other("{}");
    finish_with(1, NULL, 0);
    run_other("{}");
    finish_with(0, NULL, 0);

    cr_assert_eq(start(dag), 2, "one failed, which does not count");

    cr_assert_eq(count_runs(dag), 2);
    int64_t id = bench_number(&bench, "SELECT min(id) FROM run WHERE dag = $1", dag);
    struct err err = {0};
    struct run_info run;
    EXPECT_OK(store_run_load(bench.store, bench.arena, id, &run, &err), &err);
    cr_assert_eq(run.logical_at_us, first_at_us);
    EXPECT_STR("event", run.kind);
    cr_assert_not_null(strstr(run.conf, "\"k\":5"), "%s", run.conf);
    cr_assert_not_null(strstr(run.conf, "\"state\":\"success\""), "%s", run.conf);
    cr_assert_eq(count_causes(id), 1);
    EXPECT_STR("the end of other", missing("d"));
}

STORE_TEST(trigger, runs_that_were_made_before_somebody_waited_are_awaited_too)
{
    run_other("{}");
    int64_t dag = keep_dag("d", "{\"after\":\"other\"}");
    finish_with(0, NULL, 0);
    cr_assert_eq(start(dag), 1);
}

STORE_TEST(trigger, a_dag_that_is_not_there_yet_can_be_waited_for)
{
    int64_t dag = keep_dag("d", "{\"after\":[\"other\",\"third\"]}");
    run_other("{}");
    finish_with(0, NULL, 0);
    run_other("{}");
    finish_with(0, NULL, 0);
    cr_assert_eq(start(dag), 0);
    EXPECT_STR("the end of third", missing("d"));
    bench_start(&bench, "{\"dag\":\"third\",\"tasks\":{\"t\":{\"run\":\"x\"}}}");
    finish_with(0, NULL, 0);
    cr_assert_eq(start(dag), 1);
    cr_assert_eq(count_causes(last_run("d").id), 3);
}

STORE_TEST(trigger, runs_nobody_waits_for_are_not_marked)
{
    (void)keep_dag("d", "{\"after\":\"third\"}");
    run_other("{}");
    cr_assert_eq(bench_number(&bench, "SELECT awaited FROM run WHERE id = $1", bench.run.id), 0);
}

/* --- several at once ---------------------------------------------------------------------------
 */

STORE_TEST(trigger, two_schedulers_make_one_run_of_an_update)
{
    struct err err = {0};
    int64_t dag = keep_dag("d", "{\"datasets\":\"a\"}");
    struct store *other = NULL;
    struct store_options options = {
        .url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock, .busy_timeout_ms = 100};
    EXPECT_OK(store_open(&options, &other, &err), &err);
    emit("a");
    cr_assert(is_due(dag));
    struct trigger_started started;

    EXPECT_OK(store_trigger_start(other, dag, 100, &started, &err), &err);
    cr_assert_eq(started.runs, 1);
    cr_assert_eq(start(dag), 0);

    cr_assert_eq(count_runs(dag), 1);
    store_close(other);
}

STORE_TEST(trigger, a_scheduler_that_dies_before_its_commit_loses_and_doubles_nothing)
{
    struct err err = {0};
    int64_t dag = keep_dag("d", "{\"datasets\":\"a\"}");
    emit("a");
    struct store *dying = NULL;
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &dying, &err), &err);
    bool is_free = false;
    CLEANUP(json_decrefp) json_t *conf = json_object();
    struct trigger_cause cause = {TRIGGER_DATASET, 1, "a", RUN_QUEUED, bench_now_us};
    struct trigger_run run = {.dag_key = dag,
                              .kind = "dataset",
                              .conf = conf,
                              .logical_at_us = bench_now_us,
                              .actor = "test",
                              .causes = &cause,
                              .causes_count = 1};
    struct run_created created;
    EXPECT_OK(db_begin(dying->db, &err), &err);
    EXPECT_OK(trigger_lock(dying, dag, &is_free, &err), &err);
    EXPECT_OK(trigger_make_run(dying, &run, &created, &err), &err);
    store_close(dying);

    cr_assert_eq(count_runs(dag), 0);
    cr_assert(is_due(dag));
    cr_assert_eq(start(dag), 1);
    cr_assert_eq(count_runs(dag), 1);
}

/* Each scheduler has a connection of its own and does what is due until nothing is left. */
struct racer {
    const char *url;
    int64_t dag;
    size_t runs;
    struct thread *thread;
};

enum { RACERS = 3, RACE_UPDATES = 40 };

static void race(void *context)
{
    struct racer *racer = context;
    struct err err = {0};
    struct store *store = NULL;
    struct store_options options = {.url = racer->url, .mode = DB_READ_WRITE};
    EXPECT_OK(store_open(&options, &store, &err), &err);
    for (int64_t taken = 0; taken < RACE_UPDATES;) {
        struct trigger_started started;
        EXPECT_OK(store_trigger_start(store, racer->dag, 100, &started, &err), &err);
        racer->runs += started.runs;
        EXPECT_OK(db_get_int(store->db, 0, &taken, &err,
                             "SELECT count(*) FROM run_cause WHERE kind = 0", ""),
                  &err);
    }
    store_close(store);
}

STORE_TEST(trigger, schedulers_that_race_with_updates_take_each_of_them_once)
{
    struct err err = {0};
    struct racer racers[RACERS] = {0};
    int64_t dag = keep_dag("d", "{\"datasets\":\"a\"}");
    for (size_t i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){.url = bench.url, .dag = dag};
        EXPECT_OK(thread_start("racer", race, &racers[i], &racers[i].thread, &err), &err);
    }
    for (int i = 0; i < RACE_UPDATES; i++)
        emit("a");
    size_t runs = 0;
    for (size_t i = 0; i < RACERS; i++) {
        thread_join(racers[i].thread);
        runs += racers[i].runs;
    }

    cr_assert_eq(count_runs(dag), (int64_t)runs);
    cr_assert_leq(runs, RACE_UPDATES);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(DISTINCT source) FROM run_cause WHERE kind = $1",
                              TRIGGER_DATASET),
                 RACE_UPDATES);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM trigger_pending WHERE dag = $1", dag),
                 0);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM run r WHERE r.dag = $1 AND NOT EXISTS"
                              " (SELECT 1 FROM run_cause c WHERE c.run = r.id)",
                              dag),
                 0, "no empty run");
}

/* --- files -------------------------------------------------------------------------------------
 */

static enum arrival_verdict arrive(int64_t dag, const char *path, int64_t mtime_us)
{
    struct err err = {0};
    char why[ERR_TEXT_MAX];
    enum arrival_verdict verdict = ARRIVAL_UNASKED;
    struct file_arrival arrival = {dag, path, mtime_us, 10, 77};
    EXPECT_OK(store_file_arrived(bench.store, &arrival, &verdict, why, &err), &err);
    return verdict;
}

STORE_TEST(trigger, an_arrival_makes_one_run_however_often_it_is_told)
{
    struct err err = {0};
    int64_t dag = keep_dag("d", "{\"file\":[\"in/*.csv\",{\"path\":\"/abs\",\"settle\":\"1s\"}]}");
    struct file_watch *watches = NULL;
    size_t count = 0;
    EXPECT_OK(store_file_watches(bench.store, bench.arena, &watches, &count, &err), &err);
    cr_assert_eq(count, 2);
    EXPECT_STR("/abs", watches[0].path);
    cr_assert_eq(watches[0].settle_ms, 1000);
    EXPECT_STR("/dags/in/*.csv", watches[1].path);

    cr_assert_eq(arrive(dag, "/dags/in/1.csv", 5), ARRIVAL_STARTED);
    cr_assert_eq(arrive(dag, "/dags/in/1.csv", 5), ARRIVAL_KNOWN);
    cr_assert_eq(arrive(dag, "/dags/in/1.csv", 6), ARRIVAL_STARTED);
    cr_assert_eq(arrive(dag, "/dags/in/2.csv", 5), ARRIVAL_STARTED);

    cr_assert_eq(count_runs(dag), 3);
    cr_assert_not_null(strstr(last_run("d").conf, "\"path\":\"/dags/in/2.csv\""));
    set_paused(dag, true);
    EXPECT_OK(store_file_watches(bench.store, bench.arena, &watches, &count, &err), &err);
    cr_assert_eq(count, 0);
    cr_assert_eq(arrive(dag, "/dags/in/3.csv", 5), ARRIVAL_UNASKED);
}

/* --- webhooks ----------------------------------------------------------------------------------
 */

static enum status fire(const char *token, const char *body, const char *key,
                        struct webhook_answer *out)
{
    struct err err = {0};
    struct webhook_call call = {token, body, strlen(body), key, 0};
    return store_webhook_fire(bench.store, &call, out, &err);
}

STORE_TEST(trigger, a_call_with_the_token_makes_a_run_and_a_key_makes_one_only)
{
    struct err err = {0};
    int64_t dag = keep_dag("d", "{\"webhook\":\"git\"}");
    char token[WEBHOOK_TOKEN_MAX];
    int64_t id = 0;
    struct webhook_answer first;
    struct webhook_answer second;
    struct webhook_request request = {"d", "git", "test", NULL};
    struct webhook_request wrong = {"d", "other", "test", NULL};
    cr_assert_eq(store_webhook_create(bench.store, &wrong, &id, token, &err), STATUS_CONFLICT);
    EXPECT_OK(store_webhook_create(bench.store, &request, &id, token, &err), &err);

    cr_assert_eq(fire("ewh_wrong", "{}", NULL, &first), STATUS_DENIED);
    cr_assert_eq(fire(token, "{", NULL, &first), STATUS_INVALID);
    cr_assert_eq(fire(token, "{\"x\":1}", "k", &first), STATUS_OK);
    cr_assert_eq(fire(token, "{\"x\":2}", "k", &second), STATUS_OK);
    cr_assert(first.is_new);
    cr_assert(!second.is_new);
    cr_assert_eq(first.run, second.run);
    cr_assert_eq(fire(token, "[3]", NULL, &second), STATUS_OK);
    cr_assert_eq(fire(token, "", NULL, &second), STATUS_OK);
    cr_assert_eq(count_runs(dag), 3);

    struct webhook_info *list = NULL;
    size_t count = 0;
    EXPECT_OK(store_webhook_list(bench.store, bench.arena, "d", &list, &count, &err), &err);
    cr_assert_eq(count, 1);
    cr_assert_eq(list[0].calls, 3);
    set_paused(dag, true);
    cr_assert_eq(fire(token, "{}", NULL, &second), STATUS_CONFLICT);
    set_paused(dag, false);
    EXPECT_OK(store_webhook_delete(bench.store, id, "test", &err), &err);
    cr_assert_eq(fire(token, "{}", NULL, &second), STATUS_DENIED);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM webhook WHERE id >= $1", 0), 0);
    int64_t next = 0;
    EXPECT_OK(store_webhook_create(bench.store, &request, &next, token, &err), &err);
    cr_assert_gt(next, id, "its number is not given again");
}

Test(trigger, a_body_that_is_too_long_is_refused_before_it_is_read)
{
    struct err err = {0};
    struct webhook_answer answer;
    CLEANUP(mem_freep) char *body = mem_alloc((1 << 20) + 2);
    memset(body, ' ', (1 << 20) + 1);
    struct webhook_call call = {"t", body, (1 << 20) + 1, NULL, 0};
    cr_assert_eq(store_webhook_fire(bench.store, &call, &answer, &err), STATUS_LIMIT);
}

STORE_TEST(trigger, calls_keep_their_pace_and_what_came_before_costs_nothing)
{
    struct err err = {0};
    int64_t dag = keep_dag("d", "{\"webhook\":true}");
    char token[WEBHOOK_TOKEN_MAX];
    int64_t id = 0;
    struct webhook_answer answer = {0};
    struct webhook_request request = {"d", "default", "test", NULL};
    EXPECT_OK(store_webhook_create(bench.store, &request, &id, token, &err), &err);
    struct webhook_call call = {token, "{}", 2, "a", 2};
    EXPECT_OK(store_webhook_fire(bench.store, &call, &answer, &err), &err);
    EXPECT_OK(store_webhook_fire(bench.store, &call, &answer, &err), &err);
    call.key = "b";
    EXPECT_OK(store_webhook_fire(bench.store, &call, &answer, &err), &err);
    call.key = "c";
    cr_assert_eq(store_webhook_fire(bench.store, &call, &answer, &err), STATUS_LIMIT);
    cr_assert_gt(answer.wait_ms, 0);
    cr_assert_leq(answer.wait_ms, 30001);
    bench_now_us += answer.wait_ms * 1000;
    err = (struct err){0};
    EXPECT_OK(store_webhook_fire(bench.store, &call, &answer, &err), &err);
    cr_assert_eq(answer.wait_ms, 0);
    cr_assert_eq(count_runs(dag), 3);
}

/* --- circles --------------------------------------------------------------------------------- */

/* A task of the DAG's last run says that the dataset was updated. */
static void write_by_run(const char *dag_id, const char *uri)
{
    struct err err = {0};
    bool news = false;
    CLEANUP(tiding_list_fini) struct tiding_list list = {0};
    const struct tiding tiding = {
        .uri = uri, .run = last_run(dag_id).id, .task_id = "a", .map_index = -1};
    bench_now_us += 1000;
    tiding_list_add(&list, &tiding);
    EXPECT_OK(db_begin(bench.store->db, &err), &err);
    EXPECT_OK(tidings_save(bench.store->db, bench_now_us, &list, &news, &err), &err);
    EXPECT_OK(db_commit(bench.store->db, &err), &err);
}

static struct trigger_started start_at_most(int64_t dag, int64_t chain_most)
{
    struct err err = {0};
    struct trigger_started started;
    EXPECT_OK(store_trigger_start(bench.store, dag, chain_most, &started, &err), &err);
    return started;
}

STORE_TEST(trigger, runs_that_start_each_other_in_a_circle_are_stopped)
{
    int64_t left = keep_dag("left", "{\"datasets\":\"a\"}");
    int64_t right = keep_dag("right", "{\"datasets\":\"b\"}");
    emit("a");
    cr_assert_eq(start_at_most(left, 5).runs, 1);
    for (int i = 0; i < 2; i++) {
        write_by_run("left", "b");
        cr_assert_eq(start_at_most(right, 5).runs, 1);
        write_by_run("right", "a");
        cr_assert_eq(start_at_most(left, 5).runs, 1);
    }
    write_by_run("left", "b");
    struct trigger_started refused = start_at_most(right, 5);
    cr_assert_eq(refused.runs, 0);
    cr_assert_eq(refused.refused, 1);
    EXPECT_CONTAINS(refused.why, "5 runs have started each other within an hour");
    cr_assert(!is_due(right), "what was refused is not tried again");

    emit("b");
    cr_assert_eq(start_at_most(right, 5).runs, 1, "who comes from outside begins anew");
    write_by_run("left", "b");
    bench_now_us += (int64_t)3601 * 1000000;
    cr_assert_eq(start_at_most(right, 5).runs, 1, "what takes its time may go on");
}
