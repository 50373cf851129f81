#include "base/percent.h"

#include <stdbool.h>

static bool is_kept(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void percent_add(struct strbuf *out, const char *text, size_t length)
{
    static const char HEX[] = "0123456789ABCDEF";
    for (size_t i = 0; i < length; i++) {
        size_t kept = 0;
        while (i + kept < length && is_kept(text[i + kept]))
            kept++;
        strbuf_add_bytes(out, text + i, kept);
        i += kept;
        if (i == length)
            return;
        unsigned char c = (unsigned char)text[i];
        strbuf_add_bytes(out, (char[]){'%', HEX[c >> 4], HEX[c & 15]}, 3);
    }
}
