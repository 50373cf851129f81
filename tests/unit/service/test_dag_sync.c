/*
 * A folder of DAG files and the store, kept in step: what is read, what is not, and what follows.
 */
#include "base/str.h"
#include "model/dag_files.h"
#include "service/dag_sync.h"
#include "service_fixture.h"
#include "store/dag_file.h"

static struct world world;
static struct dag_sync *sync_;
static char *folder;

static size_t circles;
static char circle[200];

static void note_circle(void *context, const char *path, const char *text)
{
    (void)context;
    (void)snprintf(circle, sizeof circle, "%s of %s", text, strrchr(path, '/') + 1);
    circles++;
}

static void open_sync(void)
{
    struct err err = {0};
    struct dag_sync_options options = {
        .store = world.store, .folder = folder, .host = "here", .circle = note_circle};
    EXPECT_OK(dag_sync_new(&options, &sync_, &err), &err);
}

static void setup(void)
{
    world_init(&world);
    folder = mem_format("%s/dags", world.home);
    cr_assert_eq(mkdir(folder, 0755), 0);
    open_sync();
}

static void teardown(void)
{
    dag_sync_free(sync_);
    free(folder);
    world_fini(&world);
}

TestSuite(dag_sync, .init = setup, .fini = teardown);

static const char *path_of(const char *name)
{
    return arena_format(world.arena, "%s/%s", folder, name);
}

/* In the place of what was there, as a new file. */
static void put(const char *name, const char *text)
{
    const char *beside = path_of(".beside");
    FILE *file = fopen(beside, "we");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(rename(beside, path_of(name)), 0);
}

static struct dag_sync_state pass(void)
{
    struct err err = {0};
    EXPECT_OK(dag_sync_look(sync_, &err), &err);
    for (int i = 0; dag_sync_get(sync_).has_more; i++) {
        cr_assert_lt(i, 1000, "it never ends");
        EXPECT_OK(dag_sync_turn(sync_, &err), &err);
        dag_sync_think(sync_);
    }
    return dag_sync_get(sync_);
}

#define EXPECT_PASS(wanted_read, wanted_changed, wanted_gone, wanted_broken)                       \
    do {                                                                                           \
        struct dag_sync_state state_ = pass();                                                     \
        cr_assert_eq(state_.done.read, wanted_read, "read %zu", state_.done.read);                 \
        cr_assert_eq(state_.done.changed, wanted_changed, "changed %zu", state_.done.changed);     \
        cr_assert_eq(state_.done.gone, wanted_gone, "gone %zu", state_.done.gone);                 \
        cr_assert_eq(state_.broken, wanted_broken, "broken %zu", state_.broken);                   \
    } while (0)

static struct version_info current(const char *dag_id)
{
    struct err err = {0};
    struct version_info info = {0};
    EXPECT_OK(store_version_newest(world.store, world.arena, dag_id, &info, &err), &err);
    return info;
}

Test(dag_sync, a_file_is_read_once)
{
    put("a.yaml", "tasks: {x: {run: echo}}\n");
    put("b.yaml", "tasks: {x: {run: echo}}\n");
    put("_not.yaml", "tasks: {x: {run: echo}}\n");
    put("text.txt", "tasks: {x: {run: echo}}\n");
    EXPECT_PASS(2, 2, 0, 0);
    EXPECT_PASS(0, 0, 0, 0);
    dag_sync_free(sync_);
    open_sync();
    EXPECT_PASS(0, 0, 0, 0); /* nor after a restart */
    put("a.yaml", "tasks: {x: {run: echo}}\n");
    EXPECT_PASS(0, 0, 0, 0); /* touched, with the same bytes */
    put("a.yaml", "tasks: {x: {run: echo}} # the same\n");
    EXPECT_PASS(1, 0, 0, 0);
    put("a.yaml", "tasks: {x: {run: other}}\n");
    EXPECT_PASS(1, 1, 0, 0);
    cr_assert_eq(current("a").number, 2);
    cr_assert_eq(current("b").number, 1);
}

