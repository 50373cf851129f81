#include "cli/top.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/top_keys.h"

static const int64_t RATES_S[] = {1, 2, 5, 10, 30, 60};
enum { RATE_DEFAULT = 1, HEAD_ROWS_MIN = 16, SHIFT_COLUMNS = 20 };

void top_init(struct top *top)
{
    *top = (struct top){.columns = 80, .rows = 24, .rate = RATE_DEFAULT, .map_index = -1};
    for (size_t i = 0; i < TOP_PAGE_COUNT; i++)
        top->tables[i].is_due = true;
    top->glance.is_due = true;
}

void top_fini(struct top *top)
{
    for (size_t i = 0; i < TOP_PAGE_COUNT; i++)
        top_rows_clear(&top->tables[i]);
    top_change_drop(top);
    json_decref(top->overview);
    json_decref(top->run);
    json_decref(top->open_tasks);
    mem_freep(&top->run_number);
    mem_freep(&top->task_id);
    mem_freep(&top->cursor_of_log);
    mem_freep(&top->cursor_of_events);
    *top = (struct top){0};
}

void top_keep(char **place, const char *text)
{
    char *kept = text != NULL ? mem_strdup(text) : NULL;
    mem_freep(place);
    *place = kept;
}

void top_say(struct top *top, bool is_bad, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(top->message, sizeof top->message, fmt, args);
    va_end(args);
    top->message_is_bad = is_bad;
}

void top_set_rate(struct top *top, int64_t seconds)
{
    top->rate = 0;
    for (size_t i = 1; i < ARRAY_LEN(RATES_S); i++)
        if (RATES_S[i] <= seconds)
            top->rate = i;
}

int64_t top_rate_s(const struct top *top)
{
    return RATES_S[top->rate];
}

/* --- where things are ------------------------------------------------------------------------ */

struct top_layout top_layout(const struct top *top)
{
    bool is_tab = top->page < TOP_TABS;
    bool is_text = top_is_text(top->page);
    struct top_layout layout = {.has_tabs = is_tab, .has_head = top->rows >= HEAD_ROWS_MIN};
    size_t row = 1; /* the first line is the title */
    if (layout.has_head && is_tab)
        row += 3;
    if (layout.has_head && top->page == TOP_RUN)
        row += 1;
    layout.tabs_row = row;
    row += is_tab;
    layout.heading_row = is_text ? SIZE_MAX : row;
    row += !is_text;
    layout.body_row = row;
    layout.body_rows = top->rows > row + 1 ? top->rows - row - 1 : 0;
    return layout;
}

void top_resize(struct top *top, size_t columns, size_t rows)
{
    if (top->columns == columns && top->rows == rows)
        return;
    top->columns = columns;
    top->rows = rows;
    for (enum top_page page = 0; page < TOP_PAGE_COUNT; page++)
        top_rows_refresh(top, page);
    top_table(top)->is_due = true; /* more may be visible */
}

/* --- pages ----------------------------------------------------------------------------------- */

static void show(struct top *top, enum top_page page)
{
    top->page = page;
    top->shift = 0;
    top_table(top)->is_due = true;
    top->glance.is_due = true;
    top_rows_refresh(top, page);
}

static void close_page(struct top *top)
{
    if (top->back_count == 0)
        return;
    show(top, top->back[--top->back_count]);
}

static void show_tab(struct top *top, size_t tab)
{
    top->back_count = 0;
    show(top, (enum top_page)(tab % TOP_TABS));
}

static void open_page(struct top *top, enum top_page page)
{
    CHECK(top->back_count < TOP_PAGE_COUNT);
    top->back[top->back_count++] = top->page;
    top->turn++;
    top_rows_clear(&top->tables[page]);
    show(top, page);
}

static void open_run(struct top *top, const char *number)
{
    top_keep(&top->run_number, number);
    json_decref(top->run);
    json_decref(top->open_tasks);
    top->run = NULL;
    top->open_tasks = json_array();
    CHECK(top->open_tasks != NULL);
    open_page(top, TOP_RUN);
}

static void open_log(struct top *top, const json_t *row)
{
    top_keep(&top->run_number, json_get_string(row, "number", top->run_number));
    top_keep(&top->task_id, json_get_string(row, "task_id", ""));
    top_keep(&top->cursor_of_log, NULL);
    top->map_index = json_get_int(row, "map_index", -1);
    top->ends_mid_line = false;
    top->log_is_live = true;
    open_page(top, TOP_LOG);
}

/* A mapped task has no log of its own: its instances have. */
static void fold(struct top *top, const char *task_id)
{
    size_t i;
    json_t *name;
    json_array_foreach(top->open_tasks, i, name)
    {
        if (str_equal(json_string_value(name), task_id)) {
            (void)json_array_remove(top->open_tasks, i);
            top_table(top)->is_due = true;
            return;
        }
    }
    CHECK(json_array_append_new(top->open_tasks, json_string(task_id)) == 0);
    top_table(top)->is_due = true;
}

