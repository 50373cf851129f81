#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "expect.h"
#include "worker/keeper_book.h"
#include "worker/keeper_report.h"
#include "worker/keeper_wire.h"

static struct keeper_book book;
static struct strbuf told;

static void set_up(void)
{
    keeper_book_init(&book, -1, true);
    strbuf_init(&told, 1 << 20);
}

static void tear_down(void)
{
    keeper_book_fini(&book);
    strbuf_fini(&told);
}

TestSuite(keeper_book, .init = set_up, .fini = tear_down, .timeout = 60);

static void tell_line(const struct keeper_frame *frame)
{
    struct keeper_report report;
    keeper_report_parse(frame->text, frame->text_length, &report);
    if (frame->numbers[1] != 0)
        strbuf_addf(&told, "%d lost\n", (int)frame->numbers[0]);
    else if (report.type == KEEPER_REPORT_PROGRESS)
        strbuf_addf(&told, "%d progress %g\n", (int)frame->numbers[0], report.done);
    else
        strbuf_addf(&told, "%d %s\n", (int)frame->numbers[0], report.key);
    keeper_report_fini(&report);
}

static void tell_frame(enum keeper_frame_type type, struct keeper_wire_reader *fields)
{
    struct keeper_exit exit;
    int64_t id = 0;
    struct keeper_frame frame = {.type = type};
    if (type == KEEPER_FRAME_EXITED) {
        cr_assert(keeper_wire_get_exit(fields, &id, &exit));
        strbuf_addf(&told, "%d exited %d\n", (int)id, exit.code);
        return;
    }
    cr_assert(keeper_wire_get(fields, &frame));
    if (type == KEEPER_FRAME_LINE)
        tell_line(&frame);
    else if (type == KEEPER_FRAME_ALL)
        strbuf_add(&told, "all\n");
    else
        strbuf_addf(&told, "%d %s %s\n", (int)frame.numbers[0],
                    type == KEEPER_FRAME_HELD ? "held" : "started",
                    frame.text == NULL ? "-" : frame.text);
}

/* What the link would send now, in words. */
static const char *hear(void)
{
    struct keeper_wire_reader packet = {.at = book.link.out.text, .left = book.link.out.length};
    struct keeper_wire_reader fields;
    enum keeper_frame_type type = KEEPER_FRAME_TYPE_COUNT;
    strbuf_clear(&told);
    while (keeper_wire_next(&packet, &type, &fields))
        tell_frame(type, &fields);
    strbuf_clear(&book.link.out);
    return told.text;
}

static struct keeper_hold *open_task(int64_t id, const char *context)
{
    struct keeper_hold *hold =
        keeper_book_open(&book, &(struct keeper_task){.id = id, .context = context});
    keeper_book_started(&book, hold, 100, 1);
    return hold;
}

static void add(struct keeper_hold *hold, const char *text)
{
    keeper_book_line(&book, hold, text, strlen(text));
}

static void add_value(struct keeper_hold *hold, const char *key, size_t bytes)
{
    char *filling = mem_alloc(bytes + 1);
    memset(filling, 'x', bytes);
    filling[bytes] = '\0';
    char *line = mem_format("{\"type\":\"value\",\"key\":\"%s\",\"value\":\"%s\"}", key, filling);
    add(hold, line);
    free(line);
    free(filling);
}

static void end_task(struct keeper_hold *hold, int code)
{
    keeper_book_ended(&book, hold, &(struct keeper_exit){.code = code});
}

static void greet(void)
{
    keeper_book_connect(&book, -1);
    keeper_book_begin(&book);
}

