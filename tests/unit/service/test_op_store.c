#include "blob/blob.h"
#include "blob/value_key.h"
#include "service_fixture.h"

static const char DAG[] = "tasks:\n  a: { run: 'true' }\n";

static const json_t *find_check(const json_t *response, const char *name)
{
    size_t i;
    json_t *check;
    json_array_foreach(json_object_get(response, "checks"), i, check)
    {
        if (strcmp(json_get_string(check, "name", ""), name) == 0)
            return check;
    }
    cr_assert_fail("there is no check '%s'", name);
    return NULL;
}

static void do_sql(struct world *world, const char *sql)
{
    struct err err = {0};
    struct db *db = NULL;
    char *url = service_store_url(&world->service);
    EXPECT_OK(db_open(url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_script(db, sql, &err), &err);
    db_close(db);
    free(url);
}

static void break_store(struct world *world)
{
    do_sql(world, "DELETE FROM ready");
}

Test(op_store, a_store_is_checked)
{
    struct world world;
    world_init(&world);
    (void)start_run(&world, "dag.yaml", DAG);

    json_t *fine = call_ok(&world, "store.check", "{}");
    cr_assert(json_get_bool(fine, "ok", false));
    EXPECT_STR("success", json_get_string(find_check(fine, "rules"), "state", ""));
    break_store(&world);
    json_t *broken = call_ok(&world, "store.check", "{}");
    cr_assert_not(json_get_bool(broken, "ok", true));
    const json_t *rule = find_check(broken, "every queued task is in ready, and nothing else is");
    EXPECT_STR("failed", json_get_string(rule, "state", ""));
    EXPECT_CONTAINS(json_get_string(rule, "detail", ""), "1 rows");
    json_t *doctor = call_ok(&world, "doctor.check", "{}");
    cr_assert_not(json_get_bool(doctor, "ok", true));
    json_decref(doctor);
    json_decref(fine);
    json_decref(broken);
    world_fini(&world);
}

static const json_t *look_at_dead(struct world *world, json_t **response)
{
    json_decref(*response);
    *response = call_ok(world, "doctor.check", "{}");
    return find_check(*response, "dead letters");
}

static void put_letters(struct world *world, int64_t first, int64_t count, int64_t at_us)
{
    CLEANUP(mem_freep)
    char *sql = mem_format("WITH RECURSIVE n (i) AS (VALUES (%lld) UNION ALL SELECT i + 1 FROM n"
                           " WHERE i < %lld) INSERT INTO dead (task, run, lane, at_us, reason,"
                           " attempt) SELECT i, 0, 0, %lld, 1, 1 FROM n",
                           (long long)first, (long long)(first + count - 1), (long long)at_us);
    do_sql(world, sql);
}

Test(op_store, the_doctor_advises_to_look_at_dead_letters)
{
    static const int64_t DAY_US = 86400000000;
    struct world world;
    json_t *response = NULL;
    world_init(&world);
    (void)start_run(&world, "dag.yaml", DAG);
    int64_t now_us = service_now_us(&world.service);
    EXPECT_STR("none", json_get_string(look_at_dead(&world, &response), "detail", ""));
    put_letters(&world, 1000, 999, now_us - 80 * DAY_US);
    const json_t *few = look_at_dead(&world, &response);
    EXPECT_CONTAINS(json_get_string(few, "detail", ""), "999, the oldest since ");
    cr_assert(json_is_null(json_object_get(few, "advice")));
    put_letters(&world, 2000, 1, now_us);
    const json_t *many = look_at_dead(&world, &response);
    EXPECT_CONTAINS(json_get_string(many, "advice", ""), "eider dlq list");
    cr_assert(json_get_bool(many, "ok", false));
    do_sql(&world, "DELETE FROM dead");
    put_letters(&world, 1, 1, now_us - 84 * DAY_US);
    EXPECT_CONTAINS(json_get_string(look_at_dead(&world, &response), "detail", ""),
                    "which keep_dead removes soon");
    json_decref(response);
    world_fini(&world);
}

Test(op_store, a_backup_takes_the_place_of_the_store)
{
    struct world world;
    world_init(&world);
    (void)start_run(&world, "first.yaml", DAG);
    char *request = mem_format("{\"path\":\"%s/copy.db\"}", world.home);
    json_t *copy = call_ok(&world, "store.backup", request);
    cr_assert_gt(json_get_int(copy, "bytes", 0), 0);
    cr_assert_eq(json_get_int(copy, "schema", 0), STORE_SCHEMA);
    call_fails(&world, "store.backup", request, STATUS_CONFLICT, "copy.db");
    (void)start_run(&world, "second.yaml", DAG);

    call_fails(&world, "store.restore", request, STATUS_CONFLICT, "in use by process 4711");
    store_close(world.store);
    world.store = NULL;
    world.host_is_dead = true;
    json_t *restored = call_ok(&world, "store.restore", request);
    EXPECT_CONTAINS(json_get_string(restored, "kept_as", ""), "before-");
    json_t *runs = call_ok(&world, "run.list", "{}");
    cr_assert_eq(list_size(runs, "dag_runs"), 1);
    call_fails(&world, "store.restore", "{\"path\":\"/nowhere.db\"}", STATUS_NOT_FOUND, "nowhere");
    call_fails(&world, "store.restore", "{\"path\":\"\"}", STATUS_INVALID, "empty");
    json_decref(copy);
    json_decref(restored);
    json_decref(runs);
    free(request);
    world_fini(&world);
}

Test(op_store, migrating_says_from_where_to_where)
{
    struct world world;
    world_init(&world);
    json_t *plan = call_ok(&world, "store.migrate", "{\"dry_run\":true}");
    json_t *done = call_ok(&world, "store.migrate", "{}");
    cr_assert_eq(json_get_int(plan, "from", 0), STORE_SCHEMA);
    cr_assert_eq(json_get_int(done, "to", 0), STORE_SCHEMA);
    cr_assert_eq(list_size(done, "applied"), 0);
    json_decref(plan);
    json_decref(done);
    world_fini(&world);
}

Test(op_store, without_a_store_there_is_nothing_to_look_after)
{
    struct world world;
    world_init_empty(&world);
    call_fails(&world, "store.check", "{}", STATUS_NOT_FOUND, "no store");
    call_fails(&world, "store.migrate", "{}", STATUS_NOT_FOUND, "no store");
    call_fails(&world, "store.backup", "{\"path\":\"/tmp/x\"}", STATUS_NOT_FOUND, "no store");
    json_t *doctor = call_ok(&world, "doctor.check", "{}");
    cr_assert(json_get_bool(doctor, "ok", false));
    EXPECT_STR("skipped", json_get_string(find_check(doctor, "store"), "state", ""));
    json_decref(doctor);
    world_fini(&world);
}

Test(op_store, the_doctor_finds_runs_without_an_owner_and_bad_places)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    json_t *well = call_ok(&world, "doctor.check", "{}");
    EXPECT_CONTAINS(json_get_string(find_check(well, "unfinished runs"), "detail", ""), "none");
    json_decref(well);

    world.host_is_dead = true;
    json_t *left = call_ok(&world, "doctor.check", "{}");
    const json_t *runs = find_check(left, "unfinished runs");
    EXPECT_CONTAINS(json_get_string(runs, "detail", ""), "1 without an owner");
    EXPECT_CONTAINS(json_get_string(runs, "advice", ""), "eider retry");
    cr_assert(json_get_bool(left, "ok", false), "advice is no failure");
    json_decref(left);

    char *file = mem_format("%s/eider.db/state", world.home);
    service_close_store(&world.service);
    world.service.home = file;
    json_t *misplaced = call_ok(&world, "doctor.check", "{}");
    cr_assert_not(json_get_bool(misplaced, "ok", true));
    EXPECT_STR("failed", json_get_string(find_check(misplaced, "state folder"), "state", ""));
    json_decref(misplaced);
    world.service.home = world.home;
    free(file);
    world_fini(&world);
}

