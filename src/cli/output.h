#pragma once
/*
 * output: responses of operations as table, JSON, YAML, CSV or names.
 *
 * A view says which members are columns; the JSON and YAML forms print the response
 * as it is, so that what a script reads does not depend on a view.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/json.h"
#include "cli/style.h"

#define OUTPUT_FORMAT_MAP(X)                                                                       \
    X(TABLE, "table")                                                                              \
    X(WIDE, "wide")                                                                                \
    X(JSON, "json")                                                                                \
    X(YAML, "yaml")                                                                                \
    X(CSV, "csv")                                                                                  \
    X(NAME, "name")

enum output_format {
#define X(name, text) OUTPUT_##name,
    OUTPUT_FORMAT_MAP(X)
#undef X
        OUTPUT_FORMAT_COUNT
};

enum column_kind {
    COLUMN_TEXT,
    COLUMN_NUMBER,   /* right-aligned */
    COLUMN_INDEX,    /* the same; -1, not mapped, is shown as nothing */
    COLUMN_STATE,    /* coloured */
    COLUMN_STATUS,   /* of a DAG: that it is paused belongs to it */
    COLUMN_INSTANT,  /* RFC 3339 text */
    COLUMN_DURATION, /* seconds */
    COLUMN_BYTES,
    COLUMN_LIST,    /* of texts, joined by commas */
    COLUMN_COUNTS,  /* numbers by name: "3 success, 1 failed" */
    COLUMN_WORDS,   /* an object in words */
    COLUMN_RECORDS, /* a list of objects in words; in a record a line each */
    COLUMN_JSON     /* any value, compact */
};

struct column {
    const char *header;
    const char *member; /* path with dots: "counts.success" */
    enum column_kind kind;
    bool wide; /* only with -o wide and in CSV */
};

struct view {
    const char *list; /* member with the rows; NULL: the response is one record */
    const struct column *columns;
    size_t columns_count;
    const char *name;  /* member that -o name prints; NULL: of the first column */
    const char *empty; /* said when the list is empty, or NULL */
};

struct output {
    FILE *stream;
    enum output_format format;
    struct style style;
    bool is_terminal; /* where long cells are cut */
};

/* Print a response. Returns the number of rows. */
size_t output_print(const struct output *output, const struct view *view, const json_t *response);

/* The same for the forms that need no view; false for the others. */
bool output_print_plain(const struct output *output, const json_t *response);

void output_yaml(FILE *stream, const json_t *value);
/* One field, quoted where RFC 4180 asks for it. */
void output_csv_field(FILE *stream, const char *text);

/* A member by its path with dots, or NULL. */
const json_t *output_member(const json_t *object, const char *path);
/* The cell's text as people read it; heap. */
NODISCARD char *output_cell(const struct column *column, const json_t *row);

/* A value in words: members with their names, what is absent or false left out; heap. */
NODISCARD char *output_words(const json_t *value);
/* Numbers by name: "3 success, 1 failed"; heap. */
NODISCARD char *output_counts(const json_t *counts);

const char *output_format_name(enum output_format format);
NODISCARD bool output_format_parse(const char *name, enum output_format *out);
