#pragma once
/*
 * lounge: where claims wait for work, without a thread each.
 *
 * One thread claims for all who wait: when it is woken, and every now and then. Who waits is heard
 * from as long as it waits. Of those who want the same, the one that came first is served first,
 * and when there is nothing for it, the others are not asked for in vain.
 *
 * Whatever goes wrong while a claim waits, and also when its token is taken back, its answer is
 * that there was nothing: the next claim gets to know why.
 *
 * Threads  Any.
 */
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "serve/http.h"

struct lounge;
struct pass;
struct service;

struct lounge_options {
    struct service *(*open_service)(void *context);
    void (*close_service)(void *context, struct service *service);
    void *context;
    /* NULL: worker.claim and worker.release. For tests. */
    enum status (*claim)(struct service *service, const json_t *request, json_t **out,
                         struct err *err);
    void (*release)(struct service *service, const json_t *job);
    int64_t poll_ms; /* 0: the usual */
};

NODISCARD enum status lounge_new(const struct lounge_options *options, struct lounge **out,
                                 struct err *err);
/* Everybody is answered, and whoever comes afterwards at once. NULL is allowed. */
void lounge_close(struct lounge *lounge);
/* All streams must be closed. NULL is allowed. */
void lounge_free(struct lounge *lounge);

/* There may be something to claim. NULL is allowed. */
void lounge_wake(struct lounge *lounge);

struct lounge_guest_request {
    struct pass *pass;     /* of who claims; taken */
    const json_t *claim;   /* request of the operation; copied */
    const json_t *nothing; /* its response when there is nothing */
    int64_t wait_ms;
    int64_t beat_ms; /* so often it has to be heard from */
};

/* The answer, once there is one: JSON. */
void lounge_wait(struct lounge *lounge, const struct lounge_guest_request *request,
                 struct http_stream *out);
