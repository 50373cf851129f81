#pragma once
/*
 * alert: what happened, as plain data, and the messages that tell of it. Pure.
 *
 * An event is written to JSON when it happens (alert_event_write) and read back when it is told of
 * (alert_event_read), so that what waits to be sent holds no secrets. A notice is one or more
 * events of one hook under an id that stays the same however often it is sent; alert_render makes
 * the message of a notice for its hook. A message may hold secrets that templates brought in: it
 * is made right before it is sent and not kept.
 *
 * Ownership  messages live in the arena given.
 * Tests      tests/unit/model/test_alert*.c
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/hook.h"
#include "model/template.h"

struct arena;

/* Texts may be NULL and instants 0: not known. */
struct alert_event {
    enum hook_event kind;
    const char *dag;
    const char *run_id;
    const char *task;   /* NULL: it is about the run */
    int64_t map_index;  /* -1: not mapped */
    int64_t try_number; /* 0: not known */
    const char *state;
    const char *reason;
    bool has_exit_code;
    int64_t exit_code;
    int64_t signal; /* that ended it; 0: none did */
    int64_t logical_at_us;
    int64_t started_at_us;
    int64_t ended_at_us;
    int64_t happened_at_us;
    const char *url;   /* of a page about it */
    const char *error; /* the end of what it said */
    const char *note;  /* of the run */
    const json_t
        *failed; /* of a run: its first failed tasks, a list of alert_failed_task, or NULL */
    int64_t failed_total; /* how many there are */
    const json_t *params; /* objects, or NULL */
    const json_t *conf;
};

/* One of the tasks for which a run failed. */
struct alert_failed_task {
    const char *task;
    int64_t map_index; /* -1: not mapped */
    const char *reason;
    bool has_exit_code;
    int64_t exit_code;
    const char *error; /* as much of its beginning as a list has room for */
};

/* A new reference. */
NODISCARD json_t *alert_failed_task_write(const struct alert_failed_task *failed);

/* The context document: every key is always there, null when unknown. A new reference. */
NODISCARD json_t *alert_event_write(const struct alert_event *event);
/* Back; texts and objects are borrowed from `document`. STATUS_CORRUPT: it is not such a document.
 */
NODISCARD enum status alert_event_read(const json_t *document, struct alert_event *out,
                                       struct err *err);

/* The same for every event of one task (or run) of one logical date: what PagerDuty goes by. */
const char *alert_subject_key(struct arena *arena, const struct alert_event *event);
/* "task 'load' of 'sales' failed", without a line break. */
const char *alert_headline(struct arena *arena, const struct alert_event *event);

struct alert_notice {
    const char *id; /* letters, digits, '-', '_', '.' */
    int64_t at_us;
    const struct alert_event *events; /* the first ones, at least one */
    size_t count;
    size_t total; /* how many there were, at least `count` */
};

/*
 * The document of a notice: that of its first event, with `delivery` (the id), `total`, and
 * when there were several, `events`. A new reference.
 */
NODISCARD json_t *alert_notice_write(const struct alert_notice *notice);

/* What is sent, by target. Members of other targets are NULL or empty. */
struct alert_message {
    enum hook_target target;
    const char *id;
    int64_t at_us;
    const char *body; /* HTTP: JSON or text; command: JSON for its input */
    size_t body_length;
    const char *url; /* webhook; NULL: the connection's */
    struct env_entry *headers;
    size_t headers_count;
    const char *secret;
    const char *run; /* command */
    int64_t timeout_ms;
    struct env_entry *env; /* EIDER_* and the hook's, sorted by name */
    size_t env_count;
    struct string_list to; /* email */
    struct string_list cc;
    const char *subject;
    const char *text;
    const char *html;
};

/*
 * The message of a notice. Templates see HOOK_ROOTS; those that are not of the event (var, conn,
 * secrets) are asked of `more`, which may be NULL. A success makes PagerDuty close the incident
 * that a failure of the same task and date opened, and a skip the one of a hook about other events.
 *
 *   STATUS_INVALID   a template does not render, or what it renders could end a header, and that
 *                    will be so for ever.
 *   STATUS_CONFLICT  the same of a text that asks `more`: once that answers otherwise, it may do.
 *
 * No error shows what may be a part of a secret.
 */
NODISCARD enum status alert_render(struct arena *arena, const struct hook *hook,
                                   const struct alert_notice *notice,
                                   const struct template_scope *more, struct alert_message *out,
                                   struct err *err);

/* Whether the hook's `if` wants the event; without one it does. Fails as alert_render does. */
NODISCARD enum status alert_is_wanted(const struct hook *hook, const struct alert_event *event,
                                      const struct template_scope *more, bool *out,
                                      struct err *err);

/*
 * What proves to the receiver of a webhook that it is ours: "sha256=" and the HMAC-SHA256, by
 * `secret`, of `timestamp`, a dot and the body.
 */
const char *alert_signature(struct arena *arena, const char *secret, const char *timestamp,
                            const struct alert_message *message);
