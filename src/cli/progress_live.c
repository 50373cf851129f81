#include "cli/progress_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/str.h"

void progress_live_init(struct progress_live *live, FILE *stream)
{
    *live = (struct progress_live){.stream = stream};
}

/* Columns of a line of `length` bytes, escape sequences not counted. */
static size_t visible_columns(const char *line, size_t length)
{
    CLEANUP(mem_freep) char *text = mem_alloc(length + 1);
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] != '\033') {
            text[kept++] = line[i];
            continue;
        }
        while (i < length && line[i] != 'm')
            i++;
    }
    text[kept] = '\0';
    return str_columns(text);
}

/* Up to the first line of the block: a line that became too long for the terminal takes several. */
static void go_to_top(struct progress_live *live, size_t columns, size_t rows)
{
    size_t up = 0;
    for (size_t i = 0; i < live->lines; i++)
        up += columns == 0 || live->widths[i] <= columns
                  ? 1
                  : (live->widths[i] + columns - 1) / columns;
    if (rows > 0)
        up = MIN(up, rows - 1);
    if (up > 0)
        (void)fprintf(live->stream, "\033[%zuA", up);
    (void)fputc('\r', live->stream);
    live->lines = 0;
}

void progress_live_erase(struct progress_live *live, size_t columns, size_t rows)
{
    go_to_top(live, columns, rows);
    (void)fputs("\033[J", live->stream);
}

void progress_live_draw(struct progress_live *live, const char *frame, size_t columns, size_t rows)
{
    if (!live->is_hidden)
        (void)fputs("\033[?25l", live->stream);
    live->is_hidden = true;
    go_to_top(live, columns, rows);
    for (const char *line = frame; line[0] != '\0';) {
        size_t length = strcspn(line, "\n");
        live->widths =
            mem_grow(live->widths, &live->widths_capacity, live->lines, sizeof *live->widths);
        live->widths[live->lines++] = visible_columns(line, length);
        (void)fwrite(line, 1, length, live->stream);
        (void)fputs("\033[K\n", live->stream);
        line += length + (line[length] == '\n');
    }
    (void)fputs("\033[J", live->stream);
    (void)fflush(live->stream);
}

void progress_live_fini(struct progress_live *live)
{
    if (live->is_hidden)
        (void)fputs("\033[?25h", live->stream);
    (void)fflush(live->stream);
    free(live->widths);
    *live = (struct progress_live){.stream = live->stream};
}
