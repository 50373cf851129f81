/*
 * Who may do what to what: roles in namespaces against what requests name.
 */
#include "service/access.h"
#include "service/principal.h"
#include "service_fixture.h"

static struct world world;
static int64_t shop_run;
static int64_t pay_run;

static void setup(void)
{
    world_init(&world);
    shop_run = start_run(&world, "shop.yaml", "namespace: sales\ntasks:\n  one: {run: echo}\n");
    pay_run = start_run(&world, "pay.yaml", "namespace: hr\ntasks:\n  one: {run: echo}\n");
}

static void teardown(void)
{
    world_fini(&world);
}

TestSuite(access, .init = setup, .fini = teardown);

static struct grant VIEWER[] = {{"sales", PERMISSION_VIEWER}};
static struct grant OPERATOR[] = {{"sales", PERMISSION_OPERATOR}};
static struct grant ADMIN[] = {{"sales", PERMISSION_ADMIN}};
static struct grant SEES_ALL[] = {{"*", PERMISSION_VIEWER}, {"sales", PERMISSION_OPERATOR}};

#define WHO(given)                                                                                 \
    (struct principal)                                                                             \
    {                                                                                              \
        .name = "anna", .grants = (given), .count = ARRAY_LEN(given)                               \
    }

static enum status ask(struct principal principal, const char *name, const char *request,
                       struct err *err)
{
    json_t *response = NULL;
    world.service.principal = &principal;
    enum status status = call(&world, name, request, &response, err);
    json_decref(response);
    world.service.principal = &PRINCIPAL_LOCAL;
    return status;
}

Test(access, nobody_may_nothing)
{
    struct err err = {0};
    json_t *response = NULL;
    world.service.principal = NULL;
    for (const struct operation_table *table = &OPERATIONS; table != NULL; table = table->more) {
        for (size_t i = 0; i < table->count; i++) {
            json_t *request = json_object();
            enum status status = access_check(&world.service, &table->rows[i], request, &err);
            cr_expect(status == STATUS_DENIED || status == STATUS_NOT_FOUND, "%s",
                      table->rows[i].name);
            json_decref(request);
        }
    }
    EXPECT_STATUS(STATUS_DENIED, call(&world, "run.list", "{}", &response, &err), &err);
}

Test(access, what_is_named_decides)
{
    static const struct {
        const char *operation, *request;
        struct grant *grants;
        size_t count;
        enum status status;
    } CASES[] = {
        {"dag.show", "{\"dag\": \"shop\"}", VIEWER, 1, STATUS_OK},
        {"dag.show", "{\"dag\": \"pay\"}", VIEWER, 1, STATUS_NOT_FOUND},
        {"dag.show", "{\"dag\": \"pay\"}", SEES_ALL, 2, STATUS_OK},
        {"dag.pause", "{\"dags\": [\"shop\"]}", VIEWER, 1, STATUS_DENIED},
        {"dag.pause", "{\"dags\": [\"shop\"]}", OPERATOR, 1, STATUS_OK},
        {"dag.pause", "{\"dags\": [\"shop\", \"pay\"]}", OPERATOR, 1, STATUS_NOT_FOUND},
        {"dag.pause", "{\"dags\": [\"shop\", \"pay\"]}", SEES_ALL, 2, STATUS_DENIED},
        {"dag.pause", "{\"dags\": []}", VIEWER, 1, STATUS_DENIED},
        {"run.show", "{\"run\": \"shop\"}", VIEWER, 1, STATUS_OK},
        {"run.show", "{\"run\": \"pay\"}", VIEWER, 1, STATUS_NOT_FOUND},
        {"run.note", "{\"run\": \"pay\", \"note\": \"x\"}", SEES_ALL, 2, STATUS_DENIED},
        {"run.note", "{\"run\": \"shop\", \"note\": \"x\"}", SEES_ALL, 2, STATUS_OK},
        {"dag.graph", "{\"dag\": \"shop\", \"run\": \"pay\"}", ADMIN, 1, STATUS_NOT_FOUND},
        {"variable.set", "{\"name\": \"x\", \"value\": \"1\"}", ADMIN, 1, STATUS_NOT_FOUND},
        {"variable.set", "{\"name\": \"x\", \"value\": \"1\", \"namespace\": \"sales\"}", ADMIN, 1,
         STATUS_OK},
        {"variable.set", "{\"name\": \"x\", \"value\": \"1\", \"namespace\": \"sales\"}", OPERATOR,
         1, STATUS_DENIED},
        {"limit.set", "{\"kind\": \"dag\", \"name\": \"pay\", \"max_running\": 1}", ADMIN, 1,
         STATUS_NOT_FOUND},
        {"limit.set", "{\"kind\": \"dag\", \"name\": \"shop\", \"max_running\": 1}", ADMIN, 1,
         STATUS_OK},
        {"limit.set", "{\"kind\": \"namespace\", \"name\": \"hr\", \"max_running\": 1}", ADMIN, 1,
         STATUS_NOT_FOUND},
        {"job.enqueue", "{\"jobs\": [{\"handler\": \"noop\"}]}", ADMIN, 1, STATUS_NOT_FOUND},
        {"dead.requeue", "{\"all\": true}", ADMIN, 1, STATUS_DENIED},
        {"store.check", "{}", ADMIN, 1, STATUS_DENIED},
        {"config.list", "{}", ADMIN, 1, STATUS_DENIED},
        {"config.list", "{}", SEES_ALL, 2, STATUS_OK},
        {"user.list", "{}", ADMIN, 1, STATUS_DENIED},
        {"asset.emit", "{\"uri\": \"s3://x\"}", ADMIN, 1, STATUS_DENIED},
        {"dag.show", "{\"file\": \"/etc/passwd\"}", ADMIN, 1, STATUS_DENIED},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct principal who = {.name = "anna", .grants = CASES[i].grants, .count = CASES[i].count};
        enum status status = ask(who, CASES[i].operation, CASES[i].request, &err);
        cr_expect_eq(status, CASES[i].status, "%s %s: %s", CASES[i].operation, CASES[i].request,
                     status == STATUS_OK ? "allowed" : err.text);
    }
}

