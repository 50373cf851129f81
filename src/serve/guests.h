#pragma once
/*
 * guests: who is connected, and since when we wait for a request of theirs.
 *
 * The library's own time-out counts from the last byte, so that a byte now and then holds a
 * connection for ever. Here a request has to arrive whole within its time; who is slower is cut
 * off.
 */
#include <microhttpd.h>
#include <stdint.h>

#include "base/attrs.h"

struct guests;
struct guest;

/* `look(context)` is called every second, too. */
NODISCARD struct guests *guests_new(int64_t request_ms, void (*look)(void *context), void *context);
void guests_free(struct guests *guests);
/* No more watching. */
void guests_dismiss(struct guests *guests);

struct guest *guests_enter(struct guests *guests, struct MHD_Connection *connection);
void guests_leave(struct guests *guests, struct guest *guest);
/* Its request has arrived: it waits for us. */
void guests_serve(struct guests *guests, struct MHD_Connection *connection);
/* It was answered: we wait for its next request. */
void guests_await(struct guests *guests, struct MHD_Connection *connection);
