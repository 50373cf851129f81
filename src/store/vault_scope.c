#include "store/vault_scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/limits.h"
#include "model/mask.h"

static const char HIDDEN[] = "***";

/* --- what was given -------------------------------------------------------------------------- */

void vault_seen_add(struct vault_seen *seen, const char *text, size_t length)
{
    for (size_t i = 0; i < seen->count; i++)
        if (strlen(seen->items[i]) == length && memcmp(seen->items[i], text, length) == 0)
            return;
    if (seen->count + 1 >= seen->capacity) {
        size_t capacity = MAX(seen->capacity * 2, (size_t)8);
        const char **items = arena_array(seen->arena, capacity, sizeof *items);
        if (seen->count > 0)
            memcpy(items, seen->items, seen->count * sizeof *items);
        seen->items = items;
        seen->capacity = capacity;
    }
    seen->items[seen->count++] = arena_strndup(seen->arena, text, length);
    seen->items[seen->count] = NULL;
}

static void add_text(void *context, const char *secret)
{
    vault_seen_add(context, secret, strlen(secret));
}

void vault_seen_add_connection(struct vault_seen *seen, const struct connection *connection)
{
    connection_secrets(connection, add_text, seen);
}

void vault_seen_add_variable(struct vault_seen *seen, const char *name, const char *value)
{
    enum env_kind kind = ENV_KIND_COUNT;
    CLEANUP(mem_freep) char *known = env_name_parse(name, &kind);
    if (known == NULL || kind == ENV_VARIABLE)
        return;
    struct connection connection = {0};
    struct err ignored = {0};
    if (kind == ENV_CONNECTION && connection_parse(value, &connection, &ignored) == STATUS_OK) {
        vault_seen_add_connection(seen, &connection);
        connection_fini(&connection);
    } else {
        vault_seen_add(seen, value, strlen(value));
    }
}

const char *const *vault_seen_list(const struct vault_seen *seen)
{
    return seen->count > 0 ? (const char *const *)seen->items : NULL;
}

void vault_seen_wipe(struct vault_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        secret_wipe((void *)(uintptr_t)seen->items[i], strlen(seen->items[i]));
    seen->count = 0;
}

const char *vault_seen_mask(const struct vault_seen *seen, const char *text)
{
    CLEANUP(mask_freep) struct mask *mask = NULL;
    struct err too_many = {0};
    if (text == NULL || seen->count == 0)
        return text;
    if (mask_new(vault_seen_list(seen), &mask, &too_many) != STATUS_OK)
        return HIDDEN;
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, 2 * strlen(text) + 16);
    mask_text(mask, text, &out);
    return arena_strdup(seen->arena, out.text);
}

/* --- var ------------------------------------------------------------------------------------- */

static enum status find_variable(const struct vault_scope *scope, const char *form,
                                 const char *name, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *value = NULL;
    if (vault_variable(scope->vault, scope->space, name, &value, err) != STATUS_OK)
        return err->code;
    bool as_json = str_equal(form, "json");
    if (as_json && json_is_string(value)) {
        if (json_parse(json_string_value(value), json_string_length(value), out, err) != STATUS_OK)
            return err_wrap(err, "variable '%s'", name);
    } else if (as_json || json_is_string(value)) {
        *out = TAKE(value);
    } else {
        CLEANUP(mem_freep) char *text = json_format(value);
        *out = json_string(text);
    }
    return STATUS_OK;
}

static enum status lookup_var(struct vault_scope *scope, const char *const *path, size_t count,
                              size_t *out_used, json_t **out, struct err *err)
{
    if (count < 3 || (!str_equal(path[1], "value") && !str_equal(path[1], "json")))
        return err_set(err, STATUS_NOT_FOUND, "variables are var.value.NAME or var.json.NAME");
    *out_used = 3;
    return find_variable(scope, path[1], path[2], out, err);
}

/* --- conn ------------------------------------------------------------------------------------ */

static enum status refuse_member(const char *name, const char *member, struct err *err)
{
    return err_set(err, STATUS_DENIED,
                   "conn.%s.%s is secret: it can be used in 'env', in headers and in hooks only; "
                   "give it to the task as a variable of 'env'",
                   name, member);
}

/* `name` NULL: all of it. */
static enum status refuse_extra(const char *connection, const char *name, struct err *err)
{
    if (name == NULL)
        return refuse_member(connection, "extra", err);
    CLEANUP(mem_freep) char *member = mem_format("extra.%s", name);
    return refuse_member(connection, member, err);
}

/* What templates see of a connection that is whole. */
static json_t *whole(const struct connection *connection)
{
    CLEANUP(mem_freep) char *uri = connection_format(connection);
    json_t *object = connection_to_json(connection);
    json_put_string(object, "conn_type", connection->type);
    json_put(object, "uri", json_text(uri, strlen(uri)));
    secret_wipe(uri, strlen(uri));
    return object;
}

static json_t *without_secrets(const struct connection *connection)
{
    json_t *object = connection_to_json(connection);
    json_put_string(object, "conn_type", connection->type);
    (void)json_object_del(object, "password");
    json_put(object, "extra", connection_open_extra(connection));
    return object;
}

static enum status show_connection(const struct vault_scope *scope, const char *name, json_t **out,
                                   struct err *err)
{
    json_t *shown = NULL;
    if (vault_connection_shown(scope->vault, scope->space, name, &shown, err) != STATUS_OK)
        return err->code;
    json_put(shown, "conn_type", json_incref(json_object_get(shown, "type")));
    json_put_string(shown, "uri", HIDDEN);
    *out = shown;
    return STATUS_OK;
}

