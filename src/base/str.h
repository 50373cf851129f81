#pragma once
/*
 * str: questions about texts, and strict conversion of numbers.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"

bool str_equal(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts_with(const char *text, const char *prefix);
bool str_ends_with(const char *text, const char *suffix);

/* The whole text is one decimal number within [least, most]; false leaves *out alone. */
NODISCARD bool str_parse_i64(const char *text, int64_t least, int64_t most, int64_t *out);

enum { INTEGER_TEXT_MAX = 24 };
/* The number in decimal, somewhere in `out`. Much quicker than printf. */
const char *str_from_i64(int64_t value, char out[static INTEGER_TEXT_MAX]);

/* Edits (insert, delete, replace, swap neighbours) that turn a into b; stops counting at 8. */
unsigned str_distance(const char *a, const char *b);

/*
 * The candidate nearest to `word`, or NULL when none is near enough to be meant.
 * `candidate(context, i)` gives the i-th of `count` texts.
 */
const char *str_nearest(const char *word, size_t count,
                        const char *(*candidate)(const void *context, size_t i),
                        const void *context);

/* Columns a UTF-8 text takes on a terminal, counting wide characters double. */
size_t str_columns(const char *text);
