#pragma once
/*
 * percent: text as one part of a URL, with %XX for what means something there.
 */
#include "base/strbuf.h"

/* Add it so that it is one segment of a path, or a name or a value of a query. */
void percent_add(struct strbuf *out, const char *text, size_t length);
