/*
 * The latest events: what is kept, what goes, and who may still have it.
 */
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "serve/event_ring.h"

static void push(struct event_ring *ring, int number)
{
    char id[16];
    json_t *event = json_object();
    (void)snprintf(id, sizeof id, "c%d", number);
    json_put_string(event, "kind", "task_ended");
    json_put_string(event, "dag_id", "etl");
    json_put_string(event, "namespace", "sales");
    json_put_id(event, "number", number);
    json_put_string(event, "cursor", id);
    event_ring_push(ring, ring_event_new(event));
    json_decref(event);
}

Test(event_ring, events_are_frames_with_what_filters_ask_for)
{
    struct event_ring *ring = event_ring_new(4, 1 << 20);
    push(ring, 7);
    cr_assert_eq(event_ring_first(ring), 1);
    cr_assert_eq(event_ring_next(ring), 2);
    const struct ring_event *event = event_ring_get(ring, 1);
    cr_expect_str_eq(event->text, "id: c7\ndata: {\"dag_id\":\"etl\",\"kind\":\"task_ended\","
                                  "\"namespace\":\"sales\",\"number\":\"7\"}\n\n");
    cr_expect_eq(event->length, strlen(event->text));
    cr_expect_str_eq(event->id, "c7");
    cr_expect_eq(event->facts.kind, EVENT_TASK_ENDED);
    cr_expect_str_eq(event->facts.dag_id, "etl");
    cr_expect_str_eq(event->facts.space, "sales");
    cr_expect_eq(event->facts.run, 7);
    cr_expect_null(event->facts.task_id);
    cr_expect_null(event->facts.host);
    event_ring_free(ring);
}

Test(event_ring, the_oldest_go_when_there_are_too_many)
{
    struct event_ring *ring = event_ring_new(3, 1 << 20);
    for (int i = 1; i <= 8; i++)
        push(ring, i);
    cr_expect_eq(event_ring_first(ring), 6);
    cr_expect_eq(event_ring_next(ring), 9);
    for (uint64_t number = 6; number < 9; number++) {
        cr_expect_eq(event_ring_get(ring, number)->number, number);
        cr_expect_eq(event_ring_get(ring, number)->facts.run, (int64_t)number);
    }
    event_ring_free(ring);
}

Test(event_ring, the_oldest_go_when_they_are_too_large)
{
    struct event_ring *ring = event_ring_new(100, 300);
    for (int i = 1; i <= 8; i++)
        push(ring, i);
    size_t bytes = 0;
    for (uint64_t number = event_ring_first(ring); number < event_ring_next(ring); number++)
        bytes += event_ring_get(ring, number)->length;
    cr_expect_leq(bytes, 300);
    cr_expect_gt(event_ring_first(ring), 1);
    cr_expect_eq(event_ring_next(ring), 9);
    event_ring_free(ring);
}

Test(event_ring, one_that_is_larger_than_all_is_kept_alone)
{
    struct event_ring *ring = event_ring_new(100, 1);
    push(ring, 1);
    push(ring, 2);
    cr_expect_eq(event_ring_first(ring), 2);
    cr_expect_eq(event_ring_next(ring), 3);
    event_ring_free(ring);
}

Test(event_ring, who_holds_an_event_has_it_after_the_ring_forgot_it)
{
    struct event_ring *ring = event_ring_new(2, 1 << 20);
    push(ring, 1);
    struct ring_event *held = ring_event_hold(event_ring_get(ring, 1));
    for (int i = 2; i <= 9; i++)
        push(ring, i);
    event_ring_free(ring);
    cr_expect_str_eq(held->id, "c1");
    cr_expect_eq(held->facts.run, 1);
    ring_event_drop(held);
    ring_event_drop(NULL);
}

Test(event_ring, numbers_go_on_after_all_was_cleared)
{
    struct event_ring *ring = event_ring_new(4, 1 << 20);
    push(ring, 1);
    push(ring, 2);
    event_ring_clear(ring);
    cr_expect_eq(event_ring_first(ring), 3);
    cr_expect_eq(event_ring_next(ring), 3);
    push(ring, 3);
    cr_expect_eq(event_ring_get(ring, 3)->facts.run, 3);
    event_ring_free(ring);
}
