/*
 * dag_read_hook: the lists of hooks, entry by entry, by tables like those of dag_fields.h.
 *
 * An entry that has a problem is reported and left out, so that what is read is always whole.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/str.h"
#include "model/dag_read_priv.h"
#include "model/duration.h"
#include "model/hook.h"
#include "model/limits.h"
#include "model/template.h"

static const char *const SEVERITIES[] = {"critical", "error", "warning", "info"};
static const struct field_choices SEVERITY_CHOICES = {ARRAY_LEN(SEVERITIES), SEVERITIES};
_Static_assert(ARRAY_LEN(SEVERITIES) == HOOK_SEVERITY_COUNT, "the choices are the enum");

#define AT(member) .offset = offsetof(struct hook, member)
#define SPAN       .least = 0, .most = DURATION_MS_MAX

static const struct dag_field ENTRY_ROWS[] = {
    {"command", NULL, FIELD_OWN, .doc = "a command that gets the context as JSON"},
    {"webhook", NULL, FIELD_OWN, .doc = "an HTTP request"},
    {"slack", NULL, FIELD_OWN, .doc = "a message on Slack"},
    {"pagerduty", NULL, FIELD_OWN, .doc = "an incident of PagerDuty"},
    {"email", NULL, FIELD_OWN, .doc = "a mail"},
    {"rate", NULL, FIELD_OWN, .doc = "at most so many messages in a time"},
    {"group", NULL, FIELD_DURATION, AT(group_ms), SPAN},
    {"if", NULL, FIELD_CONDITION, AT(condition)},
};
static const struct dag_field COMMAND_ROWS[] = {
    {"run", NULL, FIELD_TEMPLATE, AT(run)},
    {"timeout", NULL, FIELD_DURATION, AT(timeout_ms), SPAN},
    {"env", NULL, FIELD_ENV, .doc = "variables of the command"},
};
static const struct dag_field WEBHOOK_ROWS[] = {
    {"url", NULL, FIELD_TEMPLATE, AT(url)},
    {"connection", NULL, FIELD_NAME, AT(connection)},
    {"headers", NULL, FIELD_OWN, .doc = "further headers"},
    {"secret", NULL, FIELD_TEMPLATE, AT(secret)},
    {"body", NULL, FIELD_TEMPLATE, AT(body)},
};
static const struct dag_field SLACK_ROWS[] = {
    {"connection", NULL, FIELD_NAME, AT(connection)},
    {"channel", NULL, FIELD_TEMPLATE, AT(channel)},
    {"text", NULL, FIELD_TEMPLATE, AT(text)},
};
static const struct dag_field PAGERDUTY_ROWS[] = {
    {"connection", NULL, FIELD_NAME, AT(connection)},
    {"severity", NULL, FIELD_CHOICE, AT(severity), .choices = &SEVERITY_CHOICES},
    {"key", NULL, FIELD_TEMPLATE, AT(key)},
};
static const struct dag_field EMAIL_ROWS[] = {
    {"to", NULL, FIELD_TEXTS, AT(to)},
    {"cc", NULL, FIELD_TEXTS, AT(cc)},
    {"subject", NULL, FIELD_TEMPLATE, AT(subject)},
    {"body", NULL, FIELD_TEMPLATE, AT(body)},
    {"connection", NULL, FIELD_NAME, AT(connection)},
};

static const struct field_table ENTRY_TABLE = {"hook", ARRAY_LEN(ENTRY_ROWS), ENTRY_ROWS};
static const struct field_table TARGET_TABLES[] = {
    [HOOK_COMMAND] = {"command", ARRAY_LEN(COMMAND_ROWS), COMMAND_ROWS},
    [HOOK_WEBHOOK] = {"webhook", ARRAY_LEN(WEBHOOK_ROWS), WEBHOOK_ROWS},
    [HOOK_SLACK] = {"slack hook", ARRAY_LEN(SLACK_ROWS), SLACK_ROWS},
    [HOOK_PAGERDUTY] = {"pagerduty hook", ARRAY_LEN(PAGERDUTY_ROWS), PAGERDUTY_ROWS},
    [HOOK_EMAIL] = {"email hook", ARRAY_LEN(EMAIL_ROWS), EMAIL_ROWS},
};
_Static_assert(ARRAY_LEN(TARGET_TABLES) == HOOK_TARGET_COUNT, "every target has its keys");

enum { COMMAND_TIMEOUT_MS = 60 * 1000 };

/* ---- parts ---- */

