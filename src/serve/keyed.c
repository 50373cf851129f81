#include "serve/keyed.h"

#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "model/limits.h"
#include "serve/dispatch.h"
#include "serve/problem.h"
#include "service/once.h"
#include "service/operations.h"

/* --- rows ------------------------------------------------------------------------------------ */

static const struct operation *operation_of(const struct route *route)
{
    return route->operation != NULL ? operation_find(&OPERATIONS, route->operation) : NULL;
}

bool keyed_covers(const struct route *route)
{
    const struct operation *operation = operation_of(route);
    return http_method_changes(route->method) &&
           (operation != NULL ? operation_takes_key(operation) : route->takes_key);
}

/* A search that is too long for a path, say. */
static bool only_looks(const struct route *route)
{
    const struct operation *operation = operation_of(route);
    if (operation != NULL)
        return !operation_changes(operation);
    return route->access == ROUTE_PERMISSION && route->permission <= PERMISSION_VIEWER;
}

/* --- keys ------------------------------------------------------------------------------------ */

/* The key of a request; NULL: *out says what is wrong with it. */
static const char *read_key(const struct http_request *request, struct http_response *out)
{
    const char *key = NULL;
    size_t count = 0;
    for (size_t i = 0; i < request->headers.count; i++)
        if (strcasecmp(request->headers.items[i].name, KEYED_HEADER) == 0) {
            key = request->headers.items[i].value;
            count++;
        }
    CHECK(key != NULL);
    size_t length = strlen(key);
    bool is_good = count == 1 && length > 0 && length <= LIMIT_REQUEST_KEY_BYTES;
    for (size_t i = 0; is_good && i < length; i++)
        is_good = key[i] > ' ' && key[i] <= '~';
    if (is_good)
        return key;
    problem_put(out, 400,
                KEYED_HEADER " is one text of 1 to 255 visible ASCII characters without blanks, as "
                             "a UUID is; it is there once");
    return NULL;
}

/* With its length, so that no two lists of texts are the same. */
static void add_part(struct sha256 *hash, const void *bytes, size_t length)
{
    uint64_t size = length;
    sha256_add(hash, &size, sizeof size);
    sha256_add(hash, bytes, length);
}

static void add_text(struct sha256 *hash, const char *text)
{
    add_part(hash, text, strlen(text));
}

/* What is asked, and what whoever asks may do. */
static const char *hash_request(const struct route_call *call, char out[static SHA256_HEX_MAX])
{
    const struct http_request *request = call->request;
    const struct principal *principal = &call->visitor->principal;
    struct sha256 hash;
    sha256_init(&hash);
    add_text(&hash, http_method_name(request->method));
    add_text(&hash, request->path);
    add_part(&hash, &request->query.count, sizeof request->query.count);
    for (size_t i = 0; i < request->query.count; i++) {
        add_text(&hash, request->query.items[i].name);
        add_text(&hash, request->query.items[i].value);
    }
    add_part(&hash, request->body, request->body_length);
    for (size_t i = 0; i < principal->count; i++) {
        add_text(&hash, principal->grants[i].space);
        add_text(&hash, permission_name(principal->grants[i].role));
    }
    return sha256_finish_hex(&hash, out);
}

/* --- answers --------------------------------------------------------------------------------- */

static void answer_again(const struct answered *answer, struct http_response *out)
{
    out->status = answer->status;
    out->content_type = answer->body[0] != '\0' ? "application/json" : NULL;
    strbuf_clear(&out->body);
    strbuf_add(&out->body, answer->body);
    http_response_add_header(out, KEYED_REPLAYED_HEADER, "true");
}

static void refuse(const struct err *err, struct http_response *out)
{
    if (err->code == STATUS_CONFLICT)
        problem_put_as(out, 422, err->code,
                       "this " KEYED_HEADER " was used for another request, or with other rights: "
                       "a new request needs a new key");
    else
        problem_answer(out, err);
}

/* Takes no key: of what only looks none is needed, of others it would be no help. */
static void serve_without(struct route_call *call, keyed_serve_fn serve, struct http_response *out)
{
    if (only_looks(call->route))
        serve(call, out);
    else
        problem_put(out, 400,
                    "this request does not take " KEYED_HEADER ": leave it out; "
                    "/api/v1/openapi.json tells which ones take it");
}

static void serve_first(struct route_call *call, const struct once *once, keyed_serve_fn serve,
                        struct http_response *out)
{
    struct err err = {0};
    serve(call, out);
    if (out->status < 200 || out->status > 299) {
        once_undo(call->service, once);
        return;
    }
    const struct answered answer = {out->status, out->body.text};
    if (once_keep(call->service, once, &answer, &err) != STATUS_OK)
        problem_answer(out, &err);
}

void keyed_serve(struct route_call *call, keyed_serve_fn serve, struct http_response *out)
{
    struct err err = {0};
    struct answered before;
    char hash[SHA256_HEX_MAX];
    if (!keyed_covers(call->route)) {
        serve_without(call, serve, out);
        return;
    }
    const char *key = read_key(call->request, out);
    if (key == NULL)
        return;
    struct once once = {
        .key = {call->visitor->principal.name, key, hash_request(call, hash)},
    };
    if (once_begin(call->service, &once, call->arena, &before, &err) != STATUS_OK)
        refuse(&err, out);
    else if (before.status != 0)
        answer_again(&before, out);
    else
        serve_first(call, &once, serve, out);
}
