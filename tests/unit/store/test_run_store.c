/*
 * Runs as a whole: their names, how they are found, and what a selection leaves out.
 */
#include "base/strbuf.h"
#include "model/limits.h"
#include "store/host_name.h"
#include "store/overview.h"
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

TestSuite(run_store, .init = setup, .fini = teardown);

enum { LOGICAL_US = 0 };

/* A run of the DAG `dag_id`, which has tasks a, b after a, c after a and b, all simple. */
static enum status start(const char *dag_id, const char *run_id, const char *kind,
                         const bool *selected, struct err *err)
{
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    const char *text = arena_format(bench.arena,
                                    "{\"dag\": \"%s\", \"tasks\": {\"a\": {\"run\": \"x\"},"
                                    " \"b\": {\"run\": \"x\", \"needs\": [\"a\"]},"
                                    " \"c\": {\"run\": \"x\", \"needs\": [\"a\", \"b\"]}}}",
                                    dag_id);
    EXPECT_OK(json_parse(text, strlen(text), &tree, err), err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){0}, &diags);
    struct version_ref ref;
    struct version_source source = {.path = "", .text = text};
    EXPECT_OK(store_version_save(bench.store, dag, &source, &ref, err), err);
    dag_free(dag);
    EXPECT_OK(store_version_dag(bench.store, ref.version, &bench.dag, err), err);
    struct run_request request = {.version = ref.version,
                                  .run_id = run_id,
                                  .kind = kind,
                                  .logical_at_us = LOGICAL_US,
                                  .params = "{}",
                                  .conf = "{}",
                                  .note = "",
                                  .actor = "test",
                                  .scope = -1,
                                  .selected = selected};
    return store_run_create(bench.store, &request, &bench.run, err);
}

static int64_t start_named(const char *dag_id, const char *run_id)
{
    struct err err = {0};
    EXPECT_OK(start(dag_id, run_id, "manual", NULL, &err), &err);
    return bench.run.id;
}

STORE_TEST(run_store, a_run_is_found_by_what_people_type)
{
    int64_t first = start_named("orders", "monday");
    int64_t second = start_named("orders", "shared");
    int64_t other = start_named("stock", "shared");
    int64_t named_as_dag = start_named("monday2", "orders");
    int64_t number_dag = start_named("9000", "x");
    struct err err = {0};
    const struct {
        const char *text;
        int64_t id;
    } FOUND[] = {
        {arena_format(bench.arena, "%lld", (long long)first), first},
        {arena_format(bench.arena, "%lld", (long long)other), other},
        {"orders/monday", first},
        {"orders/shared", second},
        {"stock/shared", other},
        {"orders", second}, /* the latest; and a DAG comes before a run id */
        {"stock", other},
        {"monday", first},
        {"monday2/orders", named_as_dag},
        {"9000", number_dag},
    };
    for (size_t i = 0; i < ARRAY_LEN(FOUND); i++) {
        int64_t id = 0;
        EXPECT_OK(store_run_find(bench.store, FOUND[i].text, &id, &err), &err);
        cr_assert_eq(id, FOUND[i].id, "%s: %lld, not %lld", FOUND[i].text, (long long)id,
                     (long long)FOUND[i].id);
    }
    static const struct {
        const char *text;
        enum status status;
        const char *part;
    } MISSED[] = {
        {"shared", STATUS_INVALID, "several runs are called 'shared': "},
        {"shared", STATUS_INVALID, "orders/shared"},
        {"shared", STATUS_INVALID, "stock/shared"},
        {"order", STATUS_NOT_FOUND, "did you mean 'orders'?"},
        {"nothing-like-it", STATUS_NOT_FOUND, "no run 'nothing-like-it'"},
        {"orders/tuesday", STATUS_NOT_FOUND, "DAG 'orders' has no run 'tuesday'"},
        {"orders/", STATUS_NOT_FOUND, "has no run ''"},
        {"/monday", STATUS_NOT_FOUND, "DAG '' has no run"},
        {"123456", STATUS_NOT_FOUND, "there is no run 123456"},
        {"0", STATUS_NOT_FOUND, "no run '0'"},
        {"", STATUS_NOT_FOUND, "no run ''"},
        {"99999999999999999999", STATUS_NOT_FOUND, "no run"},
        {"o' OR 1=1 --", STATUS_NOT_FOUND, "no run"},
    };
    for (size_t i = 0; i < ARRAY_LEN(MISSED); i++) {
        int64_t id = 77;
        EXPECT_STATUS(MISSED[i].status, store_run_find(bench.store, MISSED[i].text, &id, &err),
                      &err);
        EXPECT_CONTAINS(err.text, MISSED[i].part);
        cr_assert_eq(id, 77, "%s", MISSED[i].text);
    }
}

