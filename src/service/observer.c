#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "service/observer_priv.h"

enum { FRESH_US = 1000000, SHARE = 20 /* of all time goes into asking at most one in so many */ };

struct observer {
    struct observer_options options;
    atomic_bool is_up;
    pthread_mutex_t lock;
    /* With the lock. */
    struct arena *arena; /* of the census; NULL: nobody asked yet */
    struct census census;
    bool has_store;
    struct err failure;
    int64_t asked_us; /* by the steady clock */
    int64_t took_us;
};

struct observer *observer_new(const struct observer_options *options)
{
    struct observer *observer = mem_zalloc(1, sizeof *observer);
    observer->options = *options;
    CHECK(pthread_mutex_init(&observer->lock, NULL) == 0);
    return observer;
}

void observer_free(struct observer *observer)
{
    if (observer == NULL)
        return;
    arena_free(observer->arena);
    CHECK(pthread_mutex_destroy(&observer->lock) == 0);
    free(observer);
}

void observer_set_up(struct observer *observer)
{
    if (observer != NULL)
        atomic_store(&observer->is_up, true);
}

bool observer_is_up(const struct observer *observer)
{
    return observer == NULL || atomic_load(&observer->is_up);
}

const struct observer_options *observer_options_of(const struct observer *observer)
{
    return &observer->options;
}

static enum status ask(struct service *service, struct arena *arena, struct census *out,
                       bool *out_has_store, struct err *err)
{
    struct store *store = NULL;
    if (service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    *out_has_store = store != NULL;
    return store != NULL ? store_census(store, arena, out, err) : STATUS_OK;
}

static bool is_fresh(const struct observer *observer, int64_t now_us)
{
    int64_t bound_us = MAX((int64_t)FRESH_US, observer->took_us * SHARE);
    return observer->arena != NULL && now_us - observer->asked_us < bound_us;
}

/* With the lock. */
static void refresh(struct observer *observer, struct service *service)
{
    int64_t began_us = clock_mono_us();
    if (is_fresh(observer, began_us))
        return;
    arena_free(observer->arena);
    observer->arena = arena_new();
    observer->census = (struct census){0};
    observer->has_store = false;
    observer->failure = (struct err){0};
    (void)!ask(service, observer->arena, &observer->census, &observer->has_store,
               &observer->failure);
    observer->asked_us = clock_mono_us();
    observer->took_us = observer->asked_us - began_us;
}

static enum status look_alone(struct service *service,
                              void (*look)(void *context, const struct census *census),
                              void *context, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct census census = {0};
    bool has_store = false;
    if (ask(service, arena, &census, &has_store, err) != STATUS_OK)
        return err->code;
    look(context, has_store ? &census : NULL);
    return STATUS_OK;
}

enum status observer_look(struct service *service,
                          void (*look)(void *context, const struct census *census), void *context,
                          struct err *err)
{
    struct observer *observer = service->observer;
    if (observer == NULL)
        return look_alone(service, look, context, err);
    CHECK(pthread_mutex_lock(&observer->lock) == 0);
    refresh(observer, service);
    enum status status = observer->failure.code;
    if (status != STATUS_OK)
        *err = observer->failure;
    else
        look(context, observer->has_store ? &observer->census : NULL);
    CHECK(pthread_mutex_unlock(&observer->lock) == 0);
    return status;
}
