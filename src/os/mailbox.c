#include "os/mailbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    void **items;
    size_t count;
    size_t capacity;
    bool closed;
};

struct mailbox *mailbox_new(void)
{
    struct mailbox *mailbox = mem_zalloc(1, sizeof *mailbox);
    CHECK(pthread_mutex_init(&mailbox->lock, NULL) == 0);
    pthread_condattr_t steady;
    CHECK(pthread_condattr_init(&steady) == 0);
    CHECK(pthread_condattr_setclock(&steady, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&mailbox->filled, &steady) == 0);
    (void)pthread_condattr_destroy(&steady);
    return mailbox;
}

void mailbox_free(struct mailbox *mailbox)
{
    if (mailbox == NULL)
        return;
    (void)pthread_cond_destroy(&mailbox->filled);
    (void)pthread_mutex_destroy(&mailbox->lock);
    free(mailbox->items);
    free(mailbox);
}

bool mailbox_push(struct mailbox *mailbox, void *item)
{
    CHECK(pthread_mutex_lock(&mailbox->lock) == 0);
    bool open = !mailbox->closed;
    if (open) {
        mailbox->items =
            mem_grow(mailbox->items, &mailbox->capacity, mailbox->count, sizeof *mailbox->items);
        mailbox->items[mailbox->count++] = item;
        if (mailbox->count == 1)
            CHECK(pthread_cond_signal(&mailbox->filled) == 0);
    }
    CHECK(pthread_mutex_unlock(&mailbox->lock) == 0);
    return open;
}

/* The lock is held. */
static struct mailbox_batch take_all(struct mailbox *mailbox)
{
    struct mailbox_batch batch = {0};
    if (mailbox->count > 0) {
        batch = (struct mailbox_batch){.items = mailbox->items, .count = mailbox->count};
        mailbox->items = NULL;
        mailbox->count = 0;
        mailbox->capacity = 0;
    }
    return batch;
}

struct mailbox_batch mailbox_take(struct mailbox *mailbox)
{
    CHECK(pthread_mutex_lock(&mailbox->lock) == 0);
    while (mailbox->count == 0 && !mailbox->closed)
        CHECK(pthread_cond_wait(&mailbox->filled, &mailbox->lock) == 0);
    struct mailbox_batch batch = take_all(mailbox);
    CHECK(pthread_mutex_unlock(&mailbox->lock) == 0);
    return batch;
}

struct mailbox_batch mailbox_take_within(struct mailbox *mailbox, int64_t timeout_ms)
{
    int64_t until_us = clock_wait_us() + timeout_ms * 1000;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    CHECK(pthread_mutex_lock(&mailbox->lock) == 0);
    int failure = 0;
    while (mailbox->count == 0 && !mailbox->closed && failure == 0)
        failure = pthread_cond_timedwait(&mailbox->filled, &mailbox->lock, &until);
    CHECK(failure == 0 || failure == ETIMEDOUT);
    struct mailbox_batch batch = take_all(mailbox);
    CHECK(pthread_mutex_unlock(&mailbox->lock) == 0);
    return batch;
}

struct mailbox_batch mailbox_take_now(struct mailbox *mailbox)
{
    CHECK(pthread_mutex_lock(&mailbox->lock) == 0);
    struct mailbox_batch batch = take_all(mailbox);
    CHECK(pthread_mutex_unlock(&mailbox->lock) == 0);
    return batch;
}

void mailbox_close(struct mailbox *mailbox)
{
    CHECK(pthread_mutex_lock(&mailbox->lock) == 0);
    mailbox->closed = true;
    CHECK(pthread_cond_broadcast(&mailbox->filled) == 0);
    CHECK(pthread_mutex_unlock(&mailbox->lock) == 0);
}

bool mailbox_is_closed(struct mailbox *mailbox)
{
    CHECK(pthread_mutex_lock(&mailbox->lock) == 0);
    bool closed = mailbox->closed;
    CHECK(pthread_mutex_unlock(&mailbox->lock) == 0);
    return closed;
}
