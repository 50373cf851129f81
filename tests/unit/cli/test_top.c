/*
 * The monitor as a state: keys and answers go in, questions come out.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/top.h"
#include "expect.h"

enum { SECOND_US = 1000000 };

static struct top top;
static int64_t mono_us;

static void setup(void)
{
    top_init(&top);
    mono_us = 1000 * (int64_t)SECOND_US;
}

static void teardown(void)
{
    top_fini(&top);
}

TestSuite(top, .init = setup, .fini = teardown);

static void press(const char *keys)
{
    for (; *keys != '\0'; keys++)
        top_press(&top, (unsigned char)*keys);
}

static json_t *parsed(const char *text)
{
    json_t *value = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &value, &err), &err);
    return value;
}

/* The next question must be this one. */
static struct top_question asked_for(const char *operation, const char *request)
{
    struct top_question question;
    cr_assert(top_ask(&top, mono_us, &question), "nothing was asked, not even %s", operation);
    EXPECT_STR(operation, question.operation);
    CLEANUP(mem_freep) char *asked = json_format(question.request);
    if (request != NULL)
        EXPECT_STR(request, asked);
    json_decref(question.request);
    return question;
}

static void give(const struct top_question *question, const char *response)
{
    json_t *given = parsed(response);
    top_answer(&top, question, given, NULL);
    top_note_time(&top, question, mono_us);
    json_decref(given);
}

/* The same, and it is answered so. */
static void answer(const char *operation, const char *request, const char *response)
{
    struct top_question question = asked_for(operation, request);
    give(&question, response);
}

static void refuse(const char *operation, const char *problem)
{
    struct top_question question;
    struct err err = {0};
    cr_assert(top_ask(&top, mono_us, &question));
    EXPECT_STR(operation, question.operation);
    json_decref(question.request);
    (void)err_set(&err, STATUS_DENIED, "%s", problem);
    top_answer(&top, &question, NULL, &err);
    top_note_time(&top, &question, mono_us);
}

static void expect_nothing_to_ask(void)
{
    struct top_question question;
    bool asks = top_ask(&top, mono_us, &question);
    cr_assert(!asks, "asked %s", asks ? question.operation : "");
}

static const char OVERVIEW[] =
    "{\"now\":\"2026-01-02T03:04:05Z\",\"runs\":{\"running\":1},\"tasks\":{},\"hosts\":{},"
    "\"throughput\":{\"from\":\"2026-01-02T03:04:03Z\",\"finished\":[3,5,1]},"
    "\"dag_runs\":[{\"number\":\"9\",\"dag_id\":\"orders\",\"state\":\"running\"},"
    "{\"number\":\"8\",\"dag_id\":\"alpha\",\"state\":\"failed\"},"
    "{\"number\":\"12\",\"dag_id\":\"Orders_old\",\"state\":\"success\"}]}";

static const char TASKS[] =
    "{\"now\":\"2026-01-02T03:04:06Z\",\"run\":{\"number\":\"9\",\"dag_id\":\"orders\","
    "\"state\":\"running\"},\"tasks\":[{\"task_id\":\"a\",\"map_index\":-1,\"state\":\"success\"},"
    "{\"task_id\":\"m\",\"map_index\":-1,\"depth\":1,\"state\":\"running\","
    "\"instances\":{\"total\":2,\"success\":1}}],\"total_entries\":2}";

static const char *chosen(const char *member)
{
    return json_get_string(top_chosen(&top), member, "nothing");
}

Test(top, asks_for_the_runs_first_and_again_when_the_time_has_come)
{
    answer("top.overview", "{\"limit\":37}", OVERVIEW);

    expect_nothing_to_ask();
    cr_assert_eq(top_wait_ms(&top, mono_us), 2000);
    mono_us += 2 * SECOND_US;
    answer("top.overview", "{\"limit\":37,\"since\":\"2026-01-02T03:04:02Z\"}", OVERVIEW);
}

Test(top, asks_less_often_when_answers_take_long_and_never_twice_a_second)
{
    struct top_question question;
    cr_assert(top_ask(&top, mono_us, &question));
    json_decref(question.request);
    json_t *given = parsed(OVERVIEW);
    top_answer(&top, &question, given, NULL);
    json_decref(given);
    mono_us += 3 * (int64_t)SECOND_US;
    top_note_time(&top, &question, mono_us);
    cr_assert_eq(top_wait_ms(&top, mono_us), 9000, "four times as long as the answer took");

    press("+++++");
    cr_assert_eq(top_rate_s(&top), 1);
    press("---------");
    cr_assert_eq(top_rate_s(&top), 60);
}

