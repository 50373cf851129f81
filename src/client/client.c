#include "client/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "model/problem_code.h"
#include "service/dag_texts.h"
#include "service/operation.h"
#include "service/operations.h"

enum {
    CONNECT_TIMEOUT_MS = 10 * 1000,
    TIMEOUT_MS = 120 * 1000,
    ANSWER_BYTES_MAX = 128 << 20,
    HEADERS_MAX = 40,
    WAIT_MS_MAX = 5000,
    KEY_TEXT_MAX = 33,
};
static const char OPERATIONS_PATH[] = "/api/v1/x/operations/";

/* Waits before the second and the third time. */
static const int64_t WAITS_MS[] = {250, 1000};

struct client {
    char *server;
    char *token;         /* NULL: none */
    char *authorization; /* the header's value, NULL: none */
    char *ca_file;       /* NULL: whom the system trusts */
    bool is_here;
    bool (*pause)(void *context, int64_t ms);
    void *pause_context;
    struct http_session *session; /* for what may be sent twice */
};

/* --- a server -------------------------------------------------------------------------------- */

static enum status check_server(const char *server, struct err *err)
{
    bool is_https = str_starts_with(server, "https://");
    if (!is_https && !str_starts_with(server, "http://"))
        return err_set(err, STATUS_INVALID,
                       "server '%.100s': write its URL, as https://eider.example:4337", server);
    const char *host = server + (is_https ? strlen("https://") : strlen("http://"));
    if (host[0] == '\0' || host[0] == '/' || host[0] == ':')
        return err_set(err, STATUS_INVALID, "server '%.100s' names no host", server);
    if (strpbrk(host, "?#@ \t\r\n") != NULL)
        return err_set(err, STATUS_INVALID,
                       "a server's URL has a host, a port and a path, nothing else: tokens go into "
                       "--token, EIDER_TOKEN or a context");
    return STATUS_OK;
}

static char *text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? mem_strdup(text) : NULL;
}

enum status client_new(const struct client_options *options, struct client **out, struct err *err)
{
    if (check_server(options->server, err) != STATUS_OK)
        return err->code;
    struct client *client = mem_zalloc(1, sizeof *client);
    size_t length = strlen(options->server);
    while (options->server[length - 1] == '/')
        length--;
    client->server = mem_strndup(options->server, length);
    client->token = text_or_null(options->token);
    if (client->token != NULL)
        client->authorization = mem_format("Bearer %s", client->token);
    client->ca_file = text_or_null(options->ca_file);
    client->is_here = options->is_here;
    client->pause = options->pause;
    client->pause_context = options->pause_context;
    client->session = http_session_new();
    *out = client;
    return STATUS_OK;
}

void client_free(struct client *client)
{
    if (client == NULL)
        return;
    http_session_free(client->session);
    free(client->server);
    free(client->token);
    free(client->authorization);
    free(client->ca_file);
    free(client);
}

const char *client_server(const struct client *client)
{
    return client->server;
}

/* --- requests -------------------------------------------------------------------------------- */

/* How one request is sent, beyond what it says. */
struct sending {
    bool only_looks;
    bool has_key;  /* the server does it once, however often it is sent */
    bool was_sent; /* some of it went out */
};

static bool may_repeat(const struct sending *sending)
{
    return sending->only_looks || sending->has_key;
}

static enum status perform(struct client *client, const struct client_request *request,
                           struct sending *sending, struct http_answer *out, struct err *err)
{
    struct http_header headers[HEADERS_MAX];
    size_t count = 0;
    if (request->headers_count > HEADERS_MAX - 3)
        return err_set(err, STATUS_LIMIT, "a request has at most %d headers", HEADERS_MAX - 3);
    for (size_t i = 0; i < request->headers_count; i++)
        headers[count++] = request->headers[i];
    headers[count++] = (struct http_header){"Accept", "application/json, */*;q=0.5"};
    if (client->authorization != NULL)
        headers[count++] = (struct http_header){"Authorization", client->authorization};
    if (request->body != NULL)
        headers[count++] = (struct http_header){"Content-Type", "application/json"};
    CLEANUP(mem_freep) char *url = mem_format("%s%s", client->server, request->path);
    struct http_request sent = {
        .method = request->method,
        .url = url,
        .headers = headers,
        .headers_count = count,
        .body = request->body,
        .body_length = request->body_length,
        .way = {.connect_timeout_ms = CONNECT_TIMEOUT_MS,
                .timeout_ms = TIMEOUT_MS,
                .ca_file = client->ca_file,
                .trust_any = client->is_here,
                .direct = client->is_here},
        .answer_max = ANSWER_BYTES_MAX,
        .session = may_repeat(sending) ? client->session : NULL,
        .was_sent = &sending->was_sent,
    };
    return http_perform(&sent, out, err);
}

/* GET and HEAD only look; of POST only the caller knows. */
static bool only_looks(const char *method)
{
    return str_equal(method, "GET") || str_equal(method, "HEAD");
}

/* The way failed; what is known about the request? */
static enum status blame(const struct client *client, const struct sending *sending,
                         struct err *err)
{
    if (sending->only_looks || !sending->was_sent) {
        if (err->code == STATUS_IO || err->code == STATUS_TIMEOUT)
            err->code = STATUS_UNREACHABLE;
        return err->code;
    }
    struct err cause = *err;
    return err_set(
        err, STATUS_UNKNOWN,
        "the answer of %s was lost, so it may have been done or not: look before doing it "
        "again (%.200s)",
        client->server, cause.text);
}

