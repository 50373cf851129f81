#pragma once
/*
 * client: a server of ours over HTTP, and its operations as if they were done here.
 *
 * A call gives the status and the text that the handler gave there. What only looks is asked again
 * when the way or the server stumbles, and so is a change that is done once by its key. Any other
 * change is sent once. When its answer is lost in the end that is STATUS_UNKNOWN: nobody but the
 * server knows whether it was done.
 *
 * Threads    One thread at a time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "os/http_client.h"

struct client;

struct client_options {
    const char *server;  /* "https://eider.example:4337"; a path before /api is kept */
    const char *token;   /* NULL or "": none */
    const char *ca_file; /* who vouches for the server; NULL or "": whom the system trusts */
    bool is_here;        /* a daemon of this machine: no proxy, and its certificate may be any */
    /* Wait before asking again; false: somebody interrupts. NULL: nothing is asked twice. */
    bool (*pause)(void *context, int64_t ms);
    void *pause_context;
};

/* STATUS_INVALID: that is no address of a server. */
NODISCARD enum status client_new(const struct client_options *options, struct client **out,
                                 struct err *err);
void client_free(struct client *client); /* NULL is allowed */

static inline void client_freep(struct client **client)
{
    client_free(*client);
}

/* Its address, without a slash at the end; borrowed. */
const char *client_server(const struct client *client);

/*
 * For a struct operation_caller whose context is a client. DAG files that the request names are
 * read here and sent along.
 *
 *   STATUS_UNREACHABLE  nobody is there, or somebody else
 *   STATUS_UNKNOWN      it may have been done or not
 */
NODISCARD enum status client_call(void *client, const char *name, const json_t *request,
                                  json_t **out_response, struct err *err);

struct client_request {
    const char *method;
    const char *path;                  /* "/api/v1/dags?limit=5": encoded, begins with a slash */
    const struct http_header *headers; /* beyond those of the client */
    size_t headers_count;
    const char *body; /* JSON; NULL: none */
    size_t body_length;
};

/* One request as it is. STATUS_OK: the server answered, whatever its status is. */
NODISCARD enum status client_send(struct client *client, const struct client_request *request,
                                  struct http_answer *out, struct err *err);

/* What an answer with a code from 300 on means; never STATUS_OK. */
enum status client_problem(const struct client *client, const struct http_answer *answer,
                           struct err *err);
