#include "store/repeat.h"

#include <time.h>

#include "base/rng.h"
#include "store/store_priv.h"

enum { TRIES_MAX = 12, FIRST_WAIT_MS = 10, LONGEST_WAIT_MS = 1000 };

bool store_may_repeat(const struct store *store, enum status status)
{
    return status == STATUS_BUSY && db_dialect(store->db) == DB_POSTGRES && db_can_go_on(store->db);
}

void store_expect_race(const struct store *store, struct err *err)
{
    bool is_race = err->code == STATUS_CONFLICT || err->code == STATUS_UNKNOWN;
    if (is_race && db_dialect(store->db) == DB_POSTGRES)
        err->code = STATUS_BUSY;
}

/* Longer each time, and by chance, so that those who collided do not collide again. */
static void wait_a_while(int tries)
{
    int64_t bound_ms = FIRST_WAIT_MS;
    for (int i = 1; i < tries && bound_ms < LONGEST_WAIT_MS; i++)
        bound_ms *= 2;
    int64_t wait_us = (int64_t)rng_below((uint64_t)bound_ms * 1000);
    struct timespec time = {.tv_sec = wait_us / 1000000, .tv_nsec = wait_us % 1000000 * 1000};
    (void)nanosleep(&time, NULL);
}

enum status store_repeat(struct store *store,
                         enum status (*once)(struct store *store, const void *context,
                                             struct err *err),
                         const void *context, struct err *err)
{
    for (int tries = 1;; tries++) {
        enum status status = once(store, context, err);
        if (!store_may_repeat(store, status) || tries == TRIES_MAX)
            return status;
        wait_a_while(tries);
    }
}
