#include "base/arena.h"
#include "base/clock.h"
#include "expect.h"
#include "model/attempt.h"
#include "model/dag.h"
#include "model/dag_read.h"
#include "model/dag_write.h"
#include "model/run_state.h"
#include "model/sensor.h"
#include "model/zone.h"

static struct dag *read_sensor(const char *settings, struct diag_list *diags)
{
    char text[1000];
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    (void)snprintf(text, sizeof text, "{\"dag\":\"x\",\"tasks\":{\"s\":{\"sensor\":%s}}}",
                   settings);
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    return dag_read(tree, &(struct dag_read_options){0}, diags);
}

static struct dag *good_sensor(const char *settings)
{
    struct diag_list diags = {0};
    struct dag *dag = read_sensor(settings, &diags);
    cr_assert_not_null(dag, "%s: %s", settings, diags.count > 0 ? diags.items[0].text : "");
    cr_assert_eq(diags.count, 0);
    diag_list_fini(&diags);
    return dag;
}

/* --- reading --------------------------------------------------------------------------------- */

Test(sensor, equal_meaning_has_one_canonical_form)
{
    static const struct {
        const char *written;
        const char *canonical;
    } CASES[] = {
        {"{\"file\":\"a\"}", "{\"file\":\"a\",\"timeout\":\"1h\"}"},
        {"{\"file\":\"a\",\"every\":60,\"timeout\":3600,\"mode\":\"reschedule\",\"backoff\":1}",
         "{\"file\":\"a\",\"timeout\":\"1h\"}"},
        {"{\"file\":\"a\",\"poke_interval\":\"90s\",\"mode\":\"poke\"}",
         "{\"every\":\"1m30s\",\"file\":\"a\",\"mode\":\"poke\",\"timeout\":\"1h\"}"},
        {"{\"time\":\"06:30\",\"tz\":\"UTC\"}", "{\"time\":\"06:30\",\"tz\":\"UTC\"}"},
        {"{\"duration\":600}", "{\"duration\":\"10m\"}"},
        {"{\"duration\":\"{{ ds }}\",\"timeout\":\"2h\"}",
         "{\"duration\":\"{{ ds }}\",\"timeout\":\"2h\"}"},
        {"{\"external_dag_id\":\"b\",\"date\":\"same\"}", "{\"dag\":\"b\",\"timeout\":\"1h\"}"},
        {"{\"dag\":\"b\",\"task\":\"t\",\"date\":\"-1d\",\"states\":\"skipped\"}",
         "{\"dag\":\"b\",\"date\":\"-1d\",\"states\":[\"skipped\"],\"task\":\"t\",\"timeout\":"
         "\"1h\"}"},
        {"{\"command\":\"true\",\"not_yet\":3,\"soft_fail\":true,\"backoff\":2,\"max_every\":"
         "\"5m\"}",
         "{\"backoff\":2.0,\"max_every\":\"5m\",\"not_yet\":[3],\"run\":\"true\",\"soft_fail\":"
         "true,"
         "\"timeout\":\"1h\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(dag_freep) struct dag *dag = good_sensor(CASES[i].written);
        char *text = json_format(dag->tasks[0].settings);
        EXPECT_STR(CASES[i].canonical, text);

        CLEANUP(dag_freep) struct dag *again = good_sensor(text);
        char *same = json_format(again->tasks[0].settings);
        EXPECT_STR(text, same);
        free(text);
        free(same);
    }
}

Test(sensor, what_cannot_be_meant_is_said)
{
    static const struct {
        const char *written;
        const char *problem;
    } CASES[] = {
        {"\"a\"",
         "'sensor': expected a map such as {file: PATH, every: 30s}, found the string 'a'"},
        {"{}", "'sensor': say what it waits for: file, time, duration, dag or run"},
        {"{\"file\":\"a\",\"time\":\"06:30\"}", "and this one has 'file' already"},
        {"{\"http\":\"x\"}", "cannot wait for 'http' in this version: there are file, time"},
        {"{\"fiel\":\"a\"}", "unknown key 'fiel' of a sensor; did you mean 'file'?"},
        {"{\"file\":\" \"}", "'file' is empty"},
        {"{\"file\":5}", "'file': expected a string, found"},
        {"{\"file\":\"{{ nope }}\"}", "template: unknown name 'nope'"},
        {"{\"time\":\"6:30\"}", "'time': expected a time such as 06:30"},
        {"{\"time\":\"25:00\"}", "'time': expected a time such as 06:30"},
        {"{\"duration\":\"soon\"}", "'duration': expected a duration"},
        {"{\"duration\":\"2h\",\"timeout\":\"1h\"}", "it would always time out"},
        {"{\"dag\":\"b\",\"date\":\"1d\"}", "'date': expected same, latest, or an offset"},
        {"{\"dag\":\"b\",\"states\":[\"skipped\"]}", "'skipped' is no state in which a run ends"},
        {"{\"dag\":\"b\",\"task\":\"t\",\"states\":[\"running\"]}",
         "no state in which a task ends"},
        {"{\"file\":\"a\",\"states\":[\"success\"]}", "'states' belongs to sensors with 'dag'"},
        {"{\"file\":\"a\",\"tz\":\"UTC\"}", "'tz' belongs to sensors with 'time'"},
        {"{\"file\":\"a\",\"not_yet\":[1]}", "'not_yet' belongs to sensors with 'run'"},
        {"{\"file\":\"a\",\"every\":\"99ms\"}", "'every' is at least 100ms"},
        {"{\"file\":\"a\",\"timeout\":\"0s\"}", "a sensor always has an end"},
        {"{\"file\":\"a\",\"backoff\":0.5}", "'backoff': "},
        {"{\"file\":\"a\",\"mode\":\"wait\"}", "'mode': "},
        {"{\"run\":\"x\",\"command\":\"y\"}", "'run' is there twice"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct diag_list diags = {0};
        cr_expect_null(read_sensor(CASES[i].written, &diags), "%s", CASES[i].written);
        cr_assert_gt(diags.count, 0);
        EXPECT_CONTAINS(diags.items[0].text, CASES[i].problem);
        diag_list_fini(&diags);
    }
}

Test(sensor, only_commands_and_pokes_need_a_slot)
{
    static const struct {
        const char *written;
        bool needs;
        int64_t hold_ms;
    } CASES[] = {
        {"{\"file\":\"a\"}", false, 0},
        {"{\"run\":\"a\"}", true, 0},
        {"{\"dag\":\"a\",\"mode\":\"poke\",\"timeout\":\"5m\"}", true, 300000},
        {"{\"duration\":\"2m\",\"mode\":\"poke\"}", true, 120000},
        {"{\"time\":\"06:30\",\"mode\":\"poke\"}", true, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(dag_freep) struct dag *dag = good_sensor(CASES[i].written);
        cr_expect_eq(sensor_needs_slot(&dag->tasks[0]), CASES[i].needs, "%s", CASES[i].written);
        cr_expect_eq(task_def_is_inline(&dag->tasks[0]), !CASES[i].needs);
        cr_expect_eq(sensor_hold_ms(&dag->tasks[0]), CASES[i].hold_ms, "%s", CASES[i].written);
    }
}

Test(sensor, settings_read_back_are_those_that_were_written)
{
    CLEANUP(dag_freep)
    struct dag *dag = good_sensor("{\"dag\":\"b\",\"task\":\"t\",\"date\":\"+6h\",\"states\":["
                                  "\"success\",\"skipped\"],\"every\":\"5s\",\"backoff\":1.5,"
                                  "\"max_every\":\"9s\",\"timeout\":\"1m\",\"soft_fail\":true}");
    struct sensor sensor;
    sensor_load(dag->tasks[0].settings, &sensor);

    cr_expect_eq(sensor.kind, SENSOR_DAG);
    EXPECT_STR("b", sensor.text);
    EXPECT_STR("t", sensor.task);
    cr_expect_eq(sensor.date, SENSOR_DATE_OFFSET);
    cr_expect_eq(sensor.offset_ms, 6 * 3600 * 1000);
    cr_expect_eq(sensor.states, 1u << TASK_SUCCESS | 1u << TASK_SKIPPED);
    cr_expect_eq(sensor.timeout_ms, 60000);
    cr_expect(sensor.soft_fail);
    cr_expect_not(sensor.is_poke);
    cr_expect_eq(sensor_interval_ms(&sensor, 0), 5000);
    cr_expect_eq(sensor_interval_ms(&sensor, 1), 7500);
    cr_expect_eq(sensor_interval_ms(&sensor, 2), 9000);
    cr_expect_eq(sensor_interval_ms(&sensor, 1000000), 9000);
}

/* --- ends ------------------------------------------------------------------------------------ */

static struct attempt_end exit_of(int code)
{
    return (struct attempt_end){.reason = REASON_EXIT, .exit_code = code};
}

Test(sensor, exit_codes_say_whether_it_is_there)
{
    CLEANUP(dag_freep) struct dag *usual = good_sensor("{\"run\":\"a\"}");
    CLEANUP(dag_freep) struct dag *own = good_sensor("{\"run\":\"a\",\"not_yet\":[7]}");
    CLEANUP(dag_freep) struct dag *poke = good_sensor("{\"run\":\"a\",\"mode\":\"poke\"}");
    static const struct {
        int code;
        bool usual;
        bool own;
    } CASES[] = {{0, false, false},
                 {1, true, false},
                 {2, false, false},
                 {7, false, true},
                 {99, true, false}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct attempt_end end = exit_of(CASES[i].code);
        cr_expect_eq(sensor_is_not_yet(&usual->tasks[0], &end), CASES[i].usual, "%d",
                     end.exit_code);
        cr_expect_eq(sensor_is_not_yet(&own->tasks[0], &end), CASES[i].own, "%d", end.exit_code);
        cr_expect_not(sensor_is_not_yet(&poke->tasks[0], &end));
    }
    struct attempt_end killed = {.reason = REASON_SIGNAL, .exit_code = 1};
    cr_expect_not(sensor_is_not_yet(&usual->tasks[0], &killed));
}

Test(sensor, a_poke_that_takes_too_long_is_not_tried_again)
{
    static const struct {
        const char *written;
        int64_t own_timeout_ms;
        enum task_state state;
    } CASES[] = {
        {"{\"file\":\"a\",\"mode\":\"poke\"}", 0, TASK_FAILED},
        {"{\"file\":\"a\",\"mode\":\"poke\",\"soft_fail\":true}", 0, TASK_SKIPPED},
        /* The task's own timeout is a failure like any other. */
        {"{\"file\":\"a\",\"mode\":\"poke\",\"soft_fail\":true}", 1000, TASK_UP_FOR_RETRY},
        {"{\"run\":\"a\"}", 0, TASK_UP_FOR_RETRY},
    };
    const struct attempt_end late = {.reason = REASON_TIMEOUT};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(dag_freep) struct dag *dag = good_sensor(CASES[i].written);
        dag->tasks[0].retry.retries = 1;
        dag->tasks[0].timeout_ms = CASES[i].own_timeout_ms;
        cr_expect_eq(attempt_decide(&dag->tasks[0], 0, &late, 0).state, CASES[i].state, "%s",
                     CASES[i].written);
    }
}

/* --- times ----------------------------------------------------------------------------------- */

static int64_t instant(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us;
}

Test(sensor, a_time_is_one_of_the_day_on_the_clocks_of_the_zone)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct zone *zone = NULL;
    struct err err = {0};
    EXPECT_OK(zone_parse_rule(arena, "CET-1CEST,M3.5.0,M10.5.0/3", &zone, &err), &err);
    static const struct {
        const char *text;
        const char *now;
        const char *wanted;
    } CASES[] = {
        {"06:30", "2026-01-15T03:00:00Z", "2026-01-15T05:30:00Z"},
        {"06:30:15", "2026-07-15T03:00:00Z", "2026-07-15T04:30:15Z"},
        /* It is the 16th there already. */
        {"06:30", "2026-01-15T23:30:00Z", "2026-01-16T05:30:00Z"},
        {"06:30", "2026-01-15T20:00:00Z", "2026-01-15T05:30:00Z"},
        /* Clocks skip from 2 to 3. */
        {"02:30", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
        {"2026-01-20 12:00", "2026-01-15T00:00:00Z", "2026-01-20T11:00:00Z"},
        {"2026-01-20T12:00:00Z", "2026-01-15T00:00:00Z", "2026-01-20T12:00:00Z"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        int64_t at_us = 0;
        cr_assert(sensor_time_parse(CASES[i].text, zone, instant(CASES[i].now), &at_us));
        cr_expect_eq(at_us, instant(CASES[i].wanted), "%s at %s", CASES[i].text, CASES[i].now);
    }
    int64_t untouched = 7;
    cr_expect_not(sensor_time_parse("06:60", zone, 0, &untouched));
    cr_expect_not(sensor_time_parse("06-30", zone, 0, &untouched));
    cr_expect_not(sensor_time_parse("06:30x", zone, 0, &untouched));
    cr_expect_eq(untouched, 7);
}

Test(sensor, what_is_due_is_decided_by_kind_target_and_deadline)
{
    static const struct {
        enum sensor_kind kind;
        int64_t target_us, deadline_us, now_us;
        int64_t due_us;
        enum wait_verdict verdict;
    } CASES[] = {
        {SENSOR_FILE, 0, 50, 49, 50, WAIT_ON},
        {SENSOR_FILE, 0, 50, 50, 50, WAIT_TIMEOUT},
        {SENSOR_DAG, 0, 50, 60, 50, WAIT_TIMEOUT},
        {SENSOR_TIME, 40, 0, 39, 40, WAIT_ON},
        {SENSOR_TIME, 40, 0, 40, 40, WAIT_MET},
        {SENSOR_DURATION, 40, 50, 45, 40, WAIT_MET},
        /* Nobody looked for long, but it was in time. */
        {SENSOR_DURATION, 40, 50, 90, 40, WAIT_MET},
        {SENSOR_TIME, 60, 50, 50, 50, WAIT_TIMEOUT},
        {SENSOR_TIME, 60, 50, 90, 50, WAIT_TIMEOUT},
        {SENSOR_TIME, 50, 50, 50, 50, WAIT_MET},
        {SENSOR_RUN, 40, 50, 39, 40, WAIT_ON},
        {SENSOR_RUN, 40, 50, 40, 40, WAIT_LOOK},
        {SENSOR_RUN, 60, 50, 50, 50, WAIT_TIMEOUT},
        {SENSOR_RUN, 40, 0, 90, 40, WAIT_LOOK},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const struct wait_times times = {CASES[i].target_us, CASES[i].deadline_us};
        cr_expect_eq(wait_due_us(CASES[i].kind, &times), CASES[i].due_us, "case %zu", i);
        cr_expect_eq(wait_decide(CASES[i].kind, &times, CASES[i].now_us), CASES[i].verdict,
                     "case %zu", i);
    }
}
