/*
 * The rows of a page: which are shown, in what order, and which one is under the cursor.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/top.h"

enum { CELL_MAX = 4096 };

bool top_is_text(enum top_page page)
{
    return TOP_PAGES[page].list == NULL;
}

bool top_is_job(const json_t *row)
{
    return str_equal(json_get_string(row, "dag_id", ""), "(job)");
}

struct top_table *top_table(struct top *top)
{
    return &top->tables[top->page];
}

const struct top_table *top_table_of(const struct top *top)
{
    return &top->tables[top->page];
}

const json_t *top_chosen(const struct top *top)
{
    const struct top_table *table = top_table_of(top);
    return top_is_text(top->page) ? NULL : json_array_get(table->shown, table->cursor);
}

/* --- filter ---------------------------------------------------------------------------------- */

static bool is_shown(const struct top *top, enum top_page page, const json_t *row)
{
    const char *filter = top->tables[page].filter;
    const struct top_page_row *def = &TOP_PAGES[page];
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, CELL_MAX);
    if (filter[0] == '\0')
        return true;
    if (json_is_string(row))
        return strcasestr(json_string_value(row), filter) != NULL;
    for (size_t i = 0; i < def->columns_count; i++) {
        strbuf_clear(&text);
        top_column_text(&def->columns[i], row, top->now_us, &text);
        if (strcasestr(text.text, filter) != NULL)
            return true;
    }
    return false;
}

/* --- order ----------------------------------------------------------------------------------- */

struct sorting {
    const struct top_column *column;
    bool is_reversed;
};

struct sorted {
    json_t *row;
    size_t place; /* what is equal stays in order */
};

static int compare(const void *a, const void *b, void *context)
{
    const struct sorted *left = a;
    const struct sorted *right = b;
    const struct sorting *sorting = context;
    int order = top_column_compare(sorting->column, left->row, right->row);
    if (order == 0)
        return (left->place > right->place) - (left->place < right->place);
    return sorting->is_reversed ? -order : order;
}

static void sort_rows(json_t *rows, const struct top_table *table, enum top_page page)
{
    size_t count = json_array_size(rows);
    struct sorting sorting = {
        .column = table->sort > 0 ? &TOP_PAGES[page].columns[table->sort - 1] : NULL,
        .is_reversed = table->is_reversed,
    };
    CLEANUP(mem_freep) struct sorted *items = mem_zalloc(count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct sorted){json_incref(json_array_get(rows, i)), i};
    if (sorting.column != NULL)
        qsort_r(items, count, sizeof *items, compare, &sorting);
    (void)json_array_clear(rows);
    for (size_t i = 0; i < count; i++) {
        size_t at = sorting.column == NULL && sorting.is_reversed ? count - 1 - i : i;
        CHECK(json_array_append_new(rows, items[at].row) == 0);
    }
}

/* --- the cursor ------------------------------------------------------------------------------ */

static void keep_chosen(struct top_table *table, enum top_page page)
{
    const json_t *row = json_array_get(table->shown, table->cursor);
    top_keep(&table->chosen, NULL);
    if (row != NULL && !top_is_text(page))
        table->chosen = top_page_key(page, row);
}

static size_t find_chosen(const struct top_table *table, enum top_page page)
{
    for (size_t i = 0; i < json_array_size(table->shown); i++) {
        CLEANUP(mem_freep) char *key = top_page_key(page, json_array_get(table->shown, i));
        if (str_equal(key, table->chosen))
            return i;
    }
    return table->cursor;
}

/* Lines have no cursor: what moves is the first one that is visible. */
static void settle(struct top *top, enum top_page page)
{
    struct top_table *table = &top->tables[page];
    size_t count = json_array_size(table->shown);
    size_t room = MAX(top_layout(top).body_rows, (size_t)1);
    size_t most = top_is_text(page) ? (count > room ? count - room : 0) : count - (count > 0);
    table->cursor = MIN(table->cursor, most);
    if (top_is_text(page) && page == TOP_LOG && !table->is_moved)
        table->cursor = most; /* follows the end */
    if (top_is_text(page)) {
        table->is_moved = table->cursor < most;
        table->first = table->cursor;
        return;
    }
    table->first = MIN(table->first, table->cursor);
    if (table->cursor >= table->first + room)
        table->first = table->cursor - room + 1;
    if (table->first + room > count)
        table->first = count > room ? count - room : 0;
    keep_chosen(table, page);
}

