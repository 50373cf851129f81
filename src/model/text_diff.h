#pragma once
/*
 * text_diff: two texts as a unified diff, line by line.
 */
#include "base/strbuf.h"

struct diff_text {
    const char *name; /* shown at the top */
    const char *text;
};

/* Adds nothing when they are the same. Texts that have little in common are shown one after the
 * other rather than compared at any cost. */
void text_diff(const struct diff_text *before, const struct diff_text *after, struct strbuf *out);
