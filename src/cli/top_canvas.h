#pragma once
/*
 * top_canvas: a picture of the screen as rows of cells, drawn in memory.
 *
 * Texts from outside are made safe on the way in. Whatever does not fit is cut. Whoever shows it
 * on a terminal, or reads it in a test, goes through it row by row.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

enum top_look {
    TOP_LOOK_PLAIN,
    TOP_LOOK_DIM,
    TOP_LOOK_BOLD,
    TOP_LOOK_GOOD,    /* success */
    TOP_LOOK_BAD,     /* failure */
    TOP_LOOK_CARE,    /* wants attention: retries, pauses */
    TOP_LOOK_ACTIVE,  /* runs */
    TOP_LOOK_LEFT,    /* left out */
    TOP_LOOK_CHOSEN,  /* under the cursor */
    TOP_LOOK_HEADING, /* of a table, and the tab that is open */
    TOP_LOOK_COUNT
};

struct top_cell {
    char text[5]; /* one character; empty: the right half of a wide one */
    unsigned char look;
};

struct top_canvas {
    size_t columns;
    size_t rows;
    bool utf8;
    struct top_cell *cells; /* row by row */
};

void top_canvas_init(struct top_canvas *canvas, size_t columns, size_t rows, bool utf8);
void top_canvas_fini(struct top_canvas *canvas); /* twice is fine */

/* Where a text goes. */
struct top_spot {
    size_t row, column;
    size_t width; /* at most so many columns; what is cut ends with an ellipsis */
    enum top_look look;
};

/* Returns the columns it took. */
size_t top_canvas_put(struct top_canvas *canvas, const struct top_spot *spot, const char *text);
/* The same, ending where the spot ends. */
void top_canvas_put_right(struct top_canvas *canvas, const struct top_spot *spot, const char *text);
/* Give all cells of a row this look. */
void top_canvas_paint(struct top_canvas *canvas, size_t row, enum top_look look);

/* A row as text without the blanks at its end; heap. */
NODISCARD char *top_canvas_text(const struct top_canvas *canvas, size_t row);