static void open_event(struct top *top, const json_t *row)
{
    const char *number = json_get_string(row, "number", NULL);
    if (number != NULL)
        open_run(top, number);
    else
        top_say(top, false, "this event is about no run");
}

static void open_dag(struct top *top, const json_t *row)
{
    const char *number = json_get_string(json_object_get(row, "last_run"), "number", NULL);
    if (number != NULL)
        open_run(top, number);
    else
        top_say(top, false, "%s has not run yet", json_get_string(row, "dag_id", "it"));
}

static void open_chosen(struct top *top)
{
    const json_t *row = top_chosen(top);
    if (row == NULL)
        return;
    if (top->page == TOP_RUNS)
        open_run(top, json_get_string(row, "number", ""));
    else if (top->page == TOP_EVENTS)
        open_event(top, row);
    else if (top->page == TOP_DAGS)
        open_dag(top, row);
    else if (top->page == TOP_TASKS && top_is_job(row))
        top_say(top, false, "a job belongs to no run: `eider jobs show %s` tells more",
                json_get_string(row, "dag_run_id", ""));
    else if (top->page == TOP_RUN && json_object_get(row, "instances") != NULL)
        fold(top, json_get_string(row, "task_id", ""));
    else if (top->page == TOP_RUN || top->page == TOP_TASKS)
        open_log(top, row);
    else
        top_say(top, false, "there is nothing more to see of it");
}

static void open_why(struct top *top)
{
    const json_t *row = top_chosen(top);
    if (top->page != TOP_RUNS && top->page != TOP_RUN) {
        top_say(top, false, "e explains runs and tasks");
        return;
    }
    if (row == NULL)
        return;
    top->map_index = json_get_int(row, "map_index", -1);
    top_keep(&top->task_id, json_get_string(row, "task_id", NULL));
    if (top->page == TOP_RUNS)
        top_keep(&top->run_number, json_get_string(row, "number", ""));
    open_page(top, TOP_EXPLAIN);
}

/* --- the line that is typed ------------------------------------------------------------------ */

static void begin_filter(struct top *top)
{
    struct top_table *table = top_table(top);
    top->prompt = TOP_PROMPT_FILTER;
    memcpy(top->typed, table->filter, sizeof top->typed);
    memcpy(top->before, table->filter, sizeof top->before);
}

static void set_filter(struct top *top, const char *text)
{
    struct top_table *table = top_table(top);
    (void)snprintf(table->filter, sizeof table->filter, "%s", text);
    top_rows_refresh(top, top->page);
}

static size_t encode(uint32_t point, char out[static 5])
{
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char LEADS[] = {0, 0, 0xC0, 0xE0, 0xF0};
    memset(out, 0, 5);
    for (size_t i = length; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)(LEADS[length] | point);
    return length;
}

static void type(struct top *top, uint32_t key)
{
    char character[5];
    size_t length = strlen(top->typed);
    if (key == TOP_KEY_BACKSPACE) {
        while (length > 0 && ((unsigned char)top->typed[length - 1] & 0xC0) == 0x80)
            length--;
        top->typed[length > 0 ? length - 1 : 0] = '\0';
    } else if (key >= ' ' && key != 0x7F && key < TOP_KEY_NONE) {
        size_t added = encode(key, character);
        if (length + added < sizeof top->typed)
            memcpy(top->typed + length, character, added + 1);
    }
}

static void press_filter(struct top *top, uint32_t key)
{
    if (key == TOP_KEY_ESCAPE)
        memcpy(top->typed, top->before, sizeof top->typed);
    else
        type(top, key);
    set_filter(top, top->typed);
    if (key == TOP_KEY_ENTER || key == TOP_KEY_ESCAPE)
        top->prompt = TOP_PROMPT_NONE;
}

static void press_confirm(struct top *top, uint32_t key)
{
    bool is_yes = key == 'y' || key == 'Y';
    top->prompt = TOP_PROMPT_NONE;
    if (!is_yes) {
        top_change_drop(top);
        top_say(top, false, "nothing was changed");
    } else if (top->change.asks_reason) {
        top->prompt = TOP_PROMPT_REASON;
        top->typed[0] = '\0';
    } else {
        top->change.is_agreed = true;
    }
}

static void press_reason(struct top *top, uint32_t key)
{
    if (key == TOP_KEY_ESCAPE) {
        top->prompt = TOP_PROMPT_NONE;
        top_change_drop(top);
        top_say(top, false, "nothing was changed");
        return;
    }
    if (key != TOP_KEY_ENTER) {
        type(top, key);
        return;
    }
    top->prompt = TOP_PROMPT_NONE;
    if (top->typed[0] != '\0')
        json_put_string(top->change.request, "reason", top->typed);
    top->change.is_agreed = true;
}

/* --- keys ------------------------------------------------------------------------------------ */

