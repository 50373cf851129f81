#include "service/once.h"
#include "service/together.h"
#include "service_fixture.h"

static const char DAG[] = "tasks: { a: { run: 'true' } }\n";
static const char TRIGGER[] = "{\"dag\":\"dag\"}";

static int64_t runs_of(struct world *world)
{
    json_t *runs = call_ok(world, "run.list", "{}");
    int64_t count = (int64_t)json_array_size(json_object_get(runs, "dag_runs"));
    json_decref(runs);
    return count;
}

static struct once once_of(const char *key)
{
    return (struct once){.key = {"anna", key, "hash"}};
}

static int status_of(struct world *world, struct once *once)
{
    struct err err = {0};
    struct answered answer = {.status = -1};
    EXPECT_OK(once_begin(&world->service, once, world->arena, &answer, &err), &err);
    return answer.status;
}

static void trigger_once(struct world *world, struct once *once)
{
    struct err err = {0};
    cr_assert_eq(status_of(world, once), 0);
    json_decref(call_ok(world, "dag.trigger", TRIGGER));
    EXPECT_OK(once_keep(&world->service, once, &(struct answered){200, "{}"}, &err), &err);
}

static int64_t begin_world(struct world *world)
{
    world_init(world);
    (void)start_run(world, "dag.yaml", DAG);
    world->wakes = 0;
    return runs_of(world);
}

Test(once, a_change_alone_lasts_with_its_answer)
{
    struct world world;
    int64_t before = begin_world(&world);
    struct once once = once_of("k");

    trigger_once(&world, &once);
    cr_expect_eq(world.wakes, 1);
    cr_expect_eq(status_of(&world, &once), 200);

    cr_expect(!world.service.is_together, "nothing is left open");
    cr_expect_eq(runs_of(&world), before + 1);
    world_fini(&world);
}

Test(once, a_change_alone_that_fails_leaves_nothing)
{
    struct world world;
    int64_t before = begin_world(&world);
    struct once once = once_of("k");

    cr_assert_eq(status_of(&world, &once), 0);
    json_decref(call_ok(&world, "dag.trigger", TRIGGER));
    once_undo(&world.service, &once);

    cr_expect_eq(world.wakes, 0, "nothing is there to wake up for");
    cr_expect_eq(runs_of(&world), before);
    trigger_once(&world, &once);
    cr_expect_eq(runs_of(&world), before + 1);
    world_fini(&world);
}

Test(once, among_others_a_failure_is_its_own)
{
    struct world world;
    struct err err = {0};
    int64_t before = begin_world(&world);
    struct once good = once_of("good");
    struct once bad = once_of("bad");

    EXPECT_OK(together_begin(&world.service, &err), &err);
    trigger_once(&world, &good);
    cr_expect_eq(status_of(&world, &good), 200, "for the next one of the same transaction");
    cr_assert_eq(status_of(&world, &bad), 0);
    call_fails(&world, "dag.trigger", "{\"dag\":\"none\"}", STATUS_NOT_FOUND, "none");
    once_undo(&world.service, &bad);
    EXPECT_OK(together_commit(&world.service, &err), &err);

    cr_expect_eq(runs_of(&world), before + 1);
    cr_expect_eq(status_of(&world, &good), 200);
    trigger_once(&world, &bad);
    world_fini(&world);
}

Test(once, an_answer_that_is_too_large_is_not_given)
{
    struct world world;
    struct err err = {0};
    int64_t before = begin_world(&world);
    struct once once = once_of("k");
    size_t length = (size_t)5 << 20;
    CLEANUP(mem_freep) char *large = mem_zalloc(length + 1, 1);
    memset(large, 'x', length);
    const struct answered answer = {200, large};

    cr_assert_eq(status_of(&world, &once), 0);
    json_decref(call_ok(&world, "dag.trigger", TRIGGER));
    EXPECT_STATUS(STATUS_LIMIT, once_keep(&world.service, &once, &answer, &err), &err);
    cr_expect_eq(runs_of(&world), before);

    err = (struct err){0};
    EXPECT_OK(together_begin(&world.service, &err), &err);
    cr_assert_eq(status_of(&world, &once), 0);
    json_decref(call_ok(&world, "dag.trigger", TRIGGER));
    EXPECT_STATUS(STATUS_LIMIT, once_keep(&world.service, &once, &answer, &err), &err);
    err = (struct err){0};
    EXPECT_STATUS(STATUS_IO, together_commit(&world.service, &err), &err);
    cr_expect_eq(runs_of(&world), before);
    world_fini(&world);
}

Test(once, a_dry_run_does_not_wait_for_its_own_transaction)
{
    struct world world;
    (void)begin_world(&world);
    struct once once = once_of("k");

    cr_assert_eq(status_of(&world, &once), 0);
    call_fails(&world, "dag.trigger", "{\"dag\":\"dag\",\"dry_run\":true}", STATUS_INVALID,
               "Idempotency-Key");
    once_undo(&world.service, &once);
    world_fini(&world);
}

Test(once, what_takes_a_key_changes_something_and_has_no_secrets)
{
    size_t count = 0;
    for (const struct operation_table *at = &OPERATIONS; at != NULL; at = at->more)
        for (size_t i = 0; i < at->count; i++) {
            const struct operation *row = &at->rows[i];
            if (!operation_takes_key(row))
                continue;
            count++;
            cr_expect(operation_changes(row), "%s", row->name);
            for (size_t k = 0; k < row->response.count; k++)
                cr_expect_str_neq(row->response.fields[k].name, "token", "%s", row->name);
            cr_expect(!operation_takes(row, "password"), "%s", row->name);
        }
    cr_expect_eq(count, 32, "every name of the list is that of an operation");
}
