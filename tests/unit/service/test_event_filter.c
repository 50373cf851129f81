/*
 * Which events somebody wants and may see.
 */
#include "expect.h"
#include "service/event_filter.h"
#include "service/principal.h"

static json_t *parse(const char *text)
{
    struct err err = {0};
    json_t *value = NULL;
    cr_assert_eq(json_parse(text, strlen(text), &value, &err), STATUS_OK, "%s", err.text);
    return value;
}

static const char TASK[] = "{\"kind\": \"task_ended\", \"dag_id\": \"etl\", \"number\": \"7\","
                           " \"task_id\": \"load\", \"namespace\": \"sales\", \"details\": {}}";
static const char HOST[] = "{\"kind\": \"host_lost\", \"dag_id\": null, \"namespace\": null,"
                           " \"details\": {\"host\": \"12\"}}";
static const char GONE[] = "{\"kind\": \"run_deleted\", \"dag_id\": \"old\", \"number\": \"3\","
                           " \"namespace\": \"\", \"details\": {}}";

static const struct {
    const char *filter;
    int64_t run;
    const char *event;
    bool passes;
} ROWS[] = {
    {"{}", 0, TASK, true},
    {"{}", 0, HOST, true},
    {"{\"kinds\": []}", 0, TASK, true},
    {"{\"kinds\": [\"task_ended\"]}", 0, TASK, true},
    {"{\"kinds\": [\"task\"]}", 0, TASK, true},
    {"{\"kinds\": [\"run\", \"task\"]}", 0, TASK, true},
    {"{\"kinds\": [\"run\"]}", 0, TASK, false},
    {"{\"kinds\": [\"run\"]}", 0, GONE, true},
    {"{\"kinds\": [\"task_retry\"]}", 0, TASK, false},
    {"{\"kinds\": [\"host\"]}", 0, HOST, true},
    {"{\"dag\": \"etl\"}", 0, TASK, true},
    {"{\"dag\": \"et\"}", 0, TASK, false},
    {"{\"dag\": \"etl\"}", 0, HOST, false},
    {"{}", 7, TASK, true},
    {"{}", 8, TASK, false},
    {"{}", 7, HOST, false},
    {"{\"task\": \"load\"}", 0, TASK, true},
    {"{\"task\": \"loa\"}", 0, TASK, false},
    {"{\"host\": \"12\"}", 0, HOST, true},
    {"{\"host\": \"12\"}", 0, TASK, false},
    {"{\"dag\": \"etl\", \"task\": \"load\", \"kinds\": [\"task\"]}", 7, TASK, true},
};

Test(event_filter, everything_that_is_asked_for_must_hold)
{
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        struct err err = {0};
        struct event_filter filter;
        json_t *request = parse(ROWS[i].filter);
        json_t *event = parse(ROWS[i].event);
        cr_assert_eq(event_filter_read(request, &filter, &err), STATUS_OK);
        filter.run = ROWS[i].run;
        struct event_facts facts = event_facts_of(event);
        cr_expect_eq(event_filter_passes(&filter, &facts), ROWS[i].passes, "%s run %lld of %s",
                     ROWS[i].filter, (long long)ROWS[i].run, ROWS[i].event);
        json_decref(request);
        json_decref(event);
    }
}

Test(event_filter, a_kind_that_is_none_is_told)
{
    static const char *const WRONG[] = {"{\"kinds\": [\"tas\"]}", "{\"kinds\": [\"\"]}",
                                        "{\"kinds\": [\"none\"]}", "{\"kinds\": [\"task_\"]}"};
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++) {
        struct err err = {0};
        struct event_filter filter;
        json_t *request = parse(WRONG[i]);
        cr_expect_eq(event_filter_read(request, &filter, &err), STATUS_INVALID, "%s", WRONG[i]);
        json_decref(request);
    }
}

Test(event_filter, what_is_of_no_namespace_is_for_those_who_see_all)
{
    static const struct grant IN_SALES = {"sales", PERMISSION_VIEWER};
    static const struct grant IN_HR = {"hr", PERMISSION_ADMIN};
    static const struct grant EVERYWHERE = {"*", PERMISSION_VIEWER};
    const struct {
        struct principal principal;
        bool task, host, gone;
    } SEEN[] = {
        {{.name = "sales", .grants = &IN_SALES, .count = 1}, true, false, false},
        {{.name = "hr", .grants = &IN_HR, .count = 1}, false, false, false},
        {{.name = "all", .grants = &EVERYWHERE, .count = 1}, true, true, true},
        {{.name = "none"}, false, false, false},
    };
    json_t *events[] = {parse(TASK), parse(HOST), parse(GONE)};
    for (size_t i = 0; i < ARRAY_LEN(SEEN); i++) {
        const bool expected[] = {SEEN[i].task, SEEN[i].host, SEEN[i].gone};
        struct event_filter filter = {.principal = &SEEN[i].principal};
        for (size_t j = 0; j < ARRAY_LEN(events); j++) {
            struct event_facts facts = event_facts_of(events[j]);
            cr_expect_eq(event_filter_passes(&filter, &facts), expected[j], "%s %zu",
                         SEEN[i].principal.name, j);
        }
    }
    for (size_t j = 0; j < ARRAY_LEN(events); j++)
        json_decref(events[j]);
}
