#include "base/secret_text.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"

enum { SECRET_BYTES = 32 };

void secret_text_make(const char *prefix, char out[static SECRET_TEXT_MAX])
{
    unsigned char bytes[SECRET_BYTES];
    size_t length = strlen(prefix);
    CHECK(length + (size_t)2 * SECRET_BYTES < SECRET_TEXT_MAX);
    rng_bytes(bytes, sizeof bytes);
    CHECK(snprintf(out, SECRET_TEXT_MAX, "%s", prefix) == (int)length);
    for (size_t i = 0; i < SECRET_BYTES; i++)
        CHECK(snprintf(out + length + 2 * i, 3, "%02x", bytes[i]) == 2);
}

const char *secret_text_hash(const char *text, char out[static SHA256_HEX_MAX])
{
    return sha256_hex(text, strlen(text), out);
}
