#pragma once
/*
 * live: what happens, told to all who listen, while it happens.
 *
 * One thread reads the events of the store once for all listeners, and keeps the latest of them in
 * a ring from which each listener gets those it may see and wants. Who comes back with the id of
 * the last event it saw gets from the store what came between, up to exactly the place where the
 * ring goes on: nothing is left out and nothing told twice. While nobody listens, nothing is asked.
 *
 * What a listener is told beside events:
 *
 *   ready    all that it missed was told; the id is where it is
 *   reset    its id is of no use: something is missing that nobody can tell any more; what it
 *            knows is to be loaded anew, and events go on from now
 *   dropped  it reads more slowly than things happen; the id is where it goes on when it comes back
 *   task.started  without an id, to who wants it: an attempt that runs, once each
 *
 * Threads    Any; streams are read by the server's.
 * Tests      tests/unit/serve/test_live.c, tests/e2e/test_api_live.py
 */
#include <stdint.h>

#include "serve/http.h"
#include "service/event_filter.h"
#include "service/operation.h"

struct live;
struct principal;
struct service;

struct live_options {
    struct service *(*open_service)(void *context);
    void (*close_service)(void *context, struct service *service);
    void *context;
    /* How operations are called on it; NULL: those of the program. For tests. */
    enum status (*call)(struct service *service, const char *name, const json_t *request,
                        json_t **out, struct err *err);
    int64_t poll_ms; /* how often to look when nobody wakes it */
    int64_t beat_ms; /* a word at least so often */
    int64_t life_ms; /* so long may one listen without being asked who it is */
    size_t ring_events;
    size_t ring_bytes;
};

/* 0 in the options stands for what is usual. */
NODISCARD enum status live_new(const struct live_options *options, struct live **out,
                               struct err *err);
/* Nobody may listen any more. NULL is allowed. */
void live_free(struct live *live);

/* Something may have happened. From any thread, never waits; NULL is allowed. */
void live_wake(struct live *live);

struct live_request {
    struct event_filter filter; /* copied; its principal must be given */
    const char *id;             /* that one comes back with; NULL: from now on */
    bool wants_starts;          /* tell also what runs and what starts, whatever kinds it wants */
};

void live_listen(struct live *live, const struct live_request *request, struct http_stream *out);
