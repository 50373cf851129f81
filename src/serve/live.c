/*
 * live: rounds and turns.
 *
 *   round   everything that is new in the store goes to the ring. It begins when somebody wakes us,
 *           when somebody new listens, and at least every poll_ms; who came before it began joins
 *           where it ends
 *   turn    between rounds, a page of the past for the one who had the fewest of those behind
 */
#include "serve/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "os/knock.h"
#include "os/thread.h"
#include "serve/live_priv.h"
#include "service/credentials.h"
#include "service/operations.h"
#include "service/service.h"

enum {
    POLL_MS = 50,
    BEAT_MS = 15000,
    LIFE_MS = 15 * 60 * 1000,
    RING_EVENTS = 4096,
    RING_BYTES = 8 << 20,
    ROUND_PAGE = 500,
    TURN_PAGE = 100,
    GATHER_US = 5000,   /* between rounds, for what comes in bursts */
    AGAIN_US = 1000000, /* after a failure */
    LOOK_US = 10000000, /* between looks whether a listener may still listen */
    REST_US = 30000000, /* without listeners, until the store is let go of */
};

static const char LOST_ID[] = "the id is none that was given out";
static const char LOST_PAST[] = "the store has another past than the id, or what came after it is "
                                "not kept any more";

void live_lock(struct live *live)
{
    CHECK(pthread_mutex_lock(&live->lock) == 0);
}

void live_unlock(struct live *live)
{
    CHECK(pthread_mutex_unlock(&live->lock) == 0);
}

/* --- the store ------------------------------------------------------------------------------- */

static enum status call_program(struct service *service, const char *name, const json_t *request,
                                json_t **out, struct err *err)
{
    struct operation_local local = {.table = &OPERATIONS, .service = service};
    return operation_local_call(&local, name, request, out, err);
}

static void need_service(struct live *live)
{
    if (live->service != NULL)
        return;
    live->service = live->options.open_service(live->options.context);
    live->service->principal = &PRINCIPAL_LOCAL;
}

/* Everything is read; what each may see is decided when it is told. */
enum status live_call(struct live *live, const char *name, json_t *taken_request, json_t **out,
                      struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = taken_request;
    need_service(live);
    return live->options.call(live->service, name, request, out, err);
}

static json_t *request_after(const char *place, int64_t limit)
{
    json_t *request = json_object();
    CHECK(request != NULL);
    if (place[0] != '\0')
        json_put_string(request, "cursor", place);
    json_put_bool(request, "cursors", true);
    json_put_int(request, "limit", limit);
    return request;
}

static void let_store_go(struct live *live)
{
    if (live->service != NULL)
        live->options.close_service(live->options.context, TAKE(live->service));
}

void live_note_failure(struct live *live, const struct err *err)
{
    if (!live->is_failing)
        log_warn("events cannot be read; trying again every second", LOG_STR("why", err->text));
    live->is_failing = true;
    live->not_before_us = clock_wait_us() + AGAIN_US;
}

/* --- rounds ---------------------------------------------------------------------------------- */

static void begin_round(struct live *live)
{
    live->looked_us = clock_wait_us();
    if (live->is_in_round)
        return;
    live->is_in_round = true;
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        if (at->phase == READER_NEW)
            at->phase = READER_JOINING;
}

static void end_round(struct live *live)
{
    live->is_in_round = false;
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        if (at->phase == READER_JOINING)
            live_reader_join(at);
}

/* The store was put back to an earlier state under our feet. */
static void start_over(struct live *live)
{
    event_ring_clear(live->ring);
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        if (at->phase == READER_LIVE || at->phase == READER_BEHIND)
            live_reader_reset(at, LOST_PAST);
}

struct events {
    struct ring_event **items;
    size_t count;
};

/* Without the lock, as it takes a while. */
static struct events prepare(const json_t *response)
{
    const json_t *list = json_object_get(response, "events");
    struct events events = {.items =
                                mem_zalloc(json_array_size(list) + 1, sizeof(struct ring_event *))};
    for (; events.count < json_array_size(list); events.count++)
        events.items[events.count] = ring_event_new(json_array_get(list, events.count));
    return events;
}

