/*
 * What is kept beside the tasks: values, events and hosts.
 */
#include "store/event_store.h"
#include "store/host.h"
#include "store/value.h"
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

TestSuite(records, .init = setup, .fini = teardown);

struct listing {
    char text[400];
    int stop_after; /* 0: never */
    int calls;
};

static enum status add(struct listing *listing, const char *item, struct err *err)
{
    size_t used = strlen(listing->text);
    (void)snprintf(listing->text + used, sizeof listing->text - used, "%s ", item);
    if (++listing->calls == listing->stop_after)
        return err_set(err, STATUS_INVALID, "enough");
    return STATUS_OK;
}

/* --- values ---------------------------------------------------------------------------------- */

static enum status list_value(void *context, const struct value_info *value, struct err *err)
{
    return add(context,
               arena_format(bench.arena, "%s=%s:%lld", value->key,
                            value->json != NULL ? value->json : "spilled", (long long)value->bytes),
               err);
}

STORE_TEST(records, values_of_a_task_are_loaded_and_listed_by_key)
{
    static const struct outcome_value VALUES[] = {
        {.key = "z", .json = "[1]", .bytes = 3},
        {.key = "big", .json = NULL, .bytes = 100000},
        {.key = "", .json = "\"\"", .bytes = 2},
    };
    struct err err = {0};
    struct value_info value = {.bytes = 77};
    struct listing all = {.text = ""};
    struct listing some = {.stop_after = 2};
    struct listing none = {.text = ""};
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}}}");
    struct advance_result first = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&first.claims[0], 0);
    outcome.values = VALUES;
    outcome.values_count = ARRAY_LEN(VALUES);
    (void)bench_advance(&bench, &outcome, 1, 0);
    int64_t task = outcome.task;

    EXPECT_OK(store_value_each(bench.store, task, list_value, &all, &err), &err);
    EXPECT_STR("=\"\":2 big=spilled:100000 z=[1]:3 ", all.text);
    EXPECT_STATUS(STATUS_INVALID, store_value_each(bench.store, task, list_value, &some, &err),
                  &err);
    cr_assert_eq(some.calls, 2);
    EXPECT_OK(store_value_each(bench.store, bench.run.first_task + 1, list_value, &none, &err),
              &err);
    EXPECT_STR("", none.text);

    EXPECT_STATUS(STATUS_NOT_FOUND,
                  store_value_load(bench.store, bench.arena, task, "Z", &value, &err), &err);
    EXPECT_CONTAINS(err.text, "'Z'");
    cr_assert_eq(value.bytes, 77);
    EXPECT_OK(store_value_load(bench.store, bench.arena, task, "z", &value, &err), &err);
    EXPECT_STR("[1]", value.json);
    EXPECT_OK(store_value_load(bench.store, bench.arena, task, "big", &value, &err), &err);
    cr_assert_null(value.json);
    cr_assert_eq(value.bytes, 100000);
}

static enum status list_instance(void *context, const struct instance_value *value, struct err *err)
{
    return add(context,
               arena_format(bench.arena, "%lld:%s:%s", (long long)value->map_index,
                            value->succeeded ? "ok" : "no",
                            value->value.key == NULL ? "-" : value->value.json),
               err);
}

STORE_TEST(records, one_value_of_each_instance_comes_in_order)
{
    static const struct outcome_value VALUE = {.key = "k", .json = "5", .bytes = 1};
    static const struct outcome_value OTHER = {.key = "l", .json = "6", .bytes = 1};
    struct err err = {0};
    struct listing all = {.text = ""};
    struct listing part = {.text = ""};
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 4;
    result = bench_advance(&bench, &outcome, 1, 3);
    cr_assert_eq(result.claims_count, 3);
    struct outcome ends[3];
    for (size_t i = 0; i < 3; i++) {
        ends[i] = bench_outcome(&result.claims[i], i == 2);
        ends[i].values = i == 1 ? &OTHER : &VALUE;
        ends[i].values_count = 1;
    }
    (void)bench_advance(&bench, ends, 3, 0);
    struct task_row expander = bench_row(&bench, "m", -1);
    struct instance_range range = {expander.instance_base, 4};

    /* The second left another value, the third failed, the fourth has no row. */
    EXPECT_OK(store_value_of_instances(bench.store, range, "k", list_instance, &all, &err), &err);
    EXPECT_STR("0:ok:5 1:ok:- 2:no:- ", all.text);
    range.count = 1;
    EXPECT_OK(store_value_of_instances(bench.store, range, "k", list_instance, &part, &err), &err);
    EXPECT_STR("0:ok:5 ", part.text);
}

/* --- events ---------------------------------------------------------------------------------- */

struct events {
    int64_t ids[100];
    int64_t runs[100];
    enum event_kind kinds[100];
    size_t count;
};

