/*
 * What templates see.
 */
#include "base/json.h"
#include "model/dag_roots.h"
#include "worker_bench.h"

static struct worker_bench bench;

static void setup(void)
{
    worker_bench_open(&bench);
}

static void teardown(void)
{
    worker_bench_close(&bench);
}

TestSuite(scope, .init = setup, .fini = teardown);

static const char DAG[] =
    "{\"owner\":\"ann\",\"tasks\":{\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\"},"
    "\"m\":{\"run\":\"x\",\"foreach\":[1,2]},"
    "\"t\":{\"run\":\"x\",\"needs\":[\"a\",\"b\",\"m\"],\"env_pass\":[\"EIDER_TEST_PASSED\"]}}}";

static enum status render(const char *template_text, const char **out, struct err *err)
{
    struct claim claim = worker_bench_claim(&bench, "t");
    struct attempt_scope scope = {.arena = bench.store.arena,
                                  .run = bench.run,
                                  .task = &bench.run->dag->tasks[claim.node],
                                  .claim = &claim,
                                  .vault = {.vault = bench.vault, .space = "default"}};
    struct renderer renderer = scope_renderer(&scope);
    return renderer.text(renderer.context, "run", template_text, out, err);
}

Test(scope, its_roots_are_those_that_a_file_is_checked_against)
{
    for (size_t i = 0; i < DAG_ROOTS_COUNT; i++) {
        bool found = false;
        for (size_t k = 0; k < scope_root_count(); k++)
            found |= strcmp(scope_root_name(k), DAG_ROOTS[i].name) == 0;
        cr_expect(found, "%s is allowed in files, and nothing provides it", DAG_ROOTS[i].name);
    }
    for (size_t k = 0; k < scope_root_count(); k++) {
        cr_expect_not_null(dag_root_find(scope_root_name(k)), "%s is refused in files",
                           scope_root_name(k));
        cr_expect(k == 0 || strcmp(scope_root_name(k - 1), scope_root_name(k)) < 0);
    }
}

/* a has values, b has none; m has two instances, the second without a value. */
static void play(void)
{
    bench_now_us = 1768435205250000; /* 2026-01-15 */
    worker_bench_start(&bench, DAG);
    static const struct outcome_value VALUES[] = {
        {"return_value", "[1,\"x\"]", 7}, {"rows", "12", 2}, {"__items", "1", 1}};
    struct advance_result result = bench_advance(&bench.store, NULL, 0, 10);
    for (int round = 0; round < 3; round++) {
        struct outcome outcomes[10] = {0};
        for (size_t i = 0; i < result.claims_count; i++) {
            const struct claim *claim = &result.claims[i];
            const char *id = bench.store.dag->tasks[claim->node].id;
            outcomes[i] = bench_outcome(claim, 0);
            if (strcmp(id, "a") == 0 || claim->map_index == 0) {
                outcomes[i].values = VALUES;
                outcomes[i].values_count = claim->map_index == 0 ? 1 : 3;
            }
            if (strcmp(id, "m") == 0 && claim->map_index < 0) {
                outcomes[i].kind = OUTCOME_EXPAND;
                outcomes[i].instances = 2;
            }
            if (strcmp(id, "t") == 0)
                return;
        }
        result = bench_advance(&bench.store, outcomes, result.claims_count, 10);
    }
}

Test(scope, every_name_gives_what_it_says)
{
    play();
    (void)setenv("EIDER_TEST_PASSED", "in", 1);
    (void)setenv("EIDER_TEST_HIDDEN", "out", 1);
    static const struct {
        const char *text, *wanted;
    } CASES[] = {
        {"{{ ds }} {{ ds_nodash }}", "2026-01-15 20260115"},
        {"{{ ts }}", "2026-01-15T00:00:05.250000+00:00"},
        {"{{ ts_nodash }} {{ ts_nodash_with_tz }}", "20260115T000005 20260115T000005+0000"},
        {"{{ logical_date == ts and execution_date == ts }}", "true"},
        {"{{ run_id }}", "manual__2026-01-15T00:00:05.250000+00:00"},
        {"{{ dag_run.run_id == run_id }} {{ dag_run.run_type }}", "true manual"},
        {"{{ prev_execution_date is none }} {{ next_execution_date is none }}", "true true"},
        {"{{ dag.id }} {{ dag.owner }} {{ task.id }} {{ ti.task_id }}", "d ann t t"},
        {"{{ task_instance_key_str }}", "d__t__2026-01-15"},
        {"{{ try_number }} {{ map_index }} {{ ti.try_number }}", "1 -1 1"},
        {"{{ tasks.a.rows }} {{ tasks['a'].return_value[1] }}", "12 x"},
        {"{{ tasks.a | tojson }}", "{\"return_value\":[1,\"x\"],\"rows\":12}"},
        {"{{ tasks.m.return_value | tojson }}", "[[1,\"x\"],null]"},
        {"{{ ti.xcom_pull('a')[0] }} {{ xcom_pull(task_ids='a', key='rows') }}", "1 12"},
        {"{{ task_instance.xcom_pull(['a', 'a'], 'rows') | tojson }}", "[12,12]"},
        {"{{ tasks.b.rows | default('none') }}", "none"},
        {"{{ var.value.region }} {{ var.value.n }}", "eu 5"},
        {"{{ var.json.list[1].a }} {{ var.json.n + 1 }}", "2 6"},
        {"{{ var.value.get('nope', 'else') }} {{ var.value.get('region', 'x') }}", "else eu"},
        {"{{ conn.db.host }}:{{ conn.db.port }}", "h:5432"},
        {"{{ env.EIDER_TEST_PASSED }}", "in"},
        {"{{ params | tojson }} {{ conf | tojson }} {{ dag_run.conf | tojson }}", "{} {} {}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        const char *got = NULL;
        EXPECT_OK(render(CASES[i].text, &got, &err), &err);
        EXPECT_STR(CASES[i].wanted, got);
    }
}

Test(scope, what_is_missing_is_named)
{
    play();
    static const struct {
        const char *text, *wanted;
    } CASES[] = {
        {"{{ item }}", "exists only in tasks with foreach or matrix"},
        {"{{ matrix.x }}", "exists only in tasks with foreach or matrix"},
        {"{{ tasks.b.rows }}", "task 'b' (success) has no value 'rows'"},
        {"{{ tasks.zz.rows }}", "there is no task 'zz'"},
        {"{{ tasks }}", "needs the name of a task"},
        {"{{ xcom_pull() }}", "needs a task id"},
        {"{{ xcom_pull('a', dag_id='other') }}", "DAG 'other' has no run"},
        {"{{ var.value.nope }}", "there is no variable 'nope'"},
        {"{{ var.nope }}", "var.value.NAME or var.json.NAME"},
        {"{{ var.json.region }}", "variable 'region': JSON"},
        {"{{ conn.nope.host }}", "there is no connection 'nope'"},
        {"{{ env.EIDER_TEST_HIDDEN }}", "not set or not listed in env_pass"},
        {"{{ secrets.x }}", "in 'env', in headers and in hooks only"},
        {"{{ conn.db.password }}", "conn.db.password is secret"},
        {"{{ conn['db']['uri'] }}", "conn.db.uri is secret"},
        {"{{ nope }}", "nope"},
        {"ok\n{{ nope }}", "line 2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        const char *got = "untouched";
        cr_assert_neq(render(CASES[i].text, &got, &err), STATUS_OK, "%s", CASES[i].text);
        EXPECT_CONTAINS(err.text, CASES[i].wanted);
        EXPECT_CONTAINS(err.text, "run of task 't'");
        EXPECT_STR("untouched", got);
    }
}
