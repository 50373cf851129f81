#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/alert_priv.h"

/* The logical date in a form of its own; empty when there is none. */
typedef const char *date_format(int64_t at_us, char out[static INSTANT_TEXT_MAX]);

static const char *format_ds_nodash(int64_t at_us, char out[static INSTANT_TEXT_MAX])
{
    struct civil c = civil_from_instant(at_us);
    (void)snprintf(out, INSTANT_TEXT_MAX, "%04d%02u%02u", (int)c.year, c.month, c.day);
    return out;
}

static const char *format_ts_nodash(int64_t at_us, char out[static INSTANT_TEXT_MAX])
{
    struct civil c = civil_from_instant(at_us);
    (void)snprintf(out, INSTANT_TEXT_MAX, "%04d%02u%02uT%02u%02u%02u", (int)c.year, c.month, c.day,
                   c.hour, c.minute, c.second);
    return out;
}

static const struct {
    const char *name;
    date_format *format;
} DATES[] = {
    {"ds", instant_format_date},
    {"ds_nodash", format_ds_nodash},
    {"execution_date", instant_format_offset},
    {"logical_date", instant_format_offset},
    {"ts", instant_format_offset},
    {"ts_nodash", format_ts_nodash},
};

static json_t *find_date(const json_t *document, const char *name)
{
    char text[INSTANT_TEXT_MAX];
    int64_t at_us = 0;
    for (size_t i = 0; i < ARRAY_LEN(DATES); i++) {
        if (strcmp(DATES[i].name, name) != 0)
            continue;
        const char *date = json_get_string(document, "logical_date", NULL);
        if (date == NULL || !instant_parse(date, &at_us))
            return json_string("");
        return json_string(DATES[i].format(at_us, text));
    }
    return NULL;
}

static json_t *id_object(const json_t *document, const char *key)
{
    json_t *object = json_object();
    json_put_string(object, "id", json_get_string(document, key, ""));
    return object;
}

/* What the event itself answers; NULL: it does not. */
static json_t *find_own(json_t *document, const char *name)
{
    if (strcmp(name, "alert") == 0)
        return json_incref(document);
    if (strcmp(name, "dag") == 0 || strcmp(name, "task") == 0)
        return id_object(document, name);
    if (strcmp(name, "run_id") == 0)
        return json_string(json_get_string(document, name, ""));
    if (strcmp(name, "map_index") == 0 || strcmp(name, "try_number") == 0)
        return json_integer(json_get_int(document, name, 0));
    if (strcmp(name, "params") == 0 || strcmp(name, "conf") == 0) {
        json_t *value = json_object_get(document, name);
        return json_is_object(value) ? json_incref(value) : json_object();
    }
    return find_date(document, name);
}

/* ---- what is asked of others ---- */

void alert_scope_begin(struct alert_scope *scope)
{
    scope->has_asked = false;
    scope->has_secrets = false;
    scope->refusal[0] = '\0';
}

/* A connection that is not asked for one of its parts is all of it. */
static bool gives_secrets(const char *const *path, size_t count)
{
    static const char *const OPEN_PARTS[] = {"conn_type", "host",   "login",
                                             "port",      "schema", "type"};
    if (strcmp(path[0], "conn") != 0 || count < 3)
        return strcmp(path[0], "var") != 0;
    for (size_t i = 0; i < ARRAY_LEN(OPEN_PARTS); i++)
        if (strcmp(OPEN_PARTS[i], path[2]) == 0)
            return false;
    return true;
}

static enum status note_answer(struct alert_scope *scope, const char *const *path, size_t count,
                               enum status status, const struct err *err)
{
    scope->has_asked = true;
    if (status == STATUS_OK)
        scope->has_secrets |= gives_secrets(path, count);
    else if (!scope->has_secrets) /* else the name that was asked for may be one */
        (void)snprintf(scope->refusal, sizeof scope->refusal, "%s", err->text);
    return status;
}

void alert_scope_judge(const struct alert_scope *scope, struct err *err)
{
    bool is_refusal = scope->refusal[0] != '\0' && strstr(err->text, scope->refusal) != NULL;
    if (scope->has_secrets && !is_refusal)
        (void)err_set(err, err->code, "it fails; why is not shown, since it may hold a secret");
    err->code = scope->has_asked ? STATUS_CONFLICT : STATUS_INVALID;
}

static enum status lookup(void *context, const char *const *path, size_t count, size_t *out_used,
                          json_t **out, struct err *err)
{
    struct alert_scope *scope = context;
    json_t *own = find_own(scope->document, path[0]);
    if (own != NULL) {
        *out = own;
        *out_used = 1;
        return STATUS_OK;
    }
    if (scope->more != NULL && scope->more->lookup != NULL)
        return note_answer(
            scope, path, count,
            scope->more->lookup(scope->more->context, path, count, out_used, out, err), err);
    return err_set(err, STATUS_NOT_FOUND, "undefined name '%s'", path[0]);
}

static bool is_function(void *context, const char *const *path, size_t count)
{
    const struct template_scope *more = ((struct alert_scope *)context)->more;
    return more != NULL && more->is_function != NULL &&
           more->is_function(more->context, path, count);
}

/* NOLINTNEXTLINE(readability-function-size) -- the signature is that of template_scope */
static enum status call(void *context, const char *const *path, size_t count, json_t *args,
                        json_t *named, json_t **out, struct err *err)
{
    struct alert_scope *scope = context;
    const struct template_scope *more = scope->more;
    return note_answer(scope, path, count,
                       more->call(more->context, path, count, args, named, out, err), err);
}

static void before_output(void *context)
{
    const struct template_scope *more = ((struct alert_scope *)context)->more;
    if (more != NULL && more->before_output != NULL)
        more->before_output(more->context);
}

static void after_output(void *context, const char *text, size_t length)
{
    const struct template_scope *more = ((struct alert_scope *)context)->more;
    if (more != NULL && more->after_output != NULL)
        more->after_output(more->context, text, length);
}

struct template_scope alert_scope_of(struct alert_scope *scope)
{
    return (struct template_scope){
        .context = scope,
        .lookup = lookup,
        .is_function = is_function,
        .call = call,
        .before_output = before_output,
        .after_output = after_output,
        .zones = scope->more != NULL ? scope->more->zones : NULL,
        .roots_count = HOOK_ROOTS_COUNT,
        .root = hook_root_name,
    };
}