static void move_rows(struct top *top, uint32_t key)
{
    int64_t screen = (int64_t)MAX(top_layout(top).body_rows, (size_t)2) - 1;
    enum top_action action = top_keys_find(key);
    top_rows_move(top, action == TOP_UP         ? -1
                       : action == TOP_DOWN     ? 1
                       : action == TOP_FAR_UP   ? -screen
                       : action == TOP_FAR_DOWN ? screen
                       : action == TOP_FIRST    ? INT32_MIN
                                                : INT32_MAX);
}

static void press_enter(struct top *top, uint32_t key)
{
    (void)key;
    open_chosen(top);
}

/* What was added last goes first. */
static void press_escape(struct top *top, uint32_t key)
{
    (void)key;
    if (top_table(top)->filter[0] != '\0')
        set_filter(top, "");
    else
        close_page(top);
}

static void press_left(struct top *top, uint32_t key)
{
    (void)key;
    if (!top_is_text(top->page) || top->shift == 0)
        close_page(top);
    else
        top->shift -= SHIFT_COLUMNS;
}

static void press_right(struct top *top, uint32_t key)
{
    if (top_is_text(top->page))
        top->shift += SHIFT_COLUMNS;
    else
        press_enter(top, key);
}

static void press_tab(struct top *top, uint32_t key)
{
    enum top_action action = top_keys_find(key);
    size_t here = top->page < TOP_TABS ? top->page : top->back[0];
    show_tab(top, action == TOP_NEXT_TAB     ? here + 1
                  : action == TOP_TAB_BEFORE ? here + TOP_TABS - 1
                                             : key - '1');
}

static void press_why(struct top *top, uint32_t key)
{
    (void)key;
    open_why(top);
}

static void press_slash(struct top *top, uint32_t key)
{
    (void)key;
    begin_filter(top);
}

/* Columns that the screen has no room for cannot be told apart. */
static void next_sort(struct top *top, uint32_t key)
{
    (void)key;
    struct top_table *table = top_table(top);
    const struct top_page_row *page = &TOP_PAGES[top->page];
    if (top_is_text(top->page))
        return;
    do
        table->sort = (table->sort + 1) % (page->columns_count + 1);
    while (table->sort > 0 && page->columns[table->sort - 1].from > top->columns);
    top_rows_refresh(top, top->page);
}

static void reverse_sort(struct top *top, uint32_t key)
{
    (void)key;
    top_table(top)->is_reversed = !top_table(top)->is_reversed;
    top_rows_refresh(top, top->page);
}

static void change_rate(struct top *top, uint32_t key)
{
    bool is_faster = top_keys_find(key) == TOP_FASTER;
    if (is_faster && top->rate > 0)
        top->rate--;
    else if (!is_faster && top->rate + 1 < ARRAY_LEN(RATES_S))
        top->rate++;
    top_say(top, false, "asks every %lld s", (long long)top_rate_s(top));
}

static void refresh_now(struct top *top, uint32_t key)
{
    (void)key;
    top_table(top)->is_due = true;
    top->glance.is_due = true;
}

static void show_help(struct top *top, uint32_t key)
{
    (void)key;
    top->shows_help = true;
}

static void quit(struct top *top, uint32_t key)
{
    (void)key;
    top->is_over = true;
}

static void (*const ACTIONS[TOP_ACTION_COUNT])(struct top *top, uint32_t key) = {
    [TOP_UP] = move_rows,
    [TOP_DOWN] = move_rows,
    [TOP_FAR_UP] = move_rows,
    [TOP_FAR_DOWN] = move_rows,
    [TOP_FIRST] = move_rows,
    [TOP_LAST] = move_rows,
    [TOP_OPEN] = press_enter,
    [TOP_BACK] = press_escape,
    [TOP_LEFT] = press_left,
    [TOP_RIGHT] = press_right,
    [TOP_NEXT_TAB] = press_tab,
    [TOP_TAB_BEFORE] = press_tab,
    [TOP_TAB] = press_tab,
    [TOP_WHY] = press_why,
    [TOP_FILTER] = press_slash,
    [TOP_SORT] = next_sort,
    [TOP_REVERSE] = reverse_sort,
    [TOP_CHANGE] = top_change_begin,
    [TOP_FASTER] = change_rate,
    [TOP_SLOWER] = change_rate,
    [TOP_NOW] = refresh_now,
    [TOP_HELP] = show_help,
    [TOP_QUIT] = quit,
};

static void press_page(struct top *top, uint32_t key)
{
    enum top_action action = top_keys_find(key);
    if (action < TOP_ACTION_COUNT)
        ACTIONS[action](top, key);
}

void top_press(struct top *top, uint32_t key)
{
    if (key == TOP_KEY_NONE)
        return;
    top->message[0] = '\0';
    if (top->prompt == TOP_PROMPT_FILTER)
        press_filter(top, key);
    else if (top->prompt == TOP_PROMPT_CONFIRM)
        press_confirm(top, key);
    else if (top->prompt == TOP_PROMPT_REASON)
        press_reason(top, key);
    else if (top->shows_help)
        top->shows_help = false;
    else
        press_page(top, key);
}
