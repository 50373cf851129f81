#pragma once
/*
 * hook: who is told when something happens to a run or a task.
 *
 * `on_failure: [{slack: data-alerts, group: 5m}, {command: ./page.sh}]` and its kin are kept as
 * they were written (dag->rest, task->rest); these functions read them. A file with a hook that
 * cannot be read is refused by dag_read, at the place of the mistake, so what comes out of a
 * stored DAG is good. Texts may be templates over HOOK_ROOTS; rendering is in alert.h.
 *
 *   command    text for the shell, or {run, timeout, env}
 *   webhook    URL or connection, or {url | connection, headers, secret, body}
 *   slack      connection or #channel, or {connection, channel, text}
 *   pagerduty  connection, or {connection, severity, key}
 *   email      address or list of them, or {to, cc, subject, body, connection}
 *
 * Beside the target an entry may have `if` (template), `group` (fold what happens within that
 * time into one message) and `rate` ("10/1h": ten messages at once, then as the hour gives them
 * back).
 *
 * `email: [..]` of a task or DAG means an email hook for failures and retries, unless
 * `email_on_failure` or `email_on_retry` is false.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/json.h"
#include "model/dag.h"

struct arena;

/*        name      word: as in on_WORD */
#define HOOK_EVENT_MAP(X)                                                                          \
    X(SUCCESS, "success")                                                                          \
    X(FAILURE, "failure")                                                                          \
    X(RETRY, "retry")                                                                              \
    X(SKIP, "skip")                                                                                \
    X(SLA_MISS, "sla_miss")

enum hook_event {
#define X(name, word) HOOK_##name,
    HOOK_EVENT_MAP(X)
#undef X
        HOOK_EVENT_COUNT
};

enum hook_target {
    HOOK_COMMAND,
    HOOK_WEBHOOK,
    HOOK_SLACK,
    HOOK_PAGERDUTY,
    HOOK_EMAIL,
    HOOK_TARGET_COUNT
};

enum hook_severity {
    HOOK_SEVERITY_CRITICAL,
    HOOK_SEVERITY_ERROR,
    HOOK_SEVERITY_WARNING,
    HOOK_SEVERITY_INFO,
    HOOK_SEVERITY_COUNT /* not given: follows from what happened */
};

/* `most` messages at once, given back over `per_ms`; most 0: no bound. */
struct hook_rate {
    int64_t most;
    int64_t per_ms;
};

/* Members that belong to another target, or were not given, are NULL, 0 or empty. */
struct hook {
    enum hook_event event;
    enum hook_target target;
    const char *condition; /* `if`, or NULL */
    int64_t group_ms;      /* 0: each event is a message */
    struct hook_rate rate;

    const char *connection; /* name; of a webhook NULL when it has a URL */
    const char *run;        /* command */
    int64_t timeout_ms;
    struct env_entry *env;
    size_t env_count;
    const char *url; /* webhook */
    struct env_entry *headers;
    size_t headers_count;
    const char *secret;  /* key of the signature; NULL: the connection's password */
    const char *body;    /* webhook, email; NULL: ours */
    const char *channel; /* slack */
    const char *text;
    enum hook_severity severity; /* pagerduty */
    const char *key;             /* NULL: from DAG, task and date */
    struct string_list to;       /* email */
    struct string_list cc;
    const char *subject;
};

struct hook_list {
    struct hook *items;
    size_t count;
};

const char *hook_event_name(enum hook_event event); /* "sla_miss" */
/* From the key of a DAG file, "on_sla_miss"; false leaves *out alone. */
NODISCARD bool hook_event_of_key(const char *key, enum hook_event *out);
/* From its name, "sla_miss". */
NODISCARD bool hook_event_parse(const char *name, enum hook_event *out);
const char *hook_target_name(enum hook_target target); /* "slack" */
const char *hook_severity_name(enum hook_severity severity);

/*
 * The hooks for an event among the keys that a DAG or a task keeps (`rest` of dag.h; NULL: none),
 * in the order of the file, those of `email` last. In the arena.
 */
struct hook_list hook_list_of(const json_t *rest, enum hook_event event, struct arena *arena);

/*
 * Whether every hook for an event can be read, of keys that did not come from a DAG.
 *
 *   STATUS_INVALID  one cannot: what is wrong with it.
 */
NODISCARD enum status hook_list_check(const json_t *rest, enum hook_event event, struct err *err);

/* Whether what this hook tells of opens an incident, which has to be closed later. */
bool hook_is_resolvable(const struct hook *hook);
/* Whether an event closes an incident of this hook: it went well, or nobody waits for it. */
bool hook_is_resolved_by(const struct hook *hook, enum hook_event event);

/* Who has to answer, as far as the hook itself tells: hooks of one receiver have the same text. */
const char *hook_receiver(struct arena *arena, const struct hook *hook);

/* An address for mail, "a@b.c" or "Name <a@b.c>", without anything that could end a header. */
bool hook_address_is_valid(const char *address);
/* A header of ours to send: a token that is not one that we or the transport set. */
bool hook_header_is_valid(const char *name);

/* What a command runs is seen by everybody on its host; everything else may hold secrets. */
bool hook_field_takes_secrets(const char *field);

/* The names that a template of a hook can start with, sorted. */
struct hook_root {
    const char *name;
    const char *doc;
};
extern const struct hook_root HOOK_ROOTS[];
extern const size_t HOOK_ROOTS_COUNT;
const char *hook_root_name(const void *context, size_t i);
const struct hook_root *hook_root_find(const char *name);
