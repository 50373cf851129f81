#include "serve/lounge.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/knock.h"
#include "os/thread.h"
#include "serve/pass.h"
#include "service/operations.h"
#include "service/service.h"

enum {
    POLL_MS = 500,
    GATHER_US = 2000,   /* between rounds, for what comes in bursts */
    REST_US = 30000000, /* without guests, until the store is let go of */
};

struct guest {
    struct lounge *lounge;
    struct pass *pass;
    json_t *claim;
    char *wants;  /* what it may get: those who want the same share their luck */
    char *answer; /* when there is nothing; then the real one */
    size_t length;
    size_t sent;
    bool is_answered;
    bool is_closed;
    bool is_served; /* by the thread, without the lock */
    int64_t until_us;
    int64_t beat_us;
    int64_t heard_us; /* the last claim */
    void (*wake)(void *waker);
    void *waker;
    struct guest *next; /* who came later */
};

struct lounge {
    struct lounge_options options;
    pthread_mutex_t lock;
    struct guest *first;
    bool is_closed;
    bool is_over;
    atomic_bool has_guests;
    atomic_bool is_woken;
    int knock;
    struct thread *thread;
    struct service *service; /* of the thread */
};

static void lock(struct lounge *lounge)
{
    CHECK(pthread_mutex_lock(&lounge->lock) == 0);
}

static void unlock(struct lounge *lounge)
{
    CHECK(pthread_mutex_unlock(&lounge->lock) == 0);
}

/* --- guests, with the lock ------------------------------------------------------------------- */

static void guest_free(struct guest *guest)
{
    json_decref(guest->claim);
    free(guest->wants);
    free(guest->answer);
    pass_free(guest->pass);
    free(guest);
}

static void leave(struct guest *guest)
{
    struct lounge *lounge = guest->lounge;
    struct guest **at = &lounge->first;
    while (*at != NULL && *at != guest)
        at = &(*at)->next;
    if (*at != NULL)
        *at = guest->next;
    atomic_store(&lounge->has_guests, lounge->first != NULL);
}

/* `taken` NULL: what there is to say when there is nothing. */
static void answer(struct guest *guest, char *taken)
{
    if (taken != NULL) {
        free(guest->answer);
        guest->answer = taken;
        guest->length = strlen(taken);
    }
    guest->is_answered = true;
    leave(guest);
    if (guest->wake != NULL)
        guest->wake(guest->waker);
}

/* --- the stream ------------------------------------------------------------------------------ */

static ssize_t read_answer(void *context, char *to, size_t most)
{
    struct guest *guest = context;
    lock(guest->lounge);
    ssize_t got = 0;
    if (guest->is_answered) {
        size_t part = MIN(most, guest->length - guest->sent);
        memcpy(to, guest->answer + guest->sent, part);
        guest->sent += part;
        got = part > 0 ? (ssize_t)part : -1;
    }
    unlock(guest->lounge);
    return got;
}

static void close_answer(void *context)
{
    struct guest *guest = context;
    struct lounge *lounge = guest->lounge;
    lock(lounge);
    leave(guest);
    guest->is_closed = true;
    guest->wake = NULL;
    bool is_served = guest->is_served;
    unlock(lounge);
    if (!is_served)
        guest_free(guest);
}

static void attach(void *context, void (*wake)(void *waker), void *waker)
{
    struct guest *guest = context;
    lock(guest->lounge);
    guest->wake = wake;
    guest->waker = waker;
    unlock(guest->lounge);
}

/* --- the thread ------------------------------------------------------------------------------ */

static enum status claim_by_program(struct service *service, const json_t *request, json_t **out,
                                    struct err *err)
{
    struct operation_local local = {.table = &OPERATIONS, .service = service};
    return operation_local_call(&local, "worker.claim", request, out, err);
}

static void release_by_program(struct service *service, const json_t *job)
{
    static const char *const MEMBERS[] = {"attempt", "nonce"};
    struct operation_local local = {.table = &OPERATIONS, .service = service};
    CLEANUP(json_decrefp) json_t *request = json_object();
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err ignored = {0};
    CHECK(request != NULL);
    json_put(request, "job", json_incref(json_object_get(job, "id")));
    for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
        json_put(request, MEMBERS[i], json_incref(json_object_get(job, MEMBERS[i])));
    (void)!operation_local_call(&local, "worker.release", request, &response, &ignored);
}

/* What the service does is done by that guest. */
static void begin_for(struct service *service, const struct guest *guest)
{
    service->principal = pass_principal(guest->pass);
    service->actor = service->principal->name;
}

static void end_for(struct service *service)
{
    service->principal = NULL;
    service->actor = NULL;
}

/* Without the lock. Heap, or NULL: there was nothing. */
static char *claim_for(struct lounge *lounge, struct guest *guest, enum status *out_status)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err err = {0};
    if (lounge->service == NULL)
        lounge->service = lounge->options.open_service(lounge->options.context);
    *out_status = pass_look(guest->pass, lounge->service, &err);
    if (*out_status != STATUS_OK)
        return NULL;
    begin_for(lounge->service, guest);
    *out_status = lounge->options.claim(lounge->service, guest->claim, &response, &err);
    end_for(lounge->service);
    if (*out_status != STATUS_OK || json_array_size(json_object_get(response, "jobs")) == 0)
        return NULL;
    return json_format(response);
}