void top_rows_refresh(struct top *top, enum top_page page)
{
    struct top_table *table = &top->tables[page];
    json_t *shown = json_array();
    CHECK(shown != NULL);
    for (size_t i = 0; i < json_array_size(table->rows); i++) {
        json_t *row = json_array_get(table->rows, i);
        if (is_shown(top, page, row))
            CHECK(json_array_append(shown, row) == 0);
    }
    if (!top_is_text(page) && (table->sort > 0 || table->is_reversed))
        sort_rows(shown, table, page);
    json_decref(table->shown);
    table->shown = shown;
    if (!top_is_text(page) && table->is_moved && table->chosen != NULL)
        table->cursor = find_chosen(table, page);
    settle(top, page);
}

void top_rows_move(struct top *top, int64_t by)
{
    struct top_table *table = top_table(top);
    int64_t place = (int64_t)table->cursor + by;
    table->is_moved = true;
    table->cursor = (size_t)MIN(MAX(place, (int64_t)0), (int64_t)json_array_size(table->shown));
    settle(top, top->page);
    /* At the top again it stays with the top, whatever comes. */
    if (!top_is_text(top->page) && table->cursor == 0)
        table->is_moved = false;
}

void top_rows_clear(struct top_table *table)
{
    json_decref(table->rows);
    json_decref(table->shown);
    mem_freep(&table->chosen);
    *table = (struct top_table){.is_due = true};
}

/* --- lines ----------------------------------------------------------------------------------- */

/* After an escape character: how long the sequence is that it begins. */
static size_t sequence_bytes(const char *text, size_t length)
{
    size_t i = 1;
    if (length < 2)
        return length;
    if (text[1] == ']') { /* an operating system command, up to BEL or ESC \ */
        while (i < length && text[i] != '\a' && text[i] != '\033')
            i++;
        return i < length && text[i] == '\a' ? i + 1 : i;
    }
    if (text[1] != '[')
        return 2;
    for (i = 2; i < length; i++)
        if (text[i] >= 0x40 && text[i] <= 0x7E)
            return i + 1;
    return length;
}

/* A carriage return takes the line back to its beginning, as progress bars do. */
static void add_visible(struct strbuf *out, const char *text, size_t length)
{
    size_t start = out->length;
    for (size_t i = 0; i < length;) {
        if (text[i] == '\033') {
            i += sequence_bytes(text + i, length - i);
            continue;
        }
        if (text[i] == '\r' && i + 1 < length)
            strbuf_truncate(out, start);
        else if (text[i] == '\t')
            strbuf_add_repeat(out, ' ', 8 - (out->length - start) % 8);
        else if (text[i] != '\r')
            strbuf_add_char(out, text[i]);
        i++;
    }
}

static void add_line(struct top *top, json_t *lines, const char *text, size_t length)
{
    CLEANUP(strbuf_fini) struct strbuf line;
    strbuf_init(&line, CELL_MAX);
    size_t count = json_array_size(lines);
    if (top->ends_mid_line && count > 0) {
        strbuf_add(&line, json_string_value(json_array_get(lines, count - 1)));
        (void)json_array_remove(lines, count - 1);
    }
    add_visible(&line, text, length);
    CHECK(json_array_append_new(lines, json_text(line.text, line.length)) == 0);
}

void top_lines_add(struct top *top, json_t *lines, const char *text)
{
    while (text[0] != '\0') {
        size_t length = strcspn(text, "\n");
        add_line(top, lines, text, length);
        top->ends_mid_line = text[length] == '\0';
        text += length + !top->ends_mid_line;
    }
    while (json_array_size(lines) > TOP_LINES_MAX)
        (void)json_array_remove(lines, 0);
}
