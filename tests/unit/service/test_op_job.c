/*
 * Queues, jobs, dead letters and hosts as operations.
 */
#include "service_fixture.h"
#include "store/job.h"

static struct world world;

static void setup(void)
{
    world_init(&world);
}

static void teardown(void)
{
    world_fini(&world);
}

TestSuite(op_job, .init = setup, .fini = teardown);

/* Put one job in a queue; its id as text, valid until the next call. */
static const char *enqueue(const char *job)
{
    static char id[32];
    char *request = mem_format("{\"queue\":\"default\",\"jobs\":[%s]}", job);
    json_t *response = call_ok(&world, "job.enqueue", request);
    const json_t *first = json_array_get(json_object_get(response, "jobs"), 0);
    (void)snprintf(id, sizeof id, "%s", json_get_string(first, "id", ""));
    json_decref(response);
    free(request);
    return id;
}

static json_t *call_of_job(const char *operation, const char *id, const char *rest)
{
    char *request = mem_format("{\"job\":\"%s\"%s}", id, rest);
    json_t *response = call_ok(&world, operation, request);
    free(request);
    return response;
}

static void expect_member(json_t *taken, const char *key, const char *wanted)
{
    EXPECT_STR(wanted, json_get_string(taken, key, "none"));
    json_decref(taken);
}

/* Claim what waits for any host and end it. */
static void run_jobs(int exit_code)
{
    world.claims_count = 0;
    advance(&world, 0, NULL, 8);
    for (size_t i = 0; i < world.claims_count; i++) {
        struct outcome outcome = outcome_of(&world.claims[i], REASON_EXIT, exit_code);
        outcome.detail = exit_code != 0 ? "it went wrong" : NULL;
        advance(&world, 0, &outcome, 0);
    }
}

Test(op_job, a_job_has_the_members_of_the_interface)
{
    char id[32];
    (void)snprintf(id, sizeof id, "%s",
                   enqueue("{\"handler\":\"send\",\"payload\":{\"to\":[1]},\"priority\":3,"
                           "\"retries\":1,\"retry_delay\":\"1s\",\"timeout\":90}"));
    cr_assert_eq(world.wakes, 1);
    json_t *job = call_of_job("job.show", id, "");
    EXPECT_STR("pending", json_get_string(job, "status", ""));
    EXPECT_STR(id, json_get_string(job, "id", ""));
    cr_assert_eq(json_get_int(job, "priority", 0), 3);
    cr_assert_eq(json_real_value(json_object_get(job, "timeout")), 90.0);
    char *payload = json_format(json_object_get(job, "payload"));
    EXPECT_STR("{\"to\":[1]}", payload);
    free(payload);
    json_decref(job);

    run_jobs(1);
    job = call_of_job("job.show", id, "");
    EXPECT_STR("delayed", json_get_string(job, "status", ""));
    cr_assert_eq(json_get_int(job, "retry_count", 0), 1);
    cr_assert_eq(json_get_int(job, "attempts", 0), 1);
    json_decref(job);
    fixture_now_us += 5000000;
    run_jobs(0);
    expect_member(call_of_job("job.show", id, ""), "status", "completed");
}