Test(top, asks_only_for_what_can_be_seen)
{
    answer("top.overview", NULL, OVERVIEW);
    press("4");
    answer("top.overview", "{\"limit\":0,\"since\":\"2026-01-02T03:04:02Z\"}", OVERVIEW);
    answer("queue.list", "{}", "{\"queues\":[]}");
    expect_nothing_to_ask();

    press("?");
    mono_us += 100 * (int64_t)SECOND_US;
    expect_nothing_to_ask();
    cr_assert_eq(top_wait_ms(&top, mono_us), 60000);
    press("?");
    top_resize(&top, 80, 10);
    answer("queue.list", "{}", "{\"queues\":[]}");
    expect_nothing_to_ask();
}

Test(top, the_cursor_stays_with_its_row_wherever_that_moves)
{
    answer("top.overview", NULL, OVERVIEW);
    EXPECT_STR("9", chosen("number"));
    press("j");
    EXPECT_STR("8", chosen("number"));

    press(" ");
    answer("top.overview", NULL,
           "{\"dag_runs\":[{\"number\":\"20\"},{\"number\":\"19\"},{\"number\":\"9\"},"
           "{\"number\":\"8\"}]}");
    EXPECT_STR("8", chosen("number"));
    press("g");
    EXPECT_STR("20", chosen("number"));

    press(" ");
    answer("top.overview", NULL, "{\"dag_runs\":[{\"number\":\"21\"},{\"number\":\"20\"}]}");
    EXPECT_STR("21", chosen("number")); /* at the top it stays at the top */
    press("G");
    press(" ");
    answer("top.overview", NULL, "{\"dag_runs\":[]}");
    cr_assert_null(top_chosen(&top));
    press("jkGgx\n");
}

Test(top, filters_as_somebody_types)
{
    answer("top.overview", NULL, OVERVIEW);

    press("/ORDERS");
    cr_assert_eq(json_array_size(top_table_of(&top)->shown), 2);
    press("_");
    cr_assert_eq(json_array_size(top_table_of(&top)->shown), 1);
    top_press(&top, TOP_KEY_BACKSPACE);
    cr_assert_eq(json_array_size(top_table_of(&top)->shown), 2);
    top_press(&top, TOP_KEY_ENTER);
    cr_assert_eq(top.prompt, TOP_PROMPT_NONE);

    press("/zzz");
    cr_assert_eq(json_array_size(top_table_of(&top)->shown), 0);
    top_press(&top, TOP_KEY_ESCAPE);
    cr_assert_eq(json_array_size(top_table_of(&top)->shown), 2, "the filter before is back");
    top_press(&top, TOP_KEY_ESCAPE);
    cr_assert_eq(json_array_size(top_table_of(&top)->shown), 3);
}

Test(top, sorts_by_each_column_numbers_as_numbers)
{
    answer("top.overview", NULL, OVERVIEW);

    press("s");
    EXPECT_STR("8", chosen("number"));
    press("S");
    EXPECT_STR("12", chosen("number")); /* not 9, which is greater only as a text */
    press("ss");
    EXPECT_STR("orders", chosen("dag_id"));
    press("sssssssss");
    cr_assert_leq(top_table_of(&top)->sort, 8, "only columns that can be seen");
}