Test(op_store, settings_are_listed_and_found)
{
    struct world world;
    world_init_empty(&world);
    json_t *all = call_ok(&world, "config.list", "{}");
    cr_assert_eq(list_size(all, "settings"), SETTING_COUNT);
    json_t *one = call_ok(&world, "config.get", "{\"key\":\"slots\"}");
    EXPECT_STR("4", json_get_string(one, "value", ""));
    EXPECT_STR("default", json_get_string(one, "origin", ""));
    call_fails(&world, "config.get", "{\"key\":\"slot\"}", STATUS_NOT_FOUND, "'slots'");
    call_fails(&world, "config.get", "{\"key\":\"zzzzzzzzzzzz\"}", STATUS_NOT_FOUND, "zzzz");
    json_decref(all);
    json_decref(one);
    world_fini(&world);
}

static void put_blob(struct world *world, struct blob_key key, const char *bytes)
{
    struct err err = {0};
    CLEANUP(blob_closep) struct blob *blob = NULL;
    EXPECT_OK(service_blob_new(&world->service, &blob, &err), &err);
    EXPECT_OK(blob_put(blob, &key, bytes, strlen(bytes), &err), &err);
}

static bool has_blob(struct world *world, struct blob_key key)
{
    struct err err = {0};
    CLEANUP(blob_closep) struct blob *blob = NULL;
    CLEANUP(blob_handle_closep) struct blob_handle *handle = NULL;
    EXPECT_OK(service_blob_new(&world->service, &blob, &err), &err);
    return blob_open(blob, &key, BLOB_READ, &handle, &err) == STATUS_OK;
}

