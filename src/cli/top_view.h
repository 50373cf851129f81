#pragma once
/*
 * top_view: what the monitor looks like, as a picture in memory. Pure: the same state gives the
 * same picture.
 *
 * The numbers that tell whether all is well come first, then the tabs, then the rows; the last line
 * says what the keys do, or asks. On narrow screens columns go, on low ones the numbers.
 *
 * Tests  tests/unit/cli/test_top_view.c
 */
#include "cli/top.h"
#include "cli/top_canvas.h"

/* Draw on a canvas of the state's size, which is empty before. */
void top_view(const struct top *top, struct top_canvas *canvas);

/* --- parts of the picture -------------------------------------------------------------------- */

/* The lines above the tabs, or above the tasks of a run. */
void top_view_head(const struct top *top, struct top_canvas *canvas);
/* The rows of a page, or its lines. */
void top_view_body(const struct top *top, struct top_canvas *canvas);

/* How a state looks, of whatever it is one. */
enum top_look top_view_look(const char *state);
