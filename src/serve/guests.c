#include "serve/guests.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "os/thread.h"

struct guest {
    int fd;
    int64_t since_us; /* steady clock; 0: it waits for us */
    struct guest *before, *after;
};

struct guests {
    int64_t patience_us;
    void (*look)(void *context);
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t is_over_now;
    struct guest *first;
    struct thread *watcher;
    bool is_over;
};

static void cut_off_the_slow(struct guests *guests)
{
    int64_t now_us = clock_mono_us();
    for (struct guest *at = guests->first; at != NULL; at = at->after)
        if (at->since_us != 0 && now_us - at->since_us > guests->patience_us)
            (void)shutdown(at->fd, SHUT_RDWR); /* the library notices, and closes */
}

static void watch(void *context)
{
    struct guests *guests = context;
    CHECK(pthread_mutex_lock(&guests->lock) == 0);
    while (!guests->is_over) {
        struct timespec until = {.tv_sec = clock_wait_us() / 1000000 + 1};
        if (guests->first == NULL)
            CHECK(pthread_cond_wait(&guests->is_over_now, &guests->lock) == 0);
        else
            (void)pthread_cond_clockwait(&guests->is_over_now, &guests->lock, CLOCK_MONOTONIC,
                                         &until);
        cut_off_the_slow(guests);
        CHECK(pthread_mutex_unlock(&guests->lock) == 0);
        guests->look(guests->context);
        CHECK(pthread_mutex_lock(&guests->lock) == 0);
    }
    CHECK(pthread_mutex_unlock(&guests->lock) == 0);
}

struct guests *guests_new(int64_t request_ms, void (*look)(void *context), void *context)
{
    struct guests *guests = mem_zalloc(1, sizeof *guests);
    struct err err = {0};
    guests->patience_us = request_ms * 1000;
    guests->look = look;
    guests->context = context;
    CHECK(pthread_mutex_init(&guests->lock, NULL) == 0);
    CHECK(pthread_cond_init(&guests->is_over_now, NULL) == 0);
    if (thread_start("eider-guests", watch, guests, &guests->watcher, &err) != STATUS_OK)
        log_warn("slow connections are not cut off", LOG_STR("why", err.text));
    return guests;
}

void guests_dismiss(struct guests *guests)
{
    CHECK(pthread_mutex_lock(&guests->lock) == 0);
    guests->is_over = true;
    CHECK(pthread_cond_signal(&guests->is_over_now) == 0);
    CHECK(pthread_mutex_unlock(&guests->lock) == 0);
    thread_join(TAKE(guests->watcher));
}

void guests_free(struct guests *guests)
{
    guests_dismiss(guests);
    CHECK(guests->first == NULL);
    CHECK(pthread_mutex_destroy(&guests->lock) == 0);
    CHECK(pthread_cond_destroy(&guests->is_over_now) == 0);
    free(guests);
}

struct guest *guests_enter(struct guests *guests, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct guest *guest = mem_zalloc(1, sizeof *guest);
    guest->fd = info->connect_fd;
    guest->since_us = clock_mono_us();
    CHECK(pthread_mutex_lock(&guests->lock) == 0);
    guest->after = guests->first;
    if (guests->first != NULL)
        guests->first->before = guest;
    else
        CHECK(pthread_cond_signal(&guests->is_over_now) == 0);
    guests->first = guest;
    CHECK(pthread_mutex_unlock(&guests->lock) == 0);
    return guest;
}

void guests_leave(struct guests *guests, struct guest *guest)
{
    CHECK(pthread_mutex_lock(&guests->lock) == 0);
    if (guest->after != NULL)
        guest->after->before = guest->before;
    if (guest->before != NULL)
        guest->before->after = guest->after;
    else
        guests->first = guest->after;
    CHECK(pthread_mutex_unlock(&guests->lock) == 0);
    free(guest);
}

static void set_since(struct guests *guests, struct MHD_Connection *connection, int64_t since_us)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct guest *guest = info != NULL ? info->socket_context : NULL;
    if (guest == NULL)
        return;
    CHECK(pthread_mutex_lock(&guests->lock) == 0);
    guest->since_us = since_us;
    CHECK(pthread_mutex_unlock(&guests->lock) == 0);
}

void guests_serve(struct guests *guests, struct MHD_Connection *connection)
{
    set_since(guests, connection, 0);
}

void guests_await(struct guests *guests, struct MHD_Connection *connection)
{
    set_since(guests, connection, clock_mono_us());
}
