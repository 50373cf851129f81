#include "base/idmap.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

struct entry {
    int64_t id; /* 0: free */
    void *pointer;
};

struct idmap {
    struct entry *entries;
    size_t capacity; /* a power of two, or zero */
    size_t count;
};

struct idmap *idmap_new(void)
{
    return mem_zalloc(1, sizeof(struct idmap));
}

void idmap_free(struct idmap *map)
{
    if (map == NULL)
        return;
    free(map->entries);
    free(map);
}

static size_t home_of(const struct idmap *map, int64_t id)
{
    return (size_t)((uint64_t)id * 0x9e3779b97f4a7c15u >> 24) & (map->capacity - 1);
}

static struct entry *entry_for(const struct idmap *map, int64_t id)
{
    size_t i = home_of(map, id);
    while (map->entries[i].id != 0 && map->entries[i].id != id)
        i = (i + 1) & (map->capacity - 1);
    return &map->entries[i];
}

static void grow(struct idmap *map)
{
    struct entry *old = map->entries;
    size_t old_capacity = map->capacity;
    map->capacity = old_capacity > 0 ? old_capacity * 2 : 64;
    map->entries = mem_zalloc(map->capacity, sizeof *map->entries);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].id != 0)
            *entry_for(map, old[i].id) = old[i];
    free(old);
}

void *idmap_find(const struct idmap *map, int64_t id)
{
    return map->count > 0 ? entry_for(map, id)->pointer : NULL;
}

void idmap_set(struct idmap *map, int64_t id, void *pointer)
{
    CHECK(id != 0);
    CHECK(pointer != NULL);
    if ((map->count + 1) * 2 > map->capacity)
        grow(map);
    struct entry *entry = entry_for(map, id);
    map->count += entry->id == 0;
    *entry = (struct entry){.id = id, .pointer = pointer};
}

void *idmap_remove(struct idmap *map, int64_t id)
{
    if (map->count == 0)
        return NULL;
    struct entry *hole = entry_for(map, id);
    if (hole->id == 0)
        return NULL;
    void *pointer = hole->pointer;
    *hole = (struct entry){0};
    map->count--;
    /* Move later entries of the same chain up, so that no search stops at the hole. */
    size_t mask = map->capacity - 1;
    size_t free_at = (size_t)(hole - map->entries);
    for (size_t i = (free_at + 1) & mask; map->entries[i].id != 0; i = (i + 1) & mask) {
        size_t home = home_of(map, map->entries[i].id);
        if (((i - home) & mask) < ((i - free_at) & mask))
            continue;
        map->entries[free_at] = map->entries[i];
        map->entries[i] = (struct entry){0};
        free_at = i;
    }
    return pointer;
}

size_t idmap_count(const struct idmap *map)
{
    return map->count;
}

void *idmap_next(const struct idmap *map, size_t *cursor)
{
    while (*cursor < map->capacity) {
        const struct entry *entry = &map->entries[(*cursor)++];
        if (entry->id != 0)
            return entry->pointer;
    }
    return NULL;
}
