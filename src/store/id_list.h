#pragma once
/*
 * id_list: a growing list of ids.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

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