Test(top, opens_a_run_its_instances_and_a_log_and_comes_back)
{
    answer("top.overview", NULL, OVERVIEW);
    top_press(&top, TOP_KEY_ENTER);
    answer("top.tasks", "{\"open\":[],\"run\":\"9\"}", TASKS);
    press("j");
    top_press(&top, TOP_KEY_ENTER);
    answer("top.tasks", "{\"open\":[\"m\"],\"run\":\"9\"}", TASKS);
    top_press(&top, TOP_KEY_ENTER);
    answer("top.tasks", "{\"open\":[],\"run\":\"9\"}", TASKS);

    press("k");
    top_press(&top, TOP_KEY_ENTER);
    answer("log.read", "{\"run\":\"9\",\"tail\":500,\"task\":\"a\"}",
           "{\"entries\":[{\"text\":\"one\\ntw\"}],\"cursor\":\"c1\",\"more\":false,"
           "\"live\":true}");
    mono_us += 2 * SECOND_US;
    answer("log.read", "{\"cursor\":\"c1\",\"run\":\"9\",\"task\":\"a\"}",
           "{\"entries\":[{\"text\":\"o\\n\\u001b[31mred\\u001b[0m\\n1%\\r2%\\n\"}],"
           "\"cursor\":\"c2\",\"more\":false,\"live\":false}");
    static const char *const LINES[] = {"one", "two", "red", "2%"};
    const json_t *shown = top_table_of(&top)->shown;
    cr_assert_eq(json_array_size(shown), ARRAY_LEN(LINES));
    for (size_t i = 0; i < ARRAY_LEN(LINES); i++)
        EXPECT_STR(LINES[i], json_string_value(json_array_get(shown, i)));

    top_press(&top, TOP_KEY_ESCAPE);
    cr_assert_eq(top.page, TOP_RUN);
    EXPECT_STR("a", chosen("task_id"));
    top_press(&top, TOP_KEY_ESCAPE);
    cr_assert_eq(top.page, TOP_RUNS);
    top_press(&top, TOP_KEY_ESCAPE);
    cr_assert_eq(top.page, TOP_RUNS);
}

Test(top, a_log_follows_its_end_until_somebody_scrolls)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 1 << 20);
    strbuf_add(&text, "{\"entries\":[{\"text\":\"");
    for (int i = 0; i < 100; i++)
        strbuf_addf(&text, "line %d\\n", i);
    strbuf_add(&text, "\"}],\"cursor\":\"c\",\"more\":false,\"live\":true}");
    answer("top.overview", NULL, OVERVIEW);
    top_press(&top, TOP_KEY_ENTER);
    answer("top.tasks", NULL, TASKS);
    top_press(&top, TOP_KEY_ENTER);
    answer("log.read", NULL, text.text);
    size_t room = top_layout(&top).body_rows;
    cr_assert_eq(top_table_of(&top)->first, 100 - room);

    press("k");
    mono_us += 2 * SECOND_US;
    answer("log.read", NULL, text.text);
    cr_assert_eq(top_table_of(&top)->first, 99 - room, "it stays where it is");
    press("G");
    mono_us += 2 * SECOND_US;
    answer("log.read", NULL, text.text);
    cr_assert_eq(top_table_of(&top)->first, 300 - room);
    for (int i = 0; i < 30; i++) {
        mono_us += 2 * SECOND_US;
        answer("log.read", NULL, text.text);
    }
    cr_assert_eq(json_array_size(top_table_of(&top)->rows), TOP_LINES_MAX);
}

Test(top, stopping_asks_twice_and_keeps_the_reason)
{
    answer("top.overview", NULL, OVERVIEW);

    press("x");
    EXPECT_STR("stop run 9 (orders)", top.change.what);
    press("n");
    expect_nothing_to_ask();
    press("xytoo ol");
    top_press(&top, TOP_KEY_ESCAPE);
    expect_nothing_to_ask();
    press("xytoo sl");
    top_press(&top, 0xF6);
    press("w!");
    top_press(&top, TOP_KEY_BACKSPACE);
    expect_nothing_to_ask();
    top_press(&top, TOP_KEY_ENTER);
    answer("run.cancel", "{\"reason\":\"too sl\xC3\xB6w\",\"run\":\"9\"}", "{}");
    EXPECT_STR("done: stop run 9 (orders)", top.message);
    answer("top.overview", NULL, OVERVIEW);

    press("xy");
    top_press(&top, TOP_KEY_ENTER);
    refuse("run.cancel", "only operators may");
    EXPECT_STR("cannot stop run 9 (orders): only operators may", top.message);
    cr_assert(top.message_is_bad);
}

