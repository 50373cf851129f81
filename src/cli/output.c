#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/humanize.h"

static const char *const FORMATS[] = {
#define X(name, text) [OUTPUT_##name] = (text),
    OUTPUT_FORMAT_MAP(X)
#undef X
};

enum { CELL_MAX = 64 << 10, CELL_COLUMNS_MAX = 60 };

const char *output_format_name(enum output_format format)
{
    CHECK(format < OUTPUT_FORMAT_COUNT);
    return FORMATS[format];
}

bool output_format_parse(const char *name, enum output_format *out)
{
    for (enum output_format i = 0; i < OUTPUT_FORMAT_COUNT; i++) {
        if (strcmp(FORMATS[i], name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

const json_t *output_member(const json_t *object, const char *path)
{
    const json_t *at = object;
    while (at != NULL) {
        size_t length = strcspn(path, ".");
        CLEANUP(mem_freep) char *key = mem_strndup(path, length);
        at = json_object_get(at, key);
        if (path[length] == '\0')
            return at;
        path += length + 1;
    }
    return NULL;
}

/* A scalar as text, lists joined, the rest compact JSON; heap. */
static char *raw_text(const json_t *value)
{
    if (value == NULL || json_is_null(value))
        return mem_strdup("");
    if (json_is_string(value))
        return mem_strdup(json_string_value(value));
    return json_format(value);
}

static char *list_text(const json_t *list)
{
    struct strbuf buf;
    strbuf_init(&buf, CELL_MAX);
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        CLEANUP(mem_freep) char *text = raw_text(item);
        strbuf_addf(&buf, "%s%s", i > 0 ? "," : "", text);
    }
    return strbuf_take(&buf);
}

static char *dag_status_text(const json_t *status, const json_t *row)
{
    CLEANUP(mem_freep) char *text = raw_text(status);
    if (!json_is_true(json_object_get(row, "is_paused")) || str_equal(text, "inactive"))
        return mem_strdup(text);
    return str_equal(text, "active") ? mem_strdup("paused") : mem_format("%s,paused", text);
}

char *output_cell(const struct column *column, const json_t *row)
{
    const json_t *value = output_member(row, column->member);
    char text[HUMAN_MAX];
    int64_t at_us;
    if (value == NULL || json_is_null(value))
        return mem_strdup("-");
    switch (column->kind) {
    case COLUMN_INSTANT:
        if (json_is_string(value) && instant_parse(json_string_value(value), &at_us))
            return mem_strdup(humanize_instant(at_us, text));
        break;
    case COLUMN_DURATION:
        if (json_is_number(value))
            return mem_strdup(
                humanize_duration((int64_t)(json_number_value(value) * 1000 + 0.5), text));
        break;
    case COLUMN_INDEX:
        if (json_is_integer(value) && json_integer_value(value) < 0)
            return mem_strdup("-");
        break;
    case COLUMN_BYTES:
        if (json_is_integer(value))
            return mem_strdup(humanize_bytes(json_integer_value(value), text));
        break;
    case COLUMN_LIST:
        if (json_is_array(value))
            return list_text(value);
        break;
    case COLUMN_STATUS:
        return dag_status_text(value, row);
    case COLUMN_COUNTS:
        if (json_is_object(value))
            return output_counts(value);
        break;
    case COLUMN_WORDS:
    case COLUMN_RECORDS:
        return output_words(value);
    case COLUMN_TEXT:
    case COLUMN_NUMBER:
    case COLUMN_STATE:
    case COLUMN_JSON:
        break;
    }
    return raw_text(value);
}

struct table {
    const struct output *output;
    const struct view *view;
    const json_t *rows;
    char **cells; /* rows * columns, made safe for a terminal */
    size_t *widths;
};

static bool is_shown(const struct table *table, const struct column *column)
{
    return !column->wide || table->output->format == OUTPUT_WIDE;
}

static char *safe_cell(const struct table *table, const struct column *column, const json_t *row)
{
    CLEANUP(mem_freep) char *text = output_cell(column, row);
    struct strbuf buf;
    strbuf_init(&buf, CELL_MAX);
    bool is_cut = table->output->is_terminal && table->output->format != OUTPUT_WIDE;
    size_t most = is_cut ? CELL_COLUMNS_MAX : CELL_MAX;
    humanize_add_text(&buf, text, most, table->output->style.utf8);
    return strbuf_take(&buf);
}

static void measure(struct table *table)
{
    size_t columns = table->view->columns_count;
    for (size_t c = 0; c < columns; c++)
        table->widths[c] = str_columns(table->view->columns[c].header);
    for (size_t r = 0; r < json_array_size(table->rows); r++) {
        for (size_t c = 0; c < columns; c++) {
            const json_t *row = json_array_get(table->rows, r);
            char *cell = safe_cell(table, &table->view->columns[c], row);
            table->cells[r * columns + c] = cell;
            table->widths[c] = MAX(table->widths[c], str_columns(cell));
        }
    }
}

static void print_cell(const struct table *table, size_t c, const char *text, bool is_last,
                       bool is_header)
{
    const struct column *column = &table->view->columns[c];
    const struct style *style = &table->output->style;
    FILE *stream = table->output->stream;
    size_t pad = table->widths[c] - str_columns(text);
    bool right = column->kind == COLUMN_NUMBER || column->kind == COLUMN_INDEX ||
                 column->kind == COLUMN_BYTES;
    const char *color = is_header                      ? style_bold(style)
                        : column->kind == COLUMN_STATE ? style_color_named(style, text)
                                                       : "";
    if (right)
        (void)fprintf(stream, "%*s", (int)pad, "");
    (void)fprintf(stream, "%s%s%s", color, text, color[0] != '\0' ? style_reset(style) : "");
    if (!is_last)
        (void)fprintf(stream, "%*s", (int)(right ? 0 : pad) + 2, "");
}

static void print_line(const struct table *table, char *const *cells)
{
    size_t last = 0;
    for (size_t c = 0; c < table->view->columns_count; c++)
        if (is_shown(table, &table->view->columns[c]))
            last = c;
    for (size_t c = 0; c <= last; c++) {
        const struct column *column = &table->view->columns[c];
        if (is_shown(table, column))
            print_cell(table, c, cells == NULL ? column->header : cells[c], c == last,
                       cells == NULL);
    }
    (void)fputc('\n', table->output->stream);
}

static void print_table(const struct output *output, const struct view *view, const json_t *rows)
{
    size_t count = json_array_size(rows);
    struct table table = {
        .output = output,
        .view = view,
        .rows = rows,
        .cells = mem_zalloc(count * view->columns_count + 1, sizeof(char *)),
        .widths = mem_zalloc(view->columns_count + 1, sizeof(size_t)),
    };
    measure(&table);
    if (count > 0)
        print_line(&table, NULL);
    for (size_t r = 0; r < count; r++)
        print_line(&table, table.cells + r * view->columns_count);
    for (size_t i = 0; i < count * view->columns_count; i++)
        free(table.cells[i]);
    free(table.cells);
    free(table.widths);
}

/* One line of a record; the header is "" on lines that go on with it. */
static void print_field(const struct output *output, const struct column *column,
                        const char *header, size_t width, const char *text)
{
    const struct style *style = &output->style;
    CLEANUP(strbuf_fini) struct strbuf safe;
    strbuf_init(&safe, CELL_MAX);
    humanize_add_text(&safe, text, CELL_MAX, style->utf8);
    const char *color = column->kind == COLUMN_STATE ? style_color_named(style, safe.text) : "";
    (void)fprintf(output->stream, "%s%s%s%*s  %s%s%s\n", style_bold(style), header,
                  style_reset(style), (int)(width - str_columns(header)), "", color, safe.text,
                  color[0] != '\0' ? style_reset(style) : "");
}

static void print_records(const struct output *output, const struct column *column, size_t width,
                          const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        CLEANUP(mem_freep) char *text = output_words(item);
        print_field(output, column, i == 0 ? column->header : "", width, text);
    }
}

static void print_record(const struct output *output, const struct view *view, const json_t *record)
{
    size_t width = 0;
    for (size_t c = 0; c < view->columns_count; c++)
        width = MAX(width, str_columns(view->columns[c].header));
    for (size_t c = 0; c < view->columns_count; c++) {
        const struct column *column = &view->columns[c];
        const json_t *value = output_member(record, column->member);
        bool absent = value == NULL || json_is_null(value);
        if ((absent || column->wide) && output->format != OUTPUT_WIDE)
            continue;
        if (column->kind == COLUMN_RECORDS && json_array_size(value) > 0) {
            print_records(output, column, width, value);
            continue;
        }
        CLEANUP(mem_freep) char *text = output_cell(column, record);
        print_field(output, column, column->header, width, text);
    }
}

static void print_csv_row(const struct output *output, const struct view *view, const json_t *row)
{
    for (size_t c = 0; c < view->columns_count; c++) {
        const struct column *column = &view->columns[c];
        const json_t *value = row == NULL ? NULL : output_member(row, column->member);
        CLEANUP(mem_freep)
        char *text = row == NULL ? mem_strdup(column->member)
                     : json_is_array(value) && column->kind == COLUMN_LIST ? list_text(value)
                                                                           : raw_text(value);
        if (c > 0)
            (void)fputc(',', output->stream);
        output_csv_field(output->stream, text);
    }
    (void)fputs("\r\n", output->stream);
}

static void print_name(const struct output *output, const struct view *view, const json_t *row)
{
    const char *member = view->name != NULL ? view->name : view->columns[0].member;
    CLEANUP(mem_freep) char *text = raw_text(output_member(row, member));
    (void)fprintf(output->stream, "%s\n", text);
}

bool output_print_plain(const struct output *output, const json_t *response)
{
    if (output->format == OUTPUT_JSON) {
        CLEANUP(mem_freep) char *text = json_format_pretty(response);
        (void)fprintf(output->stream, "%s\n", text);
        return true;
    }
    if (output->format == OUTPUT_YAML) {
        output_yaml(output->stream, response);
        return true;
    }
    return false;
}

static void print_rows(const struct output *output, const struct view *view, const json_t *rows)
{
    if (output->format == OUTPUT_TABLE || output->format == OUTPUT_WIDE) {
        print_table(output, view, rows);
        return;
    }
    if (output->format == OUTPUT_CSV)
        print_csv_row(output, view, NULL);
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (output->format == OUTPUT_CSV)
            print_csv_row(output, view, row);
        else
            print_name(output, view, row);
    }
}

size_t output_print(const struct output *output, const struct view *view, const json_t *response)
{
    const json_t *rows = view->list != NULL ? json_object_get(response, view->list) : NULL;
    size_t count = view->list != NULL ? json_array_size(rows) : 1;
    if (output_print_plain(output, response))
        return count;
    if (view->list != NULL) {
        print_rows(output, view, rows);
        return count;
    }
    if (output->format == OUTPUT_CSV) {
        print_csv_row(output, view, NULL);
        print_csv_row(output, view, response);
    } else if (output->format == OUTPUT_NAME) {
        print_name(output, view, response);
    } else {
        print_record(output, view, response);
    }
    return count;
}
