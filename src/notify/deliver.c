#include "notify/deliver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "notify/deliver_priv.h"

const char *deliver_verdict_name(enum deliver_verdict verdict)
{
    static const char *const NAMES[] = {
        [DELIVER_DONE] = "delivered", [DELIVER_RETRY] = "retry", [DELIVER_FAILED] = "failed"};
    CHECK(verdict < ARRAY_LEN(NAMES));
    return NAMES[verdict];
}

void deliver_say(struct deliver_outcome *out, enum deliver_verdict verdict, const char *prefix,
                 const char *said, size_t length)
{
    CLEANUP(json_decrefp) json_t *clean = json_text(said, length);
    (void)snprintf(out->text, sizeof out->text, "%s%s%s", prefix, length > 0 ? ": " : "",
                   json_string_value(clean));
    for (char *p = out->text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    /* A character that did not fit as a whole is left out. */
    size_t end = strlen(out->text);
    if (end == sizeof out->text - 1) {
        while (end > 0 && ((unsigned char)out->text[end - 1] & 0xC0) == 0x80)
            end--;
        if (end > 0 && ((unsigned char)out->text[end - 1] & 0xC0) == 0xC0)
            end--;
        out->text[end] = '\0';
    }
    out->verdict = verdict;
}

struct transfer_options deliver_way(const struct delivery *delivery)
{
    return (struct transfer_options){
        .connect_timeout_ms = delivery->request->connect_timeout_ms,
        .timeout_ms = delivery->request->timeout_ms,
        .ca_file = delivery->endpoint.ca_file,
        .trust_any = delivery->endpoint.trust_any,
        .public_only = delivery->request->public_only,
    };
}

void deliver_say_err(struct deliver_outcome *out, const struct err *err)
{
    enum deliver_verdict verdict = status_is_retryable(err->code) ? DELIVER_RETRY : DELIVER_FAILED;
    deliver_say(out, verdict, err->text, "", 0);
}

void deliver(const struct deliver_request *request, struct deliver_outcome *out)
{
    static deliver_target *const TARGETS[] = {
        [HOOK_COMMAND] = deliver_command, [HOOK_WEBHOOK] = deliver_webhook,
        [HOOK_SLACK] = deliver_slack,     [HOOK_PAGERDUTY] = deliver_pagerduty,
        [HOOK_EMAIL] = deliver_email,
    };
    _Static_assert(ARRAY_LEN(TARGETS) == HOOK_TARGET_COUNT, "every target is delivered");
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct delivery delivery = {.request = request, .message = request->message, .arena = arena};
    struct err err = {0};
    *out = (struct deliver_outcome){.verdict = DELIVER_FAILED, .retry_after_ms = -1};
    if (endpoint_of(arena, request->message, request->connection, &delivery.endpoint, &err) !=
        STATUS_OK) {
        /* A connection can be mended while the message waits. */
        deliver_say(out, request->connection != NULL ? DELIVER_RETRY : DELIVER_FAILED, err.text, "",
                    0);
        return;
    }
    if (delivery.endpoint.ca_file == NULL)
        delivery.endpoint.ca_file = request->ca_file;
    TARGETS[request->message->target](&delivery, out);
}
