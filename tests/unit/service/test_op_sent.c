/*
 * DAG files that come with a request, from somebody who is elsewhere.
 */
#include "service_fixture.h"

static const struct grant VIEWS[] = {{"*", PERMISSION_OPERATOR}};
static const struct grant WRITES[] = {{"*", PERMISSION_OPERATOR}, {"lab", PERMISSION_EDITOR}};
static const struct grant ALL[] = {{"*", PERMISSION_ADMIN}};
static const struct principal ADMIN = {.name = "zoe", .grants = ALL, .count = ARRAY_LEN(ALL)};
static const struct principal OPERATOR = {
    .name = "ann", .grants = VIEWS, .count = ARRAY_LEN(VIEWS)};
static const struct principal AUTHOR = {
    .name = "ben", .grants = WRITES, .count = ARRAY_LEN(WRITES)};

#define SENT(space) "\"text\":\"dag: sent\\nnamespace: " space "\\ntasks: { a: { run: echo } }\\n\""

Test(op_sent, files_are_for_those_who_are_here)
{
    struct world world;
    world_init(&world);
    world.service.principal = &ADMIN;
    call_fails(&world, "dag.show", "{\"file\":\"/etc/passwd\"}", STATUS_DENIED, "of the server");
    call_fails(&world, "dag.validate", "{\"paths\":[\"/etc\"]}", STATUS_DENIED, "of the server");
    call_fails(&world, "dag.validate", "{\"paths\":[\"/etc\"],\"texts\":{\"a\":\"\"}}",
               STATUS_DENIED, "of the server");
    call_fails(&world, "store.backup", "{\"path\":\"/tmp/x\"}", STATUS_DENIED, "of the server");
    call_fails(&world, "notify.test", "{\"target\":\"/etc/x.yaml\"}", STATUS_DENIED,
               "of the server");
    world.service.principal = NULL;
    call_fails(&world, "dag.show", "{\"file\":\"/etc/passwd\"}", STATUS_DENIED, "of the server");
    world_fini(&world);
}

Test(op_sent, whoever_looks_may_send_a_file_and_its_name_is_not_opened)
{
    struct world world;
    world_init(&world);
    world.service.principal = &OPERATOR;
    json_t *shown = call_ok(&world, "dag.show", "{\"file\":\"/etc/passwd\"," SENT("default") "}");
    EXPECT_STR("sent", json_get_string(shown, "dag_id", ""));
    json_decref(shown);
    call_fails(&world, "dag.show", "{\"text\":\"tasks: {\"}", STATUS_BAD_DAG, "dag.yaml");
    call_fails(&world, "dag.show", "{\"version\":1," SENT("default") "}", STATUS_INVALID,
               "versions");
    world_fini(&world);
}

Test(op_sent, a_dag_is_not_taken_over_from_another_namespace)
{
    struct world world;
    world_init(&world);
    json_t *run = call_ok(&world, "dag.trigger", "{" SENT("default") "}");
    json_decref(run);
    world.service.principal = &AUTHOR;
    call_fails(&world, "dag.trigger", "{" SENT("lab") "}", STATUS_DENIED, "another id");
    world_fini(&world);
}

Test(op_sent, only_authors_run_what_they_send)
{
    struct world world;
    world_init(&world);
    world.service.principal = &OPERATOR;
    call_fails(&world, "dag.trigger", "{" SENT("default") "}", STATUS_DENIED, "editor");
    call_fails(&world, "task.render", "{\"task\":\"a\"," SENT("lab") "}", STATUS_DENIED, "editor");
    world.service.principal = &AUTHOR;
    call_fails(&world, "dag.trigger", "{" SENT("default") "}", STATUS_DENIED, "editor");
    call_fails(&world, "dag.trigger",
               "{\"text\":\"namespace: lab\\ntasks: { a: { script: { file: x.sh } } }\"}",
               STATUS_INVALID, "x.sh");
    json_t *run = call_ok(&world, "dag.trigger", "{" SENT("lab") "}");
    EXPECT_STR("sent", json_get_string(run, "dag_id", ""));
    EXPECT_STR("", json_get_string(run, "file", "?"));
    json_decref(run);
    world_fini(&world);
}
