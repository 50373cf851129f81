#pragma once
/*
 * json_write: JSON as text, added to a buffer.
 *
 * Ours and not jansson's: that one is many times slower on large answers, and knows only one length
 * for all reals.
 */
#include <jansson.h>
#include <stdint.h>

#include "base/strbuf.h"

enum json_style {
    JSON_AS_SET, /* compact, members in the order they were set */
    JSON_SORTED, /* compact, members by their names: equal values give equal texts */
    JSON_PRETTY, /* indented by two spaces, members in the order they were set */
};

/* A real is as short as it can be while it reads back as the same number. */
void json_write(struct strbuf *out, const json_t *value, enum json_style style);

/* The parts of it, for who has no json_t: bytes as json_text takes them, and numbers. */
void json_write_text(struct strbuf *out, const char *bytes, size_t length);
void json_write_integer(struct strbuf *out, int64_t value);
void json_write_real(struct strbuf *out, double value);
