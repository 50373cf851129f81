#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { BLOCK_BYTES_MIN = 4096, BLOCK_BYTES_MAX = 1 << 20, ALIGNMENT = 16 };

struct block {
    struct block *next;
    size_t size;
    size_t used;
    _Alignas(ALIGNMENT) char bytes[];
};

struct arena {
    struct block *blocks; /* newest first */
    size_t used;
};

struct arena *arena_new(void)
{
    return mem_zalloc(1, sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    while (arena->blocks != NULL) {
        struct block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    free(arena);
}

static struct block *add_block(struct arena *arena, size_t least)
{
    size_t size = arena->blocks != NULL ? arena->blocks->size * 2 : BLOCK_BYTES_MIN;
    size = MIN(size, (size_t)BLOCK_BYTES_MAX);
    size = MAX(size, least);
    struct block *block = mem_alloc(sizeof *block + size);
    *block = (struct block){.next = arena->blocks, .size = size};
    arena->blocks = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    CHECK(size <= SIZE_MAX / 2);
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct block *block = arena->blocks;
    if (block == NULL || block->size - block->used < size)
        block = add_block(arena, size);
    void *memory = block->bytes + block->used;
    block->used += size;
    arena->used += size;
    memset(memory, 0, size);
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t total = 0;
    CHECK(!__builtin_mul_overflow(count, size, &total));
    return arena_alloc(arena, total);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_strdup_null(struct arena *arena, const char *text)
{
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

char *arena_format(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    CHECK(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1);
    CHECK(vsnprintf(text, (size_t)length + 1, fmt, again) == length);
    va_end(again);
    return text;
}

void arena_take(struct arena *arena, struct arena *taken)
{
    struct block **end = &taken->blocks;
    while (*end != NULL)
        end = &(*end)->next;
    /* Behind the newest block, which goes on being filled. */
    struct block **after = arena->blocks != NULL ? &arena->blocks->next : &arena->blocks;
    *end = *after;
    *after = taken->blocks;
    arena->used += taken->used;
    free(taken);
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}
