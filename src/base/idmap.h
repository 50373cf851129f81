#pragma once
/*
 * idmap: 64-bit ids to pointers. Id 0 is not allowed.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"

struct idmap;

NODISCARD struct idmap *idmap_new(void);
void idmap_free(struct idmap *map); /* NULL is allowed; what the pointers point to stays */

void *idmap_find(const struct idmap *map, int64_t id); /* NULL when absent */
/* Set or replace; `pointer` must not be NULL. */
void idmap_set(struct idmap *map, int64_t id, void *pointer);
/* Take out; returns what was there or NULL. */
void *idmap_remove(struct idmap *map, int64_t id);
size_t idmap_count(const struct idmap *map);

/* Walk in no order: start with *cursor = 0; NULL at the end. The map must not change meanwhile. */
void *idmap_next(const struct idmap *map, size_t *cursor);

static inline void idmap_freep(struct idmap **map)
{
    idmap_free(*map);
}
