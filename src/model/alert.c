#include "model/alert.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/hmac.h"
#include "base/sha256.h"
#include "model/alert_priv.h"
#include "model/limits.h"

/* ---- events as documents ---- */

enum { LISTED_ERROR_BYTES = 500 };

/* The last bytes, from the start of a character. */
static json_t *tail_of(const char *text, size_t most)
{
    if (text == NULL)
        return json_null();
    size_t length = strlen(text);
    if (length > most) {
        text += length - most;
        while (((unsigned char)*text & 0xC0) == 0x80)
            text++;
        length = strlen(text);
    }
    return json_text(text, length);
}

static void put_object(json_t *document, const char *key, const json_t *object)
{
    json_put(document, key, object != NULL ? json_deep_copy(object) : json_null());
}

static json_t *duration_of(const struct alert_event *event)
{
    if (event->started_at_us == 0 || event->ended_at_us < event->started_at_us)
        return json_null();
    int64_t ms = (event->ended_at_us - event->started_at_us) / 1000;
    return json_real((double)ms / 1000.0);
}

/* The first bytes, up to the end of a character. */
static json_t *head_of(const char *text, size_t most)
{
    if (text == NULL)
        return json_null();
    size_t length = MIN(strlen(text), most);
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return json_text(text, length);
}

json_t *alert_failed_task_write(const struct alert_failed_task *failed)
{
    json_t *object = json_object();
    json_put_string(object, "task", failed->task);
    json_put_int(object, "map_index", failed->map_index);
    json_put_string(object, "reason", failed->reason);
    json_put(object, "exit_code",
             failed->has_exit_code ? json_integer(failed->exit_code) : json_null());
    json_put(object, "error", head_of(failed->error, LISTED_ERROR_BYTES));
    return object;
}

json_t *alert_event_write(const struct alert_event *event)
{
    json_t *document = json_object();
    json_put_string(document, "kind", hook_event_name(event->kind));
    json_put_string(document, "dag", event->dag);
    json_put_string(document, "run_id", event->run_id);
    json_put_string(document, "task", event->task);
    json_put_int(document, "map_index", event->task != NULL ? event->map_index : -1);
    json_put_int(document, "try_number", event->try_number);
    json_put_string(document, "state", event->state);
    json_put_string(document, "reason", event->reason);
    json_put(document, "exit_code",
             event->has_exit_code ? json_integer(event->exit_code) : json_null());
    json_put(document, "signal", event->signal != 0 ? json_integer(event->signal) : json_null());
    json_put_instant(document, "logical_date", event->logical_at_us);
    json_put_instant(document, "started_at", event->started_at_us);
    json_put_instant(document, "ended_at", event->ended_at_us);
    json_put_instant(document, "happened_at", event->happened_at_us);
    json_put(document, "duration", duration_of(event));
    json_put_string(document, "url", event->url);
    json_put(document, "error", tail_of(event->error, LIMIT_ALERT_ERROR_BYTES));
    json_put(document, "note", tail_of(event->note, LIMIT_ALERT_ERROR_BYTES));
    put_object(document, "failed_tasks", event->failed);
    json_put_int(document, "failed_total", event->failed_total);
    put_object(document, "params", event->params);
    put_object(document, "conf", event->conf);
    return document;
}

static bool read_instant(const json_t *document, const char *key, int64_t *out)
{
    const char *text = json_get_string(document, key, NULL);
    *out = 0;
    return text == NULL || instant_parse(text, out);
}

static const json_t *object_member(const json_t *document, const char *key)
{
    const json_t *value = json_object_get(document, key);
    return json_is_object(value) ? value : NULL;
}

static const json_t *list_member(const json_t *document, const char *key)
{
    const json_t *value = json_object_get(document, key);
    return json_is_array(value) ? value : NULL;
}