Test(dag_sync, many_files_take_several_turns)
{
    struct err err = {0};
    for (int i = 0; i < 450; i++)
        put(arena_format(world.arena, "d%d.yaml", i), "tasks: {x: {run: echo}}\n");
    EXPECT_OK(dag_sync_look(sync_, &err), &err);
    EXPECT_OK(dag_sync_turn(sync_, &err), &err);
    size_t first = dag_sync_get(sync_).done.read;
    cr_assert(first > 0 && first <= 200, "%zu in one turn", first);
    struct dag_sync_state state = dag_sync_get(sync_);
    cr_assert(state.has_more);
    while (dag_sync_get(sync_).has_more)
        EXPECT_OK(dag_sync_turn(sync_, &err), &err);
    state = dag_sync_get(sync_);
    cr_assert_eq(state.done.changed, 450);
    cr_assert_eq(state.files, 450);
}

static void put_chain(int i, int after)
{
    put(arena_format(world.arena, "c%d.yaml", i),
        arena_format(world.arena, "schedule: {after: c%d}\ntasks: {x: {run: echo}}\n", after));
}

/* Two parts are read, which others need not wait for; what is told once is not told again. */
Test(dag_sync, a_circle_is_told_when_the_store_is_free)
{
    struct err err = {0};
    for (int i = 1; i < 250; i++)
        put_chain(i, i - 1);
    (void)pass();
    cr_assert_eq(circles, 0);
    put_chain(1, 3);
    EXPECT_OK(dag_sync_look(sync_, &err), &err);
    while (dag_sync_get(sync_).has_more)
        EXPECT_OK(dag_sync_turn(sync_, &err), &err);
    cr_assert_eq(circles, 0, "told while the store is held");
    dag_sync_think(sync_);
    cr_assert_eq(circles, 1);
    EXPECT_STR("c1 -> c2 -> c3 -> c1 of c1.yaml", circle);
    dag_sync_think(sync_);
    put_chain(249, 1);
    (void)pass();
    cr_assert_eq(circles, 1);
}

Test(dag_sync, removed_moved_and_ignored_files)
{
    put("a.yaml", "dag: x\ntasks: {x: {run: echo}}\n");
    put("b.yaml", "tasks: {x: {run: echo}}\n");
    EXPECT_PASS(2, 2, 0, 0);
    cr_assert_eq(mkdir(path_of("sub"), 0755), 0);
    cr_assert_eq(rename(path_of("a.yaml"), path_of("sub/c.yaml")), 0);
    EXPECT_PASS(1, 0, 0, 0);
    EXPECT_STR(path_of("sub/c.yaml"), current("x").path);
    cr_assert_eq(unlink(path_of("b.yaml")), 0);
    EXPECT_PASS(0, 0, 1, 0);
    cr_assert_not(current("b").is_active);
    put(".eiderignore", "sub/\n");
    EXPECT_PASS(0, 0, 1, 0);
    cr_assert_not(current("x").is_active);
    cr_assert_eq(unlink(path_of(".eiderignore")), 0);
    put("b.yaml", "tasks: {x: {run: echo}}\n");
    EXPECT_PASS(2, 2, 0, 0);
    cr_assert(current("b").is_active);
}

Test(dag_sync, a_folder_that_is_gone_takes_nothing_with_it)
{
    struct err err = {0};
    const char *away = arena_format(world.arena, "%s/away", world.home);
    put("a.yaml", "tasks: {x: {run: echo}}\n");
    EXPECT_PASS(1, 1, 0, 0);
    cr_assert_eq(rename(folder, away), 0);
    EXPECT_STATUS(STATUS_NOT_FOUND, dag_sync_look(sync_, &err), &err);
    cr_assert_not(dag_sync_get(sync_).has_more);
    cr_assert_eq(rename(away, folder), 0);
    EXPECT_PASS(0, 0, 0, 0);
    cr_assert(current("a").is_active);
}

Test(dag_sync, the_second_file_of_a_dag_waits_for_the_first_to_go)
{
    put("a.yaml", "dag: x\ntasks: {x: {run: one}}\n");
    EXPECT_PASS(1, 1, 0, 0);
    put("0.yaml", "dag: x\ntasks: {x: {run: two}}\n");
    EXPECT_PASS(1, 0, 0, 1);
    EXPECT_STR(path_of("a.yaml"), current("x").path);
    dag_sync_free(sync_);
    open_sync();
    EXPECT_PASS(0, 0, 0, 1);
    put("a.yaml", "dag: y\ntasks: {x: {run: one}}\n");
    EXPECT_PASS(2, 2, 0, 0);
    EXPECT_STR(path_of("0.yaml"), current("x").path);
    put("a.yaml", "dag: x\ntasks: {x: {run: one}}\n");
    EXPECT_PASS(1, 0, 0, 1); /* it keeps what it had */
    cr_assert(current("y").is_active);
    cr_assert_eq(unlink(path_of("0.yaml")), 0);
    EXPECT_PASS(1, 1, 1, 0);
    EXPECT_STR(path_of("a.yaml"), current("x").path);
    cr_assert_not(current("y").is_active);
}

