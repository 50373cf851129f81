/*
 * alert_pagerduty: an event of PagerDuty's Events API v2.
 *
 * The key of an incident follows from DAG, task and logical date, so a second failure adds to the
 * incident that the first one opened and a success closes it, or a skip that the hook is not about:
 * nobody waits for it any more. Whoever sends it adds routing_key.
 */
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "model/alert_priv.h"

enum { SUMMARY_MAX = 1024 };

static enum hook_severity severity_of(const struct hook *hook, enum hook_event kind)
{
    static const enum hook_severity BY_KIND[] = {
        [HOOK_SUCCESS] = HOOK_SEVERITY_INFO,     [HOOK_FAILURE] = HOOK_SEVERITY_ERROR,
        [HOOK_RETRY] = HOOK_SEVERITY_WARNING,    [HOOK_SKIP] = HOOK_SEVERITY_INFO,
        [HOOK_SLA_MISS] = HOOK_SEVERITY_WARNING,
    };
    return hook->severity != HOOK_SEVERITY_COUNT ? hook->severity : BY_KIND[kind];
}

static json_t *payload_of(struct alert_work *work, const struct alert_event *event)
{
    json_t *payload = json_object();
    const char *headline = alert_notice_headline(work->arena, work->notice);
    json_put_string(
        payload, "summary",
        arena_strndup(work->arena, headline, MIN(strlen(headline), (size_t)SUMMARY_MAX)));
    json_put_string(payload, "source", event->dag);
    json_put_string(payload, "severity", hook_severity_name(severity_of(work->hook, event->kind)));
    if (event->happened_at_us != 0)
        json_put_instant(payload, "timestamp", event->happened_at_us);
    if (event->task != NULL)
        json_put_string(payload, "component", alert_task_text(work->arena, event));
    json_put_string(payload, "group", event->dag);
    json_put_string(payload, "class", hook_event_name(event->kind));
    json_put(payload, "custom_details", json_incref(work->scope.document));
    return payload;
}

static void put_link(json_t *body, const char *url)
{
    json_t *link = json_object();
    json_put_string(link, "href", url);
    json_put_string(link, "text", "Open in Eider");
    json_t *links = json_array();
    (void)json_array_append_new(links, link);
    json_put(body, "links", links);
}

enum status alert_pagerduty(struct alert_work *work, struct alert_message *out, struct err *err)
{
    const struct alert_event *event = &work->notice->events[0];
    const char *key = NULL;
    if (alert_fill(work, "key", work->hook->key, &key, err) != STATUS_OK)
        return err->code;
    if (key == NULL || key[0] == '\0')
        key = alert_subject_key(work->arena, event);
    bool resolves = hook_is_resolved_by(work->hook, event->kind);
    json_t *body = json_object();
    json_put_string(body, "event_action", resolves ? "resolve" : "trigger");
    json_put_string(body, "dedup_key", alert_key_within(work->arena, key));
    json_put_string(body, "client", "Eider");
    json_put(body, "payload", payload_of(work, event));
    if (event->url != NULL)
        put_link(body, event->url);
    out->body = alert_format(work->arena, body);
    return STATUS_OK;
}
