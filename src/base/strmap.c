#include "base/strmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

struct slot {
    const char *key; /* NULL: free */
    int64_t value;
};

struct strmap {
    struct slot *slots;
    size_t capacity; /* a power of two, or zero */
    size_t count;
    uint64_t seed; /* per map, so that nobody can choose colliding names */
};

struct strmap *strmap_new(void)
{
    struct strmap *map = mem_zalloc(1, sizeof *map);
    rng_bytes(&map->seed, sizeof map->seed);
    return map;
}

void strmap_free(struct strmap *map)
{
    if (map == NULL)
        return;
    free(map->slots);
    free(map);
}

static uint64_t hash_text(uint64_t seed, const char *key)
{
    uint64_t hash = seed ^ 0xcbf29ce484222325u;
    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char)*key) * 0x100000001b3u;
    hash ^= hash >> 32;
    return hash * 0x9e3779b97f4a7c15u;
}

static struct slot *slot_for(const struct strmap *map, const char *key)
{
    size_t mask = map->capacity - 1;
    size_t i = (size_t)(hash_text(map->seed, key) >> 20) & mask;
    while (map->slots[i].key != NULL && strcmp(map->slots[i].key, key) != 0)
        i = (i + 1) & mask;
    return &map->slots[i];
}

static void grow(struct strmap *map)
{
    struct slot *old = map->slots;
    size_t old_capacity = map->capacity;
    map->capacity = old_capacity > 0 ? old_capacity * 2 : 16;
    map->slots = mem_zalloc(map->capacity, sizeof *map->slots);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].key != NULL)
            *slot_for(map, old[i].key) = old[i];
    free(old);
}

bool strmap_add(struct strmap *map, const char *key, int64_t value)
{
    if (map->count * 2 >= map->capacity)
        grow(map);
    struct slot *slot = slot_for(map, key);
    if (slot->key != NULL)
        return false;
    *slot = (struct slot){.key = key, .value = value};
    map->count++;
    return true;
}

bool strmap_find(const struct strmap *map, const char *key, int64_t *out)
{
    if (map->count == 0)
        return false;
    const struct slot *slot = slot_for(map, key);
    if (slot->key == NULL)
        return false;
    *out = slot->value;
    return true;
}

size_t strmap_count(const struct strmap *map)
{
    return map->count;
}
