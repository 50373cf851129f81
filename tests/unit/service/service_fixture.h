#pragma once
/*
 * service_fixture: operations over a real store in a folder of its own, with a clock that moves
 * when told and hosts that die when told. Runs are driven through store_advance.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "blob/blob.h"
#include "blob/log_writer.h"
#include "expect.h"
#include "model/settings.h"
#include "os/file_tree.h"
#include "service/operations.h"
#include "service/principal.h"
#include "service/service.h"
#include "spec/spec.h"
#include "store/advance.h"
#include "store/host.h"
#include "store/run_store.h"
#include "store/version.h"

struct world {
    char home[64];
    struct settings settings;
    struct service service;
    struct store *store; /* a second one, as a running process has it */
    struct arena *arena;
    int64_t host;
    bool host_is_dead;
    int wakes;
    struct claim claims[64]; /* held at the moment */
    size_t claims_count;
};

static int64_t fixture_now_us = (int64_t)1800000000 * 1000000;

UNUSED static int64_t fixture_clock(void)
{
    return fixture_now_us;
}

static bool fixture_is_alive(void *context, int64_t host)
{
    const struct world *world = context;
    return host == world->host && !world->host_is_dead;
}

static bool fixture_is_held(void *context, int64_t run)
{
    (void)run;
    const struct world *world = context;
    return !world->host_is_dead;
}

static void fixture_wake(void *context)
{
    ((struct world *)context)->wakes++;
}

/* A world without a store. */
UNUSED static void world_init_empty(struct world *world)
{
    struct err err = {0};
    struct settings_layers layers = {.defaults = {[SETTING_SLOTS] = "4"}};
    *world = (struct world){.home = "/tmp/eider-service-XXXXXX", .arena = arena_new()};
    cr_assert_not_null(mkdtemp(world->home));
    EXPECT_OK(settings_resolve(&layers, &world->settings, &err), &err);
    world->service = (struct service){
        .principal = &PRINCIPAL_LOCAL,
        .settings = &world->settings,
        .home = world->home,
        .actor = "tester",
        .is_alive = fixture_is_alive,
        .is_alive_context = world,
        .is_held = fixture_is_held,
        .is_held_context = world,
        .wake = fixture_wake,
        .wake_context = world,
        .now_us = fixture_clock,
    };
}

UNUSED static void world_init(struct world *world)
{
    struct err err = {0};
    world_init_empty(world);
    char *url = service_store_url(&world->service);
    struct store_options options = {.url = url, .mode = DB_READ_WRITE, .now_us = fixture_clock};
    struct host_request host = {
        .name = "here", .kind = "foreground", .pid = 4711, .boot = "b", .slots = 4};
    EXPECT_OK(store_open(&options, &world->store, &err), &err);
    EXPECT_OK(store_host_add(world->store, &host, &world->host, &err), &err);
    free(url);
}

UNUSED static void world_fini(struct world *world)
{
    struct err err = {0};
    service_fini(&world->service);
    store_close(world->store);
    settings_fini(&world->settings);
    arena_free(world->arena);
    int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_OK(file_tree_remove(folder, world->home + strlen("/tmp/"), &err), &err);
    (void)close(folder);
}

/* --- calling --------------------------------------------------------------------------------- */

/* Call with a request in JSON; checks the response against its schema. */
UNUSED static enum status call(struct world *world, const char *name, const char *request_text,
                               json_t **out, struct err *err)
{
    json_t *request = NULL;
    struct operation_local local = {.table = &OPERATIONS, .service = &world->service};
    *err = (struct err){0};
    EXPECT_OK(json_parse(request_text, strlen(request_text), &request, err), err);
    enum status status = operation_local_call(&local, name, request, out, err);
    json_decref(request);
    if (status == STATUS_OK)
        EXPECT_OK(operation_check_response(operation_find(&OPERATIONS, name), *out, err), err);
    return status;
}

UNUSED static json_t *call_ok(struct world *world, const char *name, const char *request_text)
{
    struct err err = {0};
    json_t *response = NULL;
    EXPECT_OK(call(world, name, request_text, &response, &err), &err);
    return response;
}

/* Expect a status and a part of the text. */
UNUSED static void call_fails(struct world *world, const char *name, const char *request_text,
                              enum status wanted, const char *part)
{
    struct err err = {0};
    json_t *response = NULL;
    EXPECT_STATUS(wanted, call(world, name, request_text, &response, &err), &err);
    cr_assert_null(response);
    EXPECT_CONTAINS(err.text, part);
}

