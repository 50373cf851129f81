#include "base/base64.h"

#include <string.h>

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct strbuf *out, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned group = (unsigned)from[i] << 16;
        group |= left > 1 ? (unsigned)from[i + 1] << 8 : 0;
        group |= left > 2 ? from[i + 2] : 0;
        const char text[4] = {
            DIGITS[group >> 18],
            DIGITS[group >> 12 & 63],
            left > 1 ? DIGITS[group >> 6 & 63] : '=',
            left > 2 ? DIGITS[group & 63] : '=',
        };
        strbuf_add_bytes(out, text, sizeof text);
    }
}

bool base64_decode(struct strbuf *out, const char *text, size_t length)
{
    unsigned group = 0;
    unsigned bits = 0;
    size_t digits = length;
    while (digits > 0 && length - digits < 2 && text[digits - 1] == '=')
        digits--;
    for (size_t i = 0; i < digits; i++) {
        const char *digit = text[i] != '\0' ? strchr(DIGITS, text[i]) : NULL;
        if (digit == NULL)
            return false;
        group = (group << 6 | (unsigned)(digit - DIGITS)) & 0xFFFFFF;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            strbuf_add_char(out, (char)(group >> bits & 0xFF));
        }
    }
    /* Bits beyond the last byte must be zero, so that each value has one text. */
    return length % 4 == 0 && (group & ((1u << bits) - 1)) == 0;
}
