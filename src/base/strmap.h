#pragma once
/*
 * strmap: texts to numbers, for "which task has this name".
 *
 * Keys are borrowed: they must outlive the map.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"

struct strmap;

NODISCARD struct strmap *strmap_new(void);
void strmap_free(struct strmap *map);

/* False if the key is there already; the old value stays. */
bool strmap_add(struct strmap *map, const char *key, int64_t value);
/* True and *out if the key is there. */
bool strmap_find(const struct strmap *map, const char *key, int64_t *out);
size_t strmap_count(const struct strmap *map);

static inline void strmap_freep(struct strmap **map)
{
    strmap_free(*map);
}
