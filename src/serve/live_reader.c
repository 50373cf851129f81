#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "os/knock.h"
#include "serve/live_priv.h"
#include "serve/sse.h"

enum { OUT_MAX = 64 << 20 };

/* --- where it is ----------------------------------------------------------------------------- */

static void set_place(struct live_reader *reader, const char *id, bool is_told)
{
    (void)snprintf(reader->place, sizeof reader->place, "%s", id);
    reader->is_place_told = is_told;
}

static bool is_drained(const struct live_reader *reader)
{
    return reader->out_sent == reader->out.length && reader->event == NULL;
}

/* What was sent makes room for more. */
static struct strbuf *fresh_out(struct live_reader *reader)
{
    if (reader->out_sent == reader->out.length) {
        strbuf_fini(&reader->out);
        strbuf_init(&reader->out, OUT_MAX);
        reader->out_sent = 0;
    }
    return &reader->out;
}

static void tell(struct live_reader *reader, const char *event, const char *why)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    CHECK(data != NULL);
    json_put_string(data, "cursor", reader->place);
    if (why != NULL)
        json_put_string(data, "reason", why);
    sse_add(fresh_out(reader), reader->place, event, data);
    reader->is_place_told = true;
}

void live_reader_wake(struct live_reader *reader)
{
    if (!reader->is_asleep)
        return;
    reader->is_asleep = false;
    reader->wake(reader->waker);
}

/* --- from one phase to the next -------------------------------------------------------------- */

void live_reader_join(struct live_reader *reader)
{
    const struct live *live = reader->live;
    bool begins = reader->place[0] == '\0';
    reader->next = event_ring_next(live->ring);
    if (begins) {
        const char *lost = TAKE(reader->lost);
        set_place(reader, live->place, true);
        tell(reader, lost != NULL ? "reset" : "ready", lost);
        reader->phase = READER_LIVE;
    } else {
        (void)snprintf(reader->until, sizeof reader->until, "%s", live->place);
        reader->phase = READER_BEHIND;
    }
    live_reader_wake(reader);
}

void live_reader_reset(struct live_reader *reader, const char *why)
{
    reader->place[0] = '\0';
    reader->lost = why;
    reader->phase = READER_NEW;
}

bool live_reader_is_hungry(const struct live_reader *reader)
{
    return reader->phase == READER_BEHIND && is_drained(reader);
}

static void feed_event(struct live_reader *reader, json_t *event)
{
    CLEANUP(mem_freep) char *id = mem_strdup(json_get_string(event, "cursor", ""));
    struct event_facts facts = event_facts_of(event);
    bool passes = event_filter_passes(&reader->filter, &facts);
    set_place(reader, id, passes);
    (void)json_object_del(event, "cursor");
    if (passes)
        sse_add(fresh_out(reader), id, NULL, event);
}

void live_reader_feed(struct live_reader *reader, const json_t *response)
{
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(response, "events"), i, event)
    {
        feed_event(reader, event);
    }
    set_place(reader, json_get_string(response, "cursor", ""), false);
    if (!json_get_bool(response, "more", false)) {
        /* Whoever took so long that the ring went on without it has to look at the store again. */
        bool is_there = reader->next >= event_ring_first(reader->live->ring);
        reader->phase = is_there ? READER_LIVE : READER_NEW;
        if (is_there)
            tell(reader, "ready", NULL);
    }
    live_reader_wake(reader);
}

void live_reader_notice(struct live_reader *reader)
{
    const struct event_ring *ring = reader->live->ring;
    if (reader->phase != READER_LIVE || !reader->is_asleep)
        return;
    if (reader->next < event_ring_first(ring)) {
        live_reader_wake(reader);
        return;
    }
    for (; reader->next < event_ring_next(ring); reader->next++) {
        const struct ring_event *event = event_ring_get(ring, reader->next);
        if (event_filter_passes(&reader->filter, &event->facts)) {
            live_reader_wake(reader);
            return;
        }
        set_place(reader, event->id, false);
    }
}

/* Who is still sending gets it with a later look, as far as it runs then. */
void live_reader_tell_starts(struct live_reader *reader, const struct start_board *board,
                             size_t most)
{
    if (!reader->wants_starts || reader->phase != READER_LIVE || !is_drained(reader))
        return;
    struct event_filter filter = reader->filter;
    filter.has_kinds = false;
    if (start_board_tell(board, &filter, most, &reader->starts, fresh_out(reader)))
        live_reader_wake(reader);
}

int64_t live_reader_mind(struct live_reader *reader, int64_t now_us)
{
    int64_t due_us = reader->spoke_us + reader->live->options.beat_ms * 1000;
    if (reader->phase == READER_OVER)
        return INT64_MAX;
    if (!is_drained(reader))
        return now_us + reader->live->options.beat_ms * 1000;
    if (now_us >= reader->ends_us) {
        reader->phase = READER_OVER;
        live_reader_wake(reader);
        return INT64_MAX;
    }
    if (now_us < due_us)
        return MIN(due_us, reader->ends_us);
    bool has_news = reader->phase == READER_LIVE && !reader->is_place_told;
    sse_add_beat(fresh_out(reader), has_news ? reader->place : NULL);
    reader->is_place_told |= has_news;
    reader->spoke_us = now_us;
    live_reader_wake(reader);
    return now_us + reader->live->options.beat_ms * 1000;
}