Test(op_job, a_bad_job_is_named_and_nothing_is_kept)
{
    static const struct {
        const char *job;
        const char *part;
    } CASES[] = {
        {"{}", "job 2: 'handler' is missing"},
        {"{\"handler\":\"\"}", "'handler'"},
        {"{\"handler\":\"x\",\"line\":17,\"delya\":1}", "line 17: unknown member 'delya', did you"},
        {"{\"handler\":\"x\",\"delay\":\"soon\"}", "'delay' must be a duration"},
        {"{\"handler\":\"x\",\"delay\":\"1s\",\"run_after\":\"2030-01-01\"}", "not both"},
        {"{\"handler\":\"x\",\"run_after\":\"never\"}", "'run_after' must be"},
        {"{\"handler\":\"x\",\"priority\":1000001}", "'priority' must be"},
        {"{\"handler\":\"x\",\"retries\":-1}", "'retries' must be"},
        {"{\"handler\":\"x\",\"on_lost_lease\":\"wait\"}", "stop or finish"},
        {"{\"handler\":\"x\",\"queue\":7}", "'queue' must be"},
        {"7", "a job must be an object"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *request = mem_format("{\"queue\":\"default\",\"jobs\":[{\"handler\":\"good\"},%s]}",
                                   CASES[i].job);
        call_fails(&world, "job.enqueue", request, STATUS_INVALID, CASES[i].part);
        free(request);
    }
    json_t *list = call_ok(&world, "job.list", "{}");
    cr_assert_eq(list_size(list, "jobs"), 0);
    json_decref(list);
    call_fails(&world, "job.enqueue", "{\"jobs\":[]}", STATUS_INVALID, "1 to");
    call_fails(&world, "job.enqueue", "{\"jobs\":[{\"handler\":\"x\"}]}", STATUS_INVALID,
               "'queue' is missing");
    call_fails(&world, "job.enqueue", "{\"queue\":\"defualt\",\"jobs\":[{\"handler\":\"x\"}]}",
               STATUS_NOT_FOUND, "did you mean 'default'?");
}

Test(op_job, a_payload_has_a_bound)
{
    struct err err = {0};
    json_t *response = NULL;
    char *text = mem_alloc((1 << 20) + 1);
    memset(text, 'x', 1 << 20);
    text[1 << 20] = '\0';
    char *request = mem_format(
        "{\"queue\":\"default\",\"jobs\":[{\"handler\":\"x\",\"payload\":\"%s\"}]}", text);
    EXPECT_STATUS(STATUS_LIMIT, call(&world, "job.enqueue", request, &response, &err), &err);
    EXPECT_CONTAINS(err.text, "keep the data elsewhere");
    free(request);
    /* Two bytes are its quotes. */
    text[(1 << 20) - 2] = '\0';
    request = mem_format(
        "{\"queue\":\"default\",\"jobs\":[{\"handler\":\"x\",\"payload\":\"%s\"}]}", text);
    json_decref(call_ok(&world, "job.enqueue", request));
    free(request);
    free(text);
}

Test(op_job, jobs_are_cancelled_rescheduled_and_retried)
{
    char id[32];
    (void)snprintf(id, sizeof id, "%s", enqueue("{\"handler\":\"x\"}"));
    expect_member(call_of_job("job.reschedule", id, ",\"delay\":\"5m\""), "status", "delayed");
    expect_member(call_of_job("job.reschedule", id, ",\"run_after\":\"2001-01-01T00:00:00Z\""),
                  "status", "pending");
    expect_member(call_of_job("job.cancel", id, ""), "status", "cancelled");
    expect_member(call_of_job("job.retry", id, ""), "status", "pending");
    char *request = mem_format("{\"job\":\"%s\",\"delay\":\"x\"}", id);
    call_fails(&world, "job.reschedule", request, STATUS_INVALID, "no duration");
    free(request);
    request = mem_format("{\"job\":\"%s\"}", id);
    call_fails(&world, "job.reschedule", request, STATUS_INVALID, "either");
    call_fails(&world, "job.retry", request, STATUS_CONFLICT, "already");
    free(request);
    call_fails(&world, "job.show", "{\"job\":\"5\"}", STATUS_NOT_FOUND, "no job 5");
    call_fails(&world, "job.list", "{\"status\":\"complete\"}", STATUS_INVALID, "'completed'");
    call_fails(&world, "job.list", "{\"queue\":\"x\"}", STATUS_NOT_FOUND, "no queue 'x'");
}

Test(op_job, dead_letters_are_listed_requeued_and_forgotten)
{
    (void)enqueue("{\"handler\":\"a\"}");
    (void)enqueue("{\"handler\":\"b\",\"payload\":[2]}");
    run_jobs(1);
    json_t *list = call_ok(&world, "dead.list", "{}");
    cr_assert_eq(list_size(list, "letters"), 2);
    char id[32];
    (void)snprintf(id, sizeof id, "%s",
                   json_get_string(json_array_get(json_object_get(list, "letters"), 0), "id", ""));
    json_decref(list);
    char *request = mem_format("{\"id\":\"%s\"}", id);
    expect_member(call_ok(&world, "dead.show", request), "reason", "exit");
    json_decref(call_ok(&world, "dead.requeue", request));
    call_fails(&world, "dead.show", request, STATUS_NOT_FOUND, "no dead letter");
    free(request);
    json_t *dry = call_ok(&world, "dead.requeue", "{\"all\":true,\"dry_run\":true}");
    cr_assert_eq(list_size(dry, "letters"), 1);
    json_decref(dry);
    json_t *purged = call_ok(&world, "dead.purge", "{\"dry_run\":true}");
    cr_assert_eq(json_get_int(purged, "purged", 0), 1);
    json_decref(purged);
    purged = call_ok(&world, "dead.purge", "{}");
    cr_assert_eq(json_get_int(purged, "purged", 0), 1);
    json_decref(purged);
    call_fails(&world, "dead.requeue", "{}", STATUS_INVALID, "name one");
    call_fails(&world, "dead.list", "{\"older\":\"x\"}", STATUS_INVALID, "no duration");
}

/* Ids of all pages of two, one after the other. */
static char *walk_pages(const char *operation, const char *list, const char *more)
{
    char *ids = mem_strdup("");
    CLEANUP(mem_freep) char *cursor = NULL;
    for (int i = 0; i < 10; i++) {
        CLEANUP(mem_freep)
        char *request =
            cursor != NULL
                ? mem_format("{\"limit\":2,\"with_total\":true,\"cursor\":\"%s\"%s}", cursor, more)
                : mem_format("{\"limit\":2,\"with_total\":true%s}", more);
        CLEANUP(json_decrefp) json_t *page = call_ok(&world, operation, request);
        size_t k;
        json_t *row;
        json_array_foreach(json_object_get(page, list), k, row)
        {
            char *longer = mem_format("%s %s", ids, json_get_string(row, "id", ""));
            free(ids);
            ids = longer;
        }
        cr_assert_eq(json_get_int(page, "total_entries", 0), 5, "of all pages");
        free(cursor);
        cursor = NULL;
        if (json_is_null(json_object_get(page, "cursor")))
            return ids;
        cursor = mem_strdup(json_get_string(page, "cursor", ""));
    }
    cr_assert(false, "pages without an end");
    return ids;
}

Test(op_job, cursors_go_on_behind_the_page)
{
    CLEANUP(mem_freep) char *wanted = mem_strdup("");
    for (int i = 0; i < 5; i++) {
        char *longer = mem_format(" %s%s", enqueue("{\"handler\":\"a\"}"), wanted);
        free(wanted);
        wanted = longer;
    }
    CLEANUP(mem_freep) char *jobs = walk_pages("job.list", "jobs", "");
    EXPECT_STR(wanted, jobs);
    run_jobs(1);
    CLEANUP(mem_freep) char *failed = walk_pages("job.list", "jobs", ",\"status\":\"failed\"");
    CLEANUP(mem_freep) char *letters = walk_pages("dead.list", "letters", "");
    CLEANUP(mem_freep) char *queued = walk_pages("dead.list", "letters", ",\"queue\":\"default\"");
    EXPECT_STR(wanted, failed);
    cr_assert_eq(strlen(letters), strlen(wanted));
    EXPECT_STR(letters, queued);
    call_fails(&world, "job.list", "{\"cursor\":\"x\"}", STATUS_INVALID, "no cursor");
    call_fails(&world, "dead.list", "{\"cursor\":\"12\"}", STATUS_INVALID, "no cursor");
    call_fails(&world, "dead.list", "{\"cursor\":\"1.x\"}", STATUS_INVALID, "no cursor");
    call_fails(&world, "notify.list", "{\"cursor\":\"0\"}", STATUS_INVALID, "no cursor");
}

Test(op_job, a_purge_takes_logs_along)
{
    char id[32];
    (void)snprintf(id, sizeof id, "%s", enqueue("{\"handler\":\"x\"}"));
    run_jobs(0);
    fixture_now_us += 1000000;
    json_t *purged = call_ok(&world, "job.purge", "{\"older\":\"1h\"}");
    cr_assert_eq(json_get_int(purged, "purged", -1), 0);
    json_decref(purged);
    purged = call_ok(&world, "job.purge", "{}");
    cr_assert_eq(json_get_int(purged, "purged", -1), 1);
    json_decref(purged);
}

Test(op_job, a_queue_is_ready_when_a_living_host_serves_it)
{
    struct err err = {0};
    int64_t host = 0;
    json_decref(call_ok(&world, "queue.set", "{\"name\":\"mail\",\"priority\":2}"));
    expect_member(call_ok(&world, "queue.show", "{\"name\":\"mail\"}"), "state", "NOT_READY");
    struct host_request request = {.name = "daemon",
                                   .kind = "daemon",
                                   .machine = "m",
                                   .version = "1",
                                   .roles = "worker",
                                   .labels = "gpu",
                                   .queues = "default mail",
                                   .pid = 1,
                                   .boot = "b",
                                   .slots = 2};
    EXPECT_OK(store_host_add(world.store, &request, &host, &err), &err);
    expect_member(call_ok(&world, "queue.show", "{\"name\":\"mail\"}"), "state", "NOT_READY");
    world.host = host;
    expect_member(call_ok(&world, "queue.show", "{\"name\":\"mail\"}"), "state", "READY");
    expect_member(call_ok(&world, "queue.set", "{\"name\":\"mail\",\"paused\":true}"), "state",
                  "PAUSED");
    call_fails(&world, "queue.set", "{\"name\":\"x\",\"create\":false}", STATUS_NOT_FOUND, "'x'");

    json_t *shown = call_ok(&world, "host.show", "{\"host\":\"daemon\"}");
    EXPECT_STR("active", json_get_string(shown, "status", ""));
    cr_assert(json_get_bool(shown, "leader", false));
    EXPECT_STR("gpu", json_string_value(json_array_get(json_object_get(shown, "labels"), 0)));
    json_decref(shown);
    expect_member(call_ok(&world, "host.drain", "{\"host\":\"daemon\"}"), "status", "draining");
    expect_member(call_ok(&world, "host.drain", "{\"host\":\"daemon\",\"drain\":false}"), "status",
                  "active");
    world.host_is_dead = true;
    expect_member(call_ok(&world, "host.show", "{\"host\":\"daemon\"}"), "status", "expired");
    EXPECT_OK(store_host_end(world.store, host, &err), &err);
    expect_member(call_ok(&world, "host.show", "{\"host\":\"daemon\"}"), "status", "left");
    call_fails(&world, "host.drain", "{\"host\":\"daemon\"}", STATUS_CONFLICT, "is gone");
    call_fails(&world, "host.show", "{\"host\":\"deamon\"}", STATUS_NOT_FOUND, "'daemon'");
}

Test(op_job, late_is_what_waits_for_long)
{
    (void)enqueue("{\"handler\":\"x\"}");
    fixture_now_us += 15000000;
    json_t *queue = call_ok(&world, "queue.show", "{\"name\":\"default\"}");
    cr_assert_not(json_get_bool(queue, "late", true));
    json_decref(queue);
    fixture_now_us += 1;
    queue = call_ok(&world, "queue.show", "{\"name\":\"default\"}");
    cr_assert(json_get_bool(queue, "late", false));
    cr_assert_eq(json_get_int(queue, "pending", 0), 1);
    json_decref(queue);
}

static int64_t desired(const char *request)
{
    json_t *response = call_ok(&world, "host.desired", request);
    int64_t count = json_get_int(response, "desired", -1);
    json_decref(response);
    return count;
}

Test(op_job, hosts_that_are_wanted_follow_the_work)
{
    cr_assert_eq(desired("{}"), 0);
    for (int i = 0; i < 9; i++)
        (void)enqueue("{\"handler\":\"x\"}");
    cr_assert_eq(desired("{}"), 3, "9 jobs over the setting of 4 slots");
    cr_assert_eq(desired("{\"max\":2}"), 2);
    cr_assert_eq(desired("{\"min\":5}"), 5);
    (void)enqueue("{\"handler\":\"x\",\"delay\":\"1h\"}");
    cr_assert_eq(desired("{}"), 3, "what waits for its time asks for nobody");
    json_decref(call_ok(&world, "queue.set", "{\"name\":\"default\",\"max_running\":4}"));
    cr_assert_eq(desired("{}"), 1);
    json_decref(call_ok(&world, "queue.set", "{\"name\":\"default\",\"paused\":true}"));
    cr_assert_eq(desired("{}"), 0);
    call_fails(&world, "host.desired", "{\"min\":3,\"max\":1}", STATUS_INVALID, "max");
}
