#include "cli/top_canvas.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/humanize.h"

enum { ROW_TEXT_MAX = 1 << 16 };

void top_canvas_init(struct top_canvas *canvas, size_t columns, size_t rows, bool utf8)
{
    *canvas = (struct top_canvas){.columns = columns, .rows = rows, .utf8 = utf8};
    canvas->cells = mem_zalloc(columns * rows + 1, sizeof *canvas->cells);
    for (size_t i = 0; i < columns * rows; i++)
        canvas->cells[i] = (struct top_cell){.text = " "};
}

void top_canvas_fini(struct top_canvas *canvas)
{
    mem_freep(&canvas->cells);
    canvas->cells = NULL;
}

static size_t bytes_at(const char *text)
{
    size_t count = 1;
    while (((unsigned char)text[count] & 0xC0) == 0x80 && count < 4)
        count++;
    return count;
}

size_t top_canvas_put(struct top_canvas *canvas, const struct top_spot *spot, const char *text)
{
    if (spot->row >= canvas->rows || spot->column >= canvas->columns)
        return 0;
    CLEANUP(strbuf_fini) struct strbuf safe;
    strbuf_init(&safe, ROW_TEXT_MAX);
    size_t width = MIN(spot->width, canvas->columns - spot->column);
    humanize_add_text(&safe, text, width, canvas->utf8);
    struct top_cell *cells = &canvas->cells[spot->row * canvas->columns];
    size_t column = spot->column;
    for (const char *p = safe.text; *p != '\0';) {
        size_t bytes = bytes_at(p);
        struct top_cell cell = {.look = (unsigned char)spot->look};
        memcpy(cell.text, p, bytes);
        p += bytes;
        size_t taken = str_columns(cell.text);
        if (taken == 0) /* combines with the one before, which is a cell already */
            continue;
        CHECK(column + taken <= canvas->columns);
        cells[column] = cell;
        if (taken == 2)
            cells[column + 1] = (struct top_cell){.look = (unsigned char)spot->look};
        column += taken;
    }
    return column - spot->column;
}

void top_canvas_put_right(struct top_canvas *canvas, const struct top_spot *spot, const char *text)
{
    size_t columns = str_columns(text);
    struct top_spot moved = *spot;
    if (columns < spot->width) {
        moved.column += spot->width - columns;
        moved.width = columns;
    }
    (void)top_canvas_put(canvas, &moved, text);
}

void top_canvas_paint(struct top_canvas *canvas, size_t row, enum top_look look)
{
    for (size_t i = 0; row < canvas->rows && i < canvas->columns; i++)
        canvas->cells[row * canvas->columns + i].look = (unsigned char)look;
}

char *top_canvas_text(const struct top_canvas *canvas, size_t row)
{
    struct strbuf buf;
    strbuf_init(&buf, ROW_TEXT_MAX);
    size_t end = 0;
    CHECK(row < canvas->rows);
    for (size_t i = 0; i < canvas->columns; i++) {
        const char *text = canvas->cells[row * canvas->columns + i].text;
        strbuf_add(&buf, text);
        if (text[0] != ' ')
            end = buf.length;
    }
    strbuf_truncate(&buf, end);
    return strbuf_take(&buf);
}
