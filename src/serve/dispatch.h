#pragma once
/*
 * dispatch: one request from its path to its answer: found, let in, read, done, shaped.
 *
 * Everything that can be wrong with a request becomes a problem with the right status here, so that
 * no handler has to think of it.
 *
 * Threads    One thread per desk.
 */
#include "serve/http.h"
#include "serve/route.h"
#include "serve/router.h"
#include "service/principal.h"
#include "service/service.h"

struct crew;
struct live;
struct lounge;
struct usher;

struct dispatch_visitor {
    struct principal principal;
    bool is_known;  /* false: a stranger */
    bool by_cookie; /* changes need a second proof that the person meant it */
    bool has_proof; /* which was given */
    int64_t wait_s; /* with STATUS_LIMIT: seconds until the next try is worth it */
};

/* What all desks share. */
struct serve_world {
    const struct router *router;
    const struct settings *settings;
    /*
     * Who asks. STATUS_DENIED: credentials that are wrong, expired or taken back. STATUS_LIMIT: too
     * many wrong ones. Texts of the visitor live in the arena.
     */
    enum status (*admit)(void *context, struct service *service, const struct http_request *request,
                         struct arena *arena, struct dispatch_visitor *out, struct err *err);
    void *context;         /* of `admit` */
    struct usher *usher;   /* for the routes of signing in */
    struct live *live;     /* NULL: nobody can listen */
    struct lounge *lounge; /* NULL: no claim can wait */
};

/* One worker's place: what it works with. */
struct desk {
    const struct serve_world *world;
    struct service *service;
    struct operation_caller operations;
    struct crew *crew; /* it works in; NULL: in none, as in tests */
};

/*
 * By the thread of the connections: the route of a request that a worker has to answer. NULL: it
 * needs neither store nor rights, and *out is the answer.
 */
const struct route *dispatch_look(const struct serve_world *world,
                                  const struct http_request *request, struct http_response *out);

/* By the row's operation and shapers: for handlers that only sometimes do something else. */
NODISCARD enum status dispatch_operation(const struct route_call *call, struct http_response *out,
                                         struct err *err);

/* Answers the request; *out must be initialized. */
void dispatch(const struct desk *desk, const struct http_request *request,
              struct http_response *out);

struct dispatch_pair {
    const struct http_request *request;
    struct http_response *out; /* initialized */
};

/* Answers all of them, in one transaction that the caller has begun (service/together.h). */
void dispatch_all(const struct desk *desk, const struct dispatch_pair *pairs, size_t count);
