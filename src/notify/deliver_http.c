#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "model/limits.h"
#include "notify/deliver_priv.h"
#include "os/http_client.h"

enum { OWN_HEADERS_MAX = 5, SHOWN_ANSWER_BYTES = 300 };

/* ---- one request ---- */

struct post {
    const char *body;
    size_t body_length;
    const struct http_header *headers;
    size_t headers_count;
};

/* True with an answer of 2xx, which is the caller's to end; else the outcome is said. */
static bool post_accepted(const struct delivery *delivery, const struct post *post,
                          struct http_answer *answer, struct deliver_outcome *out)
{
    struct http_request wanted = {
        .method = "POST",
        .url = delivery->endpoint.url,
        .headers = post->headers,
        .headers_count = post->headers_count,
        .body = post->body,
        .body_length = post->body_length,
        .way = deliver_way(delivery),
        .answer_max = LIMIT_ALERT_ANSWER_BYTES,
    };
    struct err err = {0};
    if (http_perform(&wanted, answer, &err) != STATUS_OK) {
        deliver_say_err(out, &err);
        return false;
    }
    if (answer->status >= 200 && answer->status <= 299)
        return true;
    char prefix[64];
    bool is_redirect = answer->status >= 300 && answer->status <= 399;
    (void)snprintf(prefix, sizeof prefix, "HTTP %d%s", answer->status,
                   is_redirect ? ", redirects are not followed" : "");
    out->retry_after_ms = answer->retry_after_ms;
    deliver_say(out, http_status_is_retryable(answer->status) ? DELIVER_RETRY : DELIVER_FAILED,
                prefix, answer->body, MIN(answer->length, (size_t)SHOWN_ANSWER_BYTES));
    http_answer_fini(answer);
    return false;
}

static void say_accepted(const struct http_answer *answer, struct deliver_outcome *out)
{
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "HTTP %d", answer->status);
    deliver_say(out, DELIVER_DONE, prefix, answer->body,
                MIN(answer->length, (size_t)SHOWN_ANSWER_BYTES));
}

/* ---- webhook ---- */

static bool has_header(const struct alert_message *message, const char *name)
{
    for (size_t i = 0; i < message->headers_count; i++)
        if (strcasecmp(message->headers[i].name, name) == 0)
            return true;
    return false;
}

static const char *content_type(const struct alert_message *message)
{
    struct err ignored = {0};
    json_t *value = NULL;
    if (json_parse(message->body, message->body_length, &value, &ignored) != STATUS_OK)
        return "text/plain; charset=utf-8";
    json_decref(value);
    return "application/json";
}

static size_t add_own_headers(const struct delivery *delivery, struct http_header *headers)
{
    const struct alert_message *message = delivery->message;
    size_t count = 0;
    const char *timestamp =
        arena_format(delivery->arena, "%" PRId64, delivery->request->now_us / 1000000);
    const char *secret = message->secret != NULL ? message->secret : delivery->endpoint.secret;
    headers[count++] = (struct http_header){"X-Eider-Delivery", message->id};
    headers[count++] = (struct http_header){"X-Eider-Timestamp", timestamp};
    if (secret != NULL && secret[0] != '\0')
        headers[count++] = (struct http_header){
            "X-Eider-Signature", alert_signature(delivery->arena, secret, timestamp, message)};
    if (!has_header(message, "Content-Type"))
        headers[count++] = (struct http_header){"Content-Type", content_type(message)};
    if (delivery->endpoint.authorization != NULL && !has_header(message, "Authorization"))
        headers[count++] = (struct http_header){"Authorization", delivery->endpoint.authorization};
    return count;
}

void deliver_webhook(const struct delivery *delivery, struct deliver_outcome *out)
{
    const struct alert_message *message = delivery->message;
    struct http_header *headers =
        arena_array(delivery->arena, message->headers_count + OWN_HEADERS_MAX, sizeof *headers);
    size_t count = add_own_headers(delivery, headers);
    for (size_t i = 0; i < message->headers_count; i++)
        headers[count++] =
            (struct http_header){message->headers[i].name, message->headers[i].value};
    struct post post = {message->body, message->body_length, headers, count};
    struct http_answer answer;
    if (!post_accepted(delivery, &post, &answer, out))
        return;
    say_accepted(&answer, out);
    http_answer_fini(&answer);
}

/* ---- services that take JSON ---- */

/* The body of the message with a member that only the connection knows. */
static const char *body_with(const struct delivery *delivery, const char *key, const char *value)
{
    struct err ignored = {0};
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (json_parse(delivery->message->body, delivery->message->body_length, &body, &ignored) !=
            STATUS_OK ||
        !json_is_object(body))
        return delivery->message->body;
    if (value != NULL)
        json_put_string(body, key, value);
    char *text = json_format(body);
    const char *kept = arena_strdup(delivery->arena, text);
    free(text);
    return kept;
}

static bool names_channel(const struct alert_message *message)
{
    struct err ignored = {0};
    CLEANUP(json_decrefp) json_t *body = NULL;
    return json_parse(message->body, message->body_length, &body, &ignored) == STATUS_OK &&
           json_get_string(body, "channel", NULL) != NULL;
}

/* chat.postMessage says 200 to everything and the truth in its answer. */
static void judge_slack(const struct http_answer *answer, struct deliver_outcome *out)
{
    static const char *const PASSING[] = {"ratelimited", "rate_limited",        "internal_error",
                                          "fatal_error", "service_unavailable", "request_timeout"};
    struct err ignored = {0};
    CLEANUP(json_decrefp) json_t *said = NULL;
    if (json_parse(answer->body, answer->length, &said, &ignored) != STATUS_OK ||
        json_get_bool(said, "ok", true)) {
        say_accepted(answer, out);
        return;
    }
    const char *error = json_get_string(said, "error", "no reason given");
    enum deliver_verdict verdict = DELIVER_FAILED;
    for (size_t i = 0; i < ARRAY_LEN(PASSING); i++)
        if (strcmp(PASSING[i], error) == 0)
            verdict = DELIVER_RETRY;
    out->retry_after_ms = answer->retry_after_ms;
    deliver_say(out, verdict, "slack says no", error, strlen(error));
}

void deliver_slack(const struct delivery *delivery, struct deliver_outcome *out)
{
    const struct endpoint *endpoint = &delivery->endpoint;
    bool is_named = names_channel(delivery->message);
    if (endpoint->wants_channel && !is_named && endpoint->channel == NULL) {
        deliver_say(out, DELIVER_RETRY, "with a token slack has to know the channel: add 'channel'",
                    "", 0);
        return;
    }
    struct http_header headers[] = {
        {"Content-Type", "application/json; charset=utf-8"},
        {"Authorization", endpoint->authorization},
    };
    const char *body = body_with(delivery, "channel", is_named ? NULL : endpoint->channel);
    struct post post = {body, strlen(body), headers, endpoint->authorization != NULL ? 2 : 1};
    struct http_answer answer;
    if (!post_accepted(delivery, &post, &answer, out))
        return;
    judge_slack(&answer, out);
    http_answer_fini(&answer);
}

void deliver_pagerduty(const struct delivery *delivery, struct deliver_outcome *out)
{
    static const struct http_header HEADERS[] = {{"Content-Type", "application/json"}};
    const char *body = body_with(delivery, "routing_key", delivery->endpoint.routing_key);
    struct post post = {body, strlen(body), HEADERS, ARRAY_LEN(HEADERS)};
    struct http_answer answer;
    if (!post_accepted(delivery, &post, &answer, out))
        return;
    say_accepted(&answer, out);
    http_answer_fini(&answer);
}
