#include "os/turns.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

struct turns {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t asked;  /* tickets handed out */
    uint64_t served; /* the ticket whose turn it is; equal to `asked`: nobody's */
};

struct turns *turns_new(void)
{
    struct turns *turns = mem_zalloc(1, sizeof *turns);
    CHECK(pthread_mutex_init(&turns->lock, NULL) == 0);
    CHECK(pthread_cond_init(&turns->moved, NULL) == 0);
    return turns;
}

void turns_free(struct turns *turns)
{
    if (turns == NULL)
        return;
    CHECK(turns->asked == turns->served);
    (void)pthread_cond_destroy(&turns->moved);
    (void)pthread_mutex_destroy(&turns->lock);
    free(turns);
}

void turns_take(struct turns *turns)
{
    CHECK(pthread_mutex_lock(&turns->lock) == 0);
    uint64_t ticket = turns->asked++;
    while (turns->served != ticket)
        CHECK(pthread_cond_wait(&turns->moved, &turns->lock) == 0);
    CHECK(pthread_mutex_unlock(&turns->lock) == 0);
}

bool turns_try(struct turns *turns)
{
    CHECK(pthread_mutex_lock(&turns->lock) == 0);
    bool is_free = turns->asked == turns->served;
    if (is_free)
        turns->asked++;
    CHECK(pthread_mutex_unlock(&turns->lock) == 0);
    return is_free;
}

void turns_give(struct turns *turns)
{
    CHECK(pthread_mutex_lock(&turns->lock) == 0);
    CHECK(turns->served < turns->asked);
    turns->served++;
    CHECK(pthread_cond_broadcast(&turns->moved) == 0);
    CHECK(pthread_mutex_unlock(&turns->lock) == 0);
}