static enum status note_event(void *context, const struct event_info *event, struct err *err)
{
    struct events *events = context;
    if (events->count == ARRAY_LEN(events->ids))
        return err_set(err, STATUS_LIMIT, "too many events");
    events->ids[events->count] = event->id;
    events->kinds[events->count] = event->kind;
    events->runs[events->count++] = event->run;
    return STATUS_OK;
}

static struct events events_in(struct event_range range)
{
    struct err err = {0};
    struct events events = {.count = 0};
    EXPECT_OK(store_event_each(bench.store, &range, note_event, &events, &err), &err);
    return events;
}

STORE_TEST(records, events_come_in_order_and_by_range)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    int64_t first_run = bench.run.id;
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    int64_t second_run = bench.run.id;
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);

    /* Before the runs the DAG came. */
    struct events dag = events_in((struct event_range){.limit = 1});
    cr_assert_eq(dag.kinds[0], EVENT_DAG_VERSION);
    struct events all = events_in((struct event_range){.after = dag.ids[0], .limit = 100});
    struct events first = events_in((struct event_range){.run = first_run, .limit = 100});
    struct events second = events_in((struct event_range){.run = second_run, .limit = 100});
    cr_assert_gt(first.count, 2);
    cr_assert_eq(first.count, second.count);
    cr_assert_eq(all.count, first.count + second.count);
    for (size_t i = 0; i < all.count; i++) {
        cr_assert(i == 0 || all.ids[i] > all.ids[i - 1]);
        cr_assert_eq(all.ids[i], i < first.count ? first.ids[i] : second.ids[i - first.count]);
        cr_assert_eq(all.runs[i], i < first.count ? first_run : second_run);
    }
    cr_assert_eq(first.kinds[0], EVENT_RUN_CREATED);

    struct events later = events_in((struct event_range){.after = all.ids[1], .limit = 2});
    cr_assert_eq(later.count, 2);
    cr_assert_eq(later.ids[0], all.ids[2]);
    cr_assert_eq(later.ids[1], all.ids[3]);
    int64_t last = all.ids[all.count - 1];
    cr_assert_eq(events_in((struct event_range){.after = last, .limit = 9}).count, 0);
    cr_assert_eq(events_in((struct event_range){.after = last - 1, .limit = 9}).count, 1);
    cr_assert_eq(events_in((struct event_range){.limit = 0}).count, 0);
    cr_assert_eq(events_in((struct event_range){.run = 999, .limit = 9}).count, 0);
}

/* --- hosts ----------------------------------------------------------------------------------- */

static enum status list_host(void *context, const struct host_info *info, struct err *err)
{
    return add(context,
               arena_format(bench.arena, "%s:%s:%lld:%lld:%s:%lld", info->name, info->kind,
                            (long long)info->pid, (long long)info->slots,
                            info->ended_at_us != 0 ? "ended" : "here", (long long)info->holds),
               err);
}

static void expect_hosts(bool with_ended, const char *wanted)
{
    struct err err = {0};
    struct listing listing = {.text = ""};
    EXPECT_OK(store_host_each(bench.store, with_ended, list_host, &listing, &err), &err);
    EXPECT_STR(wanted, listing.text);
}

static void note_host(void *context, int64_t host)
{
    *(int64_t *)context += host;
}

STORE_TEST(records, hosts_come_hold_tasks_and_leave)
{
    struct err err = {0};
    int64_t first = 0;
    int64_t second = 0;
    int64_t holders = 0;
    struct host_request request = {
        .name = "one", .kind = "foreground", .pid = 11, .boot = "b", .slots = 4};
    expect_hosts(true, "");
    EXPECT_OK(store_host_add(bench.store, &request, &first, &err), &err);
    request.name = "two";
    request.pid = 12;
    bench_now_us += 1000;
    EXPECT_OK(store_host_add(bench.store, &request, &second, &err), &err);
    cr_assert_neq(first, second);
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    EXPECT_OK(store_host_of_run(bench.store, bench.run.id, note_host, &holders, &err), &err);
    cr_assert_eq(holders, 0);
    struct advance_result result;
    struct advance_request take = {.host = second, .scope = bench.run.scope, .process_slots = 1};
    EXPECT_OK(store_advance(bench.store, &take, bench.arena, &result, &err), &err);

    expect_hosts(false, "two:foreground:12:4:here:1 one:foreground:11:4:here:0 ");
    EXPECT_OK(store_host_of_run(bench.store, bench.run.id, note_host, &holders, &err), &err);
    cr_assert_eq(holders, second);

    EXPECT_OK(store_host_end(bench.store, first, &err), &err);
    EXPECT_OK(store_host_end(bench.store, first, &err), &err);
    EXPECT_OK(store_host_end(bench.store, 999, &err), &err);
    expect_hosts(false, "two:foreground:12:4:here:1 ");
    expect_hosts(true, "two:foreground:12:4:here:1 one:foreground:11:4:ended:0 ");
}
