/*
 * What hosts offer from their folders, going back to a version, and DAGs that go.
 */
#include "model/dag_files.h"
#include "store/dag_delete.h"
#include "store/dag_file.h"
#include "store/event_store.h"
#include "store/host.h"
#include "store/named_file.h"
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

TestSuite(dag_file, .init = setup, .fini = teardown);

static const char ONE[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}}}";
static const char TWO[] = "{\"tasks\": {\"a\": {\"run\": \"y\"}}}";
static const char THREE[] = "{\"tasks\": {\"a\": {\"run\": \"z\"}}}";

static struct dag *read_dag(const char *id, const char *text)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = id}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    return dag;
}

/* The file `path` of a host has the DAG `id`, or none with a problem. */
static struct dag_file_result offer(const char *host, const char *path, const char *id,
                                    const char *text)
{
    struct err err = {0};
    struct dag *dag = text != NULL ? read_dag(id, text) : NULL;
    struct dag_file_change change = {
        .path = path,
        .stamp = {1, 2, 3, 4},
        .hash = text != NULL ? text : "?",
        .parts = "[]",
        .problems = text != NULL ? NULL : "[[3,1,\"no\"]]",
        .text = text,
        .dags = &dag,
        .lines = (int[]){1},
        .dags_count = text != NULL,
    };
    struct dag_file_batch batch = {.host = host, .actor = "tester", .changes = &change, .count = 1};
    struct dag_file_result result;
    EXPECT_OK(store_dag_files_save(bench.store, &batch, &result, &err), &err);
    dag_free(dag);
    return result;
}

static int64_t settle(const char *host)
{
    struct err err = {0};
    int64_t gone = -1;
    EXPECT_OK(store_dag_files_settle(bench.store, host, "tester", &gone, &err), &err);
    return gone;
}

static int64_t remove_file(const char *host, const char *path)
{
    struct err err = {0};
    EXPECT_OK(store_dag_files_remove(bench.store, host, &path, 1, &err), &err);
    return settle(host);
}

static struct version_info current(const char *dag_id)
{
    struct err err = {0};
    struct version_info info = {0};
    EXPECT_OK(store_version_newest(bench.store, bench.arena, dag_id, &info, &err), &err);
    return info;
}

static int64_t add_host(const char *name)
{
    struct err err = {0};
    int64_t id = 0;
    struct host_request host = {.name = name, .kind = "daemon", .pid = 1, .boot = "b", .slots = 4};
    EXPECT_OK(store_host_add(bench.store, &host, &id, &err), &err);
    return id;
}

static enum status rollback(int64_t number, struct err *err)
{
    struct rollback_request request = {
        .dag_id = "d", .number = number, .actor = "ann", .reason = "wrong"};
    *err = (struct err){0};
    return store_version_rollback(bench.store, &request, err);
}

struct seen {
    char text[500];
};

static enum status note_file(void *context, const struct dag_file *file, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    size_t used = strlen(seen->text);
    (void)snprintf(seen->text + used, sizeof seen->text - used, "%s:%s%s%s ", file->host,
                   file->path, file->problems != NULL ? "!" : "",
                   file->problems != NULL ? file->problems : "");
    return STATUS_OK;
}

static const char *files(struct dag_file_filter filter)
{
    struct err err = {0};
    struct seen seen = {.text = ""};
    EXPECT_OK(store_dag_file_each(bench.store, &filter, note_file, &seen, &err), &err);
    return arena_strdup(bench.arena, seen.text);
}

static enum status note_event(void *context, const struct event_info *event, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    size_t used = strlen(seen->text);
    (void)snprintf(seen->text + used, sizeof seen->text - used, "%s/%s ",
                   event_kind_name(event->kind), event->actor != NULL ? event->actor : "");
    return STATUS_OK;
}

static const char *events(void)
{
    struct err err = {0};
    struct seen seen = {.text = ""};
    EXPECT_OK(
        store_event_each(bench.store, &(struct event_range){.limit = 100}, note_event, &seen, &err),
        &err);
    return arena_strdup(bench.arena, seen.text);
}

