#include "model/hook.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/str.h"
#include "model/dag_read_priv.h"

static const char *const EVENT_NAMES[] = {
#define X(name, word) [HOOK_##name] = word,
    HOOK_EVENT_MAP(X)
#undef X
};

static const char *const TARGET_NAMES[] = {
    [HOOK_COMMAND] = "command",     [HOOK_WEBHOOK] = "webhook", [HOOK_SLACK] = "slack",
    [HOOK_PAGERDUTY] = "pagerduty", [HOOK_EMAIL] = "email",
};
_Static_assert(ARRAY_LEN(TARGET_NAMES) == HOOK_TARGET_COUNT, "every target has a name");

static const char *const SEVERITY_NAMES[] = {
    [HOOK_SEVERITY_CRITICAL] = "critical",
    [HOOK_SEVERITY_ERROR] = "error",
    [HOOK_SEVERITY_WARNING] = "warning",
    [HOOK_SEVERITY_INFO] = "info",
};

const struct hook_root HOOK_ROOTS[] = {
    {"alert", "what happened: alert.kind, alert.state, alert.error, alert.url, ..."},
    {"conf", "what the run was given: conf.KEY"},
    {"conn", "connections, as in conn.NAME.host"},
    {"dag", "the DAG: dag.id"},
    {"ds", "logical date as YYYY-MM-DD"},
    {"ds_nodash", "logical date as YYYYMMDD"},
    {"execution_date", "Airflow's name for logical_date"},
    {"logical_date", "the instant that the run is for"},
    {"map_index", "number of the instance, from 0; -1 when the task is not mapped"},
    {"params", "params of the run, as in params.NAME"},
    {"run_id", "id of the run"},
    {"secrets", "secrets, as in secrets.NAME"},
    {"task", "the task: task.id; empty when it is about the run"},
    {"try_number", "number of the attempt, from 1"},
    {"ts", "logical date and time, RFC 3339"},
    {"ts_nodash", "logical date and time as YYYYMMDDTHHMMSS"},
    {"var", "variables, as in var.value.NAME"},
};
const size_t HOOK_ROOTS_COUNT = ARRAY_LEN(HOOK_ROOTS);

const char *hook_root_name(const void *context, size_t i)
{
    (void)context;
    return HOOK_ROOTS[i].name;
}

const struct hook_root *hook_root_find(const char *name)
{
    for (size_t i = 0; i < HOOK_ROOTS_COUNT; i++)
        if (strcmp(HOOK_ROOTS[i].name, name) == 0)
            return &HOOK_ROOTS[i];
    return NULL;
}

bool hook_field_takes_secrets(const char *field)
{
    return strcmp(field, "run") != 0;
}

const char *hook_event_name(enum hook_event event)
{
    CHECK(event < HOOK_EVENT_COUNT);
    return EVENT_NAMES[event];
}

bool hook_event_parse(const char *name, enum hook_event *out)
{
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        if (strcmp(EVENT_NAMES[event], name) == 0) {
            *out = event;
            return true;
        }
    }
    return false;
}

bool hook_event_of_key(const char *key, enum hook_event *out)
{
    return str_starts_with(key, "on_") && hook_event_parse(key + strlen("on_"), out);
}

const char *hook_target_name(enum hook_target target)
{
    CHECK(target < HOOK_TARGET_COUNT);
    return TARGET_NAMES[target];
}

const char *hook_severity_name(enum hook_severity severity)
{
    CHECK(severity < HOOK_SEVERITY_COUNT);
    return SEVERITY_NAMES[severity];
}

bool hook_is_resolvable(const struct hook *hook)
{
    return hook->target == HOOK_PAGERDUTY && hook->event != HOOK_SUCCESS;
}

bool hook_is_resolved_by(const struct hook *hook, enum hook_event event)
{
    return event == HOOK_SUCCESS || (event == HOOK_SKIP && hook->event != HOOK_SKIP);
}

/* Scheme, host and port; a template is taken as it is. */
static const char *server_of(struct arena *arena, const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme != NULL ? scheme + strlen("://") : url;
    return arena_strndup(arena, url, (size_t)(host - url) + strcspn(host, "/?#"));
}

