#include "cli/top_view.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/top_keys.h"

enum { COLUMNS_MIN = 20, ROWS_MIN = 5 };

static const struct {
    const char *state;
    enum top_look look;
} LOOKS[] = {
    {"success", TOP_LOOK_GOOD},
    {"READY", TOP_LOOK_GOOD},
    {"active", TOP_LOOK_GOOD},
    {"completed", TOP_LOOK_GOOD},
    {"failed", TOP_LOOK_BAD},
    {"NOT_READY", TOP_LOOK_BAD},
    {"expired", TOP_LOOK_BAD},
    {"lost", TOP_LOOK_BAD},
    {"broken", TOP_LOOK_BAD},
    {"upstream_failed", TOP_LOOK_CARE},
    {"up_for_retry", TOP_LOOK_CARE},
    {"cancelled", TOP_LOOK_CARE},
    {"PAUSED", TOP_LOOK_CARE},
    {"paused", TOP_LOOK_CARE},
    {"draining", TOP_LOOK_CARE},
    {"rolled_back", TOP_LOOK_CARE},
    {"awaiting_input", TOP_LOOK_CARE},
    {"running", TOP_LOOK_ACTIVE},
    {"claimed", TOP_LOOK_ACTIVE},
    {"deferred", TOP_LOOK_ACTIVE},
    {"skipped", TOP_LOOK_LEFT},
    {"left", TOP_LOOK_LEFT},
    {"none", TOP_LOOK_DIM},
    {"scheduled", TOP_LOOK_DIM},
    {"removed", TOP_LOOK_DIM},
    {"inactive", TOP_LOOK_DIM},
    {"up_for_reschedule", TOP_LOOK_CARE},
};

enum top_look top_view_look(const char *state)
{
    for (size_t i = 0; i < ARRAY_LEN(LOOKS); i++)
        if (str_equal(LOOKS[i].state, state))
            return LOOKS[i].look;
    return TOP_LOOK_PLAIN;
}

/* --- tabs ------------------------------------------------------------------------------------ */

static void draw_tabs(const struct top *top, struct top_canvas *canvas)
{
    struct top_spot spot = {.row = top_layout(top).tabs_row, .column = 1, .width = canvas->columns};
    const struct top_table *table = top_table_of(top);
    for (size_t i = 0; i < TOP_TABS; i++) {
        CLEANUP(mem_freep) char *text = mem_format(" %zu %s ", i + 1, TOP_PAGES[i].title);
        spot.look = i == top->page ? TOP_LOOK_HEADING : TOP_LOOK_PLAIN;
        spot.column += top_canvas_put(canvas, &spot, text);
    }
    if (table->filter[0] == '\0' || top->prompt == TOP_PROMPT_FILTER)
        return;
    CLEANUP(mem_freep) char *filter = mem_format("  /%s", table->filter);
    spot.look = TOP_LOOK_CARE;
    (void)top_canvas_put(canvas, &spot, filter);
}

/* --- the last line --------------------------------------------------------------------------- */

static const char *hints_of(const struct top *top)
{
    if (top->page == TOP_LOG)
        return "? help  Esc back  End follow  / find  left right shift  q quit";
    if (top->page == TOP_EXPLAIN)
        return "? help  Esc back  q quit";
    if (top->page == TOP_RUN)
        return "? help  Enter log  Esc back  e why  r retry  x stop  / filter  q quit";
    if (top->page == TOP_RUNS)
        return "? help  Enter open  e why  p pause  r retry  x stop  / filter  s sort  q quit";
    if (top->page == TOP_TASKS)
        return "? help  Enter log  x stop  / filter  s sort  + - rate  q quit";
    if (top->page == TOP_HOSTS)
        return "? help  p drain  u resume  / filter  s sort  + - rate  q quit";
    if (top->page == TOP_QUEUES || top->page == TOP_DAGS)
        return "? help  p pause  u unpause  / filter  s sort  + - rate  q quit";
    return "? help  Enter open  / filter  s sort  + - rate  q quit";
}

static void draw_last(const struct top *top, struct top_canvas *canvas)
{
    struct top_spot spot = {
        .row = canvas->rows - 1, .column = 1, .width = canvas->columns - 1, .look = TOP_LOOK_DIM};
    CLEANUP(mem_freep) char *text = NULL;
    if (top->prompt == TOP_PROMPT_FILTER)
        text = mem_format("/%s_", top->typed);
    else if (top->prompt == TOP_PROMPT_CONFIRM)
        text = mem_format("%s? y does it, any other key does not", top->change.what);
    else if (top->prompt == TOP_PROMPT_REASON)
        text = mem_format("%s because: %s_   (Enter does it, Esc does not)", top->change.what,
                          top->typed);
    else if (top->message[0] != '\0')
        text = mem_strdup(top->message);
    else
        text = mem_strdup(hints_of(top));
    if (top->prompt != TOP_PROMPT_NONE)
        spot.look = TOP_LOOK_BOLD;
    else if (top->message[0] != '\0')
        spot.look = top->message_is_bad ? TOP_LOOK_BAD : TOP_LOOK_BOLD;
    (void)top_canvas_put(canvas, &spot, text);
}

/* --- help ------------------------------------------------------------------------------------ */

static void draw_help(struct top_canvas *canvas)
{
    struct top_spot spot = {.column = 1, .width = canvas->columns - 1, .look = TOP_LOOK_BOLD};
    (void)top_canvas_put(canvas, &spot, "eider top: keys");
    for (size_t i = 0; i < TOP_KEYS_COUNT; i++) {
        if (TOP_KEYS[i].shown == NULL)
            continue;
        spot.row++;
        spot.column = 2;
        spot.width = canvas->columns - 2;
        spot.look = TOP_LOOK_BOLD;
        (void)top_canvas_put(canvas, &spot, TOP_KEYS[i].shown);
        spot.column = 18;
        spot.width = canvas->columns > 18 ? canvas->columns - 18 : 0;
        spot.look = TOP_LOOK_PLAIN;
        (void)top_canvas_put(canvas, &spot, TOP_KEYS[i].does);
    }
    spot = (struct top_spot){canvas->rows - 1, 1, canvas->columns - 1, TOP_LOOK_DIM};
    (void)top_canvas_put(canvas, &spot, "any key goes on");
}

/* --- the whole ------------------------------------------------------------------------------- */

void top_view(const struct top *top, struct top_canvas *canvas)
{
    if (canvas->columns < COLUMNS_MIN || canvas->rows < ROWS_MIN) {
        struct top_spot spot = {.width = canvas->columns};
        (void)top_canvas_put(canvas, &spot, "a larger screen, please");
        return;
    }
    if (top->shows_help) {
        draw_help(canvas);
        return;
    }
    top_view_head(top, canvas);
    if (top_layout(top).has_tabs)
        draw_tabs(top, canvas);
    top_view_body(top, canvas);
    draw_last(top, canvas);
}
