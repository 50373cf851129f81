#pragma once
/*
 * http_client: one HTTP request and its answer, blocking.
 *
 * Only http and https. Certificates are checked, redirects are not followed, and proxies are those
 * of the environment (http_proxy, https_proxy, no_proxy). What a server answers is bounded.
 *
 * Threads  Any thread may call it; the call blocks for `timeout_ms` at most. A session belongs to
 * one thread at a time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/transfer_options.h"

/*
 * Connections that stay open between requests. A request over one that the server has closed
 * meanwhile is sent a second time: only for what may be done twice.
 */
struct http_session;
NODISCARD struct http_session *http_session_new(void);
void http_session_free(struct http_session *session); /* NULL is allowed */

struct http_header {
    const char *name;
    const char *value;
};

struct http_request {
    const char *method; /* NULL: GET */
    const char *url;
    const struct http_header *headers;
    size_t headers_count;
    const void *body; /* NULL: none */
    size_t body_length;
    struct transfer_options way;
    int64_t redirects_max;
    size_t answer_max;            /* bytes of the answer that are kept */
    struct http_session *session; /* NULL: a connection for this request alone */
    /* NULL, or where to say, of a request that fails too, whether some of it went out. */
    bool *was_sent;
};

struct http_answer {
    int status;
    char *body; /* heap, closed by NUL */
    size_t length;
    bool is_cut;            /* there was more */
    int64_t retry_after_ms; /* what the server asks to wait; -1: nothing */
    char content_type[64];  /* without parameters; "": none was said */
};

/*
 * STATUS_OK: the server answered, whatever its status is.
 *
 *   STATUS_INVALID      the request cannot be sent: scheme, method, or a header with a line break.
 *   STATUS_DENIED       the address is not public.
 *   STATUS_UNREACHABLE  no name, or nobody listens.
 *   STATUS_TIMEOUT      it took too long.
 *   STATUS_IO           anything else on the way, a certificate that is not trusted included.
 *
 * Errors name the server, not the path of the URL, which may be a secret.
 */
NODISCARD enum status http_perform(const struct http_request *request, struct http_answer *out,
                                   struct err *err);
void http_answer_fini(struct http_answer *answer); /* twice is fine */

/* Whether the same request may succeed later: 408, 425, 429 and 5xx. */
bool http_status_is_retryable(int status);
