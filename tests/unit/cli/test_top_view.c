/*
 * What the monitor looks like, without a terminal.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/top_view.h"
#include "expect.h"

static struct top top;
static struct top_canvas canvas;

static void setup(void)
{
    top_init(&top);
}

static void teardown(void)
{
    top_canvas_fini(&canvas);
    top_fini(&top);
}

TestSuite(top_view, .init = setup, .fini = teardown);

static const char OVERVIEW[] =
    "{\"now\":\"2026-01-02T03:04:05Z\","
    "\"runs\":{\"queued\":1,\"running\":2,\"success\":120,\"failed\":3,\"cancelled\":0},"
    "\"tasks\":{\"running\":4,\"ready\":17,\"held\":8,\"later\":3},"
    "\"hosts\":{\"active\":2,\"draining\":0,\"gone\":1,\"slots\":16,\"slots_used\":4},"
    "\"dead_letters\":0,\"broken_files\":1,"
    "\"throughput\":{\"from\":\"2026-01-02T03:03:06Z\",\"finished\":["
    "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
    "0,"
    "0,0,1,2,3,4,5,6,7,8,9,5]},"
    "\"dag_runs\":[{\"number\":\"9\",\"dag_id\":\"orders\",\"state\":\"running\",\"duration\":62.5,"
    "\"queued_at\":\"2026-01-02T03:02:05Z\",\"tasks_total\":12,\"run_type\":\"manual\","
    "\"dag_run_id\":\"manual__x\",\"counts\":{\"success\":4,\"skipped\":1,\"running\":2,"
    "\"failed\":1}},"
    "{\"number\":\"8\",\"dag_id\":\"d\\u001b[2Jz\\u4e16\",\"state\":\"failed\"}]}";

static void give(const char *response)
{
    struct top_question question;
    struct err err = {0};
    json_t *value = NULL;
    EXPECT_OK(json_parse(response, strlen(response), &value, &err), &err);
    cr_assert(top_ask(&top, 0, &question));
    json_decref(question.request);
    top_answer(&top, &question, value, NULL);
    json_decref(value);
}

static void draw(size_t columns, size_t rows, bool utf8)
{
    top_canvas_fini(&canvas);
    top_resize(&top, columns, rows);
    top_canvas_init(&canvas, columns, rows, utf8);
    top_view(&top, &canvas);
}

static void expect_row(size_t row, const char *wanted)
{
    CLEANUP(mem_freep) char *text = top_canvas_text(&canvas, row);
    EXPECT_STR(wanted, text);
}

static void expect_somewhere(const char *part)
{
    for (size_t i = 0; i < canvas.rows; i++) {
        CLEANUP(mem_freep) char *text = top_canvas_text(&canvas, i);
        if (strstr(text, part) != NULL)
            return;
    }
    cr_assert_fail("nowhere '%s'", part);
}

static enum top_look look_at(size_t row, size_t column)
{
    return canvas.cells[row * canvas.columns + column].look;
}

Test(top_view, shows_what_matters_first_at_80_by_24)
{
    give(OVERVIEW);
    draw(80, 24, true);

    expect_row(0,
               " eider top  1 host is gone, 3 runs failed in an hour, 1 DAG… 03:04:05  every 2s");
    expect_row(1, " Runs   2 running  1 queued    last hour  120 success  3 failed  0 cancelled");
    expect_row(2, " Tasks  4 running  17 ready  8 held  3 later   Hosts 2 active  4/16 slots");
    expect_row(3, " Done"
                  "                                    ▁▂▃▄▅▆▇██ 4.5/s now, 0.8/s in a minute");
    expect_row(4, "  1 Runs  2 Tasks  3 DAGs  4 Queues  5 Pools  6 Hosts  7 Events");
    expect_row(5, "     RUN STATE     DAG                   DONE FAILED DURATION      AGE TYPE");
    expect_row(6, ">      9 running   orders                6/12      1   1m 02s   2m 00s manual");
    expect_row(7, "       8 failed    d?[2Jz世");
    expect_row(23,
               " ? help  Enter open  e why  p pause  r retry  x stop  / filter  s sort  q quit");
    cr_assert_eq(look_at(0, 12), TOP_LOOK_BAD);
    cr_assert_eq(look_at(4, 3), TOP_LOOK_HEADING);
    cr_assert_eq(look_at(4, 10), TOP_LOOK_PLAIN);
    cr_assert_eq(look_at(6, 40), TOP_LOOK_CHOSEN);
    cr_assert_eq(look_at(7, 9), TOP_LOOK_BAD);
}

Test(top_view, is_plain_ascii_where_there_is_no_more)
{
    give(OVERVIEW);
    draw(80, 24, false);

    for (size_t row = 0; row < 24; row++) {
        CLEANUP(mem_freep) char *text = top_canvas_text(&canvas, row);
        for (const char *p = text; *p != '\0'; p++)
            cr_assert(*p >= ' ' && *p < 127, "row %zu: %s", row, text);
    }
    expect_somewhere("_.:-=+*##");
}

Test(top_view, fits_every_size_there_is)
{
    give(OVERVIEW);
    for (size_t columns = 1; columns < 200; columns += columns < 30 ? 1 : 13) {
        for (size_t rows = 1; rows < 60; rows += rows < 20 ? 1 : 7) {
            for (enum top_page page = 0; page < TOP_PAGE_COUNT; page++) {
                top.page = page;
                draw(columns, rows, true);
                for (size_t row = 0; row < rows; row++) {
                    CLEANUP(mem_freep) char *text = top_canvas_text(&canvas, row);
                    cr_assert_leq(str_columns(text), columns);
                }
            }
        }
    }
    top.page = TOP_RUNS;
    draw(10, 3, true);
    expect_row(0, "a larger …");
}

Test(top_view, leaves_columns_out_on_a_narrow_screen_and_numbers_on_a_low_one)
{
    give(OVERVIEW);
    draw(40, 12, true);

    expect_row(2, "     RUN STATE     DAG              DONE");
    expect_row(3, ">      9 running   orders           6/12");
    draw(130, 24, true);
    expect_somewhere("manual__x");
}

Test(top_view, says_that_there_is_nothing_and_why)
{
    draw(80, 24, true);
    expect_row(6, "  ...");
    give("{\"dag_runs\":[]}");
    draw(80, 24, true);
    expect_row(6, "  nothing ran yet");
    top_press(&top, '/');
    top_press(&top, 'q');
    draw(80, 24, true);
    expect_row(6, "  nothing has this; Esc drops the filter");
    expect_row(23, " /q_");
}

Test(top_view, says_when_work_waits_and_nobody_is_there)
{
    give("{\"now\":\"2026-01-02T03:04:05Z\",\"tasks\":{\"ready\":3},\"hosts\":{}}");
    draw(80, 24, true);
    expect_row(0,
               " eider top  work waits and no host is there                  03:04:05  every 2s");
}

Test(top_view, asks_before_it_stops_anything)
{
    give(OVERVIEW);
    top_press(&top, 'x');
    draw(80, 24, true);
    expect_row(23, " stop run 9 (orders)? y does it, any other key does not");
    top_press(&top, 'y');
    top_press(&top, 'b');
    draw(80, 24, true);
    expect_row(23, " stop run 9 (orders) because: b_   (Enter does it, Esc does not)");
}

Test(top_view, draws_the_tasks_of_a_run_as_a_tree)
{
    give(OVERVIEW);
    top_press(&top, TOP_KEY_ENTER);
    give("{\"now\":\"2026-01-02T03:04:05Z\",\"run\":{\"number\":\"9\",\"dag_id\":\"orders\","
         "\"state\":\"running\",\"duration\":12,\"counts\":{\"success\":1,\"none\":2}},\"tasks\":["
         "{\"task_id\":\"extract\",\"map_index\":-1,\"state\":\"success\",\"reason\":\"exit\","
         "\"exit_code\":0,\"try_number\":1,\"duration\":1.5},"
         "{\"task_id\":\"each\",\"map_index\":-1,\"depth\":1,\"state\":\"deferred\","
         "\"instances\":{\"total\":5,\"success\":2,\"failed\":1}},"
         "{\"task_id\":\"each\",\"map_index\":3,\"depth\":2,\"state\":\"failed\",\"try_number\":2,"
         "\"max_tries\":2,\"reason\":\"exit\",\"exit_code\":3}]}");
    draw(80, 24, true);

    expect_row(0,
               " eider top  run 9 orders                                     03:04:05  every 2s");
    expect_row(1, " running  12.0s  1 success  2 waiting");
    expect_row(3, "> extract                success                       1     1.5s");
    expect_row(4, "    each +               running               3/5");
    expect_row(5, "      each[3]            failed                      2/3          exit 3");
}

Test(top_view, shows_the_keys)
{
    top_press(&top, '?');
    draw(80, 24, true);
    expect_row(0, " eider top: keys");
    expect_somewhere("x               stop a run, a task or a job, with a reason");
    expect_row(23, " any key goes on");
}

Test(top_view, says_that_nobody_answers)
{
    struct top_question question;
    struct err err = {0};
    give(OVERVIEW);
    top.glance.is_due = true;
    cr_assert(top_ask(&top, 0, &question));
    json_decref(question.request);
    (void)err_set(&err, STATUS_UNREACHABLE, "connect to 127.0.0.1: refused");
    top_answer(&top, &question, NULL, &err);
    draw(80, 24, true);
    expect_row(0, " eider top  no answer: connect to 127.0.0.1: refused");
}