const char *hook_receiver(struct arena *arena, const struct hook *hook)
{
    const char *where = hook->connection;
    if (hook->target == HOOK_COMMAND)
        where = hook->run;
    else if (where == NULL)
        where = server_of(arena, hook->url != NULL ? hook->url : "");
    return arena_format(arena, "%s %s", hook_target_name(hook->target), where);
}

/* ---- what may stand in a header ---- */

static bool is_address_char(char c)
{
    return c > ' ' && c < 0x7f && strchr("<>()[]\\,;:\"", c) == NULL;
}

/* The part that the mail server is told: without quotes, comments or other alphabets. */
static bool is_bare_address(const char *text, size_t length)
{
    const char *at = memchr(text, '@', length);
    if (at == NULL || at == text || at + 1 == text + length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_address_char(text[i]) || (text[i] == '@' && text + i != at))
            return false;
    return true;
}

bool hook_address_is_valid(const char *address)
{
    for (const char *p = address; *p != '\0'; p++)
        if (iscntrl((unsigned char)*p))
            return false;
    const char *open = strchr(address, '<');
    if (open == NULL)
        return is_bare_address(address, strlen(address));
    size_t length = strlen(open);
    return open[length - 1] == '>' && strpbrk(address, "\",;") == NULL &&
           is_bare_address(open + 1, length - 2);
}

bool hook_header_is_valid(const char *name)
{
    static const char *const OURS[] = {"Host",       "Content-Length",     "Transfer-Encoding",
                                       "Connection", "Proxy-Connection",   "Expect",
                                       "Upgrade",    "Proxy-Authorization"};
    if (*name == '\0' || strncasecmp(name, "X-Eider-", strlen("X-Eider-")) == 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(OURS); i++)
        if (strcasecmp(name, OURS[i]) == 0)
            return false;
    for (const char *p = name; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("!#$%&'*+-.^_`|~", *p) == NULL)
            return false;
    return true;
}

/* ---- the hooks of a stored DAG ---- */

static void append(struct arena *arena, struct hook_list *list, const struct hook_list *more)
{
    if (more->count == 0)
        return;
    struct hook *items = arena_array(arena, list->count + more->count, sizeof *items);
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof *items);
    memcpy(items + list->count, more->items, more->count * sizeof *items);
    *list = (struct hook_list){items, list->count + more->count};
}

/* Airflow's keys tell of failures and retries unless they say no. */
static bool mails_about(const json_t *rest, enum hook_event event)
{
    if (event == HOOK_FAILURE)
        return json_get_bool(rest, "email_on_failure", true);
    return event == HOOK_RETRY && json_get_bool(rest, "email_on_retry", true);
}

static struct hook_list read_list(const json_t *rest, enum hook_event event, struct arena *arena,
                                  struct diag_list *diags)
{
    struct hook_list list = {0};
    struct dag holder = {.arena = arena};
    struct reader r = {.dag = &holder, .diags = diags, .current = CURRENT_DAG};
    char key[32];
    CHECK((size_t)snprintf(key, sizeof key, "on_%s", hook_event_name(event)) < sizeof key);

    const json_t *hooks = json_object_get(rest, key);
    if (hooks != NULL)
        reader_hooks(&r, event, (struct spot){0}, hooks, &list);
    const json_t *email = json_object_get(rest, "email");
    if (email != NULL && mails_about(rest, event)) {
        struct hook_list mails = {0};
        reader_email_alias(&r, event, (struct spot){0}, email, &mails);
        append(arena, &list, &mails);
    }
    free(r.uses);
    return list;
}

struct hook_list hook_list_of(const json_t *rest, enum hook_event event, struct arena *arena)
{
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    return read_list(rest, event, arena, &diags);
}

enum status hook_list_check(const json_t *rest, enum hook_event event, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    (void)read_list(rest, event, arena, &diags);
    return diags.errors == 0 ? STATUS_OK : err_set(err, STATUS_INVALID, "%s", diags.items[0].text);
}