/* "10/1h" */
static void read_rate(struct reader *r, struct spot spot, const json_t *value, struct hook *hook)
{
    const char *text = json_string_value(value);
    const char *slash = text != NULL ? strchr(text, '/') : NULL;
    struct hook_rate rate = {0};
    char count[16] = "";
    if (slash != NULL && (size_t)(slash - text) < sizeof count) {
        memcpy(count, text, (size_t)(slash - text));
        if (str_parse_i64(count, 1, LIMIT_ALERT_RATE, &rate.most) &&
            duration_parse(slash + 1, &rate.per_ms) && rate.per_ms > 0) {
            hook->rate = rate;
            return;
        }
    }
    reader_mismatch(r, spot, "rate", "a number of messages and a time, such as 10/1h", value);
}

static void read_headers(struct reader *r, struct spot spot, const json_t *value, struct hook *hook)
{
    if (!json_is_object(value) || json_object_size(value) > LIMIT_HOOK_HEADERS) {
        reader_mismatch(r, spot, "headers", "a map of at most 50 strings", value);
        return;
    }
    hook->headers = arena_array(r->dag->arena, json_object_size(value) + 1, sizeof *hook->headers);
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *name = json_object_iter_key(iter);
        const char *text = json_string_value(json_object_iter_value(iter));
        if (!hook_header_is_valid(name)) {
            reader_problem_at_key(r, at, "'%.60s' is not a header that a hook can set", name);
        } else if (text == NULL) {
            reader_mismatch(r, at, name, "a string", json_object_iter_value(iter));
        } else if (strpbrk(text, "\r\n") != NULL) {
            reader_problem(r, at, "'%.60s': a header is one line", name);
        } else {
            struct env_entry *entry = &hook->headers[hook->headers_count++];
            entry->name = arena_strdup(r->dag->arena, name);
            entry->value = arena_strdup(r->dag->arena, text);
            reader_template(r, entry->value, at,
                            arena_format(r->dag->arena, "headers.%s", entry->name));
        }
    }
}

static void check_addresses(struct reader *r, const char *key, struct spot spot,
                            const json_t *value, const struct string_list *list)
{
    if (list->count > LIMIT_RECIPIENTS)
        reader_problem(r, spot, "'%s': %zu addresses, at most %d", key, list->count,
                       LIMIT_RECIPIENTS);
    for (size_t i = 0; i < list->count; i++) {
        struct spot at = json_is_array(value) ? (struct spot){value, i} : spot;
        if (!template_is_plain(list->items[i]))
            reader_template(r, list->items[i], at, arena_format(r->dag->arena, "%s.%zu", key, i));
        else if (!hook_address_is_valid(list->items[i]))
            reader_problem(r, at, "'%s': '%.60s' is not an address such as ops@example.com", key,
                           list->items[i]);
    }
}

/* ---- a target ---- */

static void read_member(struct reader *r, const struct dag_field *field, struct spot spot,
                        const json_t *value, struct hook *hook)
{
    if (field->type == FIELD_OWN) {
        read_headers(r, spot, value, hook);
    } else if (field->type == FIELD_ENV) {
        struct task_def holder = {0};
        reader_field(r, field, spot, value, &holder);
        hook->env = holder.env;
        hook->env_count = holder.env_count;
    } else {
        reader_field(r, field, spot, value, hook);
    }
    if (field->type == FIELD_NAME)
        reader_place(r, spot, field->key);
    if (field->type == FIELD_TEXTS)
        check_addresses(r, field->key, spot, value,
                        strcmp(field->key, "to") == 0 ? &hook->to : &hook->cc);
}

static bool is_url(const char *text)
{
    return str_starts_with(text, "http://") || str_starts_with(text, "https://") ||
           !template_is_plain(text);
}