Test(op_store, a_store_moves_with_its_large_values_and_on_request_its_logs)
{
    for (int with_logs = 0; with_logs < 2; with_logs++) {
        struct world world;
        struct world other;
        world_init(&world);
        world_init_empty(&other);
        int64_t run = start_run(&world, "dag.yaml", DAG);
        advance(&world, run, NULL, 8);
        struct claim claim = take_claim(&world, run, "a", -1);
        struct outcome outcome = outcome_of(&claim, REASON_EXIT, 0);
        struct outcome_value large = {.key = "k", .bytes = 5};
        outcome.values = &large;
        outcome.values_count = 1;
        advance(&world, run, &outcome, 8);
        struct blob_key value = value_key(run, claim.task, claim.attempt, "k");
        struct blob_key log = {
            .kind = BLOB_LOG, .ids = {run, claim.task, claim.attempt}, .id_count = 3};
        struct blob_key stray = {.kind = BLOB_LOG, .ids = {run + 1, 99, 1}, .id_count = 3};
        put_blob(&world, value, "\"abc\"");
        put_blob(&world, log, "said\n");
        put_blob(&world, stray, "of a run that is not in the store\n");

        char *request = mem_format("{\"path\":\"%s/all\",\"logs\":%s}", world.home,
                                   with_logs ? "true" : "false");
        json_t *sent = call_ok(&world, "store.export", request);
        call_fails(&world, "store.export", request, STATUS_CONFLICT, "exists");
        char *import = mem_format("{\"path\":\"%s/all\"}", world.home);
        json_t *got = call_ok(&other, "store.import", import);

        cr_assert_eq(json_get_int(got, "files", 0), 1 + with_logs);
        cr_assert_eq(json_get_int(got, "rows", 0), json_get_int(sent, "rows", -1));
        cr_assert(has_blob(&other, value));
        cr_assert_eq(has_blob(&other, log), with_logs == 1);
        cr_assert_not(has_blob(&other, stray));
        call_fails(&other, "store.import", import, STATUS_CONFLICT, "1 runs and 0 jobs");
        json_decref(sent);
        json_decref(got);
        free(request);
        free(import);
        world_fini(&other);
        world_fini(&world);
    }
}

Test(op_store, moves_say_what_is_missing)
{
    struct world world;
    world_init_empty(&world);
    call_fails(&world, "store.export", "{\"path\":\"/tmp/x\"}", STATUS_NOT_FOUND, "no store");
    call_fails(&world, "store.export", "{\"path\":\"\"}", STATUS_INVALID, "empty");
    call_fails(&world, "store.import", "{\"path\":\"\"}", STATUS_INVALID, "empty");
    call_fails(&world, "store.import", "{\"path\":\"/nowhere\"}", STATUS_NOT_FOUND, "/nowhere");
    world_fini(&world);
}