static enum status lookup_conn(struct vault_scope *scope, const char *const *path, size_t count,
                               size_t *out_used, json_t **out, struct err *err)
{
    if (count < 2)
        return err_set(err, STATUS_NOT_FOUND, "'conn' needs the name of a connection");
    *out_used = 2;
    const char *member = count > 2 ? path[2] : "";
    const char *name = count > 3 ? path[3] : NULL; /* of extra */
    bool is_secret = str_equal(member, "password") || str_equal(member, "uri");
    if (is_secret && !scope->may_see)
        return refuse_member(path[1], member, err);
    if (scope->shows_only)
        return show_connection(scope, path[1], out, err);
    struct connection connection = {0};
    if (vault_connection(scope->vault, scope->space, path[1], &connection, err) != STATUS_OK)
        return err->code;
    enum status status = STATUS_OK;
    if (scope->seen != NULL)
        vault_seen_add_connection(scope->seen, &connection);
    is_secret |= str_equal(member, "extra") && connection_extra_is_secret(&connection, name);
    if (!scope->may_see && is_secret)
        status = refuse_extra(path[1], name, err);
    else
        *out = scope->may_see ? whole(&connection) : without_secrets(&connection);
    scope->given += scope->may_see && (is_secret || count == 2);
    connection_fini(&connection);
    return status;
}

/* --- secrets --------------------------------------------------------------------------------- */

static enum status lookup_secrets(struct vault_scope *scope, const char *const *path, size_t count,
                                  size_t *out_used, json_t **out, struct err *err)
{
    if (count < 2)
        return err_set(err, STATUS_NOT_FOUND, "'secrets' needs the name of a secret");
    if (!scope->may_see)
        return err_set(err, STATUS_DENIED,
                       "secrets.%s can be used in 'env', in headers and in hooks only; give it to "
                       "the task as a variable of 'env'",
                       path[1]);
    *out_used = 2;
    if (scope->shows_only) {
        if (vault_find(scope->vault, VAULT_SECRET, scope->space, path[1], err) != STATUS_OK)
            return err->code;
        *out = json_string(HIDDEN);
        return STATUS_OK;
    }
    struct secret_value value = {0};
    if (vault_secret(scope->vault, scope->space, path[1], &value, err) != STATUS_OK)
        return err->code;
    if (scope->seen != NULL)
        vault_seen_add(scope->seen, value.bytes, value.length);
    scope->given++;
    *out = json_text(value.bytes, value.length);
    secret_value_fini(&value);
    return STATUS_OK;
}

/* --- all of it ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum status (*lookup)(struct vault_scope *scope, const char *const *path, size_t count,
                          size_t *out_used, json_t **out, struct err *err);
} ROOTS[] = {
    {"conn", lookup_conn},
    {"secrets", lookup_secrets},
    {"var", lookup_var},
};

bool vault_scope_has_root(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(ROOTS); i++)
        if (str_equal(ROOTS[i].name, name))
            return true;
    return false;
}

enum status vault_scope_lookup(void *context, const char *const *path, size_t count,
                               size_t *out_used, json_t **out, struct err *err)
{
    struct vault_scope *scope = context;
    for (size_t i = 0; i < ARRAY_LEN(ROOTS); i++) {
        if (!str_equal(ROOTS[i].name, path[0]))
            continue;
        if (scope->vault == NULL)
            return err_set(err, STATUS_NOT_FOUND, "'%s' is not known here", path[0]);
        return ROOTS[i].lookup(scope, path, count, out_used, out, err);
    }
    return err_set(err, STATUS_NOT_FOUND, "undefined name '%s'", path[0]);
}

bool vault_scope_is_function(void *context, const char *const *path, size_t count)
{
    (void)context;
    return count == 3 && str_equal(path[0], "var") && str_equal(path[2], "get");
}

/* NOLINTNEXTLINE(readability-function-size) -- the parameters are those of template.h */
enum status vault_scope_call(void *context, const char *const *path, size_t count, json_t *args,
                             json_t *named, json_t **out, struct err *err)
{
    const struct vault_scope *scope = context;
    CHECK(vault_scope_is_function(context, path, count));
    const char *name = json_string_value(json_array_get(args, 0));
    const json_t *otherwise = json_object_get(named, "default_var");
    if (otherwise == NULL)
        otherwise = json_array_get(args, 1);
    enum status status = STATUS_NOT_FOUND;
    if (scope->vault != NULL)
        status = find_variable(scope, path[1], name != NULL ? name : "", out, err);
    if (status != STATUS_NOT_FOUND)
        return status;
    *out = otherwise != NULL ? json_deep_copy(otherwise) : json_null();
    return STATUS_OK;
}

void vault_scope_before_output(void *context)
{
    struct vault_scope *scope = context;
    scope->is_tainted |= scope->given != scope->given_before;
    scope->given_before = scope->given;
}

void vault_scope_after_output(void *context, const char *text, size_t length)
{
    struct vault_scope *scope = context;
    bool holds_secret = scope->is_tainted || scope->given != scope->given_before;
    if (holds_secret && scope->seen != NULL)
        vault_seen_add(scope->seen, text, length);
    scope->given_before = scope->given;
}

static const char *root_name(const void *context, size_t i)
{
    (void)context;
    return ROOTS[i].name;
}

struct template_scope vault_scope_names(struct vault_scope *scope)
{
    return (struct template_scope){
        .context = scope,
        .lookup = vault_scope_lookup,
        .is_function = vault_scope_is_function,
        .call = vault_scope_call,
        .before_output = vault_scope_before_output,
        .after_output = vault_scope_after_output,
        .roots_count = ARRAY_LEN(ROOTS),
        .root = root_name,
    };
}