enum status alert_event_read(const json_t *document, struct alert_event *out, struct err *err)
{
    const char *kind = json_get_string(document, "kind", "");
    struct alert_event event = {
        .dag = json_get_string(document, "dag", NULL),
        .run_id = json_get_string(document, "run_id", NULL),
        .task = json_get_string(document, "task", NULL),
        .map_index = json_get_int(document, "map_index", -1),
        .try_number = json_get_int(document, "try_number", 0),
        .state = json_get_string(document, "state", NULL),
        .reason = json_get_string(document, "reason", NULL),
        .url = json_get_string(document, "url", NULL),
        .error = json_get_string(document, "error", NULL),
        .note = json_get_string(document, "note", NULL),
        .has_exit_code = json_is_integer(json_object_get(document, "exit_code")),
        .exit_code = json_get_int(document, "exit_code", 0),
        .signal = json_get_int(document, "signal", 0),
        .failed = list_member(document, "failed_tasks"),
        .failed_total = json_get_int(document, "failed_total", 0),
        .params = object_member(document, "params"),
        .conf = object_member(document, "conf"),
    };
    bool is_right = hook_event_parse(kind, &event.kind) && event.dag != NULL;
    is_right = is_right && read_instant(document, "logical_date", &event.logical_at_us);
    is_right = is_right && read_instant(document, "started_at", &event.started_at_us);
    is_right = is_right && read_instant(document, "ended_at", &event.ended_at_us);
    is_right = is_right && read_instant(document, "happened_at", &event.happened_at_us);
    if (!is_right)
        return err_set(err, STATUS_CORRUPT, "this is not the document of an alert");
    *out = event;
    return STATUS_OK;
}

json_t *alert_notice_write(const struct alert_notice *notice)
{
    json_t *document = alert_event_write(&notice->events[0]);
    json_put_string(document, "delivery", notice->id);
    json_put_int(document, "total", (int64_t)notice->total);
    if (notice->total == 1)
        return document;
    json_t *events = json_array();
    for (size_t i = 0; i < MIN(notice->count, (size_t)LIMIT_ALERT_LISTED); i++)
        (void)json_array_append_new(events, alert_event_write(&notice->events[i]));
    json_put(document, "events", events);
    return document;
}

/* ---- names of what happened ---- */

/* "load" or "load[3]" */
const char *alert_task_text(struct arena *arena, const struct alert_event *event)
{
    if (event->map_index < 0)
        return event->task;
    return arena_format(arena, "%s[%" PRId64 "]", event->task, event->map_index);
}

const char *alert_key_within(struct arena *arena, const char *key)
{
    char hex[SHA256_HEX_MAX];
    if (strlen(key) <= ALERT_KEY_BYTES_MAX)
        return key;
    return arena_format(arena, "eider:%s", sha256_hex(key, strlen(key), hex));
}

const char *alert_subject_key(struct arena *arena, const struct alert_event *event)
{
    char date[INSTANT_TEXT_MAX];
    const char *when = event->logical_at_us != 0 ? instant_format(event->logical_at_us, date)
                                                 : alert_text_or(event->run_id, "");
    const char *key = NULL;
    if (event->task == NULL)
        key = arena_format(arena, "eider:%s//%s", event->dag, when);
    else
        key =
            arena_format(arena, "eider:%s/%s/%s", event->dag, alert_task_text(arena, event), when);
    return alert_key_within(arena, key);
}

const char *alert_headline(struct arena *arena, const struct alert_event *event)
{
    static const char *const VERBS[] = {[HOOK_SUCCESS] = "succeeded",
                                        [HOOK_FAILURE] = "failed",
                                        [HOOK_RETRY] = "is tried again",
                                        [HOOK_SKIP] = "was skipped",
                                        [HOOK_SLA_MISS] = "is late"};
    _Static_assert(ARRAY_LEN(VERBS) == HOOK_EVENT_COUNT, "every event has its verb");
    if (event->task == NULL)
        return arena_format(arena, "run of '%s' %s", event->dag, VERBS[event->kind]);
    return arena_format(arena, "task '%s' of '%s' %s", alert_task_text(arena, event), event->dag,
                        VERBS[event->kind]);
}

const char *alert_notice_headline(struct arena *arena, const struct alert_notice *notice)
{
    const char *first = alert_headline(arena, &notice->events[0]);
    if (notice->total == 1)
        return first;
    return arena_format(arena, "%s, and %zu more", first, notice->total - 1);
}

const char *alert_signature(struct arena *arena, const char *secret, const char *timestamp,
                            const struct alert_message *message)
{
    char hex[SHA256_HEX_MAX];
    struct hmac hmac;
    hmac_init(&hmac, secret, strlen(secret));
    hmac_add(&hmac, timestamp, strlen(timestamp));
    hmac_add(&hmac, ".", 1);
    hmac_add(&hmac, message->body, message->body_length);
    return arena_format(arena, "sha256=%s", hmac_finish_hex(&hmac, hex));
}