enum status client_send(struct client *client, const struct client_request *request,
                        struct http_answer *out, struct err *err)
{
    struct sending sending = {.only_looks = only_looks(request->method)};
    CHECK(request->path[0] == '/');
    if (perform(client, request, &sending, out, err) != STATUS_OK)
        return blame(client, &sending, err);
    return STATUS_OK;
}

enum status client_problem(const struct client *client, const struct http_answer *answer,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *problem = NULL;
    struct err ignored = {0};
    const char *detail = NULL;
    if (str_ends_with(answer->content_type, "json") &&
        json_parse(answer->body, answer->length, &problem, &ignored) == STATUS_OK)
        detail = json_get_string(problem, "detail", NULL);
    if (detail != NULL)
        return err_set(err,
                       problem_code_status(answer->status, json_get_string(problem, "code", NULL)),
                       "%s", detail);
    if (answer->status < 400)
        return err_set(err, STATUS_UNREACHABLE,
                       "%s answers %d, not as a server of Eider does: is that its address?",
                       client->server, answer->status);
    return err_set(err, problem_code_status(answer->status, NULL),
                   "%s answers %d and does not say why: is that the address of a server of Eider?",
                   client->server, answer->status);
}

/* --- operations ------------------------------------------------------------------------------ */

/* Of this call alone: nobody else comes upon it. */
static const char *make_key(char out[static KEY_TEXT_MAX])
{
    uint64_t chance[2];
    rng_bytes(chance, sizeof chance);
    (void)snprintf(out, KEY_TEXT_MAX, "%016" PRIx64 "%016" PRIx64, chance[0], chance[1]);
    return out;
}

static enum status take_response(const struct client *client, const struct http_answer *answer,
                                 json_t **out, struct err *err)
{
    if (answer->is_cut)
        return err_set(err, STATUS_LIMIT, "the answer has more than %d MiB: ask for less at once",
                       ANSWER_BYTES_MAX >> 20);
    if (answer->status < 200 || answer->status > 299)
        return client_problem(client, answer, err);
    if (json_parse(answer->body, answer->length, out, err) != STATUS_OK)
        return err_set(err, STATUS_UNREACHABLE,
                       "%s does not answer as a server of Eider does: is that its address?",
                       client->server);
    return STATUS_OK;
}

static enum status try_once(struct client *client, const struct client_request *request,
                            struct sending *sending, int64_t *out_wait_ms, json_t **out,
                            struct err *err)
{
    struct http_answer answer = {.retry_after_ms = -1};
    if (perform(client, request, sending, &answer, err) != STATUS_OK)
        return blame(client, sending, err);
    enum status status = take_response(client, &answer, out, err);
    *out_wait_ms = answer.retry_after_ms;
    http_answer_fini(&answer);
    return status;
}

/* Whether trying again is safe and may help. */
static bool is_worth_it(const struct sending *sending, enum status status)
{
    bool is_safe = may_repeat(sending) || !sending->was_sent;
    bool is_passing = status == STATUS_UNREACHABLE || status == STATUS_BUSY || status == STATUS_IO;
    return is_safe && (is_passing || (sending->has_key && status == STATUS_UNKNOWN));
}

/*
 * Until it is done, refused, or not worth another try. A server that cannot be asked again leaves
 * what it may have done the first time as unknown as it was.
 */
static enum status send_operation(struct client *client, const struct client_request *post,
                                  struct sending *sending, json_t **out_response, struct err *err)
{
    struct err lost = {0};
    for (size_t i = 0;; i++) {
        int64_t wait_ms = -1;
        struct err problem = {0};
        enum status status = try_once(client, post, sending, &wait_ms, out_response, &problem);
        if (status == STATUS_OK)
            return STATUS_OK;
        if (status == STATUS_UNKNOWN)
            lost = problem;
        bool is_passing = is_worth_it(sending, status);
        if (is_passing && i < ARRAY_LEN(WAITS_MS) && client->pause != NULL &&
            client->pause(client->pause_context,
                          MIN(MAX(wait_ms, WAITS_MS[i]), (int64_t)WAIT_MS_MAX)))
            continue;
        *err = is_passing && lost.code != STATUS_OK ? lost : problem;
        return err->code;
    }
}

/* A dry run does nothing, and need not be done once. */
static bool takes_key(const struct operation *operation, const json_t *request)
{
    return operation_takes_key(operation) && !json_get_bool(request, "dry_run", false);
}

enum status client_call(void *context, const char *name, const json_t *request,
                        json_t **out_response, struct err *err)
{
    struct client *client = context;
    const struct operation *operation = operation_find(&OPERATIONS, name);
    CLEANUP(json_decrefp) json_t *whole = NULL;
    if (operation == NULL)
        return err_set(err, STATUS_NOT_FOUND, "no operation '%s'", name);
    if (operation_check_request(operation, request, err) != STATUS_OK ||
        dag_texts_attach(operation, request, &whole, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *path = mem_format("%s%s", OPERATIONS_PATH, name);
    CLEANUP(mem_freep) char *body = json_format(whole);
    char key[KEY_TEXT_MAX];
    const struct http_header header = {"Idempotency-Key", make_key(key)};
    struct sending sending = {.only_looks = !operation_changes(operation),
                              .has_key = takes_key(operation, whole)};
    struct client_request post = {
        .method = "POST",
        .path = path,
        .headers = &header,
        .headers_count = sending.has_key ? 1 : 0,
        .body = body,
        .body_length = strlen(body),
    };
    return send_operation(client, &post, &sending, out_response, err);
}
