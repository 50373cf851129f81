#pragma once
/*
 * explain_span: lengths of time and counts as people say them.
 */
#include <stdint.h>

#include "base/strbuf.h"

/* "7 s", "12 min", "3 h"; less than nothing is nothing. */
void explain_add_span(struct strbuf *out, int64_t span_us);
/* "1 task", "2 tasks". */
void explain_add_count(struct strbuf *out, int64_t count, const char *one, const char *several);