/* --- as a stream ----------------------------------------------------------------------------- */

static size_t copy_some(char *to, size_t most, const char *from, size_t length, size_t *sent)
{
    size_t count = MIN(most, length - *sent);
    memcpy(to, from + *sent, count);
    *sent += count;
    return count;
}

/* The next event of the ring that it wants; false: there is none. */
static bool take_next(struct live_reader *reader)
{
    const struct event_ring *ring = reader->live->ring;
    if (reader->phase != READER_LIVE)
        return false;
    if (reader->next < event_ring_first(ring)) {
        tell(reader, "dropped", "events came faster than they were read");
        reader->phase = READER_OVER;
        return true;
    }
    while (reader->next < event_ring_next(ring)) {
        struct ring_event *event = event_ring_get(ring, reader->next++);
        bool passes = event_filter_passes(&reader->filter, &event->facts);
        set_place(reader, event->id, passes);
        if (!passes)
            continue;
        reader->event = ring_event_hold(event);
        reader->event_sent = 0;
        return true;
    }
    return false;
}

static size_t read_locked(struct live_reader *reader, char *to, size_t most)
{
    size_t got = 0;
    while (got < most) {
        if (reader->event != NULL) {
            got += copy_some(to + got, most - got, reader->event->text, reader->event->length,
                             &reader->event_sent);
            if (reader->event_sent == reader->event->length)
                ring_event_drop(TAKE(reader->event));
        } else if (reader->out_sent < reader->out.length) {
            got += copy_some(to + got, most - got, reader->out.text, reader->out.length,
                             &reader->out_sent);
        } else if (!take_next(reader)) {
            break;
        }
    }
    return got;
}

static ssize_t read_stream(void *context, char *to, size_t most)
{
    struct live_reader *reader = context;
    struct live *live = reader->live;
    live_lock(live);
    size_t got = read_locked(reader, to, most);
    if (got > 0)
        reader->spoke_us = clock_wait_us();
    bool is_over = got == 0 && reader->phase == READER_OVER;
    bool is_hungry = live_reader_is_hungry(reader);
    reader->is_asleep = got == 0 && !is_over;
    live_unlock(live);
    if (is_hungry)
        knock_send(live->knock);
    return is_over ? -1 : (ssize_t)got;
}

static void attach_stream(void *context, void (*wake)(void *waker), void *waker)
{
    struct live_reader *reader = context;
    live_lock(reader->live);
    reader->wake = wake;
    reader->waker = waker;
    live_unlock(reader->live);
}

void live_reader_let_go(struct live_reader *reader)
{
    if (--reader->users > 0)
        return;
    ring_event_drop(reader->event);
    strbuf_fini(&reader->out);
    arena_free(reader->arena);
    free(reader);
}

static void close_stream(void *context)
{
    struct live_reader *reader = context;
    struct live *live = reader->live;
    live_lock(live);
    if (reader->after != NULL)
        reader->after->before = reader->before;
    if (reader->before != NULL)
        reader->before->after = reader->after;
    else
        live->readers = reader->after;
    atomic_store(&live->has_readers, live->readers != NULL);
    reader->is_closed = true;
    reader->is_asleep = false;
    live_reader_let_go(reader);
    live_unlock(live);
}

static struct event_filter copy_filter(struct live_reader *reader,
                                       const struct event_filter *filter)
{
    struct event_filter copy = *filter;
    copy.dag_id = arena_strdup_null(reader->arena, filter->dag_id);
    copy.task_id = arena_strdup_null(reader->arena, filter->task_id);
    copy.host = arena_strdup_null(reader->arena, filter->host);
    copy.principal = &reader->principal;
    return copy;
}

/* Nobody listens longer than its token is good for. */
static int64_t life_us(const struct live *live, const struct principal *principal)
{
    int64_t life_us = live->options.life_ms * 1000;
    if (principal->expires_at_us == 0)
        return life_us;
    return MIN(life_us, MAX(principal->expires_at_us - clock_wall_us(), (int64_t)0));
}

static struct live_reader *new_reader(struct live *live, const struct live_request *request)
{
    struct live_reader *reader = mem_zalloc(1, sizeof *reader);
    int64_t now_us = clock_wait_us();
    reader->live = live;
    reader->arena = arena_new();
    reader->principal = principal_copy(reader->arena, request->filter.principal);
    reader->filter = copy_filter(reader, &request->filter);
    reader->wants_starts = request->wants_starts;
    reader->users = 1;
    reader->spoke_us = now_us;
    reader->looked_us = now_us;
    reader->ends_us = now_us + life_us(live, &reader->principal);
    strbuf_init(&reader->out, OUT_MAX);
    sse_add_start(&reader->out);
    /* One that is too long is none of ours, and answered as such. */
    if (request->id != NULL)
        set_place(reader, strlen(request->id) < LIVE_ID_MAX ? request->id : "?", true);
    return reader;
}

void live_listen(struct live *live, const struct live_request *request, struct http_stream *out)
{
    struct live_reader *reader = new_reader(live, request);
    live_lock(live);
    reader->after = live->readers;
    if (live->readers != NULL)
        live->readers->before = reader;
    live->readers = reader;
    atomic_store(&live->has_readers, true);
    live_unlock(live);
    knock_send(live->knock);
    *out = (struct http_stream){
        .context = reader, .read = read_stream, .close = close_stream, .attach = attach_stream};
}
