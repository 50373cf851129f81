#include "base/json_pool.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/check.h"

enum {
    STEP = 16,          /* sizes of the system's pieces differ by this */
    HEAD = 8,           /* of which it needs so much itself */
    SMALLEST = 2,       /* in steps, as are all sizes */
    SIZES = 17,         /* of pieces that are kept; larger ones are rare */
    KEPT_MAX = 1 << 20, /* bytes per thread; the rest goes back */
};

struct piece {
    struct piece *next;
};

struct pool {
    struct piece *kept[SIZES];
    size_t bytes;
    bool is_known; /* will be emptied with its thread */
};

static _Thread_local struct pool pool;
static pthread_key_t at_thread_end;

static void empty(void *ignored)
{
    (void)ignored;
    for (size_t i = 0; i < SIZES; i++)
        while (pool.kept[i] != NULL) {
            struct piece *piece = pool.kept[i];
            pool.kept[i] = piece->next;
            free(piece);
        }
    pool = (struct pool){0};
}

static void *take(size_t size)
{
    size_t i = MAX((size + HEAD + STEP - 1) / STEP, (size_t)SMALLEST);
    if (i >= SIZES || pool.kept[i] == NULL)
        return malloc(size);
    struct piece *piece = pool.kept[i];
    pool.kept[i] = piece->next;
    pool.bytes -= i * STEP;
    return piece;
}

static void give_back(void *memory)
{
    struct piece *piece = memory;
    if (piece == NULL)
        return;
    /* The piece may be a little larger than what was asked for. */
    size_t i = (malloc_usable_size(piece) + HEAD) / STEP;
    if (i >= SIZES || pool.bytes + i * STEP > KEPT_MAX) {
        free(piece);
        return;
    }
    if (!pool.is_known)
        pool.is_known = pthread_setspecific(at_thread_end, &pool) == 0;
    piece->next = pool.kept[i];
    pool.kept[i] = piece;
    pool.bytes += i * STEP;
}

void json_pool_start(void)
{
    CHECK(pthread_key_create(&at_thread_end, empty) == 0);
    json_set_alloc_funcs(take, give_back);
}

#else

void json_pool_start(void)
{
}

#endif