static void publish(struct live *live, const json_t *response, struct events *events)
{
    bool has_gap = json_is_string(json_object_get(response, "gap"));
    bool is_first = live->place[0] == '\0';
    if (has_gap)
        start_over(live);
    for (size_t i = 0; i < events->count; i++) {
        if (is_first || has_gap)
            ring_event_drop(events->items[i]);
        else
            event_ring_push(live->ring, events->items[i]);
    }
    free((void *)events->items);
    (void)snprintf(live->place, sizeof live->place, "%s", json_get_string(response, "cursor", ""));
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        live_reader_notice(at);
    if (!json_get_bool(response, "more", false) && live->place[0] != '\0')
        end_round(live);
}

/* A page of it, with the lock, which is let go of meanwhile. */
static void go_round(struct live *live)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err err = {0};
    int64_t limit = MIN((int64_t)ROUND_PAGE, (int64_t)live->options.ring_events);
    begin_round(live);
    json_t *request = request_after(live->place, live->place[0] == '\0' ? 1 : limit);
    live_unlock(live);
    enum status status = live_call(live, "event.list", request, &response, &err);
    struct events events = {0};
    if (status == STATUS_OK)
        events = prepare(response);
    live_lock(live);
    if (status != STATUS_OK) {
        live_note_failure(live, &err);
        return;
    }
    live->is_failing = false;
    publish(live, response, &events);
}

/* --- turns ----------------------------------------------------------------------------------- */

static struct live_reader *hungriest(const struct live *live)
{
    struct live_reader *found = NULL;
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        if (live_reader_is_hungry(at) && (found == NULL || at->fed < found->fed))
            found = at;
    return found;
}

static void digest(struct live *live, struct live_reader *reader, const json_t *response,
                   const struct err *err)
{
    if (reader->phase != READER_BEHIND)
        return;
    if (err->code == STATUS_INVALID)
        live_reader_reset(reader, LOST_ID);
    else if (err->code != STATUS_OK)
        live_note_failure(live, err);
    else if (json_is_string(json_object_get(response, "gap")))
        live_reader_reset(reader, LOST_PAST);
    else
        live_reader_feed(reader, response);
}

/* With the lock, which is let go of meanwhile. */
static void give_turn(struct live *live, struct live_reader *reader)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err err = {0};
    json_t *request = request_after(reader->place, TURN_PAGE);
    json_put_string(request, "until", reader->until);
    reader->fed++;
    reader->users++;
    live_unlock(live);
    (void)!live_call(live, "event.list", request, &response, &err);
    live_lock(live);
    if (!reader->is_closed)
        digest(live, reader, response, &err);
    live_reader_let_go(reader);
}

/* --- who may still listen -------------------------------------------------------------------- */

static struct live_reader *longest_unseen(const struct live *live, int64_t now_us)
{
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        if (at->phase != READER_OVER && now_us - at->looked_us >= LOOK_US)
            return at;
    return NULL;
}

/* With the lock, which is let go of meanwhile. Who comes back is asked who it is. */
static void look_again(struct live *live, struct live_reader *reader)
{
    struct err err = {0};
    reader->looked_us = clock_wait_us();
    reader->users++;
    live_unlock(live);
    need_service(live);
    bool is_out = credentials_again(live->service, &reader->principal, &err) == STATUS_DENIED;
    live_lock(live);
    if (is_out && !reader->is_closed) {
        reader->phase = READER_OVER;
        live_reader_wake(reader);
    }
    live_reader_let_go(reader);
}

/* --- the thread ------------------------------------------------------------------------------ */

static bool has_newcomer(const struct live *live)
{
    for (const struct live_reader *at = live->readers; at != NULL; at = at->after)
        if (at->phase == READER_NEW)
            return true;
    return false;
}

static int64_t round_due_us(const struct live *live, bool is_woken)
{
    int64_t pause_us = is_woken || has_newcomer(live) ? GATHER_US : live->options.poll_ms * 1000;
    int64_t due_us = live->is_in_round ? 0 : live->looked_us + pause_us;
    return MAX(due_us, live->not_before_us);
}

static int64_t mind_all(struct live *live, int64_t now_us)
{
    int64_t due_us = INT64_MAX;
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        due_us = MIN(due_us, live_reader_mind(at, now_us));
    return due_us;
}

