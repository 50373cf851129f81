#pragma once
/*
 * strbuf: a growing text with a cap that is chosen when it is made.
 *
 * Adding past the cap sets `overflow` and drops the rest; the caller checks once
 * at the end. The text is always closed by a NUL that `length` does not count.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/check.h"

struct strbuf {
    char *text; /* never NULL after init */
    size_t length;
    size_t capacity;
    size_t cap; /* most bytes it may hold */
    bool overflow;
};

void strbuf_init(struct strbuf *buf, size_t cap);
void strbuf_fini(struct strbuf *buf); /* twice is fine */

void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_add_bytes(struct strbuf *buf, const void *bytes, size_t length);
static inline void strbuf_add_char(struct strbuf *buf, char c);
void strbuf_add_repeat(struct strbuf *buf, char c, size_t count);
void strbuf_addf(struct strbuf *buf, const char *fmt, ...) PRINTF(2, 3);
void strbuf_addv(struct strbuf *buf, const char *fmt, va_list args) PRINTF(2, 0);

/*
 * For those who write much in small pieces: room for `length` bytes at the end of the text, which
 * the caller fills and strbuf_extend makes part of it. NULL: they do not fit under the cap.
 */
NODISCARD static inline char *strbuf_room(struct strbuf *buf, size_t length);
static inline void strbuf_extend(struct strbuf *buf, size_t length);

/* Empty it but keep its memory. */
void strbuf_clear(struct strbuf *buf);
/* Cut it to `length` bytes, which it must have. */
void strbuf_truncate(struct strbuf *buf, size_t length);
/* The text as a heap string of the caller's; the buffer is empty afterwards. */
NODISCARD char *strbuf_take(struct strbuf *buf);

/* --- short ways of what is done most, where there is room already ----------------------------- */

NODISCARD char *strbuf_make_room(struct strbuf *buf, size_t length); /* strbuf_room's long way */

static inline char *strbuf_room(struct strbuf *buf, size_t length)
{
    if (buf->length + length >= buf->capacity)
        return strbuf_make_room(buf, length);
    CHECK(buf->text != NULL); /* as those who check the callers have to be told */
    return buf->text + buf->length;
}

static inline void strbuf_extend(struct strbuf *buf, size_t length)
{
    CHECK(buf->length + length < buf->capacity);
    buf->length += length;
    buf->text[buf->length] = '\0';
}

static inline void strbuf_add_char(struct strbuf *buf, char c)
{
    if (buf->length + 1 >= buf->capacity) {
        strbuf_add_bytes(buf, &c, 1);
        return;
    }
    buf->text[buf->length++] = c;
    buf->text[buf->length] = '\0';
}
