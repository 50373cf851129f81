/*
 * DAGs as numbered versions: what makes a new one, and what does not.
 */
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

TestSuite(version, .init = setup, .fini = teardown);

static const char ONE[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"y\"}}}";
static const char ONE_AGAIN[] =
    "{\"dag\": \"d\", \"tasks\": {\"a\": {\"retries\": 0, \"run\": \"x\"}, \"b\": {\"run\": "
    "\"y\"}}}";
static const char TWO[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"z\"}}}";
static const char THREE[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}}}";

/* Keep what `dag_json` means, as if it had been written as `text` in the file `path`. */
static struct version_ref save_as(const char *dag_json, const char *path, const char *text)
{
    struct err err = {0};
    struct version_ref ref = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    EXPECT_OK(json_parse(dag_json, strlen(dag_json), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    struct version_source source = {.path = path, .text = text};
    EXPECT_OK(store_version_save(bench.store, dag, &source, &ref, &err), &err);
    dag_free(dag);
    return ref;
}

static struct version_info newest(const char *dag_id)
{
    struct err err = {0};
    struct version_info info = {0};
    EXPECT_OK(store_version_newest(bench.store, bench.arena, dag_id, &info, &err), &err);
    return info;
}

STORE_TEST(version, only_a_change_of_meaning_makes_a_new_one)
{
    static const struct {
        const char *dag, *path, *text;
        int64_t number;
        bool is_new;
    } STEPS[] = {
        {ONE, "/d.yaml", "first", 1, true},
        {ONE, "/d.yaml", "first", 1, false},
        {ONE, "/d.yaml", "first # with a comment", 1, false},
        {ONE_AGAIN, "/d.yaml", "keys in another order", 1, false},
        {ONE_AGAIN, "/moved.yaml", "keys in another order", 1, false},
        {TWO, "/moved.yaml", "second", 2, true},
        {TWO, "/moved.yaml", "second, said otherwise", 2, false},
        {ONE, "/moved.yaml", "back to the first", 1, false},
        {THREE, "/moved.yaml", "third", 3, true},
        {TWO, "/moved.yaml", "back to the second", 2, false},
    };
    int64_t versions[4] = {0};
    int64_t dag_key = 0;
    for (size_t i = 0; i < ARRAY_LEN(STEPS); i++) {
        struct version_ref ref = save_as(STEPS[i].dag, STEPS[i].path, STEPS[i].text);
        cr_assert_eq(ref.number, STEPS[i].number, "step %zu: %lld", i, (long long)ref.number);
        cr_assert_eq(ref.is_new, STEPS[i].is_new, "step %zu", i);
        if (STEPS[i].is_new)
            versions[ref.number] = ref.version;
        cr_assert_eq(ref.version, versions[ref.number], "step %zu", i);
        dag_key = i == 0 ? ref.dag_key : dag_key;
        cr_assert_eq(ref.dag_key, dag_key, "step %zu", i);

        struct version_info info = newest("d");
        cr_assert_eq(info.version, ref.version, "step %zu", i);
        EXPECT_STR(STEPS[i].text, info.source);
        EXPECT_STR(STEPS[i].path, info.path);
    }
}

STORE_TEST(version, a_run_keeps_its_version_while_the_dag_goes_on)
{
    struct err err = {0};
    struct run_info run;
    struct version_info old;
    const struct dag *dag = NULL;
    bench_start(&bench, ONE);
    struct version_ref later = save_as(THREE, "", "later");

    EXPECT_OK(store_run_load(bench.store, bench.arena, bench.run.id, &run, &err), &err);
    EXPECT_OK(store_version_dag(bench.store, run.version, &dag, &err), &err);
    EXPECT_OK(store_version_load(bench.store, bench.arena, run.version, &old, &err), &err);

    cr_assert_neq(run.version, later.version);
    cr_assert_eq(run.version_number, 1);
    cr_assert_eq(dag->tasks_count, 2);
    cr_assert_eq(old.number, 1);
    EXPECT_STR(ONE, old.source);
}

STORE_TEST(version, dags_have_versions_of_their_own)
{
    struct version_ref first = save_as(ONE, "", "");
    struct version_ref other = save_as("{\"dag\": \"e\", \"title\": \"E\", \"tasks\": "
                                       "{\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"y\"}}}",
                                       "", "");

    cr_assert_eq(other.number, 1);
    cr_assert_neq(other.version, first.version);
    cr_assert_neq(other.dag_key, first.dag_key);
    EXPECT_STR("E", newest("e").title);
    cr_assert_null(newest("d").title);
}

STORE_TEST(version, what_is_not_there_is_said_with_the_nearest_name)
{
    struct err err = {0};
    struct version_info info = {.number = 77};
    const struct dag *dag = NULL;
    EXPECT_STATUS(STATUS_NOT_FOUND,
                  store_version_newest(bench.store, bench.arena, "orders", &info, &err), &err);
    EXPECT_STR("there is no DAG 'orders' in the store", err.text);
    (void)save_as("{\"dag\": \"orders\", \"tasks\": {\"a\": {\"run\": \"x\"}}}", "", "");

    EXPECT_STATUS(STATUS_NOT_FOUND,
                  store_version_newest(bench.store, bench.arena, "order", &info, &err), &err);
    EXPECT_STR("there is no DAG 'order'; did you mean 'orders'?", err.text);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_version_load(bench.store, bench.arena, 1, &info, &err),
                  &err);
    EXPECT_STATUS(STATUS_CORRUPT, store_version_dag(bench.store, 1, &dag, &err), &err);
    cr_assert_eq(info.number, 77);
    cr_assert_null(dag);
}

struct listing {
    char text[200];
    int stop_after; /* 0: never */
    int calls;
};

static enum status list_version(void *context, const struct version_info *info, struct err *err)
{
    struct listing *listing = context;
    size_t used = strlen(listing->text);
    (void)snprintf(listing->text + used, sizeof listing->text - used, "%s=%lld%s ", info->dag_id,
                   (long long)info->number, info->source != NULL ? "!" : "");
    if (++listing->calls == listing->stop_after)
        return err_set(err, STATUS_INVALID, "enough");
    return STATUS_OK;
}

STORE_TEST(version, the_newest_of_each_dag_are_listed_by_id)
{
    struct err err = {0};
    struct listing all = {.text = ""};
    struct listing some = {.stop_after = 1};
    (void)save_as(ONE, "", "");
    (void)save_as(TWO, "", "");
    (void)save_as("{\"dag\": \"c\", \"tasks\": {\"a\": {\"run\": \"x\"}}}", "", "");

    EXPECT_OK(store_version_each(bench.store, list_version, &all, &err), &err);
    EXPECT_STR("c=1 d=2 ", all.text);
    EXPECT_STATUS(STATUS_INVALID, store_version_each(bench.store, list_version, &some, &err), &err);
    EXPECT_STR("enough", err.text);
    EXPECT_STR("c=1 ", some.text);
}