Test(dag_sync, a_file_that_tasks_name_is_a_part_of_the_dag)
{
    static const char DAG[] = "tasks:\n  x:\n    script: {file: x.sh}\n";
    put("a.yaml", DAG);
    EXPECT_PASS(1, 0, 0, 1);
    json_t *errors = call_ok(&world, "dag.errors", "{}");
    const json_t *error = json_array_get(json_object_get(errors, "errors"), 0);
    cr_assert_eq(json_get_int(error, "line", 0), 3);
    EXPECT_CONTAINS(json_get_string(error, "message", ""), "the file 'x.sh'");
    EXPECT_STR("    script: {file: x.sh}", json_get_string(error, "source", ""));
    cr_assert_eq(json_array_size(json_object_get(error, "dags")), 0);
    json_decref(errors);
    put("x.sh", "echo one\n");
    EXPECT_PASS(1, 1, 0, 0);
    EXPECT_PASS(0, 0, 0, 0);
    cr_assert(dag_sync_part_folders(sync_)->count == 1);
    cr_assert(dag_sync_cares(sync_, "x.sh"));
    cr_assert_not(dag_sync_cares(sync_, "y.sh"));
    cr_assert(dag_sync_cares(sync_, "new.yaml"));
    cr_assert(dag_sync_cares(sync_, ".eiderignore"));
    put("x.sh", "echo two\n");
    EXPECT_PASS(1, 1, 0, 0);
    cr_assert_eq(current("a").number, 2);
    dag_sync_free(sync_);
    open_sync();
    EXPECT_PASS(0, 0, 0, 0);
    put("x.sh", "echo one\n");
    EXPECT_PASS(1, 1, 0, 0);
    cr_assert_eq(current("a").number, 1);
    cr_assert_eq(unlink(path_of("x.sh")), 0);
    EXPECT_PASS(1, 0, 0, 1);
    cr_assert(current("a").is_active, "what it had before still counts");
    errors = call_ok(&world, "dag.errors", "{}");
    error = json_array_get(json_object_get(errors, "errors"), 0);
    EXPECT_STR("a", json_string_value(json_array_get(json_object_get(error, "dags"), 0)));
    json_decref(errors);
}

Test(dag_sync, what_is_being_written_is_left_alone)
{
    struct err err = {0};
    struct dag_sync_options options = {
        .store = world.store, .folder = folder, .host = "here", .settle_ms = 1000000};
    put("a.yaml", "tasks: {x: {run: echo}}\n");
    dag_sync_free(sync_);
    EXPECT_OK(dag_sync_new(&options, &sync_, &err), &err);
    struct dag_sync_state state = pass();
    cr_assert_eq(state.done.read, 0);
    cr_assert(state.is_unsettled);
    dag_sync_free(sync_);
    open_sync();
    EXPECT_PASS(1, 1, 0, 0);
}

Test(dag_sync, links_that_are_turned_together_are_new_files)
{
    cr_assert_eq(mkdir(path_of("..one"), 0755), 0);
    cr_assert_eq(mkdir(path_of("..two"), 0755), 0);
    put("..one/a.yaml", "tasks: {x: {run: one}}\n");
    put("..two/a.yaml", "tasks: {x: {run: two}}\n");
    cr_assert_eq(symlink("..one", path_of("..data")), 0);
    cr_assert_eq(symlink("..data/a.yaml", path_of("a.yaml")), 0);
    EXPECT_PASS(1, 1, 0, 0);
    cr_assert_eq(symlink("..two", path_of("..next")), 0);
    cr_assert_eq(rename(path_of("..next"), path_of("..data")), 0);
    EXPECT_PASS(1, 1, 0, 0);
    EXPECT_STR(path_of("a.yaml"), current("a").path);
    cr_assert(dag_sync_cares(sync_, "..data"));
}
