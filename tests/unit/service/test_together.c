#include "service/together.h"
#include "service_fixture.h"

static const char DAG[] = "tasks: { a: { run: 'true' } }\n";

static int64_t runs_of(struct world *world)
{
    json_t *runs = call_ok(world, "run.list", "{}");
    int64_t count = (int64_t)json_array_size(json_object_get(runs, "dag_runs"));
    json_decref(runs);
    return count;
}

Test(together, several_are_made_and_somebody_is_woken_once_at_the_end)
{
    struct world world;
    struct err err = {0};
    world_init(&world);
    (void)start_run(&world, "dag.yaml", DAG);
    int64_t before = runs_of(&world);
    world.wakes = 0;

    EXPECT_OK(together_begin(&world.service, &err), &err);
    json_decref(call_ok(&world, "dag.trigger", "{\"dag\":\"dag\",\"run_id\":\"one\"}"));
    call_fails(&world, "dag.trigger", "{\"dag\":\"dag\",\"run_id\":\"one\"}", STATUS_CONFLICT,
               "already");
    json_decref(call_ok(&world, "dag.trigger", "{\"dag\":\"dag\",\"run_id\":\"two\"}"));
    cr_expect_eq(world.wakes, 0, "nothing is there yet to wake up for");
    EXPECT_OK(together_commit(&world.service, &err), &err);

    cr_expect_eq(world.wakes, 1);
    service_close_store(&world.service);
    cr_expect_eq(runs_of(&world), before + 2);
    world_fini(&world);
}

Test(together, what_fails_at_the_end_did_not_happen)
{
    struct world world;
    struct err err = {0};
    world_init(&world);
    (void)start_run(&world, "dag.yaml", DAG);
    int64_t before = runs_of(&world);

    EXPECT_OK(together_begin(&world.service, &err), &err);
    json_decref(call_ok(&world, "dag.trigger", "{\"dag\":\"dag\"}"));
    service_close_store(&world.service);
    world.service.is_together = false;
    cr_expect_eq(runs_of(&world), before);
    world_fini(&world);
}
