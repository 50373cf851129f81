#pragma once
/*
 * progress_live: keeps a block of lines at the bottom of a terminal up to date.
 *
 * Each frame replaces the one before, whatever the terminal's size has become; the cursor is
 * hidden meanwhile and shown again at the end.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct progress_live {
    FILE *stream;
    size_t *widths; /* columns of the lines that are on the screen */
    size_t widths_capacity;
    size_t lines;
    bool is_hidden; /* the cursor */
};

void progress_live_init(struct progress_live *live, FILE *stream);
/* Replace the block by `frame`, lines ended by line feeds, on a terminal of this size. */
void progress_live_draw(struct progress_live *live, const char *frame, size_t columns, size_t rows);
/* Remove the block, so that a line can be printed in its place. */
void progress_live_erase(struct progress_live *live, size_t columns, size_t rows);
/* Show the cursor again; the last frame stays. Twice is fine. */
void progress_live_fini(struct progress_live *live);
