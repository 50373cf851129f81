#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/sla.h"
#include "model/watch.h"
#include "model/zone.h"
#include "zone_bytes.h"

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    return tree;
}

static struct sla read_sla(struct arena *arena, const char *value)
{
    CLEANUP(mem_freep) char *text = mem_format("{\"sla\":%s}", value);
    CLEANUP(json_decrefp) json_t *rest = parse(text);
    struct sla sla;
    cr_assert(sla_of(rest, arena, &sla), "%s", value);
    return sla;
}

static int64_t at(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us;
}

Test(sla, short_and_long_forms)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    struct sla sla = read_sla(arena, "\"20m\"");
    cr_expect_eq(sla.within_ms, 20 * 60 * 1000);
    cr_expect_eq(sla.finish_by_s, -1);
    sla = read_sla(arena, "90");
    cr_expect_eq(sla.within_ms, 90 * 1000);
    sla = read_sla(arena, "{\"within\":\"2h\",\"start_within\":\"5m\",\"of_schedule\":\"3h\","
                          "\"finish_by\":\"06:30\",\"tz\":\"Europe/Berlin\"}");
    cr_expect_eq(sla.within_ms, 2 * 3600 * 1000);
    cr_expect_eq(sla.start_within_ms, 5 * 60 * 1000);
    cr_expect_eq(sla.of_schedule_ms, 3 * 3600 * 1000);
    cr_expect_eq(sla.finish_by_s, (6 * 60 + 30) * 60);
    EXPECT_STR("Europe/Berlin", sla.tz);
    sla = read_sla(arena, "{\"finish_by\":\"23:59:58\"}");
    cr_expect_eq(sla.finish_by_s, 86398);
}

Test(sla, mistakes_are_told)
{
    static const struct {
        const char *value;
        const char *problem;
    } ROWS[] = {
        {"\"soon\"", "duration"},
        {"\"0s\"", "does not say by when"},
        {"{}", "does not say by when"},
        {"{\"within\":\"0s\"}", "does not say by when"},
        {"{\"witin\":\"2h\"}", "within"},
        {"{\"finish_by\":\"6:30\"}", "time of day"},
        {"{\"finish_by\":\"24:00\"}", "time of day"},
        {"{\"finish_by\":\"06:60\"}", "time of day"},
        {"{\"finish_by\":\"06-30\"}", "time of day"},
        {"{\"finish_by\":\"06:30:1\"}", "time of day"},
        {"{\"finish_by\":630}", "time of day"},
        {"{\"within\":\"2h\",\"tz\":\"UTC\"}", "'tz' is for 'finish_by'"},
        {"{\"finish_by\":\"06:30\",\"tz\":7}", "time zone"},
        {"[\"2h\"]", "a string or an integer or a map"},
    };
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        CLEANUP(mem_freep)
        char *text = mem_format("{\"sla\":%s,\"tasks\":{\"a\":{\"noop\":true}}}", ROWS[i].value);
        CLEANUP(json_decrefp) json_t *tree = parse(text);
        CLEANUP(diag_list_fini) struct diag_list diags = {0};
        struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
        cr_expect_null(dag, "%s", ROWS[i].value);
        cr_assert_gt(diags.count, 0);
        cr_expect(strstr(diags.items[0].text, ROWS[i].problem) != NULL, "%s: %s", ROWS[i].value,
                  diags.items[0].text);
        dag_free(dag);
    }
}

Test(sla, a_time_of_day_is_the_next_one_on_the_clocks_of_the_zone)
{
    static const char RULE[] = "CET-1CEST,M3.5.0,M10.5.0/3";
    static const struct {
        const char *after;
        int64_t seconds;
        const char *due;
    } ROWS[] = {
        {"2025-01-15T02:15:00+01:00", 23400, "2025-01-15T06:30:00+01:00"},
        {"2025-01-15T06:30:00+01:00", 23400, "2025-01-16T06:30:00+01:00"},
        {"2025-01-15T23:59:00+01:00", 0, "2025-01-16T00:00:00+01:00"},
        {"2025-07-15T00:00:00Z", 23400, "2025-07-15T06:30:00+02:00"},
        /* Over both changes of clocks. */
        {"2025-03-29T12:00:00Z", 23400, "2025-03-30T06:30:00+02:00"},
        {"2025-10-25T12:00:00Z", 23400, "2025-10-26T06:30:00+01:00"},
        /* 02:30 is skipped: the first instant after the gap; and shown twice in autumn. */
        {"2025-03-30T00:00:00Z", 9000, "2025-03-30T03:00:00+02:00"},
        {"2025-10-26T00:00:00Z", 9000, "2025-10-26T02:30:00+02:00"},
        {"2025-10-26T00:45:00Z", 9000, "2025-10-26T02:30:00+01:00"},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct zone *zone = NULL;
    struct err err = {0};
    EXPECT_OK(zone_parse_rule(arena, RULE, &zone, &err), &err);

    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        char text[INSTANT_TEXT_MAX];
        int64_t due_us = sla_next_time_of_day(zone, ROWS[i].seconds, at(ROWS[i].after));
        cr_expect_eq(due_us, at(ROWS[i].due), "%s: %s, not %s", ROWS[i].after,
                     instant_format(due_us, text), ROWS[i].due);
    }
}

Test(sla, what_a_schedule_is_depends_on_the_kind_of_run)
{
    int64_t schedule_us = 0;
    cr_assert(sla_schedule_us("scheduled", 100, 700, &schedule_us));
    cr_expect_eq(schedule_us, 100);
    cr_assert(sla_schedule_us("manual", 100, 700, &schedule_us));
    cr_expect_eq(schedule_us, 700);
    cr_expect_not(sla_schedule_us("backfill", 100, 700, &schedule_us));
}