Test(access, a_number_of_a_run_tells_nothing)
{
    struct err there = {0};
    struct err absent = {0};
    char request[64];
    (void)snprintf(request, sizeof request, "{\"run\": \"%lld\"}", (long long)pay_run);
    EXPECT_STATUS(STATUS_NOT_FOUND, ask(WHO(VIEWER), "run.show", request, &there), &there);
    EXPECT_STATUS(STATUS_NOT_FOUND, ask(WHO(VIEWER), "run.show", "{\"run\": \"99999\"}", &absent),
                  &absent);
    EXPECT_CONTAINS(there.text, "there is no run '");
    EXPECT_CONTAINS(absent.text, "there is no run '");
    (void)snprintf(request, sizeof request, "{\"run\": \"%lld\"}", (long long)shop_run);
    EXPECT_OK(ask(WHO(VIEWER), "run.show", request, &there), &there);
}

/* What cannot be seen is not suggested either. */
Test(access, no_name_is_suggested_that_is_not_seen)
{
    struct err err = {0};
    EXPECT_STATUS(STATUS_NOT_FOUND, ask(WHO(VIEWER), "dag.show", "{\"dag\": \"pey\"}", &err), &err);
    cr_expect_null(strstr(err.text, "pay"), "%s", err.text);
}

static size_t listed(struct principal principal, const char *name, const char *list)
{
    world.service.principal = &principal;
    json_t *response = call_ok(&world, name, "{}");
    size_t count = list_size(response, list);
    json_decref(response);
    world.service.principal = &PRINCIPAL_LOCAL;
    return count;
}

Test(access, lists_show_what_is_seen)
{
    static const char *const LISTS[][2] = {
        {"run.list", "dag_runs"}, {"dag.list", "dags"}, {"namespace.list", "namespaces"}};
    for (size_t i = 0; i < ARRAY_LEN(LISTS); i++) {
        size_t own = listed(WHO(VIEWER), LISTS[i][0], LISTS[i][1]);
        cr_expect_eq(own, 1, "%s: %zu", LISTS[i][0], own);
        cr_expect_gt(listed(WHO(SEES_ALL), LISTS[i][0], LISTS[i][1]), 1, "%s", LISTS[i][0]);
        cr_expect_gt(listed(PRINCIPAL_LOCAL, LISTS[i][0], LISTS[i][1]), 1, "%s", LISTS[i][0]);
    }
    json_t *all = call_ok(&world, "event.list", "{}");
    cr_expect_gt(list_size(all, "events"), listed(WHO(VIEWER), "event.list", "events"));
    json_decref(all);
}

Test(access, what_is_seen_ends_with_the_call)
{
    (void)listed(WHO(VIEWER), "run.list", "dag_runs");
    cr_expect_null(world.service.sight);
    cr_expect_eq(listed(PRINCIPAL_LOCAL, "run.list", "dag_runs"), 2);
}

Test(access, a_worker_serves_its_queues)
{
    const struct principal worker = {.name = "w", .queues = "gpu big"};
    const struct principal any = {.name = "w", .queues = "*"};
    const struct principal none = {.name = "w"};
    cr_expect(principal_serves(&worker, "gpu") && principal_serves(&worker, "big"));
    cr_expect_not(principal_serves(&worker, "bi") || principal_serves(&worker, "gpu big") ||
                  principal_serves(&worker, "") || principal_serves(&worker, "*"));
    cr_expect(principal_serves(&any, "mail"));
    cr_expect_not(principal_serves(&none, "mail") || principal_serves(NULL, "mail"));
}
