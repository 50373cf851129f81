#pragma once
/*
 * base64: bytes as text that survives anything (RFC 4648, with padding).
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/strbuf.h"

void base64_encode(struct strbuf *out, const void *bytes, size_t length);
/* False when the text is not as base64_encode writes it; `out` may hold a part of it then. */
NODISCARD bool base64_decode(struct strbuf *out, const char *text, size_t length);