static const char *zone_of(const char *schedule)
{
    CLEANUP(mem_freep) char *text = mem_format("{\"schedule\":%s}", schedule);
    static char kept[64];
    CLEANUP(json_decrefp) json_t *rest = parse(text);
    (void)snprintf(kept, sizeof kept, "%s", sla_schedule_zone(rest));
    return kept;
}

Test(sla, the_zone_is_that_of_the_schedule)
{
    EXPECT_STR("Europe/Berlin", zone_of("{\"cron\":\"0 2 * * *\",\"tz\":\"Europe/Berlin\"}"));
    EXPECT_STR("Asia/Tokyo",
               zone_of("[\"@daily\",{\"every\":\"1h\",\"timezone\":\"Asia/Tokyo\"}]"));
    EXPECT_STR("UTC", zone_of("\"@daily\""));
    EXPECT_STR("UTC", sla_schedule_zone(NULL));
}

/* ---- watch ---- */

static struct dag *read_dag(const char *text)
{
    CLEANUP(json_decrefp) json_t *tree = parse(text);
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "");
    return dag;
}

Test(watch, a_dag_without_hooks_and_deadlines_is_not_watched)
{
    struct dag *dag =
        read_dag("{\"schedule\":\"@daily\",\"tasks\":{\"a\":{\"run\":\"x\",\"worker\":\"gpu\"}}}");
    cr_expect_null(dag->watch);
    dag_free(dag);
}

Test(watch, hooks_are_kept_one_by_one_with_their_event)
{
    struct dag *dag = read_dag(
        "{\"on_failure\":{\"pagerduty\":\"night\"},\"email\":\"ops@example.com\","
        "\"defaults\":{\"on_retry\":[{\"slack\":\"#a\"},{\"slack\":\"#b\",\"group\":\"5m\"}]},"
        "\"tasks\":{\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\"},"
        "\"c\":{\"run\":\"x\",\"on_retry\":[],\"sla\":\"1m\"}}}");
    const struct dag_watch *watch = dag->watch;

    cr_assert_not_null(watch);
    cr_assert_eq(watch->run.hooks[HOOK_FAILURE].count, 2);
    cr_expect(watch->run.hooks[HOOK_FAILURE].items[0].is_resolvable);
    EXPECT_STR("{\"on_failure\":{\"pagerduty\":\"night\"}}",
               watch->run.hooks[HOOK_FAILURE].items[0].json);
    EXPECT_STR("{\"email\":\"ops@example.com\"}", watch->run.hooks[HOOK_FAILURE].items[1].json);
    cr_expect_eq(watch->tasks[0], watch->tasks[1]);
    cr_assert_eq(watch->tasks[0]->hooks[HOOK_RETRY].count, 2);
    EXPECT_STR("{\"on_retry\":{\"group\":\"5m\",\"slack\":\"#b\"}}",
               watch->tasks[0]->hooks[HOOK_RETRY].items[1].json);
    cr_expect_eq(watch->tasks[0]->hooks[HOOK_RETRY].items[1].group_ms, 5 * 60 * 1000);
    cr_expect_eq(watch->tasks[2]->hooks[HOOK_RETRY].count, 0);
    cr_expect(watch->tasks[2]->has_sla);
    cr_expect(watch->has_sla);
    cr_expect_not(watch->run.has_sla);
    dag_free(dag);
}

Test(watch, retries_and_skips_of_a_dag_are_those_of_its_tasks)
{
    struct dag *dag = read_dag(
        "{\"on_retry\":{\"slack\":\"#a\"},\"on_skip\":{\"slack\":\"#s\"},"
        "\"email\":\"ops@example.com\",\"tasks\":{\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\"},"
        "\"c\":{\"run\":\"x\",\"on_retry\":{\"slack\":\"#c\"}},"
        "\"d\":{\"run\":\"x\",\"on_retry\":[],\"on_skip\":[]}}}");
    const struct dag_watch *watch = dag->watch;

    cr_assert_not_null(watch);
    cr_expect_eq(watch->run.hooks[HOOK_RETRY].count, 0);
    cr_expect_eq(watch->run.hooks[HOOK_SKIP].count, 0);
    cr_expect_eq(watch->run.hooks[HOOK_FAILURE].count, 1);
    cr_assert_not_null(watch->tasks[0]);
    cr_expect_eq(watch->tasks[0], watch->tasks[1]);
    cr_assert_eq(watch->tasks[0]->hooks[HOOK_RETRY].count, 2);
    EXPECT_STR("{\"on_retry\":{\"slack\":\"#a\"}}",
               watch->tasks[0]->hooks[HOOK_RETRY].items[0].json);
    EXPECT_STR("{\"email\":\"ops@example.com\"}", watch->tasks[0]->hooks[HOOK_RETRY].items[1].json);
    cr_expect_eq(watch->tasks[0]->hooks[HOOK_FAILURE].count, 0);
    cr_assert_eq(watch->tasks[2]->hooks[HOOK_RETRY].count, 1);
    EXPECT_STR("{\"on_retry\":{\"slack\":\"#c\"}}",
               watch->tasks[2]->hooks[HOOK_RETRY].items[0].json);
    cr_expect_eq(watch->tasks[2]->hooks[HOOK_SKIP].count, 1);
    cr_expect_null(watch->tasks[3]);
    dag_free(dag);
}