/* The one text or list that stands for the whole. */
static void read_short(struct reader *r, struct spot spot, const json_t *value, struct hook *hook)
{
    static const char *const EXPECTED[] = {
        [HOOK_COMMAND] = "a command, or a map with 'run'",
        [HOOK_WEBHOOK] = "a URL, the name of a connection, or a map",
        [HOOK_SLACK] = "the name of a connection, a #channel, or a map",
        [HOOK_PAGERDUTY] = "the name of a connection, or a map",
        [HOOK_EMAIL] = "an address, a list of addresses, or a map with 'to'",
    };
    const char *text = json_string_value(value);
    const char *key = "connection";
    if (hook->target == HOOK_EMAIL && (text != NULL || json_is_array(value)))
        key = "to";
    else if (text == NULL)
        key = NULL;
    else if (hook->target == HOOK_COMMAND)
        key = "run";
    else if (hook->target == HOOK_WEBHOOK && is_url(text))
        key = "url";
    else if (hook->target == HOOK_SLACK && text[0] == '#')
        key = "channel";
    if (key == NULL) {
        reader_mismatch(r, spot, hook_target_name(hook->target), EXPECTED[hook->target], value);
        return;
    }
    const struct dag_field *field = dag_field_find(&TARGET_TABLES[hook->target], key);
    CHECK(field != NULL);
    read_member(r, field, spot, value, hook);
}

static void check_url(struct reader *r, struct spot spot, const struct hook *hook)
{
    if (!is_url(hook->url))
        reader_problem(r, spot, "'url': '%.100s' does not begin with http:// or https://",
                       hook->url);
    for (const char *p = hook->url; *p != '\0' && template_is_plain(hook->url); p++) {
        if (isspace((unsigned char)*p) || iscntrl((unsigned char)*p)) {
            reader_problem(r, spot, "'url': '%.100s' has a space or a line break", hook->url);
            return;
        }
    }
}

static void check_target(struct reader *r, struct spot spot, struct hook *hook)
{
    const char *name = hook_target_name(hook->target);
    switch (hook->target) {
    case HOOK_COMMAND:
        if (hook->run == NULL || hook->run[strspn(hook->run, " \t\r\n")] == '\0')
            reader_problem(r, spot, "'command': say what to run");
        break;
    case HOOK_WEBHOOK:
        if ((hook->url == NULL) == (hook->connection == NULL))
            reader_problem(r, spot, "'webhook': give either 'url' or 'connection'");
        else if (hook->url != NULL)
            check_url(r, spot, hook);
        break;
    case HOOK_EMAIL:
        if (hook->to.count == 0)
            reader_problem(r, spot, "'email': say whom to tell, with 'to'");
        break;
    case HOOK_PAGERDUTY:
        if (hook->group_ms > 0)
            reader_problem(r, spot,
                           "'group' is not for pagerduty: events of one key are one "
                           "incident there");
        break;
    case HOOK_SLACK:
    case HOOK_TARGET_COUNT:
        break;
    }
    if (hook->connection == NULL && hook->target != HOOK_COMMAND && hook->target != HOOK_WEBHOOK)
        hook->connection = name;
}

static void read_target(struct reader *r, struct spot spot, const json_t *value, struct hook *hook)
{
    if (!json_is_object(value)) {
        read_short(r, spot, value, hook);
        return;
    }
    const struct field_table *table = &TARGET_TABLES[hook->target];
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const struct dag_field *field = dag_field_find(table, key);
        if (field == NULL)
            reader_unknown_key(r, table, at, key, false);
        else
            read_member(r, field, at, json_object_iter_value(iter), hook);
    }
}

/* ---- an entry ---- */

static bool target_of_key(const char *key, enum hook_target *out)
{
    for (enum hook_target target = 0; target < HOOK_TARGET_COUNT; target++) {
        if (strcmp(hook_target_name(target), key) == 0) {
            *out = target;
            return true;
        }
    }
    return false;
}

/* The target of an entry and its place; false after a problem. */
static bool find_target(struct reader *r, struct spot spot, const json_t *entry,
                        enum hook_target *out, struct spot *out_spot)
{
    bool is_found = false;
    bool has_unknown = false; /* most likely the target, misspelt: its own problem says so */
    struct spot at = {entry, 0};
    for (READER_EACH(entry, iter, at)) {
        enum hook_target target = HOOK_TARGET_COUNT;
        has_unknown |= dag_field_find(&ENTRY_TABLE, json_object_iter_key(iter)) == NULL;
        if (!target_of_key(json_object_iter_key(iter), &target))
            continue;
        if (is_found) {
            reader_problem_at_key(r, at,
                                  "a hook has one target, this one has '%s' and '%s': make "
                                  "two entries",
                                  hook_target_name(*out), hook_target_name(target));
            return false;
        }
        is_found = true;
        *out = target;
        *out_spot = at;
    }
    if (!is_found && !has_unknown)
        reader_problem(r, spot,
                       "a hook needs a target: command, webhook, slack, pagerduty or "
                       "email");
    return is_found;
}

