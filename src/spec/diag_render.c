#include "spec/diag_render.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"

enum {
    WINDOW_COLUMNS = 96,  /* of the source line */
    CONTEXT_COLUMNS = 40, /* kept before the place when the line is cut */
    TAB_COLUMNS = 4,
};

static const char ELLIPSIS[] = "...";

static size_t character_bytes(const char *p, const char *end)
{
    size_t length = 1;
    while (p + length < end && ((unsigned char)p[length] & 0xC0) == 0x80)
        length++;
    return length;
}

static const char *find_line(const char *text, int line, size_t *length)
{
    for (int i = 1; i < line; i++) {
        text = strchr(text, '\n');
        if (text == NULL)
            return NULL;
        text++;
    }
    *length = strcspn(text, "\r\n");
    return text;
}

/* Columns on a terminal of one character, and what to print for it. */
static size_t add_character(struct strbuf *out, const char *p, size_t bytes)
{
    if (*p == '\t') {
        strbuf_add_repeat(out, ' ', TAB_COLUMNS);
        return TAB_COLUMNS;
    }
    if ((unsigned char)*p < 0x20 || *p == 0x7F) { /* would act on the terminal */
        strbuf_add_char(out, '?');
        return 1;
    }
    char character[8] = {0};
    memcpy(character, p, MIN(bytes, sizeof character - 1));
    strbuf_add(out, character);
    return str_columns(character);
}

/* The visible part of a line, and where the underline goes under it. */
struct window {
    struct strbuf line;
    size_t indent; /* columns before the underline */
    size_t width;  /* of the underline */
};

static void fill_window(struct window *window, const struct diag *diag, const char *line,
                        size_t length)
{
    const char *end = line + length;
    int first = diag->column > CONTEXT_COLUMNS + 1 && length > WINDOW_COLUMNS
                    ? diag->column - CONTEXT_COLUMNS
                    : 1;
    size_t columns = 0;
    if (first > 1) {
        strbuf_add(&window->line, ELLIPSIS);
        columns = strlen(ELLIPSIS);
    }
    int column = 1;
    for (const char *p = line; p < end && columns < WINDOW_COLUMNS; column++) {
        size_t bytes = character_bytes(p, end);
        if (column >= first) {
            if (column == diag->column)
                window->indent = columns;
            size_t wide = add_character(&window->line, p, bytes);
            columns += wide;
            if (column >= diag->column && column < diag->column + diag->length)
                window->width += wide;
            if (columns >= WINDOW_COLUMNS && p + bytes < end)
                strbuf_add(&window->line, ELLIPSIS);
        }
        p += bytes;
    }
    if (column <= diag->column)
        window->indent = columns;
    window->width = MAX(window->width, (size_t)1);
}

static void add_snippet(const struct diag *diag, const struct diag_source *source,
                        struct strbuf *out)
{
    size_t length = 0;
    const char *line = find_line(source->text, diag->line, &length);
    if (line == NULL)
        return;
    struct window window = {0};
    strbuf_init(&window.line, 8 * (size_t)WINDOW_COLUMNS);
    fill_window(&window, diag, line, length);
    strbuf_addf(out, "%6d | %s\n       | ", diag->line, window.line.text);
    strbuf_add_repeat(out, ' ', window.indent);
    strbuf_add(out, source->colour ? "\x1b[32;1m^" : "^");
    strbuf_add_repeat(out, '~', window.width - 1);
    strbuf_add(out, source->colour ? "\x1b[0m\n" : "\n");
    strbuf_fini(&window.line);
}

/* Texts quote the file, which may hold control characters. */
static void add_printable(struct strbuf *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        strbuf_add_char(out, (unsigned char)*p < 0x20 || *p == 0x7F ? '?' : *p);
}

static const char *severity_name(enum diag_severity severity)
{
    return severity == DIAG_ERROR ? "error" : "warning";
}

void diag_render(const struct diag *diag, const struct diag_source *source, struct strbuf *out)
{
    const char *bold = source->colour ? "\x1b[1m" : "";
    const char *colour = !source->colour                ? ""
                         : diag->severity == DIAG_ERROR ? "\x1b[31;1m"
                                                        : "\x1b[35;1m";
    const char *plain = source->colour ? "\x1b[0m" : "";
    strbuf_add(out, bold);
    add_printable(out, source->path);
    if (diag->line > 0)
        strbuf_addf(out, ":%d:%d", diag->line, diag->column);
    strbuf_addf(out, ":%s %s%s:%s ", plain, colour, severity_name(diag->severity), plain);
    add_printable(out, diag->text);
    strbuf_add_char(out, '\n');
    if (diag->line > 0 && source->text != NULL)
        add_snippet(diag, source, out);
}

void diag_render_list(const struct diag_list *list, const struct diag_source *source,
                      struct strbuf *out)
{
    for (size_t i = 0; i < list->count; i++)
        diag_render(&list->items[i], source, out);
    if (list->truncated) {
        add_printable(out, source->path);
        strbuf_addf(out, ": more problems than the %zu above, %zu errors in all\n", list->count,
                    list->errors);
    }
}

json_t *diag_render_json(const struct diag_list *list, const char *path)
{
    json_t *items = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const struct diag *diag = &list->items[i];
        json_t *item = json_object();
        json_put_string(item, "file", path);
        json_put_int(item, "line", diag->line);
        json_put_int(item, "column", diag->column);
        json_put_int(item, "length", diag->length);
        json_put_string(item, "severity", severity_name(diag->severity));
        json_put_string(item, "message", diag->text);
        CHECK(json_array_append_new(items, item) == 0);
    }
    return items;
}
