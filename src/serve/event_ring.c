#include "serve/event_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "serve/sse.h"

enum { FRAME_MAX = 64 << 20 };

struct event_ring {
    struct ring_event **events; /* by their number, modulo */
    size_t events_max;
    size_t bytes_max;
    size_t bytes;
    uint64_t first;
    uint64_t next;
};

struct event_ring *event_ring_new(size_t events_max, size_t bytes_max)
{
    CHECK(events_max > 0);
    struct event_ring *ring = mem_zalloc(1, sizeof *ring);
    *ring = (struct event_ring){
        .events = mem_zalloc(events_max, sizeof(struct ring_event *)),
        .events_max = events_max,
        .bytes_max = bytes_max,
        .first = 1,
        .next = 1,
    };
    return ring;
}

void event_ring_free(struct event_ring *ring)
{
    if (ring == NULL)
        return;
    event_ring_clear(ring);
    free((void *)ring->events);
    free(ring);
}

static void forget_first(struct event_ring *ring)
{
    struct ring_event *event = event_ring_get(ring, ring->first);
    ring->bytes -= event->length;
    ring->first++;
    ring_event_drop(event);
}

void event_ring_clear(struct event_ring *ring)
{
    while (ring->first < ring->next)
        forget_first(ring);
}

/* One piece of memory: the event, its text and the names that filters ask for. */
struct packing {
    char *at;
};

static const char *pack(struct packing *packing, const char *text)
{
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = memcpy(packing->at, text, size);
    packing->at += size;
    return copy;
}

static size_t room_for(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static struct ring_event *pack_event(const struct event_facts *facts, const char *id,
                                     const struct strbuf *frame)
{
    size_t room = room_for(facts->dag_id) + room_for(facts->task_id) + room_for(facts->host) +
                  room_for(facts->space) + room_for(id) + frame->length + 1;
    struct ring_event *event = mem_alloc(sizeof *event + room);
    struct packing packing = {.at = (char *)(event + 1)};
    *event = (struct ring_event){
        .users = 1,
        .facts = {.kind = facts->kind,
                  .run = facts->run,
                  .dag_id = pack(&packing, facts->dag_id),
                  .task_id = pack(&packing, facts->task_id),
                  .host = pack(&packing, facts->host),
                  .space = pack(&packing, facts->space)},
        .id = pack(&packing, id),
        .text = packing.at,
        .length = frame->length,
    };
    memcpy(packing.at, frame->text, frame->length + 1);
    return event;
}

struct ring_event *ring_event_new(const json_t *event)
{
    CLEANUP(strbuf_fini) struct strbuf frame;
    CLEANUP(json_decrefp) json_t *told = json_copy((json_t *)(uintptr_t)event);
    const char *id = json_get_string(event, "cursor", "");
    struct event_facts facts = event_facts_of(event);
    CHECK(told != NULL);
    strbuf_init(&frame, FRAME_MAX);
    (void)json_object_del(told, "cursor");
    sse_add(&frame, id, NULL, told);
    CHECK(!frame.overflow);
    return pack_event(&facts, id, &frame);
}

struct ring_event *ring_event_named(const json_t *event, const char *name)
{
    CLEANUP(strbuf_fini) struct strbuf frame;
    struct event_facts facts = event_facts_of(event);
    strbuf_init(&frame, FRAME_MAX);
    sse_add(&frame, NULL, name, event);
    CHECK(!frame.overflow);
    return pack_event(&facts, NULL, &frame);
}

void event_ring_push(struct event_ring *ring, struct ring_event *taken)
{
    while (ring->first < ring->next && (ring->next - ring->first == ring->events_max ||
                                        ring->bytes + taken->length > ring->bytes_max))
        forget_first(ring);
    taken->number = ring->next++;
    ring->bytes += taken->length;
    ring->events[taken->number % ring->events_max] = taken;
}

uint64_t event_ring_first(const struct event_ring *ring)
{
    return ring->first;
}

uint64_t event_ring_next(const struct event_ring *ring)
{
    return ring->next;
}

struct ring_event *event_ring_get(const struct event_ring *ring, uint64_t number)
{
    CHECK(number >= ring->first);
    CHECK(number < ring->next);
    return ring->events[number % ring->events_max];
}

struct ring_event *ring_event_hold(struct ring_event *event)
{
    event->users++;
    return event;
}

void ring_event_drop(struct ring_event *event)
{
    if (event != NULL && --event->users == 0)
        free(event);
}
