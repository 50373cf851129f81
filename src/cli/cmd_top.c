/*
 * eider top: drives the monitor. What it does is in top.h, what it looks like in top_view.h.
 */
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/parsed.h"
#include "cli/top.h"
#include "cli/top_asker.h"
#include "cli/top_screen.h"
#include "cli/top_view.h"
#include "os/terminal.h"

enum { EVERY_DEFAULT = 2, EVERY_MAX = 60, COLUMNS_MOST = 500, ROWS_MOST = 300 };

static void read_size(struct cli *cli, struct top *top)
{
    size_t columns = 0;
    size_t rows = 0;
    cli->host.terminal_size(cli->host.context, &columns, &rows);
    top_resize(top, MIN(columns > 0 ? columns : 80, (size_t)COLUMNS_MOST),
               MIN(rows > 0 ? rows : 24, (size_t)ROWS_MOST));
}

/* The first question, before there is a screen. */
static enum status ask_once(struct cli *cli, struct top *top, struct err *err)
{
    struct top_question question;
    CLEANUP(json_decrefp) json_t *response = NULL;
    if (!top_ask(top, clock_mono_us(), &question))
        return STATUS_OK;
    if (cli_call(cli, question.operation, question.request, &response, err) != STATUS_OK)
        return err->code;
    top_answer(top, &question, response, err);
    top_note_time(top, &question, clock_mono_us());
    return STATUS_OK;
}

static void take_reply(struct top *top, struct top_asker *asker)
{
    struct top_reply reply;
    if (!top_asker_take(asker, &reply))
        return;
    top_answer(top, &reply.question, reply.response, &reply.err);
    top_note_time(top, &reply.question, clock_mono_us());
    json_decref(reply.response);
}

static void ask(struct top *top, struct top_asker *asker)
{
    struct top_question question;
    if (!top_asker_is_busy(asker) && top_ask(top, clock_mono_us(), &question))
        top_asker_ask(asker, &question);
}

static void draw(const struct top *top, struct top_screen *screen)
{
    struct top_canvas canvas;
    top_canvas_init(&canvas, top->columns, top->rows, top_screen_utf8(screen));
    top_view(top, &canvas);
    top_screen_draw(screen, &canvas);
    top_canvas_fini(&canvas);
}

/* Keys come first: whoever types waits for no answer. */
static void drive(struct cli *cli, struct top *top, struct top_screen *screen,
                  struct top_asker *asker)
{
    while (!top->is_over) {
        uint32_t key = TOP_KEY_NONE;
        read_size(cli, top);
        top_screen_resize(screen, top->columns, top->rows);
        draw(top, screen);
        int64_t wait_ms = top_asker_is_busy(asker) ? -1 : top_wait_ms(top, clock_mono_us());
        if (!top_screen_key(screen, top_asker_fd(asker), wait_ms, &key))
            return;
        top_press(top, key);
        take_reply(top, asker);
        if (key == TOP_KEY_NONE)
            ask(top, asker);
    }
}

static enum status check_terminal(const struct cli *cli, struct err *err)
{
    if (cli->host.in != NULL && cli->host.out_is_terminal && terminal_is_one(cli->host.in))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID,
                   "top draws on a terminal, and there is none: `eider ps`, `eider runs list` and "
                   "`eider events` print the same as text or, with -o json, for programs");
}

/* What cannot be asked at all is told before the screen is cleared. */
static enum status watch(struct cli *cli, struct top *top, struct err *err)
{
    struct top_screen *screen = NULL;
    const struct top_screen_options options = {
        .in = cli->host.in,
        .out = cli->host.out,
        .term = cli->host.environment(cli->host.context, "TERM"),
        .color = cli->output.style.color,
        .utf8 = cli->output.style.utf8,
    };
    struct top_asker *asker = NULL;
    read_size(cli, top);
    if (ask_once(cli, top, err) != STATUS_OK || top_asker_new(cli, &asker, err) != STATUS_OK)
        return err->code;
    enum status status = top_screen_open(&options, &screen, err);
    if (status == STATUS_OK)
        drive(cli, top, screen, asker);
    top_screen_close(screen);
    /* An answer that nobody wants may take minutes: the program ends without it. */
    if (!top_asker_free(asker))
        _exit(EXIT_CODE_DONE);
    return status;
}

int cmd_top(struct cli *cli, const struct parsed *parsed)
{
    static const struct int_bounds BOUNDS = {1, EVERY_MAX, EVERY_DEFAULT};
    struct top top;
    struct err err = {0};
    int64_t every = 0;
    if (parsed_get_int(parsed, "every", &BOUNDS, &every, &err) != STATUS_OK ||
        check_terminal(cli, &err) != STATUS_OK)
        return cli_fail(cli, &err);
    top_init(&top);
    top_set_rate(&top, every);
    enum status status = watch(cli, &top, &err);
    top_fini(&top);
    return status == STATUS_OK ? EXIT_CODE_DONE : cli_fail(cli, &err);
}
