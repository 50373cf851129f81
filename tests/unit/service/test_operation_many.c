#include "service/operation_many.h"
#include "service/together.h"
#include "service_fixture.h"

static const char DAG[] = "params: { n: { type: integer, default: 1 } }\n"
                          "tasks: { a: { run: 'true' } }\n";

enum { ITEMS_MAX = 8 };

struct several {
    struct world *world;
    struct operation_item items[ITEMS_MAX];
    json_t *requests[ITEMS_MAX];
    size_t count;
};

static void add(struct several *several, const char *actor, const char *request)
{
    struct err err = {0};
    size_t i = several->count++;
    EXPECT_OK(json_parse(request, strlen(request), &several->requests[i], &err), &err);
    several->items[i] = (struct operation_item){
        .request = several->requests[i], .principal = &PRINCIPAL_LOCAL, .actor = actor};
}

static void do_all(struct several *several)
{
    struct err err = {0};
    struct operation_local local = {&OPERATIONS, &several->world->service};
    EXPECT_OK(together_begin(&several->world->service, &err), &err);
    operation_local_many(&local, "dag.trigger", several->items, several->count);
    EXPECT_OK(together_commit(&several->world->service, &err), &err);
    several->world->service.principal = &PRINCIPAL_LOCAL;
    several->world->service.actor = "tester";
}

static const char *made(const struct several *several, size_t i, const char *key)
{
    cr_assert_eq(several->items[i].status, STATUS_OK, "%s", several->items[i].err.text);
    return json_get_string(several->items[i].response, key, "");
}

static void fini(struct several *several)
{
    for (size_t i = 0; i < several->count; i++) {
        json_decref(several->requests[i]);
        json_decref(several->items[i].response);
    }
    world_fini(several->world);
}

static void begin(struct several *several, struct world *world)
{
    *several = (struct several){.world = world};
    world_init(world);
    (void)start_run(world, "dag.yaml", DAG);
}

static int64_t runs_of(struct world *world)
{
    json_t *runs = call_ok(world, "run.list", "{}");
    int64_t count = (int64_t)json_array_size(json_object_get(runs, "dag_runs"));
    json_decref(runs);
    return count;
}

Test(operation_many, each_gets_its_own_run)
{
    struct world world;
    struct several several;
    begin(&several, &world);
    int64_t before = runs_of(&world);
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true,\"run_id\":\"one\",\"conf\":{\"n\":7}}");
    add(&several, "ben", "{\"dag\":\"dag\",\"brief\":true,\"run_id\":\"two\"}");
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true,\"run_id\":\"three\",\"note\":\"x\"}");
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true}");

    do_all(&several);

    cr_expect_str_eq(made(&several, 0, "dag_run_id"), "one");
    cr_expect_str_eq(made(&several, 1, "dag_run_id"), "two");
    cr_expect_str_eq(made(&several, 2, "note"), "x");
    EXPECT_CONTAINS(made(&several, 3, "dag_run_id"), "manual__");
    cr_expect_str_eq(made(&several, 0, "actor"), "ann");
    cr_expect_str_eq(made(&several, 1, "actor"), "ben", "each is signed by who asked for it");
    const json_t *params = json_object_get(several.items[0].response, "params");
    cr_expect_eq(json_get_int(params, "n", 0), 7);
    cr_expect_eq(runs_of(&world), before + 4);
    fini(&several);
}

Test(operation_many, what_one_of_them_gets_wrong_is_its_own_affair)
{
    struct world world;
    struct several several;
    begin(&several, &world);
    int64_t before = runs_of(&world);
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true,\"run_id\":\"same\"}");
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true,\"run_id\":\"same\"}");
    add(&several, "ann", "{\"dag\":\"nowhere\",\"brief\":true}");
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true,\"conf\":{\"n\":\"no number\"}}");
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true,\"bogus\":1}");
    add(&several, "ann", "{\"dag\":\"dag\",\"brief\":true,\"run_id\":\"other\"}");
    add(&several, "ann", "{\"dag\":\"dag\",\"run_id\":\"told_at_length\"}");
    several.items[7] = several.items[5];
    several.requests[7] = json_incref(several.requests[5]);
    several.items[7].principal = &(const struct principal){.name = "nobody"};
    several.count = 8;

    do_all(&several);

    cr_expect_str_eq(made(&several, 0, "dag_run_id"), "same");
    cr_expect_eq(several.items[1].status, STATUS_CONFLICT);
    cr_expect_eq(several.items[2].status, STATUS_NOT_FOUND);
    cr_expect_eq(several.items[3].status, STATUS_INVALID);
    cr_expect_eq(several.items[4].status, STATUS_INVALID);
    cr_expect_str_eq(made(&several, 5, "dag_run_id"), "other");
    cr_expect_not_null(json_object_get(several.items[6].response, "late"), "not brief");
    cr_expect_neq(several.items[7].status, STATUS_OK, "who may do nothing, may not here");
    for (size_t i = 0; i < several.count; i++)
        cr_expect_eq(several.items[i].response == NULL, several.items[i].status != STATUS_OK);
    cr_expect_eq(runs_of(&world), before + 3);
    fini(&several);
}