STORE_TEST(run_store, a_dag_without_runs_is_told_from_none_at_all)
{
    struct err err = {0};
    int64_t id = 0;
    EXPECT_STATUS(STATUS_INVALID,
                  start("orders", NULL, "manual", (const bool[]){false, false, false}, &err), &err);
    EXPECT_CONTAINS(err.text, "no task of DAG 'orders' is left to run");

    EXPECT_STATUS(STATUS_NOT_FOUND, store_run_find(bench.store, "orders", &id, &err), &err);
    EXPECT_CONTAINS(err.text, "DAG 'orders' has no runs yet");
}

STORE_TEST(run_store, ids_from_dates_are_told_apart_and_given_ones_are_not_changed)
{
    struct err err = {0};
    static const char *const WANTED[] = {"manual__1970-01-01T00:00:00+00:00",
                                         "manual__1970-01-01T00:00:00+00:00__2",
                                         "manual__1970-01-01T00:00:00+00:00__3"};
    for (size_t i = 0; i < ARRAY_LEN(WANTED); i++) {
        EXPECT_OK(start("orders", NULL, "manual", NULL, &err), &err);
        EXPECT_STR(WANTED[i], bench.run.run_id);
    }
    /* Another DAG has names of its own. */
    EXPECT_OK(start("stock", NULL, "manual", NULL, &err), &err);
    EXPECT_STR(WANTED[0], bench.run.run_id);

    EXPECT_OK(start("orders", "mine", "manual", NULL, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, start("orders", "mine", "manual", NULL, &err), &err);
    EXPECT_CONTAINS(err.text, "'mine'");
    EXPECT_STATUS(STATUS_CONFLICT, start("orders", WANTED[1], "manual", NULL, &err), &err);
    EXPECT_OK(start("stock", "mine", "manual", NULL, &err), &err);
    /* A schedule makes one run per date. */
    EXPECT_OK(start("orders", NULL, "scheduled", NULL, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, start("orders", NULL, "scheduled", NULL, &err), &err);
}

STORE_TEST(run_store, an_id_has_only_signs_that_are_safe_in_a_path)
{
    static const char *const GOOD[] = {"manual__2025-01-15T00:00:00+00:00", "_a.b~c@d", "1"};
    static const char *const BAD[] = {"", "x y", "a/b", "-x", "x\n", "\xc3\xa4"};
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        EXPECT_OK(start("orders", GOOD[i], "manual", NULL, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
        EXPECT_STATUS(STATUS_INVALID, start("orders", BAD[i], "manual", NULL, &err), &err);
}

STORE_TEST(run_store, an_id_has_its_longest_length)
{
    struct err err = {0};
    char id[LIMIT_ID_BYTES + 2];
    memset(id, 'x', sizeof id);
    id[LIMIT_ID_BYTES + 1] = '\0';
    EXPECT_STATUS(STATUS_INVALID, start("orders", id, "manual", NULL, &err), &err);
    EXPECT_CONTAINS(err.text, "at most 250");

    id[LIMIT_ID_BYTES] = '\0';
    EXPECT_OK(start("orders", id, "manual", NULL, &err), &err);
    EXPECT_STR(id, bench.run.run_id);
}

STORE_TEST(run_store, what_is_not_selected_is_removed_and_no_parent)
{
    struct err err = {0};
    EXPECT_OK(start("orders", NULL, "manual", (const bool[]){false, true, true}, &err), &err);

    EXPECT_STATE(&bench, "a", "removed");
    cr_assert_eq(bench_row(&bench, "a", -1).reason, REASON_NOT_SELECTED);
    EXPECT_STATE(&bench, "b", "queued");
    cr_assert_eq(bench_row(&bench, "b", -1).counts.total, 0);
    cr_assert_eq(bench_row(&bench, "c", -1).counts.total, 1);
    bench_check(&bench);

    cr_assert_eq(bench_drain(&bench, NULL, 5), RUN_SUCCESS);
    EXPECT_STATE(&bench, "a", "removed");
    EXPECT_STATE(&bench, "c", "success");
}

/* All tasks and instances, however many of them have rows. */
static struct tally tally_of(void)
{
    struct err err = {0};
    struct run_info info;
    struct tally tally = {0};
    EXPECT_OK(store_run_load(bench.store, bench.arena, bench.run.id, &info, &err), &err);
    EXPECT_OK(store_tally(bench.store, &info, &tally, &err), &err);
    return tally;
}

STORE_TEST(run_store, instances_are_counted_before_they_have_rows)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}}}");
    cr_assert_eq(tally_of().total, 1);
    struct advance_result first = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&first.claims[0], 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 3;

    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(tally_of().total, 3);
    cr_assert_eq(tally_of().states[TASK_NONE], 3);
    bench_check(&bench);

    (void)bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(tally_of().total, 3);
    cr_assert_eq(tally_of().states[TASK_NONE], 2);
    cr_assert_eq(tally_of().states[TASK_RUNNING], 1);
}

struct listing {
    char text[200];
};