/*
 * Without the lock: nobody is there to be told. What was claimed by a name is asked for by it
 * again; the rest waits for somebody else.
 */
static void give_back(struct lounge *lounge, const struct guest *guest, const char *got)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err ignored = {0};
    if (json_is_string(json_object_get(guest->claim, "request_id")) ||
        json_parse(got, strlen(got), &response, &ignored) != STATUS_OK)
        return;
    const json_t *jobs = json_object_get(response, "jobs");
    begin_for(lounge->service, guest);
    for (size_t i = 0; i < json_array_size(jobs); i++)
        lounge->options.release(lounge->service, json_array_get(jobs, i));
    end_for(lounge->service);
}

/* With the lock, which is let go of meanwhile. True: there was something. */
static bool serve(struct lounge *lounge, struct guest *guest)
{
    enum status status = STATUS_OK;
    guest->is_served = true;
    guest->heard_us = clock_wait_us();
    unlock(lounge);
    CLEANUP(mem_freep) char *got = claim_for(lounge, guest, &status);
    lock(lounge);
    bool has_got = got != NULL;
    bool is_gone = guest->is_closed || guest->is_answered;
    if (!is_gone && (has_got || status != STATUS_OK))
        answer(guest, TAKE(got));
    if (is_gone && has_got) {
        unlock(lounge);
        give_back(lounge, guest, got);
        lock(lounge);
    }
    guest->is_served = false;
    if (guest->is_closed)
        guest_free(guest);
    return has_got;
}

/* Those who want the same as somebody who got nothing in this round are not asked for. */
struct luckless {
    char **wants;
    size_t count;
    size_t capacity;
};

static bool is_luckless(const struct luckless *luckless, const char *wants)
{
    for (size_t i = 0; i < luckless->count; i++)
        if (str_equal(luckless->wants[i], wants))
            return true;
    return false;
}

static void note_luckless(struct luckless *luckless, const char *wants)
{
    luckless->wants = mem_grow((void *)luckless->wants, &luckless->capacity, luckless->count,
                               sizeof *luckless->wants);
    luckless->wants[luckless->count++] = mem_strdup(wants);
}

static void luckless_fini(struct luckless *luckless)
{
    for (size_t i = 0; i < luckless->count; i++)
        free(luckless->wants[i]);
    free((void *)luckless->wants);
}

/* The first that was not served since, and whom serving may help. */
static struct guest *next_guest(const struct lounge *lounge, const struct luckless *luckless,
                                int64_t since_us, bool is_round)
{
    for (struct guest *at = lounge->first; at != NULL; at = at->next) {
        bool must_beat = at->heard_us + at->beat_us <= since_us;
        if (at->heard_us < since_us && !at->is_served &&
            (must_beat || (is_round && !is_luckless(luckless, at->wants))))
            return at;
    }
    return NULL;
}

static void end_waits(struct lounge *lounge, int64_t now_us)
{
    for (struct guest *at = lounge->first, *next; at != NULL; at = next) {
        next = at->next;
        if (at->until_us <= now_us && !at->is_served)
            answer(at, NULL);
    }
}

static void go_round(struct lounge *lounge, bool is_round)
{
    CLEANUP(luckless_fini) struct luckless luckless = {0};
    int64_t since_us = clock_wait_us();
    struct guest *guest;
    while (!lounge->is_closed &&
           (guest = next_guest(lounge, &luckless, since_us, is_round)) != NULL) {
        CLEANUP(mem_freep) char *wants = mem_strdup(guest->wants);
        if (!serve(lounge, guest))
            note_luckless(&luckless, wants);
    }
    end_waits(lounge, clock_wait_us());
}

static int64_t due_us(const struct lounge *lounge, int64_t round_us)
{
    int64_t due = round_us;
    for (const struct guest *at = lounge->first; at != NULL; at = at->next) {
        due = MIN(due, at->until_us);
        due = MIN(due, at->heard_us + at->beat_us);
    }
    return due;
}

/* With the lock, which is let go of meanwhile. */
static void wait_until(struct lounge *lounge, int64_t until_us)
{
    unlock(lounge);
    int64_t left_us = until_us - clock_wait_us();
    if (left_us > 0)
        knock_wait(lounge->knock, MIN((left_us + 999) / 1000, (int64_t)3600000));
    knock_clear(lounge->knock);
    lock(lounge);
}

static void let_store_go(struct lounge *lounge)
{
    if (lounge->service != NULL)
        lounge->options.close_service(lounge->options.context, TAKE(lounge->service));
}

static void rest(struct lounge *lounge)
{
    int64_t until_us = clock_wait_us() + REST_US;
    while (lounge->first == NULL && !lounge->is_over) {
        bool is_quiet = clock_wait_us() >= until_us;
        if (is_quiet) {
            unlock(lounge);
            let_store_go(lounge);
            lock(lounge);
        }
        if (lounge->first == NULL && !lounge->is_over)
            wait_until(lounge, is_quiet ? INT64_MAX : until_us);
    }
}

