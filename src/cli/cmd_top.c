/*
 * eider top: drives the monitor. What it does is in top.h, what it looks like in top_view.h.
 */
#include "base/clock.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/handlers.h"
#include "cli/parsed.h"
#include "cli/top.h"
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

/* One question, if one is due. */
static enum status ask(struct cli *cli, struct top *top, struct err *err)
{
    struct top_question question;
    CLEANUP(json_decrefp) json_t *response = NULL;
    if (!top_ask(top, clock_mono_us(), &question))
        return STATUS_OK;
    enum status status = cli_call(cli, question.operation, question.request, &response, err);
    top_answer(top, &question, status == STATUS_OK ? response : NULL, err);
    top_note_time(top, &question, clock_mono_us());
    return status;
}

static void draw(const struct top *top, struct top_screen *screen)
{
    struct top_canvas canvas;
    top_canvas_init(&canvas, top->columns, top->rows, top_screen_utf8(screen));
    top_view(top, &canvas);
    top_screen_draw(screen, &canvas);
    top_canvas_fini(&canvas);
}

/* Keys come first: whoever types does not wait for more than one answer. */
static void drive(struct cli *cli, struct top *top, struct top_screen *screen)
{
    while (!top->is_over) {
        struct err err = {0};
        uint32_t key = TOP_KEY_NONE;
        read_size(cli, top);
        top_screen_resize(screen, top->columns, top->rows);
        draw(top, screen);
        if (!top_screen_key(screen, top_wait_ms(top, clock_mono_us()), &key))
            return;
        top_press(top, key);
        if (key == TOP_KEY_NONE)
            (void)ask(cli, top, &err);
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
    read_size(cli, top);
    if (ask(cli, top, err) != STATUS_OK)
        return err->code;
    if (top_screen_open(&options, &screen, err) != STATUS_OK)
        return err->code;
    drive(cli, top, screen);
    top_screen_close(screen);
    return STATUS_OK;
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
