#include "store/vault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/template.h"
#include "os/file.h"
#include "os/privacy.h"
#include "store/vault_priv.h"

struct vault *vault_new(const struct vault_sources *sources, struct store *store)
{
    struct vault *vault = mem_zalloc(1, sizeof *vault);
    *vault = (struct vault){.sources = sources, .store = store};
    return vault;
}

struct vault *vault_new_at(const struct vault_sources *sources, const char *url)
{
    struct vault *vault = vault_new(sources, NULL);
    vault->url = mem_strdup(url);
    return vault;
}

void vault_free(struct vault *vault)
{
    if (vault == NULL)
        return;
    if (vault->url != NULL)
        store_close(vault->store);
    free(vault->url);
    secret_keys_free(vault->keys);
    free(vault);
}

const char *vault_origin_name(enum vault_origin origin)
{
    static const char *const NAMES[] = {
        [VAULT_ENVIRONMENT] = "environment", [VAULT_FILE] = "file", [VAULT_STORE] = "store"};
    _Static_assert(ARRAY_LEN(NAMES) == VAULT_ORIGIN_COUNT, "every origin has a name");
    CHECK(origin < VAULT_ORIGIN_COUNT);
    return NAMES[origin];
}

enum status vault_reach(struct vault *vault, struct err *err)
{
    const struct store_options options = {.url = vault->url, .mode = DB_READ_ONLY};
    struct err problem = {0};
    if (vault->url == NULL || vault->is_opened)
        return STATUS_OK;
    enum status status = store_open(&options, &vault->store, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    vault->is_opened = true;
    return STATUS_OK;
}

/* --- places ---------------------------------------------------------------------------------- */

static const char *env_value(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (char *const *entry = environment; entry != NULL && *entry != NULL; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

const char *vault_env(const struct vault *vault, enum vault_kind kind, const char *name,
                      char **out_variable)
{
    char *names[ENV_NAMES] = {NULL};
    const char *found = NULL;
    if (!env_names((enum env_kind)kind, name, names))
        return NULL;
    for (size_t i = 0; i < ENV_NAMES; i++) {
        const char *value = found == NULL && names[i] != NULL
                                ? env_value(vault->sources->environment, names[i])
                                : NULL;
        if (value != NULL) {
            found = value;
            *out_variable = TAKE(names[i]);
        }
        free(names[i]);
    }
    return found;
}

char *vault_secret_path(const struct vault *vault, const char *name)
{
    const char *dir = vault->sources->secrets_dir;
    return dir != NULL && dir[0] != '\0' ? file_path_join(dir, name) : NULL;
}

/* Says where it was looked for. */
static enum status missing(const struct vault *vault, enum vault_kind kind, const char *space,
                           const char *name, struct err *err)
{
    static const char *const FILES[] = {
        [VAULT_VARIABLE] = "variables.yaml", [VAULT_CONNECTION] = "connections.yaml"};
    char *names[ENV_NAMES] = {NULL};
    if (!env_names((enum env_kind)kind, name, names))
        names[0] = mem_strdup("no variable of the environment");
    CLEANUP(mem_freep) char *path = kind == VAULT_SECRET ? vault_secret_path(vault, name) : NULL;
    const char *file = kind != VAULT_SECRET ? FILES[kind] : path != NULL ? path : "no secrets_dir";
    bool is_default = str_equal(space, VAULT_DEFAULT_SPACE);
    enum status status = err_set(
        err, STATUS_NOT_FOUND, "there is no %s '%.100s': looked at %s, %s and %s%.100s%s",
        vault_kind_name(kind), name, names[0], file,
        vault->store == NULL ? "no store (there is none), namespace '" : "the store, namespace '",
        space, is_default ? "'" : "' and 'default'");
    for (size_t i = 0; i < ENV_NAMES; i++)
        free(names[i]);
    return status;
}

static enum status load_row(struct vault *vault, struct arena *arena, struct vault_name what,
                            struct vault_row *out, struct err *err)
{
    if (vault_reach(vault, err) != STATUS_OK)
        return err_wrap(err, "look for the %s '%.100s'", vault_kind_name(what.kind), what.name);
    if (vault->store == NULL)
        return missing(vault, what.kind, what.space, what.name, err);
    enum status status = store_vault_load(vault->store, arena, &what, out, err);
    return status == STATUS_NOT_FOUND ? missing(vault, what.kind, what.space, what.name, err)
                                      : status;
}

/* --- variables ------------------------------------------------------------------------------- */

enum status vault_variable(struct vault *vault, const char *space, const char *name, json_t **out,
                           struct err *err)
{
    CLEANUP(mem_freep) char *variable = NULL;
    const char *text = vault_env(vault, VAULT_VARIABLE, name, &variable);
    if (text != NULL) {
        *out = json_text(text, strlen(text));
        return STATUS_OK;
    }
    const json_t *of_file = json_object_get(vault->sources->variables, name);
    if (of_file != NULL) {
        *out = json_deep_copy(of_file);
        return STATUS_OK;
    }
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_row row = {0};
    if (load_row(vault, arena, (struct vault_name){VAULT_VARIABLE, space, name, false}, &row,
                 err) != STATUS_OK)
        return err->code;
    CHECK(row.value != NULL);
    *out = json_text(row.value, strlen(row.value));
    return STATUS_OK;
}

/* --- secrets --------------------------------------------------------------------------------- */

/* A text is what the environment of a task, a header and a template can carry. */
static enum status check_text(const char *name, const char *bytes, size_t length, struct err *err)
{
    json_t *text = memchr(bytes, '\0', length) == NULL ? json_stringn(bytes, length) : NULL;
    if (text == NULL)
        return err_set(err, STATUS_INVALID,
                       "the secret '%s' is not text (UTF-8 without NUL): keep it as base64", name);
    secret_wipe((void *)(uintptr_t)json_string_value(text), length);
    json_decref(text);
    return STATUS_OK;
}

/* STATUS_NOT_FOUND: there is no such file. */
static enum status read_secret_file(const struct vault *vault, const char *name,
                                    struct secret_value *out, struct err *err)
{
    CLEANUP(mem_freep) char *path = vault_secret_path(vault, name);
    char *bytes = NULL;
    size_t length = 0;
    if (path == NULL)
        return STATUS_NOT_FOUND;
    enum status status = file_read(path, LIMIT_SECRET_BYTES + 1, &bytes, &length, err);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? status : err_wrap(err, "the secret '%s'", name);
    size_t whole = length;
    if (length > 0 && bytes[length - 1] == '\n')
        length--;
    if (length > 0 && length < whole && bytes[length - 1] == '\r')
        length--;
    status = check_text(name, bytes, length, err);
    if (status == STATUS_OK)
        *out = secret_value_new(bytes, length);
    secret_wipe(bytes, whole);
    free(bytes);
    return status;
}

enum status vault_secret(struct vault *vault, const char *space, const char *name,
                         struct secret_value *out, struct err *err)
{
    CLEANUP(mem_freep) char *variable = NULL;
    struct err ignored = {0};
    if (vault_check_name(VAULT_SECRET, space, name, &ignored) != STATUS_OK)
        return missing(vault, VAULT_SECRET, space, name, err);
    privacy_begin();
    const char *text = vault_env(vault, VAULT_SECRET, name, &variable);
    if (text != NULL) {
        if (check_text(name, text, strlen(text), err) != STATUS_OK)
            return err->code;
        *out = secret_value_new(text, strlen(text));
        return STATUS_OK;
    }
    struct err of_file = {0};
    enum status status = read_secret_file(vault, name, out, &of_file);
    if (status == STATUS_OK)
        return STATUS_OK;
    if (status != STATUS_NOT_FOUND) {
        *err = of_file;
        return status;
    }
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_row row = {0};
    if (load_row(vault, arena, (struct vault_name){VAULT_SECRET, space, name, false}, &row, err) !=
        STATUS_OK)
        return err->code;
    return vault_open(vault, VAULT_SECRET, &row, out, err);
}

/* --- connections ----------------------------------------------------------------------------- */

struct field_scope {
    struct vault *vault;
    const char *space;
};

static enum status field_lookup(void *context, const char *const *path, size_t count,
                                size_t *out_used, json_t **out, struct err *err)
{
    const struct field_scope *scope = context;
    if (!str_equal(path[0], "secrets") || count < 2)
        return err_set(err, STATUS_NOT_FOUND,
                       "a connection can use secrets.NAME and nothing else, not '%s'", path[0]);
    struct secret_value value = {0};
    if (vault_secret(scope->vault, scope->space, path[1], &value, err) != STATUS_OK)
        return err->code;
    *out_used = 2;
    *out = json_text(value.bytes, value.length);
    secret_value_fini(&value);
    return STATUS_OK;
}

static enum status render_field(struct field_scope *scope, struct arena *arena, const char *text,
                                json_t **out, struct err *err)
{
    struct template_scope names = {.context = scope, .lookup = field_lookup};
    const struct template *template = NULL;
    struct template_fault fault;
    if (template_parse(arena, text, &template, &fault, err) != STATUS_OK)
        return err->code;
    return template_render(template, &names, out, &fault, err);
}

/* A copy in which texts with templates are filled in; `extra` is one level deeper. */
/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the file */
static enum status render_fields(struct field_scope *scope, struct arena *arena,
                                 const json_t *fields, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *copy = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)fields, key, value)
    {
        json_t *rendered = NULL;
        enum status status = STATUS_OK;
        if (json_is_object(value))
            status = render_fields(scope, arena, value, &rendered, err);
        else if (json_is_string(value) && !template_is_plain(json_string_value(value)))
            status = render_field(scope, arena, json_string_value(value), &rendered, err);
        else
            rendered = json_deep_copy(value);
        if (status != STATUS_OK)
            return err_wrap(err, "'%s'", key);
        json_put(copy, key, rendered);
    }
    *out = TAKE(copy);
    return STATUS_OK;
}

enum status vault_file_connection(struct vault *vault, const char *space, const char *name,
                                  const json_t *entry, struct connection *out, struct err *err)
{
    enum status status = STATUS_OK;
    if (json_is_string(entry)) {
        status = connection_parse(json_string_value(entry), out, err);
    } else {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        CLEANUP(json_decrefp) json_t *fields = NULL;
        struct field_scope scope = {.vault = vault, .space = space};
        status = render_fields(&scope, arena, entry, &fields, err);
        if (status == STATUS_OK)
            status = connection_read(json_is_object(entry) ? fields : entry, out, err);
    }
    /* It is there, only not whole. */
    if (status == STATUS_NOT_FOUND)
        err->code = STATUS_INVALID;
    return status == STATUS_OK ? status
                               : err_wrap(err, "connection '%s' of connections.yaml", name);
}

static enum status of_outside(struct vault *vault, const char *space, const char *name,
                              struct connection *out, bool *out_found, struct err *err)
{
    CLEANUP(mem_freep) char *variable = NULL;
    const char *text = vault_env(vault, VAULT_CONNECTION, name, &variable);
    *out_found = true;
    if (text != NULL)
        return connection_parse(text, out, err) == STATUS_OK ? STATUS_OK
                                                             : err_wrap(err, "%s", variable);
    const json_t *entry = json_object_get(vault->sources->connections, name);
    if (entry != NULL)
        return vault_file_connection(vault, space, name, entry, out, err);
    *out_found = false;
    return STATUS_OK;
}

static enum status parse_row(struct vault *vault, const struct vault_row *row,
                             struct connection *out, struct err *err)
{
    if (row->sealed == NULL)
        return connection_parse(row->value, out, err);
    struct secret_value plain = {0};
    if (vault_open(vault, VAULT_CONNECTION, row, &plain, err) != STATUS_OK)
        return err->code;
    enum status status = connection_parse(plain.bytes, out, err);
    secret_value_fini(&plain);
    return status;
}

enum status vault_connection(struct vault *vault, const char *space, const char *name,
                             struct connection *out, struct err *err)
{
    bool is_outside = false;
    privacy_begin();
    if (of_outside(vault, space, name, out, &is_outside, err) != STATUS_OK)
        return err->code;
    if (is_outside)
        return STATUS_OK;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_row row = {0};
    if (load_row(vault, arena, (struct vault_name){VAULT_CONNECTION, space, name, false}, &row,
                 err) != STATUS_OK)
        return err->code;
    return parse_row(vault, &row, out, err);
}

enum status vault_connection_shown(struct vault *vault, const char *space, const char *name,
                                   json_t **out, struct err *err)
{
    struct connection connection = {0};
    bool is_outside = false;
    if (of_outside(vault, space, name, &connection, &is_outside, err) != STATUS_OK)
        return err->code;
    if (is_outside) {
        *out = connection_shown_json(&connection);
        connection_fini(&connection);
        return STATUS_OK;
    }
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_row row = {0};
    if (load_row(vault, arena, (struct vault_name){VAULT_CONNECTION, space, name, false}, &row,
                 err) != STATUS_OK)
        return err->code;
    CHECK(row.value != NULL);
    return json_parse(row.value, strlen(row.value), out, err);
}

/* --- whether there is one -------------------------------------------------------------------- */

enum status vault_find(struct vault *vault, enum vault_kind kind, const char *space,
                       const char *name, struct err *err)
{
    CLEANUP(mem_freep) char *variable = NULL;
    struct err ignored = {0};
    if (kind == VAULT_SECRET && vault_check_name(kind, space, name, &ignored) != STATUS_OK)
        return missing(vault, kind, space, name, err);
    if (vault_env(vault, kind, name, &variable) != NULL)
        return STATUS_OK;
    CLEANUP(mem_freep) char *path = kind == VAULT_SECRET ? vault_secret_path(vault, name) : NULL;
    const json_t *files = kind == VAULT_VARIABLE     ? vault->sources->variables
                          : kind == VAULT_CONNECTION ? vault->sources->connections
                                                     : NULL;
    if ((path != NULL && access(path, F_OK) == 0) || json_object_get(files, name) != NULL)
        return STATUS_OK;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_row row = {0};
    return load_row(vault, arena, (struct vault_name){kind, space, name, false}, &row, err);
}