static void tend(void *context)
{
    struct lounge *lounge = context;
    int64_t looked_us = 0;
    lock(lounge);
    while (!lounge->is_over) {
        if (lounge->first == NULL) {
            rest(lounge);
            continue;
        }
        bool is_woken = atomic_load(&lounge->is_woken);
        int64_t pause_us = is_woken ? GATHER_US : lounge->options.poll_ms * 1000;
        int64_t round_us = looked_us + pause_us;
        bool is_round = clock_wait_us() >= round_us;
        if (is_round) {
            atomic_store(&lounge->is_woken, false);
            looked_us = clock_wait_us();
        }
        if (is_round || clock_wait_us() >= due_us(lounge, round_us))
            go_round(lounge, is_round);
        else
            wait_until(lounge, due_us(lounge, round_us));
    }
    unlock(lounge);
    let_store_go(lounge);
}

/* --- from outside ---------------------------------------------------------------------------- */

enum status lounge_new(const struct lounge_options *options, struct lounge **out, struct err *err)
{
    struct lounge *lounge = mem_zalloc(1, sizeof *lounge);
    lounge->options = *options;
    lounge->knock = -1;
    if (lounge->options.claim == NULL)
        lounge->options.claim = claim_by_program;
    if (lounge->options.release == NULL)
        lounge->options.release = release_by_program;
    if (lounge->options.poll_ms == 0)
        lounge->options.poll_ms = POLL_MS;
    CHECK(pthread_mutex_init(&lounge->lock, NULL) == 0);
    if (knock_open(&lounge->knock, err) != STATUS_OK ||
        thread_start("eider-lounge", tend, lounge, &lounge->thread, err) != STATUS_OK) {
        lounge_free(lounge);
        return err_wrap(err, "let claims wait");
    }
    *out = lounge;
    return STATUS_OK;
}

void lounge_close(struct lounge *lounge)
{
    if (lounge == NULL)
        return;
    lock(lounge);
    lounge->is_closed = true;
    while (lounge->first != NULL)
        answer(lounge->first, NULL);
    unlock(lounge);
}

void lounge_free(struct lounge *lounge)
{
    if (lounge == NULL)
        return;
    lock(lounge);
    CHECK(lounge->first == NULL);
    lounge->is_over = true;
    unlock(lounge);
    if (lounge->thread != NULL) {
        knock_send(lounge->knock);
        thread_join(lounge->thread);
    }
    if (lounge->knock >= 0)
        (void)close(lounge->knock);
    CHECK(pthread_mutex_destroy(&lounge->lock) == 0);
    free(lounge);
}

void lounge_wake(struct lounge *lounge)
{
    if (lounge == NULL || !atomic_load(&lounge->has_guests))
        return;
    atomic_store(&lounge->is_woken, true);
    knock_send(lounge->knock);
}

/* What is asked for, whoever asks. */
static char *wants_of(const struct lounge_guest_request *request)
{
    static const char *const MEMBERS[] = {"queues", "labels"};
    CLEANUP(json_decrefp) json_t *wants = json_object();
    CHECK(wants != NULL);
    json_put_string(wants, "served", pass_principal(request->pass)->queues);
    for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++) {
        json_t *value = json_object_get(request->claim, MEMBERS[i]);
        json_put(wants, MEMBERS[i], value != NULL ? json_incref(value) : json_null());
    }
    return json_format(wants);
}

static struct guest *guest_new(struct lounge *lounge, const struct lounge_guest_request *request)
{
    struct guest *guest = mem_zalloc(1, sizeof *guest);
    int64_t now_us = clock_wait_us();
    guest->lounge = lounge;
    guest->pass = request->pass;
    guest->claim = json_deep_copy(request->claim);
    CHECK(guest->claim != NULL);
    guest->wants = wants_of(request);
    guest->answer = json_format(request->nothing);
    guest->length = strlen(guest->answer);
    guest->until_us = now_us + request->wait_ms * 1000;
    guest->beat_us = MAX(request->beat_ms * 1000, (int64_t)1000);
    guest->heard_us = now_us;
    return guest;
}

void lounge_wait(struct lounge *lounge, const struct lounge_guest_request *request,
                 struct http_stream *out)
{
    struct guest *guest = guest_new(lounge, request);
    lock(lounge);
    guest->is_answered = lounge->is_closed;
    struct guest **last = &lounge->first;
    while (*last != NULL)
        last = &(*last)->next;
    if (!lounge->is_closed)
        *last = guest;
    atomic_store(&lounge->has_guests, lounge->first != NULL);
    /* Something may have come between its claim and now. */
    atomic_store(&lounge->is_woken, true);
    unlock(lounge);
    knock_send(lounge->knock);
    *out = (struct http_stream){
        .context = guest,
        .read = read_answer,
        .close = close_answer,
        .attach = attach,
        .has_last_word = true,
    };
}
