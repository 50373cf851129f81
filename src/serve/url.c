#include "serve/url.h"

#include <string.h>

#include "base/json.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The text up to `length` bytes with its escapes undone; NULL when it has bad ones. */
static char *decode(struct arena *arena, const char *text, size_t length, bool plus_is_blank)
{
    char *out = arena_alloc(arena, length + 1);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            out[used++] = plus_is_blank && text[i] == '+' ? ' ' : text[i];
            continue;
        }
        int high = i + 2 < length ? hex_value(text[i + 1]) : -1;
        int low = i + 2 < length ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return NULL;
        out[used++] = (char)(high * 16 + low);
        i += 2;
    }
    out[used] = '\0';
    return out;
}

/* The JSON library knows what UTF-8 is, overlong forms and surrogates included. */
static bool is_utf8(const char *text)
{
    CLEANUP(json_decrefp) json_t *value = json_string(text);
    return value != NULL;
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

static bool is_segment(const char *text)
{
    return text != NULL && text[0] != '\0' && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
           (is_plain(text) || is_utf8(text));
}

bool url_split(struct arena *arena, const char *path, struct url_path *out)
{
    *out = (struct url_path){0};
    if (path[0] != '/')
        return false;
    if (path[1] == '\0')
        return true;
    for (const char *at = path + 1;; at++) {
        size_t length = strcspn(at, "/");
        const char *segment = decode(arena, at, length, false);
        if (!is_segment(segment) || out->count == URL_SEGMENTS_MAX)
            return false;
        out->segments[out->count++] = segment;
        at += length;
        if (*at == '\0')
            return true;
    }
}

char *url_decode_query(struct arena *arena, const char *text)
{
    char *decoded = decode(arena, text, strlen(text), true);
    return decoded != NULL && (is_plain(decoded) || is_utf8(decoded)) ? decoded : NULL;
}

void url_encode(struct strbuf *out, const char *text)
{
    static const char KEPT[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    static const char HEX[] = "0123456789ABCDEF";
    while (*text != '\0') {
        size_t kept = strspn(text, KEPT);
        strbuf_add_bytes(out, text, kept);
        text += kept;
        if (*text == '\0')
            break;
        unsigned char c = (unsigned char)*text++;
        strbuf_add_bytes(out, (char[]){'%', HEX[c >> 4], HEX[c & 15]}, 3);
    }
}
