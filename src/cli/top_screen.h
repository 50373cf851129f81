#pragma once
/*
 * top_screen: a picture on a terminal, and the keys that somebody presses there.
 *
 * Only what differs from the picture before is sent, so that a slow line is enough. The one file
 * that knows the terminal's library is top_screen.c.
 */
#include <stdint.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "cli/top_canvas.h"

struct top_screen;

struct top_screen_options {
    FILE *in, *out;   /* terminals */
    const char *term; /* its kind, as TERM says; or NULL */
    bool color;
    bool utf8;
};

/* Take the terminal over. STATUS_INVALID: its kind is unknown, or cannot move the cursor. */
NODISCARD enum status top_screen_open(const struct top_screen_options *options,
                                      struct top_screen **out, struct err *err);
/* The terminal is as it was. NULL is allowed. */
void top_screen_close(struct top_screen *screen);

/* Whether more than ASCII can be shown. */
bool top_screen_utf8(const struct top_screen *screen);
void top_screen_resize(struct top_screen *screen, size_t columns, size_t rows);
void top_screen_draw(struct top_screen *screen, const struct top_canvas *canvas);
/*
 * Wait for a key, at most so long (-1: for ever): one of enum top_key or a code point; TOP_KEY_NONE
 * when there was none, `also` became readable or the terminal has another size. False: nobody is
 * there any more.
 */
NODISCARD bool top_screen_key(struct top_screen *screen, int also, int64_t wait_ms, uint32_t *out);
