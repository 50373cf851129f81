#pragma once
/*
 * word_set: labels, queues and roles as people write them and as the store compares them. Pure.
 */
#include <stdbool.h>

#include "base/attrs.h"

/* "b, a,b" as "a b": sorted, each once, separated by blanks; heap. */
NODISCARD char *word_set_parse(const char *text);
/* Whether `word` is one of a parsed set. */
bool word_set_has(const char *set, const char *word);
/* Whether every word of one parsed set is in the other. */
bool word_set_is_part(const char *set, const char *of);
