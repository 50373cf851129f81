#pragma once
/*
 * secret_text: 256 bits of chance as a text, and its hash, which is all that is kept of it.
 */
#include "base/sha256.h"

enum { SECRET_TEXT_MAX = 72 };

/* "edt_" and 64 hexadecimal digits; the prefix, of up to 4 letters, tells what it is for. */
void secret_text_make(const char *prefix, char out[static SECRET_TEXT_MAX]);
/* As it is kept. Returns `out`. */
const char *secret_text_hash(const char *text, char out[static SHA256_HEX_MAX]);
