#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void *stop_if_null(void *pointer)
{
    if (pointer == NULL) {
        (void)fputs("eider: out of memory\n", stderr);
        abort();
    }
    return pointer;
}

void *mem_alloc(size_t size)
{
    return stop_if_null(malloc(size > 0 ? size : 1));
}

void *mem_zalloc(size_t count, size_t size)
{
    return stop_if_null(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *mem_resize(void *pointer, size_t count, size_t size)
{
    return stop_if_null(reallocarray(pointer, count > 0 ? count : 1, size > 0 ? size : 1));
}

char *mem_strdup(const char *text)
{
    return stop_if_null(strdup(text));
}

char *mem_strndup(const char *text, size_t length)
{
    return stop_if_null(strndup(text, length));
}

char *mem_format(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    CHECK(length >= 0);
    return text;
}

void *mem_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity > 0 ? *capacity * 2 : 8;
    return mem_resize(items, *capacity, size);
}

void mem_freep(void *pointer_to_pointer)
{
    void *pointer;
    memcpy(&pointer, pointer_to_pointer, sizeof pointer);
    free(pointer);
}
