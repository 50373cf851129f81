#pragma once
/*
 * server: listens, reads requests, hands them to a crew of workers, writes their answers.
 *
 * Connections are all served by one thread that never waits for a store. Requests are handed to
 * workers; each has a service, and thereby a store, of its own.
 */
#include <stdint.h>

#include "serve/dispatch.h"

struct server;

struct server_options {
    const char *address;         /* "127.0.0.1:4337", "[::1]:4337"; port 0: any free one */
    const char *tls_certificate; /* PEM text; NULL: plain HTTP */
    const char *tls_key;
    int64_t workers;          /* most at once */
    int64_t brisk;            /* of those, most that are at something short */
    int64_t connections;      /* most at once */
    int64_t connections_peer; /* most at once from one address */
    int64_t idle_ms;          /* a connection without a word for longer is closed */
    int64_t request_ms;       /* a request must have arrived within it */
    int64_t body_bytes;       /* most of a request */
    const struct serve_world *world;
    /* A worker's own service, made at its first request and let go when it rests. */
    struct service *(*open_service)(void *context);
    void (*close_service)(void *context, struct service *service);
    void *context;
};

/* STATUS_CONFLICT: somebody else listens there. */
NODISCARD enum status server_start(const struct server_options *options, struct server **out,
                                   struct err *err);
/* Answers what was asked, ends streams, closes. NULL is allowed. */
void server_stop(struct server *server);

/* Where it listens: "http://127.0.0.1:4337". Borrowed. */
const char *server_url(const struct server *server);
/* The same as programs of this machine reach it. Borrowed. */
const char *server_near_url(const struct server *server);
