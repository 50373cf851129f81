#pragma once
/*
 * arena: memory for a unit of work (one request, one file, one tick), freed at once.
 *
 * Ownership  Nothing in an arena is freed alone; nothing outside may outlive it and point in.
 * Threads    One thread at a time.
 */
#include <stddef.h>

#include "base/attrs.h"

struct arena;

NODISCARD struct arena *arena_new(void);
void arena_free(struct arena *arena); /* NULL is allowed */

/* Zeroed memory, aligned for any type. */
NODISCARD void *arena_alloc(struct arena *arena, size_t size);
NODISCARD void *arena_array(struct arena *arena, size_t count, size_t size);
NODISCARD char *arena_strdup(struct arena *arena, const char *text);
/* The same where there may be none: NULL stays NULL. */
NODISCARD char *arena_strdup_null(struct arena *arena, const char *text);
NODISCARD char *arena_strndup(struct arena *arena, const char *text, size_t length);
NODISCARD char *arena_format(struct arena *arena, const char *fmt, ...) PRINTF(2, 3);

/* What `taken` holds belongs to `arena` from now on; `taken` itself is gone. */
void arena_take(struct arena *arena, struct arena *taken);

/* Bytes handed out so far. */
size_t arena_used(const struct arena *arena);

static inline void arena_freep(struct arena **arena)
{
    arena_free(*arena);
}