Test(top, keys_change_what_their_page_shows)
{
    static const struct {
        const char *page;
        const char *keys;
        const char *list;
        const char *operation;
        const char *request;
    } CASES[] = {
        {"1", "p", OVERVIEW, "dag.pause", "{\"dags\":[\"orders\"]}"},
        {"1", "u", OVERVIEW, "dag.unpause", "{\"dags\":[\"orders\"]}"},
        {"1", "ry", OVERVIEW, "run.retry", "{\"run\":\"9\"}"},
        {"3", "p", "{\"dags\":[{\"dag_id\":\"d\"}]}", "dag.pause", "{\"dags\":[\"d\"]}"},
        {"4", "p", "{\"queues\":[{\"name\":\"q\"}]}", "queue.set",
         "{\"create\":false,\"name\":\"q\",\"paused\":true}"},
        {"4", "u", "{\"queues\":[{\"name\":\"q\"}]}", "queue.set",
         "{\"create\":false,\"name\":\"q\",\"paused\":false}"},
        {"6", "p", "{\"hosts\":[{\"id\":\"5\",\"name\":\"h\"}]}", "host.drain",
         "{\"drain\":true,\"host\":\"5\"}"},
        {"6", "u", "{\"hosts\":[{\"id\":\"5\",\"name\":\"h\"}]}", "host.drain",
         "{\"drain\":false,\"host\":\"5\"}"},
        {"2", "xy\r", "{\"task_instances\":[{\"number\":\"3\",\"task_id\":\"t\",\"map_index\":4}]}",
         "run.cancel", "{\"map_index\":4,\"run\":\"3\",\"task\":\"t\"}"},
        {"2", "xy\r",
         "{\"task_instances\":[{\"number\":\"0\",\"dag_id\":\"(job)\",\"dag_run_id\":\"77\"}]}",
         "job.cancel", "{\"job\":\"77\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        press(CASES[i].page);
        answer("top.overview", NULL, OVERVIEW);
        if (CASES[i].page[0] != '1')
            answer(TOP_PAGES[top.page].operation, NULL, CASES[i].list);
        for (const char *key = CASES[i].keys; *key != '\0'; key++)
            top_press(&top, *key == '\r' ? TOP_KEY_ENTER : (uint32_t)*key);
        answer(CASES[i].operation, CASES[i].request, "{}");
    }
}

Test(top, keys_that_mean_nothing_on_a_page_say_so)
{
    press("5");
    answer("top.overview", NULL, OVERVIEW);
    answer("pool.list", NULL, "{\"pools\":[{\"name\":\"p\"}]}");
    static const char *const KEYS[] = {"p", "r", "x", "e"};
    for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
        press(KEYS[i]);
        cr_assert_neq(top.message[0], '\0', "%s", KEYS[i]);
        cr_assert_eq(top.prompt, TOP_PROMPT_NONE);
        expect_nothing_to_ask();
    }
}

Test(top, tasks_of_a_run_are_retried_stopped_and_explained_one_by_one)
{
    answer("top.overview", NULL, OVERVIEW);
    top_press(&top, TOP_KEY_ENTER);
    answer("top.tasks", NULL, TASKS);

    press("ry");
    answer("run.retry", "{\"run\":\"9\",\"tasks\":[\"a\"]}", "{}");
    answer("top.tasks", NULL, TASKS);
    press("p");
    answer("dag.pause", "{\"dags\":[\"orders\"]}", "{}");
    answer("top.tasks", NULL, TASKS);
    press("e");
    answer("run.explain", "{\"run\":\"9\",\"task\":\"a\"}",
           "{\"summary\":\"it waits for a very long time, longer than a line of the screen can be, "
           "and is broken at a blank\",\"tasks\":[{\"task_id\":\"a\",\"state\":\"queued\","
           "\"because\":\"no host\"}]}");
    const json_t *lines = top_table_of(&top)->shown;
    cr_assert_geq(json_array_size(lines), 4);
    for (size_t i = 0; i < json_array_size(lines); i++)
        cr_assert_leq(strlen(json_string_value(json_array_get(lines, i))), 80);
}

Test(top, events_come_newest_first_and_go_on_from_the_cursor)
{
    press("7");
    answer("top.overview", NULL, OVERVIEW);
    answer("event.list", "{\"limit\":100}",
           "{\"events\":[{\"id\":\"1\"},{\"id\":\"2\"}],\"cursor\":\"e2\",\"more\":false}");
    EXPECT_STR("2", chosen("id"));
    mono_us += 2 * SECOND_US;
    answer("top.overview", NULL, OVERVIEW);
    answer("event.list", "{\"cursor\":\"e2\",\"limit\":100}",
           "{\"events\":[{\"id\":\"3\",\"number\":\"9\"}],\"cursor\":\"e3\",\"more\":false}");
    EXPECT_STR("3", chosen("id"));
    cr_assert_eq(json_array_size(top_table_of(&top)->rows), 3);

    top_press(&top, TOP_KEY_ENTER);
    answer("top.tasks", "{\"open\":[],\"run\":\"9\"}", TASKS);
}

