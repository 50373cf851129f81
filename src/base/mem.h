#pragma once
/*
 * mem: allocation that stops the program when memory is out.
 *
 * For sizes that we bound ourselves. Anything sized by outsiders is checked
 * against a limit first (model/limits.h) and fails with STATUS_LIMIT there.
 */
#include <stddef.h>

#include "base/attrs.h"

NODISCARD void *mem_alloc(size_t size);
NODISCARD void *mem_zalloc(size_t count, size_t size);
NODISCARD void *mem_resize(void *pointer, size_t count, size_t size);
NODISCARD char *mem_strdup(const char *text);
NODISCARD char *mem_strndup(const char *text, size_t length);
/* strdup of a formatted text. */
NODISCARD char *mem_format(const char *fmt, ...) PRINTF(1, 2);

/*
 * Room for one more item in a growing array: returns `items`, moved if needed, with
 * *capacity > count. Use: v->items = mem_grow(v->items, &v->capacity, v->count, sizeof *v->items);
 */
NODISCARD void *mem_grow(void *items, size_t *capacity, size_t count, size_t size);

/* CLEANUP(mem_freep) char *text = NULL; works for every pointer type. */
void mem_freep(void *pointer_to_pointer);
