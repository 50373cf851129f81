#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

static char EMPTY[1] = "";

void strbuf_init(struct strbuf *buf, size_t cap)
{
    CHECK(cap > 0);
    *buf = (struct strbuf){.text = EMPTY, .cap = cap};
}

void strbuf_fini(struct strbuf *buf)
{
    if (buf->capacity > 0)
        free(buf->text);
    *buf = (struct strbuf){.text = EMPTY, .cap = buf->cap};
}

/* Room for up to `more` bytes within the cap; returns how many fit. */
static size_t make_room(struct strbuf *buf, size_t more)
{
    size_t room = buf->cap - buf->length;
    if (more > room) {
        buf->overflow = true;
        more = room;
    }
    size_t need = buf->length + more + 1;
    if (need <= buf->capacity)
        return more;
    size_t capacity = MAX(need, buf->capacity * 2);
    capacity = MAX(capacity, (size_t)64);
    capacity = MIN(capacity - 1, buf->cap) + 1; /* so that what has room is below the cap */
    buf->text = mem_resize(buf->capacity > 0 ? buf->text : NULL, capacity, 1);
    buf->capacity = capacity;
    return more;
}

char *strbuf_make_room(struct strbuf *buf, size_t length)
{
    if (length > buf->cap - buf->length)
        return NULL;
    (void)make_room(buf, length);
    return buf->text + buf->length;
}

void strbuf_add_bytes(struct strbuf *buf, const void *bytes, size_t length)
{
    if (length == 0)
        return;
    size_t fits = make_room(buf, length);
    memcpy(buf->text + buf->length, bytes, fits);
    buf->length += fits;
    buf->text[buf->length] = '\0';
}

void strbuf_add(struct strbuf *buf, const char *text)
{
    strbuf_add_bytes(buf, text, strlen(text));
}

void strbuf_add_repeat(struct strbuf *buf, char c, size_t count)
{
    if (count == 0)
        return;
    size_t fits = make_room(buf, count);
    memset(buf->text + buf->length, c, fits);
    buf->length += fits;
    buf->text[buf->length] = '\0';
}

void strbuf_addv(struct strbuf *buf, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int wanted = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    CHECK(wanted >= 0);
    if (wanted == 0)
        return;
    size_t fits = make_room(buf, (size_t)wanted);
    CHECK(vsnprintf(buf->text + buf->length, fits + 1, fmt, args) == wanted);
    buf->length += fits;
}

void strbuf_addf(struct strbuf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_addv(buf, fmt, args);
    va_end(args);
}

void strbuf_clear(struct strbuf *buf)
{
    strbuf_truncate(buf, 0);
    buf->overflow = false;
}

void strbuf_truncate(struct strbuf *buf, size_t length)
{
    CHECK(length <= buf->length);
    buf->length = length;
    if (buf->capacity > 0)
        buf->text[length] = '\0';
}

char *strbuf_take(struct strbuf *buf)
{
    char *text = buf->capacity > 0 ? buf->text : mem_strdup("");
    buf->capacity = 0;
    strbuf_fini(buf);
    return text;
}
