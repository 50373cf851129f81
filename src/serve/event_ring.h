#pragma once
/*
 * event_ring: the latest events, as they are sent, for all who listen.
 *
 * Events have numbers from 1 on, without gaps. When there are too many of them, or too many bytes,
 * the oldest go; whoever is still sending one keeps it until it is let go of.
 *
 * Threads    One at a time; whoever uses it from several has a lock.
 * Tests      tests/unit/serve/test_event_ring.c
 */
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "service/event_filter.h"

struct event_ring;

struct ring_event {
    uint64_t number;
    size_t users; /* the ring is one */
    struct event_facts facts;
    const char *id; /* where a reader goes on who has seen it */
    const char *text;
    size_t length;
};

NODISCARD struct event_ring *event_ring_new(size_t events_max, size_t bytes_max);
void event_ring_free(struct event_ring *ring); /* NULL is allowed */

/* Of an event as `event.list` tells it with its cursor, which becomes the id; heap. */
NODISCARD struct ring_event *ring_event_new(const json_t *event);
/* The same of what is no stored event: it has a name instead of an id, and is for no ring. */
NODISCARD struct ring_event *ring_event_named(const json_t *event, const char *name);
/* Takes it. */
void event_ring_push(struct event_ring *ring, struct ring_event *taken);
/* As if it were new, but numbers go on. */
void event_ring_clear(struct event_ring *ring);

/* The number of the oldest that is there, and of the next that will come. */
uint64_t event_ring_first(const struct event_ring *ring);
uint64_t event_ring_next(const struct event_ring *ring);
/* Borrowed; it must be there. */
struct ring_event *event_ring_get(const struct event_ring *ring, uint64_t number);

/* For whoever goes on with it after the ring may have forgotten it. */
struct ring_event *ring_event_hold(struct ring_event *event);
void ring_event_drop(struct ring_event *event); /* NULL is allowed */