STORE_TEST(dag_file, a_broken_file_keeps_what_it_had)
{
    cr_assert_eq(offer("h", "/d.yaml", "d", ONE).changed, 1);
    int64_t since_us = bench_now_us += 1000;
    cr_assert_eq(offer("h", "/d.yaml", "d", NULL).changed, 0);
    bench_now_us += 1000;
    cr_assert_eq(offer("h", "/d.yaml", "d", NULL).changed, 0);

    cr_assert(current("d").is_active);
    EXPECT_STR("h:/d.yaml![[3,1,\"no\"]] ", files((struct dag_file_filter){.broken_only = true}));
    EXPECT_STR("h:/d.yaml![[3,1,\"no\"]] ", files((struct dag_file_filter){.dag_id = "d"}));
    cr_assert_eq(bench_number(&bench, "SELECT broken_at_us FROM dag_file WHERE id <> $1", 0),
                 since_us, "since it broke first");
    cr_assert_eq(settle("h"), 0);
    cr_assert_eq(offer("h", "/d.yaml", "d", ONE).changed, 0, "it means what it meant");
    EXPECT_STR("", files((struct dag_file_filter){.broken_only = true}));
    cr_assert_eq(settle("h"), 0);
    EXPECT_STR("dag_version/tester ", events());
}

STORE_TEST(dag_file, of_two_files_with_one_dag_the_first_has_it)
{
    cr_assert_not(offer("h", "/b.yaml", "d", ONE).is_refused);
    cr_assert(offer("h", "/a.yaml", "d", TWO).is_refused);

    EXPECT_STR("/b.yaml", current("d").path);
    EXPECT_STR("h:/a.yaml![[1,1,\"the DAG 'd' of /a.yaml is in /b.yaml already: give one of them "
               "another id\"]] ",
               files((struct dag_file_filter){.broken_only = true}));
    cr_assert_not(offer("other", "/a.yaml", "d", TWO).is_refused, "another host may differ");
    cr_assert_eq(remove_file("h", "/b.yaml"), 1, "that host does not live");
    cr_assert_not(offer("h", "/a.yaml", "d", TWO).is_refused);
    cr_assert(current("d").is_active);
    EXPECT_STR("/a.yaml", current("d").path);
}

STORE_TEST(dag_file, a_dag_is_inactive_when_no_living_host_offers_it)
{
    struct err err = {0};
    (void)add_host("h");
    int64_t other = add_host("other");
    cr_assert_eq(offer("h", "/d.yaml", "d", ONE).changed, 1);
    cr_assert_eq(offer("other", "/d.yaml", "d", ONE).changed, 0);
    cr_assert_eq(remove_file("h", "/d.yaml"), 0);
    cr_assert(current("d").is_active, "the other one has it");
    cr_assert_eq(offer("h", "/d.yaml", "d", ONE).changed, 0);
    EXPECT_OK(store_host_end(bench.store, other, &err), &err);
    cr_assert_eq(settle("h"), 0, "a host that leaves takes nothing with it");
    cr_assert_eq(remove_file("h", "/d.yaml"), 1);
    cr_assert_not(current("d").is_active);
    cr_assert_eq(remove_file("h", "/d.yaml"), 0);

    cr_assert_eq(offer("h", "/e.yaml", "d", ONE).changed, 1);
    cr_assert(current("d").is_active);
    EXPECT_STR("dag_version/tester dag_withdrawn/tester dag_offered/tester ", events());
}

STORE_TEST(dag_file, a_file_that_moves_or_loses_a_dag_settles_it)
{
    struct err err = {0};
    const char *path = "/d.yaml";
    (void)offer("h", "/d.yaml", "d", ONE);
    EXPECT_OK(store_dag_files_remove(bench.store, "h", &path, 1, &err), &err);
    cr_assert(current("d").is_active, "in doubt is not gone");
    (void)offer("h", "/moved.yaml", "d", ONE);
    cr_assert_eq(settle("h"), 0);
    cr_assert_eq(offer("h", "/moved.yaml", "e", ONE).changed, 1);
    cr_assert_eq(settle("h"), 1);
    cr_assert_not(current("d").is_active);
    cr_assert(current("e").is_active);
}

