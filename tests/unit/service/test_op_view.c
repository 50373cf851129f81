/*
 * Views: days of the schedule's zone, changes of the clocks, what a search finds, the whole at a
 * glance.
 */
#include "base/strbuf.h"
#include "service/principal.h"
#include "service_fixture.h"

static const char BERLIN[] = "dag: berlin\n"
                             "tags: [north, harbour]\n"
                             "schedule: { cron: '30 2 * * *', tz: Europe/Berlin }\n"
                             "tasks:\n"
                             "  first: { run: 'true', retries: 1, retry_delay: 10s }\n"
                             "  g.second: { run: 'true', needs: [first] }\n";

static const int64_t SECOND_US = 1000000;

static void init(struct world *world)
{
    world_init(world);
    world->service.principal = &PRINCIPAL_LOCAL;
}

static const json_t *day_of(const json_t *calendar, const char *date)
{
    size_t i;
    json_t *day;
    json_array_foreach(json_object_get(calendar, "days"), i, day)
    {
        if (strcmp(json_get_string(day, "date", ""), date) == 0)
            return day;
    }
    return NULL;
}

Test(op_view, a_run_belongs_to_the_day_that_clocks_of_the_schedule_show)
{
    struct world world;
    init(&world);
    /* 2027-01-01T00:30 in Berlin, and an hour before it. */
    fixture_now_us = (int64_t)1798759800 * SECOND_US;
    (void)start_run(&world, "berlin.yaml", BERLIN);
    fixture_now_us = (int64_t)1798756200 * SECOND_US;
    (void)start_run(&world, "berlin.yaml", BERLIN);
    fixture_now_us = (int64_t)1800000000 * SECOND_US;

    json_t *new_year = call_ok(&world, "dag.calendar", "{\"dag\":\"berlin\"}");
    json_t *old_year = call_ok(&world, "dag.calendar", "{\"dag\":\"berlin\",\"year\":2026}");
    cr_expect_eq(json_get_int(new_year, "year", 0), 2027);
    const json_t *first = day_of(new_year, "2027-01-01");
    cr_assert_not_null(first);
    cr_expect_eq(json_get_int(json_object_get(first, "counts"), "queued", 0), 1);
    cr_expect_eq(json_get_int(day_of(old_year, "2026-12-31"), "total", 0), 1);
    cr_expect_null(day_of(new_year, "2027-01-02"), "days without anything are left out");

    /* What comes is planned from now on, one tick a day, the skipped hour's day included. */
    cr_expect_null(day_of(new_year, "2027-01-14"));
    cr_expect_eq(json_get_int(day_of(new_year, "2027-01-16"), "planned", 0), 1);
    cr_expect_eq(json_get_int(day_of(new_year, "2027-03-28"), "planned", 0), 1);
    cr_expect_eq(json_get_int(day_of(new_year, "2027-12-31"), "planned", 0), 1);
    json_decref(new_year);
    json_decref(old_year);
    world_fini(&world);
}

Test(op_view, a_preview_tells_when_clocks_are_changed)
{
    struct world world;
    world_init_empty(&world);
    world.service.principal = &PRINCIPAL_LOCAL;
    json_t *preview = call_ok(&world, "schedule.preview",
                              "{\"schedule\":\"0 12 * * *\",\"tz\":\"Europe/Berlin\",\"count\":2,"
                              "\"from\":\"2026-10-24T00:00:00Z\"}");
    const json_t *ticks = json_object_get(preview, "ticks");
    const json_t *before = json_array_get(ticks, 0);
    const json_t *after = json_array_get(ticks, 1);
    EXPECT_STR("2026-10-24T10:00:00Z", json_get_string(before, "run_after", ""));
    EXPECT_STR("2026-10-25T11:00:00Z", json_get_string(after, "run_after", ""));
    cr_expect(json_is_null(json_object_get(before, "note")));
    EXPECT_CONTAINS(json_get_string(after, "note", ""), "back by 1:00 h");
    json_decref(preview);

    json_t *never = call_ok(&world, "schedule.preview", "{\"schedule\":{\"webhook\":true}}");
    cr_expect(!json_get_bool(never, "is_timed", true));
    cr_expect_eq(list_size(never, "ticks"), 0);
    json_decref(never);
    call_fails(&world, "schedule.preview", "{\"schedule\":\"0 25 * * *\"}", STATUS_INVALID,
               "schedule:");
    world_fini(&world);
}

static void expect_hits(struct world *world, const char *question, const char *wanted)
{
    CLEANUP(strbuf_fini) struct strbuf hits;
    strbuf_init(&hits, 1000);
    json_t *answer = call_ok(world, "search.find", question);
    size_t i;
    json_t *hit;
    json_array_foreach(json_object_get(answer, "results"), i, hit)
    {
        strbuf_addf(&hits, "%s%s:%s", i > 0 ? " " : "", json_get_string(hit, "kind", ""),
                    json_get_string(hit, "name", ""));
    }
    EXPECT_STR(wanted, hits.text);
    json_decref(answer);
}

