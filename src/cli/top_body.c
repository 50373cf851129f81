/*
 * The rows of a page as a table, and lines of text.
 */
#include "base/mem.h"
#include "base/str.h"
#include "cli/style.h"
#include "cli/top_view.h"

enum { COLUMNS_SHOWN_MAX = 16, CELL_MAX = 4096, MARGIN = 2 };

struct place {
    const struct top_column *column;
    size_t number; /* among the columns of the page */
    size_t start;
    size_t width;
};

struct grid {
    struct place places[COLUMNS_SHOWN_MAX];
    size_t count;
};

/* Those that the screen has room for; what is left goes to the one that grows. */
static struct grid arrange(const struct top *top)
{
    const struct top_page_row *page = &TOP_PAGES[top->page];
    struct grid grid = {0};
    size_t used = MARGIN - 1; /* nothing stands behind the last one */
    size_t start = MARGIN;
    for (size_t i = 0; i < page->columns_count && grid.count < COLUMNS_SHOWN_MAX; i++) {
        if (page->columns[i].from > top->columns)
            continue;
        grid.places[grid.count++] = (struct place){&page->columns[i], i, 0, page->columns[i].width};
        used += page->columns[i].width + 1U;
    }
    for (size_t i = 0; i < grid.count; i++) {
        struct place *place = &grid.places[i];
        if (place->column->grows && used < top->columns)
            place->width += top->columns - used;
        else if (place->column->grows)
            place->width -= MIN(used - top->columns, place->width - 4);
        place->start = start;
        start += place->width + 1;
    }
    return grid;
}

static void put_cell(struct top_canvas *canvas, const struct place *place, struct top_spot *spot,
                     const char *text)
{
    spot->column = place->start;
    spot->width = place->width;
    if (top_column_is_right(place->column))
        top_canvas_put_right(canvas, spot, text);
    else
        (void)top_canvas_put(canvas, spot, text);
}

static void draw_heading(const struct top *top, struct top_canvas *canvas, const struct grid *grid)
{
    const struct top_table *table = top_table_of(top);
    struct top_spot spot = {.row = top_layout(top).heading_row, .look = TOP_LOOK_HEADING};
    top_canvas_paint(canvas, spot.row, TOP_LOOK_HEADING);
    for (size_t i = 0; i < grid->count; i++) {
        bool is_sorted = table->sort == grid->places[i].number + 1;
        CLEANUP(mem_freep)
        char *text = mem_format("%s%s", grid->places[i].column->header,
                                !is_sorted           ? ""
                                : table->is_reversed ? (canvas->utf8 ? "▼" : "v")
                                                     : (canvas->utf8 ? "▲" : "^"));
        put_cell(canvas, &grid->places[i], &spot, text);
    }
}

static enum top_look look_of(const struct top_column *column, const char *text)
{
    bool is_state = column->kind == TOP_COLUMN_STATE || column->kind == TOP_COLUMN_STATUS;
    if (is_state)
        return top_view_look(text);
    return str_equal(column->member, "counts.failed") ? TOP_LOOK_BAD : TOP_LOOK_PLAIN;
}

static void draw_row(const struct top *top, struct top_canvas *canvas, const struct grid *grid,
                     size_t number)
{
    const struct top_table *table = top_table_of(top);
    const json_t *row = json_array_get(table->shown, number);
    struct top_spot spot = {.row = top_layout(top).body_row + number - table->first};
    bool is_chosen = number == table->cursor;
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, CELL_MAX);
    for (size_t i = 0; i < grid->count; i++) {
        strbuf_clear(&text);
        top_column_text(grid->places[i].column, row, top->now_us, &text);
        spot.look = look_of(grid->places[i].column, text.text);
        put_cell(canvas, &grid->places[i], &spot, text.text);
    }
    if (!is_chosen)
        return;
    /* The sign is for terminals that cannot show it otherwise. */
    spot = (struct top_spot){spot.row, 0, 1, TOP_LOOK_CHOSEN};
    (void)top_canvas_put(canvas, &spot, ">");
    top_canvas_paint(canvas, spot.row, TOP_LOOK_CHOSEN);
}

static void draw_empty(const struct top *top, struct top_canvas *canvas)
{
    const struct top_table *table = top_table_of(top);
    struct top_spot spot = {.row = top_layout(top).body_row,
                            .column = MARGIN,
                            .width = canvas->columns - MARGIN,
                            .look = TOP_LOOK_DIM};
    const char *text = !table->is_loaded          ? "..."
                       : table->filter[0] == '\0' ? TOP_PAGES[top->page].empty
                                                  : "nothing has this; Esc drops the filter";
    (void)top_canvas_put(canvas, &spot, text);
}

/* The part of a line that begins `shift` columns from its start. */
static const char *shifted(const char *line, size_t shift)
{
    while (shift > 0 && line[0] != '\0') {
        do
            line++;
        while (((unsigned char)line[0] & 0xC0) == 0x80);
        shift--;
    }
    return line;
}

static void draw_line(const struct top *top, struct top_canvas *canvas, size_t row, size_t number)
{
    const char *line = json_string_value(json_array_get(top_table_of(top)->shown, number));
    struct top_spot spot = {.row = row, .width = canvas->columns};
    (void)top_canvas_put(canvas, &spot, shifted(line != NULL ? line : "", top->shift));
}

void top_view_body(const struct top *top, struct top_canvas *canvas)
{
    struct top_layout layout = top_layout(top);
    const struct top_table *table = top_table_of(top);
    struct grid grid = arrange(top);
    size_t count = json_array_size(table->shown);
    if (layout.heading_row != SIZE_MAX)
        draw_heading(top, canvas, &grid);
    if (count == 0 && layout.body_rows > 0)
        draw_empty(top, canvas);
    for (size_t i = 0; i < layout.body_rows && table->first + i < count; i++) {
        if (top_is_text(top->page))
            draw_line(top, canvas, layout.body_row + i, table->first + i);
        else
            draw_row(top, canvas, &grid, table->first + i);
    }
}
