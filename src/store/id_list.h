#pragma once
/*
 * id_list: a growing list of ids.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"

struct id_list {
    int64_t *items;
    size_t count;
    size_t capacity;
};

static inline void id_list_fini(struct id_list *list)
{
    free(list->items);
}

static inline void id_list_add(struct id_list *list, int64_t id)
{
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = id;
}

/* For json_each() of SQLite, which has no arrays. The caller frees it. */
static inline char *ids_as_json(const int64_t *ids, size_t count)
{
    struct strbuf text;
    strbuf_init(&text, SIZE_MAX);
    strbuf_add_char(&text, '[');
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&text, "%s%lld", i > 0 ? "," : "", (long long)ids[i]);
    strbuf_add_char(&text, ']');
    return strbuf_take(&text);
}