Test(top, an_answer_about_another_log_comes_too_late)
{
    answer("top.overview", NULL, OVERVIEW);
    top_press(&top, TOP_KEY_ENTER);
    answer("top.tasks", NULL, TASKS);
    top_press(&top, TOP_KEY_ENTER);
    struct top_question late = asked_for("log.read", NULL);
    top_press(&top, TOP_KEY_ESCAPE);
    top_press(&top, TOP_KEY_ENTER);
    give(&late, "{\"entries\":[{\"text\":\"old\\n\"}],\"cursor\":\"c\"}");
    cr_assert_eq(json_array_size(top_table(&top)->rows), 0);
    answer("log.read", "{\"run\":\"9\",\"tail\":500,\"task\":\"a\"}",
           "{\"entries\":[{\"text\":\"new\\n\"}],\"cursor\":\"c\"}");
    EXPECT_STR("new", json_string_value(json_array_get(top_table(&top)->rows, 0)));
}

Test(top, runs_stay_when_a_late_answer_has_none)
{
    answer("top.overview", NULL, OVERVIEW);
    press("4");
    struct top_question late = asked_for("top.overview", NULL);
    press("1");
    give(&late, "{\"now\":\"2026-01-02T03:04:07Z\",\"dag_runs\":[]}");
    EXPECT_STR("9", chosen("number"));
}

Test(top, a_change_is_sent_once_and_no_other_begins_before_its_answer)
{
    answer("top.overview", NULL, OVERVIEW);
    press("p");
    struct top_question change = asked_for("dag.pause", "{\"dags\":[\"orders\"]}");
    expect_nothing_to_ask();
    cr_assert_gt(top_wait_ms(&top, mono_us), 0);
    press("ju");
    EXPECT_STR("wait: whether to pause orders is not answered yet", top.message);
    give(&change, "{}");
    EXPECT_STR("done: pause orders", top.message);
    press("u");
    answer("dag.unpause", "{\"dags\":[\"alpha\"]}", "{}");
}

Test(top, what_cannot_be_asked_is_said_until_it_can)
{
    answer("top.overview", NULL, OVERVIEW);
    mono_us += 2 * SECOND_US;
    refuse("top.overview", "nobody answers");
    EXPECT_STR("nobody answers", top.problem);
    cr_assert_eq(json_array_size(top_table_of(&top)->shown), 3, "what was there stays");
    expect_nothing_to_ask();
    mono_us += 2 * SECOND_US;
    answer("top.overview", NULL, OVERVIEW);
    EXPECT_STR("", top.problem);
}

Test(top, throughput_is_put_together_from_answers_that_overlap)
{
    struct top_pace pace = {0};
    json_t *first = parsed("[1,2,3]");
    json_t *second = parsed("[5,6,7,8]");
    json_t *late = parsed("[9]");

    top_pace_add(&pace, 100, first);
    cr_assert_eq(pace.last, 102);
    top_pace_add(&pace, 101, second);
    cr_assert_eq(pace.last, 104);
    static const int64_t EXPECTED[] = {1, 5, 6, 7, 8};
    for (size_t i = 0; i < ARRAY_LEN(EXPECTED); i++)
        cr_assert_eq(pace.counts[TOP_PACE_SECONDS - 5 + i], EXPECTED[i], "%zu", i);
    cr_assert_float_eq(top_pace_mean(&pace, 2), 6.5, 1e-9, "the second that goes on is left out");
    top_pace_add(&pace, 30, late);
    cr_assert_eq(pace.last, 104);
    top_pace_add(&pace, 1000, late);
    cr_assert_eq(pace.counts[TOP_PACE_SECONDS - 1], 9);
    cr_assert_eq(pace.counts[TOP_PACE_SECONDS - 2], 0);
    json_decref(first);
    json_decref(second);
    json_decref(late);
}
