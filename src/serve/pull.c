#include "serve/pull.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "service/credentials.h"
#include "service/operations.h"
#include "service/service.h"

enum { PIECE_MAX = 64 << 20, LOOK_US = 1000000 };

enum phase {
    PHASE_IDLE,
    PHASE_HANDED, /* a worker has it, or will */
    PHASE_OVER,   /* what is there is all */
};

struct pull {
    struct crew_job job; /* first: the crew gives it back */
    struct crew *crew;
    struct arena *arena;
    struct principal principal;
    struct pull_source source;
    pthread_mutex_t lock;
    enum phase phase;
    bool is_closed;
    bool is_asleep;
    struct strbuf piece;
    size_t sent;
    int64_t due_us;    /* not asked before */
    int64_t looked_us; /* when it was last seen that this one may still ask */
    void (*wake)(void *waker);
    void *waker;
};

static void lock(struct pull *pull)
{
    CHECK(pthread_mutex_lock(&pull->lock) == 0);
}

static void unlock(struct pull *pull)
{
    CHECK(pthread_mutex_unlock(&pull->lock) == 0);
}

static void pull_free(struct pull *pull)
{
    pull->source.free(pull->source.context);
    strbuf_fini(&pull->piece);
    CHECK(pthread_mutex_destroy(&pull->lock) == 0);
    arena_free(pull->arena);
    free(pull);
}

/* --- fetching -------------------------------------------------------------------------------- */

/* What is taken back counts for who is in the middle of an answer as well, a second later. */
static bool is_still_let_in(struct pull *pull, struct service *service)
{
    int64_t now_us = clock_wait_us();
    struct err err = {0};
    if (now_us - pull->looked_us < LOOK_US)
        return true;
    pull->looked_us = now_us;
    return credentials_again(service, &pull->principal, &err) != STATUS_DENIED;
}

static void fetch(struct pull *pull, struct service *service, struct strbuf *out,
                  struct pull_next *next)
{
    struct operation_local local = {.table = &OPERATIONS, .service = service};
    struct operation_caller operations = {.context = &local, .call = operation_local_call};
    struct err err = {0};
    int64_t expires_at_us = pull->principal.expires_at_us;
    if (expires_at_us != 0 && clock_wall_us() >= expires_at_us) {
        next->is_over = true;
        return;
    }
    if (!is_still_let_in(pull, service)) {
        next->is_over = true;
        return;
    }
    service->principal = &pull->principal;
    service->actor = pull->principal.name;
    if (pull->source.fetch(pull->source.context, &operations, out, next, &err) != STATUS_OK) {
        log_debug("an answer ends early", LOG_STR("why", err.text));
        next->is_over = true;
    }
    service->principal = NULL;
}

/* With the lock. When the crew goes home, this ends, too. */
static void ask_again(struct pull *pull)
{
    pull->phase = PHASE_HANDED;
    if (!crew_hand_at(pull->crew, &pull->job, pull->due_us))
        pull->phase = PHASE_OVER;
}

static void work(struct crew_job *job, struct service *service)
{
    struct pull *pull = (struct pull *)job;
    struct strbuf piece;
    struct pull_next next = {0};
    strbuf_init(&piece, PIECE_MAX);
    fetch(pull, service, &piece, &next);
    lock(pull);
    strbuf_fini(&pull->piece);
    pull->piece = piece;
    pull->sent = 0;
    pull->due_us = clock_wait_us() + next.wait_ms * 1000;
    pull->phase = next.is_over ? PHASE_OVER : PHASE_IDLE;
    bool is_closed = pull->is_closed;
    bool has_news = piece.length > 0 || next.is_over;
    if (!is_closed && !has_news)
        ask_again(pull);
    if (!is_closed && pull->is_asleep && (has_news || pull->phase == PHASE_OVER)) {
        pull->is_asleep = false;
        pull->wake(pull->waker);
    }
    unlock(pull);
    if (is_closed)
        pull_free(pull);
}

/* --- as a stream ----------------------------------------------------------------------------- */

static ssize_t read_stream(void *context, char *to, size_t most)
{
    struct pull *pull = context;
    lock(pull);
    size_t count = MIN(most, pull->piece.length - pull->sent);
    memcpy(to, pull->piece.text + pull->sent, count);
    pull->sent += count;
    if (pull->sent == pull->piece.length && pull->phase == PHASE_IDLE)
        ask_again(pull);
    bool is_over = count == 0 && pull->phase == PHASE_OVER;
    pull->is_asleep = count == 0 && !is_over;
    unlock(pull);
    return is_over ? -1 : (ssize_t)count;
}

static void attach_stream(void *context, void (*wake)(void *waker), void *waker)
{
    struct pull *pull = context;
    lock(pull);
    pull->wake = wake;
    pull->waker = waker;
    unlock(pull);
}

/* Whoever is at it right now frees it afterwards. */
static void close_stream(void *context)
{
    struct pull *pull = context;
    lock(pull);
    bool is_ours = pull->phase != PHASE_HANDED || crew_take_back(pull->crew, &pull->job);
    pull->is_closed = true;
    pull->is_asleep = false;
    unlock(pull);
    if (is_ours)
        pull_free(pull);
}

enum status pull_open(const struct route_call *call, const struct pull_source *source,
                      struct http_stream *out, struct err *err)
{
    struct strbuf piece;
    struct pull_next next = {0};
    strbuf_init(&piece, PIECE_MAX);
    if (source->fetch(source->context, call->operations, &piece, &next, err) != STATUS_OK) {
        strbuf_fini(&piece);
        source->free(source->context);
        return err->code;
    }
    struct pull *pull = mem_zalloc(1, sizeof *pull);
    pull->job.work = work;
    pull->crew = call->crew;
    pull->arena = arena_new();
    pull->principal = principal_copy(pull->arena, call->service->principal);
    pull->source = *source;
    pull->piece = piece;
    pull->phase = next.is_over ? PHASE_OVER : PHASE_IDLE;
    pull->looked_us = clock_wait_us();
    pull->due_us = pull->looked_us + next.wait_ms * 1000;
    CHECK(pthread_mutex_init(&pull->lock, NULL) == 0);
    *out = (struct http_stream){
        .context = pull, .read = read_stream, .close = close_stream, .attach = attach_stream};
    return STATUS_OK;
}