Test(keeper_book, the_next_daemon_hears_tasks_then_lines_then_ends_then_that_it_is_all)
{
    struct keeper_hold *first = open_task(1, "one");
    struct keeper_hold *second = open_task(2, NULL);
    add_value(first, "a", 1);
    add_value(second, "b", 1);
    end_task(first, 7);
    EXPECT_STR("", hear());

    greet();
    keeper_book_go_on(&book);
    EXPECT_STR("1 held one\n2 held \n1 a\n2 b\n1 exited 7\nall\n", hear());

    add_value(second, "c", 1);
    end_task(second, 8);
    EXPECT_STR("2 c\n2 exited 8\n", hear());
    keeper_book_acknowledge(&book, 1);
    keeper_book_acknowledge(&book, 77);
    greet();
    keeper_book_go_on(&book);
    EXPECT_STR("2 held \n2 b\n2 c\n2 exited 8\nall\n", hear());
}

Test(keeper_book, what_happens_while_it_tells_comes_in_order_and_once)
{
    struct keeper_hold *first = open_task(1, "");
    add_value(first, "large", KEEPER_BOOK_FULL_BYTES);
    add_value(first, "next", 1);
    greet();
    keeper_book_go_on(&book);
    EXPECT_STR("1 held \n1 large\n", hear());

    struct keeper_hold *second = open_task(2, "");
    add_value(second, "new", 1);
    add_value(first, "last", 1);
    end_task(second, 3);
    EXPECT_STR("2 started -\n", hear());
    keeper_book_go_on(&book);
    EXPECT_STR("1 next\n1 last\n2 new\n2 exited 3\nall\n", hear());
    keeper_book_go_on(&book);
    EXPECT_STR("", hear());
}

Test(keeper_book, a_running_task_is_not_acknowledged_and_a_spawn_acknowledges_the_one_before)
{
    struct keeper_hold *hold = open_task(1, "old");
    keeper_book_acknowledge(&book, 1);
    cr_assert_eq(book.count, 1);
    end_task(hold, 1);
    (void)open_task(1, "new");
    greet();
    keeper_book_go_on(&book);
    EXPECT_STR("1 held new\nall\n", hear());
}

Test(keeper_book, beyond_the_bound_the_oldest_progress_goes_first)
{
    enum { MANY = 2000 };
    struct keeper_hold *hold = open_task(1, "");
    add_value(hold, "first", 6 << 20);
    char *text = mem_alloc(10001);
    memset(text, 'p', 10000);
    text[10000] = '\0';
    for (int i = 0; i < MANY; i++) {
        char *line = mem_format("{\"type\":\"progress\",\"done\":%d,\"text\":\"%s\"}", i, text);
        add(hold, line);
        free(line);
        if (i == MANY / 2)
            add_value(hold, "middle", 6 << 20);
    }
    free(text);
    cr_assert_leq(hold->line_bytes, KEEPER_BOOK_LINE_BYTES);
    greet();

    struct strbuf all;
    strbuf_init(&all, 1 << 20);
    while (book.state != KEEPER_BOOK_LIVE) {
        keeper_book_go_on(&book);
        strbuf_add(&all, hear());
    }
    EXPECT_CONTAINS(all.text, "1 held \n1 first\n");
    EXPECT_CONTAINS(all.text, "1 middle\n");
    EXPECT_CONTAINS(all.text, "1 progress 1999\nall\n");
    cr_assert_null(strstr(all.text, "progress 500\n"));
    cr_assert_null(strstr(all.text, "lost"));
    strbuf_fini(&all);
}

Test(keeper_book, values_that_had_to_go_are_said_to_be_lost)
{
    struct keeper_hold *hold = open_task(1, "");
    add(hold, "{\"type\":\"progress\",\"done\":1}");
    add_value(hold, "a", 12 << 20);
    add_value(hold, "b", 12 << 20);
    add(hold, "{\"type\":\"progress\",\"done\":2}");
    greet();
    keeper_book_go_on(&book);
    EXPECT_STR("1 held \n1 lost\n1 b\n", hear());
    keeper_book_go_on(&book);
    EXPECT_STR("1 progress 2\nall\n", hear());
}
