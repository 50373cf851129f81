#pragma once
/*
 * json_write: JSON as text, added to a buffer.
 *
 * Ours and not jansson's: that one is many times slower on large answers, and knows only one length
 * for all reals.
 */
#include <jansson.h>

#include "base/strbuf.h"

enum json_style {
    JSON_AS_SET, /* compact, members in the order they were set */
    JSON_SORTED, /* compact, members by their names: equal values give equal texts */
    JSON_PRETTY, /* indented by two spaces, members in the order they were set */
};

/* A real is as short as it can be while it reads back as the same number. */
void json_write(struct strbuf *out, const json_t *value, enum json_style style);
