#pragma once
/*
 * http: a request and its answer as plain data, without the library that speaks the protocol.
 *
 * Ownership  A request and its texts live as long as the exchange. A response owns its body and its
 *            headers; http_response_fini frees them. A stream belongs to whoever reads it out.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "base/strbuf.h"

/*    name     as sent    changes something */
#define HTTP_METHOD_MAP(X)                                                                         \
    X(GET, "GET", false)                                                                           \
    X(HEAD, "HEAD", false)                                                                         \
    X(POST, "POST", true)                                                                          \
    X(PUT, "PUT", true)                                                                            \
    X(PATCH, "PATCH", true)                                                                        \
    X(DELETE, "DELETE", true)                                                                      \
    X(OPTIONS, "OPTIONS", false)                                                                   \
    X(OTHER, "?", true) /* any other: no path takes it */

enum http_method {
#define X(name, text, changes) HTTP_##name,
    HTTP_METHOD_MAP(X)
#undef X
        HTTP_METHOD_COUNT
};

/* As in the standard, case counts. */
enum http_method http_method_parse(const char *text);
const char *http_method_name(enum http_method method);
bool http_method_changes(enum http_method method);

struct http_pair {
    const char *name;
    const char *value; /* "" where only the name was sent */
};

struct http_pairs {
    struct http_pair *items;
    size_t count;
};

struct http_request {
    enum http_method method;
    const char *path;        /* as sent, without the query: nothing is decoded */
    struct http_pairs query; /* decoded, in their order */
    struct http_pairs headers;
    const char *body;
    size_t body_length;
    const char *peer; /* address of the other side, without its port */
    bool is_secure;   /* TLS */
};

/* NULL when it was not sent; names of headers have no case. The first of several. */
const char *http_header(const struct http_request *request, const char *name);
const char *http_query(const struct http_request *request, const char *name);
/* A cookie's value goes to *out; false when there is none of that name. */
NODISCARD bool http_cookie(const struct http_request *request, const char *name, char *out,
                           size_t size);

/*
 * Whether it is of this machine itself: from its loopback, passed on by nobody who says so, and to
 * an address or `localhost`. A page of another site that a browser here shows can have its own name
 * lead to this machine, and then read what is given to that name; to an address it cannot.
 */
bool http_is_local(const struct http_request *request);

/*
 * An answer that is written piece by piece. Whoever has more to say wakes it.
 */
struct http_stream {
    void *context;
    /* Up to `most` bytes to `to`; 0: nothing just now, -1: that was all. */
    ssize_t (*read)(void *context, char *to, size_t most);
    /* The other side is gone, or all was read. */
    void (*close)(void *context);
    /* Called once, before the first read: `wake(waker)`, from any thread, has read called again. */
    void (*attach)(void *context, void (*wake)(void *waker), void *waker);
    bool has_last_word; /* what it has to say is said even when the server stops */
    bool has_length;
    uint64_t length; /* of the whole, when it is known; else it ends when reading says so */
};

enum { HTTP_HEADERS_MAX = 12, HTTP_BODY_MAX = 64 * 1024 * 1024 };

struct http_response {
    int status;
    const char *content_type; /* static text; NULL: no body */
    struct strbuf body;
    struct {
        const char *name; /* static */
        char *value;      /* heap */
    } headers[HTTP_HEADERS_MAX];
    size_t headers_count;
    struct {
        const void *bytes;
        size_t length;
    } lasting;                 /* with `bytes`, which outlive everything: instead of the body */
    struct http_stream stream; /* with `read`: instead of both */
};

void http_response_init(struct http_response *response);
void http_response_fini(struct http_response *response); /* twice is fine */
void http_response_add_header(struct http_response *response, const char *name, const char *value);
