/*
 * Values up to an empty line, the size of pieces in a byte, then a stream: in pieces it must come
 * out as it does whole, and no value may be left in it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "fuzz.h"
#include "model/mask.h"
#include "model/mask_forms.h"

enum { VALUES_MAX = 8, OUT_MAX = 1 << 24 };

/* The values in `text`, cut at its newlines; what follows them. */
static char *read_values(char *text, const char **values)
{
    size_t count = 0;
    while (count < VALUES_MAX && *text != '\0') {
        char *newline = strchr(text, '\n');
        if (newline == NULL || newline == text)
            return text + (newline != NULL);
        *newline = '\0';
        values[count++] = text;
        text = newline + 1;
    }
    return text;
}

static void mask_in_pieces(struct mask *mask, const char *bytes, size_t length, size_t size,
                           struct strbuf *out)
{
    for (size_t at = 0; at < length; at += size)
        mask_feed(mask, bytes + at, MIN(size, length - at), out);
    mask_flush(mask, out);
}

static void check_hidden(const char *value, const struct strbuf *out)
{
    size_t length = strlen(value);
    bool ends = length > 0 && strchr("\r\n", value[length - 1]) != NULL;
    if (length >= MASK_VALUE_MIN && !ends && strchr(value, '*') == NULL)
        CHECK(memmem(out->text, out->length, value, length) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(mem_freep) char *text = mem_zalloc(size + 1, 1);
    memcpy(text, data, size);
    const char *values[VALUES_MAX + 1] = {NULL};
    const char *stream = read_values(text, values);
    size_t left = size - (size_t)(stream - text);
    if (left == 0)
        return 0;
    size_t piece = 1 + (unsigned char)*stream;
    stream++;
    left--;

    struct err err = {0};
    CLEANUP(mask_freep) struct mask *mask = NULL;
    if (mask_new(values, &mask, &err) != STATUS_OK)
        return 0;
    struct strbuf whole;
    struct strbuf pieces;
    strbuf_init(&whole, OUT_MAX);
    strbuf_init(&pieces, OUT_MAX);
    mask_in_pieces(mask, stream, left, left + 1, &whole);
    mask_in_pieces(mask, stream, left, piece, &pieces);
    CHECK(whole.length == pieces.length);
    CHECK(memcmp(whole.text, pieces.text, whole.length) == 0);
    for (size_t i = 0; values[i] != NULL; i++)
        check_hidden(values[i], &whole);
    strbuf_fini(&whole);
    strbuf_fini(&pieces);
    return 0;
}