static void read_entry_key(struct reader *r, const char *key, struct spot spot, const json_t *value,
                           struct hook *hook)
{
    const struct dag_field *field = dag_field_find(&ENTRY_TABLE, key);
    enum hook_target target = HOOK_TARGET_COUNT;
    if (field == NULL)
        reader_unknown_key(r, &ENTRY_TABLE, spot, key, false);
    else if (field->type != FIELD_OWN)
        reader_field(r, field, spot, value, hook);
    else if (!target_of_key(key, &target))
        read_rate(r, spot, value, hook);
    else
        read_target(r, spot, value, hook);
}

/* True when the entry was read without a problem. */
static bool read_entry(struct reader *r, struct spot spot, const json_t *entry, struct hook *hook)
{
    size_t errors_before = r->diags->errors;
    struct spot target_spot = spot;
    if (!json_is_object(entry)) {
        reader_mismatch(r, spot, arena_format(r->dag->arena, "on_%s", hook_event_name(hook->event)),
                        "an entry such as { slack: data-alerts }", entry);
        return false;
    }
    bool has_target = find_target(r, spot, entry, &hook->target, &target_spot);
    struct spot at = {entry, 0};
    for (READER_EACH(entry, iter, at)) {
        enum hook_target target = HOOK_TARGET_COUNT;
        if (has_target || !target_of_key(json_object_iter_key(iter), &target))
            read_entry_key(r, json_object_iter_key(iter), at, json_object_iter_value(iter), hook);
    }
    if (r->diags->errors == errors_before)
        check_target(r, target_spot, hook);
    return r->diags->errors == errors_before;
}

static struct hook new_hook(enum hook_event event)
{
    return (struct hook){
        .event = event, .timeout_ms = COMMAND_TIMEOUT_MS, .severity = HOOK_SEVERITY_COUNT};
}

void reader_hooks(struct reader *r, enum hook_event event, struct spot spot, const json_t *value,
                  struct hook_list *out)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    if (count > LIMIT_HOOKS) {
        reader_problem(r, spot, "%zu hooks in one list, at most %d", count, LIMIT_HOOKS);
        return;
    }
    out->items = arena_array(r->dag->arena, count + 1, sizeof *out->items);
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_is_array(value) ? json_array_get(value, i) : value;
        struct spot at = json_is_array(value) ? (struct spot){value, i} : spot;
        struct hook hook = new_hook(event);
        r->hook_path = arena_format(r->dag->arena, "on_%s.%zu", hook_event_name(event), i);
        if (read_entry(r, at, entry, &hook))
            out->items[out->count++] = hook;
    }
    r->hook_path = NULL;
}

void reader_email_alias(struct reader *r, enum hook_event event, struct spot spot,
                        const json_t *value, struct hook_list *out)
{
    size_t errors_before = r->diags->errors;
    struct hook *hook = arena_alloc(r->dag->arena, sizeof *hook);
    *hook = new_hook(event);
    hook->target = HOOK_EMAIL;
    hook->connection = hook_target_name(HOOK_EMAIL);
    r->hook_path = "email";
    read_short(r, spot, value, hook);
    r->hook_path = NULL;
    if (r->diags->errors == errors_before && hook->to.count > 0)
        *out = (struct hook_list){hook, 1};
}

void reader_check_hooks(struct reader *r, const char *key, struct spot spot, const json_t *value)
{
    struct hook_list ignored = {0};
    enum hook_event event = HOOK_EVENT_COUNT;
    if (hook_event_of_key(key, &event))
        reader_hooks(r, event, spot, value, &ignored);
    else if (strcmp(key, "email") == 0)
        reader_email_alias(r, HOOK_FAILURE, spot, value, &ignored);
}