static enum status list_run(void *context, const struct run_info *info, struct err *err)
{
    (void)err;
    struct listing *listing = context;
    size_t used = strlen(listing->text);
    (void)snprintf(listing->text + used, sizeof listing->text - used, "%s/%s ", info->dag_id,
                   info->run_id);
    return STATUS_OK;
}

STORE_TEST(run_store, lists_are_newest_first_and_filtered)
{
    struct err err = {0};
    (void)start_named("orders", "r1");
    int64_t second = start_named("orders", "r2");
    (void)start_named("stock", "r3");
    cr_assert_eq(bench_drain(&bench, NULL, 5), RUN_SUCCESS);
    const struct {
        struct run_filter filter;
        const char *wanted;
    } CASES[] = {
        {{.state = -1, .limit = 10}, "stock/r3 orders/r2 orders/r1 "},
        {{.state = -1, .limit = 2}, "stock/r3 orders/r2 "},
        {{.state = -1, .limit = 0}, ""},
        {{.state = -1, .limit = 10, .before = second}, "orders/r1 "},
        {{.state = -1, .limit = 10, .dag_id = "orders"}, "orders/r2 orders/r1 "},
        {{.state = RUN_SUCCESS, .limit = 10}, "stock/r3 "},
        {{.active_only = true, .limit = 10}, "orders/r2 orders/r1 "},
        {{.state = -1, .limit = 10, .dag_id = "none"}, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct listing listing = {.text = ""};
        EXPECT_OK(store_run_each(bench.store, &CASES[i].filter, list_run, &listing, &err), &err);
        cr_assert_str_eq(listing.text, CASES[i].wanted, "case %zu: %s", i, listing.text);
    }
}

STORE_TEST(run_store, many_are_loaded_at_once_and_those_that_are_gone_are_left_out)
{
    struct err err = {0};
    EXPECT_OK(start("one", "first", "manual", NULL, &err), &err);
    int64_t first = bench.run.id;
    EXPECT_OK(start("two", "second", "manual", NULL, &err), &err);
    int64_t second = bench.run.id;
    struct run_wanted wanted[] = {{.id = first - 1, .arena = bench.arena},
                                  {.id = first, .arena = bench.arena},
                                  {.id = second, .arena = bench.arena},
                                  {.id = second + 1, .arena = bench.arena}};
    EXPECT_OK(store_runs_load(bench.store, wanted, ARRAY_LEN(wanted), &err), &err);
    cr_expect_not(wanted[0].is_found);
    cr_expect_not(wanted[3].is_found);
    cr_assert(wanted[1].is_found);
    cr_assert(wanted[2].is_found);
    cr_expect_eq(wanted[1].info.id, first);
    cr_expect_str_eq(wanted[1].info.dag_id, "one");
    cr_expect_str_eq(wanted[2].info.run_id, "second");
    EXPECT_OK(store_runs_load(bench.store, &wanted[3], 1, &err), &err);
    cr_expect_not(wanted[3].is_found);
}

static enum status add_place(void *context, const struct run_row *run, const struct task_row *task,
                             struct err *err)
{
    (void)err;
    cr_assert_eq(run->id, bench.run.id);
    strbuf_addf(context, "%s[%lld]:%s ", run->dag->tasks[task->node].id, (long long)task->map_index,
                task_state_name(task->state));
    return STATUS_OK;
}

/* The tasks of the run, as both ways to walk over them tell. */
static void expect_walk(const char *wanted)
{
    struct err err = {0};
    struct run_info info;
    CLEANUP(strbuf_fini) struct strbuf one;
    CLEANUP(strbuf_fini) struct strbuf other;
    strbuf_init(&one, 10000);
    strbuf_init(&other, 10000);
    EXPECT_OK(store_run_load(bench.store, bench.arena, bench.run.id, &info, &err), &err);
    EXPECT_OK(store_task_each(bench.store, bench.run.id, add_place, &one, &err), &err);
    EXPECT_OK(store_task_each_of(bench.store, &info, add_place, &other, &err), &err);
    EXPECT_STR(wanted, one.text);
    EXPECT_STR(wanted, other.text);
}

STORE_TEST(run_store, the_tasks_of_a_run_that_was_loaded_are_the_same)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"},"
                        " \"b\": {\"run\": \"x\", \"needs\": [\"a\"]}}}");
    (void)bench_advance(&bench, NULL, 0, 1);
    expect_walk("a[-1]:running b[-1]:none ");
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}}}");
    struct advance_result first = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&first.claims[0], 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 2;
    (void)bench_advance(&bench, &outcome, 1, 2);
    expect_walk("m[-1]:deferred m[0]:running m[1]:running ");
}

STORE_TEST(run_store, a_host_that_is_gone_has_no_name)
{
    struct err err = {0};
    const struct host_name *host = NULL;
    EXPECT_OK(store_host_name(bench.store, 12345, &host, &err), &err);
    cr_assert_null(host->name);
    EXPECT_OK(store_host_name(bench.store, 12345, &host, &err), &err);
    cr_assert_null(host->name);
}
