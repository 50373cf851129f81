#include "base/percent.h"

#include <string.h>

void percent_add(struct strbuf *out, const char *text, size_t length)
{
    static const char KEPT[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (size_t i = 0; i < length; i++) {
        if (memchr(KEPT, text[i], sizeof KEPT - 1) != NULL)
            strbuf_add_char(out, text[i]);
        else
            strbuf_addf(out, "%%%02X", (unsigned)(unsigned char)text[i]);
    }
}