STORE_TEST(dag_file, a_rollback_lasts_until_the_file_says_something_else)
{
    struct err err = {0};
    (void)offer("h", "/d.yaml", "d", ONE);
    (void)offer("h", "/d.yaml", "d", TWO);
    EXPECT_OK(rollback(1, &err), &err);
    cr_assert_eq(current("d").number, 1);
    cr_assert_not(current("d").is_filed);

    cr_assert_eq(offer("h", "/d.yaml", "d", TWO).changed, 0, "the file is what it was");
    cr_assert_eq(current("d").number, 1);
    EXPECT_STATUS(STATUS_CONFLICT, rollback(1, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, rollback(7, &err), &err);
    EXPECT_CONTAINS(err.text, "DAG 'd' has no version 7");
    cr_assert_eq(offer("h", "/d.yaml", "d", THREE).changed, 1);
    cr_assert_eq(current("d").number, 3);
    EXPECT_OK(rollback(2, &err), &err);
    EXPECT_OK(rollback(3, &err), &err);
    cr_assert(current("d").is_filed);
    cr_assert_eq(offer("h", "/d.yaml", "d", ONE).changed, 1);
    cr_assert_eq(current("d").number, 1);
    EXPECT_STR("dag_version/tester dag_version/tester dag_rolled_back/ann dag_version/tester "
               "dag_rolled_back/ann dag_rolled_back/ann dag_version/tester ",
               events());
}

STORE_TEST(dag_file, a_dag_that_comes_back_is_still_rolled_back)
{
    struct err err = {0};
    (void)offer("h", "/d.yaml", "d", ONE);
    (void)offer("h", "/d.yaml", "d", TWO);
    EXPECT_OK(rollback(1, &err), &err);
    cr_assert_eq(remove_file("h", "/d.yaml"), 1);
    cr_assert_eq(offer("h", "/d.yaml", "d", TWO).changed, 1);
    cr_assert_eq(current("d").number, 1);
    cr_assert(current("d").is_active);
}

STORE_TEST(dag_file, files_from_elsewhere_have_no_say_about_what_hosts_offer)
{
    struct err err = {0};
    struct version_ref ref;
    CLEANUP(dag_freep) struct dag *two = read_dag("d", TWO);
    CLEANUP(dag_freep) struct dag *three = read_dag("d", THREE);
    (void)offer("h", "/d.yaml", "d", ONE);
    struct version_source elsewhere = {.path = "/tmp/d.yaml", .text = TWO};
    struct version_source same = {.path = "/d.yaml", .text = THREE};
    EXPECT_OK(store_version_save(bench.store, two, &elsewhere, &ref, &err), &err);
    cr_assert(ref.is_new);
    cr_assert_not(ref.is_changed);
    cr_assert_eq(ref.number, 2);
    cr_assert_eq(current("d").number, 1);
    EXPECT_OK(store_version_save(bench.store, three, &same, &ref, &err), &err);
    cr_assert_eq(current("d").number, 3, "the same file, seen by somebody else first");
    cr_assert_eq(offer("h", "/d.yaml", "d", THREE).changed, 0);
}

STORE_TEST(dag_file, a_host_that_never_comes_back_is_forgotten)
{
    struct err err = {0};
    (void)add_host("h");
    int64_t gone = add_host("gone");
    (void)offer("gone", "/d.yaml", "d", ONE);
    (void)offer("gone", "/only.yaml", "only", ONE);
    (void)offer("gone", "/bad.yaml", "bad", NULL);
    (void)offer("h", "/d.yaml", "d", ONE);
    EXPECT_OK(store_host_end(bench.store, gone, &err), &err);
    EXPECT_OK(store_dag_files_forget(bench.store, "h", &err), &err);
    EXPECT_STR("gone:/bad.yaml![[3,1,\"no\"]] gone:/d.yaml h:/d.yaml gone:/only.yaml ",
               files((struct dag_file_filter){0}));
    bench_now_us += (int64_t)25 * 3600 * 1000000;
    EXPECT_OK(store_dag_files_forget(bench.store, "h", &err), &err);
    EXPECT_STR("h:/d.yaml gone:/only.yaml ", files((struct dag_file_filter){0}));
    cr_assert(current("only").is_active);
}

static struct version_ref save_script(const char *bytes)
{
    struct err err = {0};
    struct version_ref ref;
    CLEANUP(dag_freep)
    struct dag *dag = read_dag("s", "{\"tasks\": {\"a\": {\"script\": {\"file\": \"x.sh\"}}}}");
    dag_add_file(dag, "x.sh", bytes, strlen(bytes));
    struct version_source source = {.path = "/s.yaml", .text = "same"};
    EXPECT_OK(store_version_save(bench.store, dag, &source, &ref, &err), &err);
    return ref;
}

STORE_TEST(dag_file, named_files_belong_to_the_version)
{
    struct err err = {0};
    const struct dag *dag = NULL;
    const char *text = NULL;
    size_t size = 0;
    struct version_ref first = save_script("echo one\n");
    struct version_ref second = save_script("");
    cr_assert_eq(second.number, 2, "another script is another version");
    cr_assert_eq(save_script("echo one\n").version, first.version);
    struct version_ref refs[] = {first, second};
    static const char *const TEXTS[] = {"echo one\n", ""};
    for (size_t i = 0; i < 2; i++) {
        EXPECT_OK(store_version_dag(bench.store, refs[i].version, &dag, &err), &err);
        const struct named_file *file = dag_find_file(dag, "x.sh");
        cr_assert_not_null(file);
        EXPECT_OK(store_named_file_load(bench.store, bench.arena, file->hash, &text, &size, &err),
                  &err);
        EXPECT_STR(TEXTS[i], text);
        cr_assert_eq(size, strlen(TEXTS[i]));
    }
    CLEANUP(dag_freep)
    struct dag *unknown =
        read_dag("u", "{\"files\": {\"x.sh\": "
                      "\"0123456789012345678901234567890123456789012345678901234567890123\"},"
                      " \"tasks\": {\"a\": {\"script\": {\"file\": \"x.sh\"}}}}");
    struct version_ref ref;
    struct version_source source = {.path = "", .text = ""};
    EXPECT_STATUS(STATUS_INVALID, store_version_save(bench.store, unknown, &source, &ref, &err),
                  &err);
}

static enum status delete_step(const char *dag_id, struct dag_delete_step *out, struct err *err)
{
    struct dag_delete_request request = {.dag_id = dag_id, .actor = "ann", .reason = "old"};
    *err = (struct err){0};
    return store_dag_delete_step(bench.store, &request, out, err);
}

STORE_TEST(dag_file, a_dag_is_deleted_with_its_history_when_nobody_has_it)
{
    struct err err = {0};
    struct dag_delete_step step = {0};
    int64_t host = add_host("h");
    (void)save_script("echo\n");
    (void)offer("h", "/d.yaml", "d", ONE);
    bench_start(&bench, TWO);
    EXPECT_STATUS(STATUS_CONFLICT, delete_step("d", &step, &err), &err);
    EXPECT_CONTAINS(err.text, "host 'h' offers it from /d.yaml");
    EXPECT_OK(store_host_end(bench.store, host, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, delete_step("d", &step, &err), &err);
    EXPECT_CONTAINS(err.text, "1 run of DAG 'd' is not over");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    int64_t runs = 0;
    EXPECT_OK(store_dag_delete_check(bench.store, "d", &runs, &err), &err);
    cr_assert_eq(runs, 1);
    EXPECT_OK(delete_step("d", &step, &err), &err);
    cr_assert(step.is_done);
    cr_assert_eq(step.runs_count, 1);
    cr_assert_eq(step.runs[0], bench.run.id);

    struct version_info info;
    EXPECT_STATUS(STATUS_NOT_FOUND,
                  store_version_newest(bench.store, bench.arena, "d", &info, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, delete_step("d", &step, &err), &err);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM named_file WHERE $1 = 0", 0), 1);
    EXPECT_CONTAINS(events(), "dag_deleted/ann");
    cr_assert_eq(offer("h", "/d.yaml", "d", ONE).changed, 1, "it comes back as a new one");
    EXPECT_OK(store_host_end(bench.store, add_host("x"), &err), &err);
    EXPECT_OK(delete_step("s", &step, &err), &err);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM named_file WHERE $1 = 0", 0), 0);
}