/* A row of a list by task and instance, or NULL. */
UNUSED static const json_t *find_row(const json_t *response, const char *list, const char *task_id,
                                     int64_t map_index)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(response, list), i, row)
    {
        if (strcmp(json_get_string(row, "task_id", ""), task_id) == 0 &&
            json_get_int(row, "map_index", -2) == map_index)
            return row;
    }
    return NULL;
}

UNUSED static size_t list_size(const json_t *response, const char *list)
{
    cr_assert(json_is_array(json_object_get(response, list)), "there is a list '%s'", list);
    return json_array_size(json_object_get(response, list));
}

/* --- driving --------------------------------------------------------------------------------- */

UNUSED static int64_t start_run(struct world *world, const char *path, const char *text)
{
    struct err err = {0};
    struct version_ref version;
    struct run_created run;
    struct spec_file *file = spec_load_text(path, text, strlen(text));
    cr_assert_eq(file->diags.errors, 0, "%s",
                 file->diags.count > 0 ? file->diags.items[0].text : "");
    EXPECT_OK(store_version_save(world->store, file->dags[0],
                                 &(struct version_source){.path = path, .text = text}, &version,
                                 &err),
              &err);
    struct run_request request = {
        .version = version.version,
        .kind = "manual",
        .logical_at_us = fixture_now_us,
        .interval_start_us = fixture_now_us,
        .interval_end_us = fixture_now_us,
        .params = "{\"region\":\"eu\"}",
        .conf = "{}",
        .note = "",
        .actor = "tester",
        .scope = -1,
    };
    fixture_now_us += 1000000;
    EXPECT_OK(store_run_create(world->store, &request, &run, &err), &err);
    spec_file_free(file);
    return run.id;
}

/* Hand in an outcome (or none) and claim up to `slots` tasks of the run. */
UNUSED static void advance(struct world *world, int64_t run, const struct outcome *outcome,
                           int64_t slots)
{
    struct err err = {0};
    struct advance_result result;
    struct advance_request request = {
        .host = world->host,
        .scope = run,
        .process_slots = slots,
        .inline_slots = slots,
        .outcomes = outcome,
        .outcomes_count = outcome != NULL,
    };
    EXPECT_OK(store_advance(world->store, &request, world->arena, &result, &err), &err);
    if (outcome != NULL)
        cr_assert(result.accepted[0], "the outcome is accepted");
    for (size_t i = 0; i < result.claims_count; i++) {
        cr_assert_lt(world->claims_count, ARRAY_LEN(world->claims));
        world->claims[world->claims_count++] = result.claims[i];
    }
}

/* Take the claim of a task out of those held. */
UNUSED static struct claim take_claim(struct world *world, int64_t run, const char *task_id,
                                      int64_t map_index)
{
    struct err err = {0};
    struct run_info info;
    const struct dag *dag = NULL;
    EXPECT_OK(store_run_load(world->store, world->arena, run, &info, &err), &err);
    EXPECT_OK(store_version_dag(world->store, info.version, &dag, &err), &err);
    for (size_t i = 0; i < world->claims_count; i++) {
        struct claim claim = world->claims[i];
        if (claim.run == run && strcmp(dag->tasks[claim.node].id, task_id) == 0 &&
            claim.map_index == map_index) {
            world->claims[i] = world->claims[--world->claims_count];
            return claim;
        }
    }
    cr_assert_fail("task %s is not claimed", task_id);
    return (struct claim){0};
}

UNUSED static struct outcome outcome_of(const struct claim *claim, enum reason reason, int code)
{
    return (struct outcome){
        .task = claim->task,
        .run = claim->run,
        .attempt = claim->attempt,
        .nonce = claim->nonce,
        .kind = OUTCOME_END,
        .end = {.reason = reason, .exit_code = code, .result = TASK_SUCCESS},
        .started_at_us = fixture_now_us,
        .ended_at_us = fixture_now_us + 500000,
    };
}

/* End a claimed task with an exit code and claim what follows. */
UNUSED static void end_task(struct world *world, int64_t run, const char *task_id, int code)
{
    struct claim claim = take_claim(world, run, task_id, -1);
    struct outcome outcome = outcome_of(&claim, REASON_EXIT, code);
    outcome.detail = code != 0 ? "it went wrong" : NULL;
    advance(world, run, &outcome, 8);
}

UNUSED static char *request_for(int64_t run, const char *rest)
{
    return mem_format("{\"run\":\"%lld\"%s}", (long long)run, rest);
}