/* With the lock, which is let go of meanwhile. */
static void wait_until(struct live *live, int64_t until_us)
{
    live_unlock(live);
    int64_t left_us = until_us - clock_wait_us();
    if (left_us > 0)
        knock_wait(live->knock, MIN((left_us + 999) / 1000, (int64_t)3600000));
    live_lock(live);
}

/* Nobody listens: the next one begins with what the store has then. */
static void rest(struct live *live)
{
    int64_t until_us = clock_wait_us() + REST_US;
    event_ring_clear(live->ring);
    start_board_clear(live->board);
    live->place[0] = '\0';
    live->is_in_round = false;
    while (live->readers == NULL && !live->is_over) {
        bool is_quiet = clock_wait_us() >= until_us;
        if (is_quiet) {
            live_unlock(live);
            let_store_go(live);
            live_lock(live);
        }
        wait_until(live, is_quiet ? INT64_MAX : until_us);
        knock_clear(live->knock);
    }
}

/* One thing; false: there is nothing to do before somebody knocks, or *out_until_us. */
static bool do_next(struct live *live, bool *is_woken, int64_t *out_until_us)
{
    int64_t now_us = clock_wait_us();
    int64_t due_us = round_due_us(live, *is_woken);
    int64_t starts_us = live_starts_due_us(live);
    struct live_reader *hungry = now_us >= live->not_before_us ? hungriest(live) : NULL;
    if (now_us >= starts_us) {
        live_starts_look(live);
        return true;
    }
    if (now_us >= due_us) {
        *is_woken = false;
        go_round(live);
        return true;
    }
    if (hungry != NULL) {
        give_turn(live, hungry);
        return true;
    }
    struct live_reader *unseen = longest_unseen(live, now_us);
    if (unseen != NULL) {
        look_again(live, unseen);
        return true;
    }
    due_us = MIN(due_us, starts_us);
    *out_until_us = MIN(due_us, mind_all(live, now_us));
    return false;
}

static void tend(void *context)
{
    struct live *live = context;
    bool is_woken = false;
    live_lock(live);
    while (!live->is_over) {
        int64_t until_us = 0;
        if (live->readers == NULL) {
            rest(live);
        } else if (!do_next(live, &is_woken, &until_us)) {
            wait_until(live, until_us);
            is_woken |= clock_wait_us() < until_us;
            live->is_start_near |= is_woken;
            knock_clear(live->knock);
        }
    }
    live_unlock(live);
    let_store_go(live);
}

/* --- from outside ---------------------------------------------------------------------------- */

static void fill_in(struct live_options *options)
{
    if (options->call == NULL)
        options->call = call_program;
    if (options->poll_ms == 0)
        options->poll_ms = POLL_MS;
    if (options->beat_ms == 0)
        options->beat_ms = BEAT_MS;
    if (options->life_ms == 0)
        options->life_ms = LIFE_MS;
    if (options->ring_events == 0)
        options->ring_events = RING_EVENTS;
    if (options->ring_bytes == 0)
        options->ring_bytes = RING_BYTES;
}

enum status live_new(const struct live_options *options, struct live **out, struct err *err)
{
    struct live *live = mem_zalloc(1, sizeof *live);
    live->options = *options;
    fill_in(&live->options);
    live->ring = event_ring_new(live->options.ring_events, live->options.ring_bytes);
    live->board = start_board_new();
    CHECK(pthread_mutex_init(&live->lock, NULL) == 0);
    live->knock = -1;
    if (knock_open(&live->knock, err) != STATUS_OK ||
        thread_start("eider-live", tend, live, &live->thread, err) != STATUS_OK) {
        live_free(live);
        return err_wrap(err, "tell of events");
    }
    *out = live;
    return STATUS_OK;
}

void live_free(struct live *live)
{
    if (live == NULL)
        return;
    live_lock(live);
    CHECK(live->readers == NULL);
    live->is_over = true;
    live_unlock(live);
    if (live->thread != NULL) {
        knock_send(live->knock);
        thread_join(live->thread);
    }
    if (live->knock >= 0)
        (void)close(live->knock);
    event_ring_free(live->ring);
    start_board_free(live->board);
    CHECK(pthread_mutex_destroy(&live->lock) == 0);
    free(live);
}

void live_wake(struct live *live)
{
    if (live != NULL && atomic_load(&live->has_readers))
        knock_send(live->knock);
}