Test(op_view, a_search_finds_each_thing_once)
{
    struct world world;
    init(&world);
    int64_t run = start_run(&world, "berlin.yaml", BERLIN);
    json_t *shown = call_ok(&world, "run.show", "{\"run\":\"berlin\"}");
    const char *run_id = json_get_string(shown, "dag_run_id", "");
    CLEANUP(mem_freep) char *by_path = mem_format("{\"q\":\"berlin/%s\"}", run_id);
    CLEANUP(mem_freep) char *by_number = mem_format("{\"q\":\"%lld\"}", (long long)run);
    CLEANUP(mem_freep) char *wanted = mem_format("run:%s", run_id);

    expect_hits(&world, "{\"q\":\"ERL\"}", "dag:berlin");
    expect_hits(&world, "{\"q\":\"r\",\"kinds\":[\"tag\"]}", "tag:north tag:harbour");
    expect_hits(&world, "{\"q\":\"r\",\"kinds\":[\"tag\"],\"limit\":1}", "tag:north");
    expect_hits(&world, "{\"q\":\"g.s\"}", "task:g.second");
    expect_hits(&world, by_path, wanted);
    expect_hits(&world, by_number, wanted);
    expect_hits(&world, "{\"q\":\"%\"}", "");
    json_decref(shown);
    world_fini(&world);
}

Test(op_view, a_gantt_shows_earlier_attempts)
{
    struct world world;
    init(&world);
    int64_t run = start_run(&world, "berlin.yaml", BERLIN);
    advance(&world, run, NULL, 4);
    end_task(&world, run, "first", 1);
    fixture_now_us += 11 * SECOND_US;
    advance(&world, run, NULL, 4);
    end_task(&world, run, "first", 0);

    json_t *gantt = call_ok(&world, "run.gantt", "{\"run\":\"berlin\"}");
    const json_t *first = find_row(gantt, "bars", "first", -1);
    cr_assert_eq(list_size(gantt, "bars"), 2);
    cr_expect_eq(list_size(first, "attempts"), 1);
    EXPECT_STR("success", json_get_string(first, "state", ""));
    json_t *short_one = call_ok(&world, "run.gantt", "{\"run\":\"berlin\",\"limit\":1}");
    cr_expect_eq(json_get_int(short_one, "left_out", 0), 1);
    json_decref(gantt);
    json_decref(short_one);
    world_fini(&world);
}

Test(op_view, home_counts_a_day)
{
    struct world world;
    init(&world);
    int64_t old = start_run(&world, "berlin.yaml", BERLIN);
    advance(&world, old, NULL, 4);
    end_task(&world, old, "first", 0);
    end_task(&world, old, "g.second", 0);
    fixture_now_us += (int64_t)25 * 3600 * SECOND_US;
    int64_t going = start_run(&world, "berlin.yaml", BERLIN);
    advance(&world, going, NULL, 4);

    json_t *home = call_ok(&world, "home.show", "{}");
    const json_t *runs = json_object_get(home, "runs");
    cr_expect_eq(json_get_int(runs, "success", -1), 0, "what ended before that does not count");
    cr_expect_eq(json_get_int(runs, "running", -1), 1);
    cr_expect_eq(json_get_int(json_object_get(home, "tasks"), "running", -1), 1);
    cr_expect_eq(list_size(home, "active"), 1);
    cr_expect_eq(list_size(home, "failed"), 0);
    EXPECT_STR(json_get_string(home, "since", ""), json_get_string(home, "tasks_since", "-"));
    json_decref(home);
    world_fini(&world);
}

static int64_t count_in(struct world *world, const char *operation, const char *state)
{
    json_t *answer = call_ok(world, operation, "{}");
    int64_t count = json_get_int(json_object_get(answer, "runs"), state, -1);
    json_decref(answer);
    return count;
}

Test(op_view, the_history_of_a_dag_is_where_the_dag_is)
{
    static const char HERE[] = "dag: moved\nnamespace: here\ntasks: {a: {run: 'true'}}\n";
    static const char THERE[] = "dag: moved\nnamespace: there\ntasks: {a: {run: 'true'}}\n";
    static const struct grant GRANTS[] = {{"here", PERMISSION_VIEWER},
                                          {"there", PERMISSION_VIEWER}};
    const struct principal before = {.name = "ann", .grants = &GRANTS[0], .count = 1};
    const struct principal after = {.name = "ben", .grants = &GRANTS[1], .count = 1};
    struct world world;
    init(&world);
    CLEANUP(mem_freep)
    char *number = mem_format("{\"q\":\"%lld\"}", (long long)start_run(&world, "m.yaml", HERE));
    int64_t other = start_run(&world, "m.yaml", THERE);
    advance(&world, other, NULL, 4);
    end_task(&world, other, "a", 0);

    world.service.principal = &before;
    expect_hits(&world, number, "");
    expect_hits(&world, "{\"q\":\"manual\"}", "");
    cr_expect_eq(count_in(&world, "home.show", "queued"), 0);
    cr_expect_eq(count_in(&world, "top.overview", "queued"), 0);
    world.service.principal = &after;
    json_t *found = call_ok(&world, "search.find", "{\"q\":\"manual\"}");
    json_t *exact = call_ok(&world, "search.find", number);
    cr_expect_eq(list_size(found, "results"), 2);
    cr_expect_gt(list_size(exact, "results"), 0);
    cr_expect_eq(count_in(&world, "home.show", "queued"), 1);
    cr_expect_eq(count_in(&world, "home.show", "success"), 1);
    cr_expect_eq(count_in(&world, "top.overview", "queued"), 1);
    cr_expect_eq(count_in(&world, "top.overview", "success"), 1);
    json_decref(found);
    json_decref(exact);
    world_fini(&world);
}
