#include "app/handler_config.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/duration.h"
#include "model/limits.h"
#include "model/template.h"
#include "os/file.h"
#include "spec/yaml_tree.h"
#include "store/vault_scope.h"

struct reading {
    const char *path;
    const struct yaml_tree *tree;
    const char *name; /* of the handler that is read */
    json_t *handler;  /* what was read of it */
};

/* The child of a container that a problem is about. */
struct place {
    const json_t *container;
    size_t index;
    bool of_key;
};

static enum status fail_at(const struct reading *reading, struct place at, const char *problem,
                           struct err *err)
{
    struct source_span span =
        yaml_tree_find_place(reading->tree, at.container, at.index, at.of_key);
    return err_set(err, STATUS_INVALID, "%s:%d:%d: handler '%.100s': %s", reading->path, span.line,
                   span.column, reading->name, problem);
}

static const char *const MEMBERS[] = {"run", "env", "timeout"};

static const char *member_at(const void *context, size_t i)
{
    (void)context;
    return MEMBERS[i];
}

static bool is_member(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
        if (str_equal(MEMBERS[i], key))
            return true;
    return false;
}

/* --- members --------------------------------------------------------------------------------- */

static bool put_run(json_t *into, const json_t *value)
{
    const char *text = json_string_value(value);
    if (text == NULL || text[strspn(text, " \t\r\n")] == '\0')
        return false;
    json_put_string(into, "run", text);
    return true;
}

static bool put_timeout(json_t *into, const json_t *value)
{
    int64_t ms = 0;
    bool is_fine = json_is_integer(value)
                       ? duration_from_seconds(json_integer_value(value), &ms)
                       : json_is_string(value) && duration_parse(json_string_value(value), &ms);
    if (is_fine)
        json_put_int(into, "timeout_ms", ms);
    return is_fine;
}

struct names {
    const char *unknown; /* NULL: all are known */
};

static void check_name(void *context, const struct template_name *name)
{
    struct names *names = context;
    if (!vault_scope_has_root(name->parts[0]) && !name->guarded)
        names->unknown = name->parts[0];
}

/* What is wrong with it as a template, heap; NULL: nothing. */
static char *template_problem(const char *text)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct template *template = NULL;
    struct template_fault fault = {0};
    struct err err = {0};
    struct names names = {0};
    if (template_is_plain(text))
        return NULL;
    if (template_parse(arena, text, &template, &fault, &err) != STATUS_OK)
        return mem_format("template: %s", err.text);
    template_visit_names(template, check_name, &names);
    return names.unknown == NULL
               ? NULL
               : mem_format("template: '%.60s' is not known here; known are var, conn and secrets",
                            names.unknown);
}

static enum status read_env(const struct reading *reading, const json_t *env, struct err *err)
{
    json_t *texts = json_object();
    size_t index = 0;
    const char *name;
    json_t *value;
    json_put(reading->handler, "env", texts);
    json_object_foreach((json_t *)(uintptr_t)env, name, value)
    {
        struct place at = {env, index++, false};
        if (json_is_object(value) || json_is_array(value) || json_is_null(value))
            return fail_at(reading, at, "a variable of 'env' must be a single value", err);
        if (name[0] == '\0' || strchr(name, '=') != NULL || str_starts_with(name, "EIDER_"))
            return fail_at(reading, (struct place){env, at.index, true},
                           "this cannot be the name of a variable", err);
        CLEANUP(mem_freep)
        char *text =
            json_is_string(value) ? mem_strdup(json_string_value(value)) : json_format(value);
        CLEANUP(mem_freep) char *problem = template_problem(text);
        if (problem != NULL)
            return fail_at(reading, at, problem, err);
        json_put_string(texts, name, text);
    }
    return STATUS_OK;
}

static enum status unknown_member(const struct reading *reading, struct place at, const char *key,
                                  struct err *err)
{
    const char *near = str_nearest(key, ARRAY_LEN(MEMBERS), member_at, NULL);
    CLEANUP(mem_freep)
    char *problem = near != NULL
                        ? mem_format("unknown key '%.60s', did you mean '%s'?", key, near)
                        : mem_format("unknown key '%.60s'; known are run, env, timeout", key);
    at.of_key = true;
    return fail_at(reading, at, problem, err);
}

static enum status read_member(const struct reading *reading, struct place at, const char *key,
                               const json_t *value, struct err *err)
{
    if (!is_member(key))
        return unknown_member(reading, at, key, err);
    if (str_equal(key, "run") && !put_run(reading->handler, value))
        return fail_at(reading, at, "'run' must be a command", err);
    if (str_equal(key, "timeout") && !put_timeout(reading->handler, value))
        return fail_at(reading, at, "'timeout' must be a duration such as 30s or 5m", err);
    if (str_equal(key, "env") && !json_is_object(value))
        return fail_at(reading, at, "'env' must be a map of names to values", err);
    return str_equal(key, "env") ? read_env(reading, value, err) : STATUS_OK;
}

/* --- handlers -------------------------------------------------------------------------------- */

static enum status read_map(const struct reading *reading, struct place at, const json_t *map,
                            struct err *err)
{
    size_t index = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        if (read_member(reading, (struct place){map, index++, false}, key, value, err) != STATUS_OK)
            return err->code;
    }
    return json_object_get(reading->handler, "run") != NULL
               ? STATUS_OK
               : fail_at(reading, at, "'run' is missing: the command to run", err);
}

static bool is_builtin(const char *name)
{
    return str_equal(name, "noop") || str_equal(name, "sleep");
}

static enum status read_handler(const struct reading *reading, struct place at, const json_t *value,
                                struct err *err)
{
    struct place key = {at.container, at.index, true};
    if (!dag_name_is_valid(reading->name))
        return fail_at(reading, key,
                       "a name has letters, digits, '_', '-' and '.', a letter or digit first",
                       err);
    if (is_builtin(reading->name))
        return fail_at(reading, key, "this one is built in; choose another name", err);
    json_put(reading->handler, "env", json_object());
    json_put_int(reading->handler, "timeout_ms", 0);
    if (json_is_object(value))
        return read_map(reading, at, value, err);
    return put_run(reading->handler, value)
               ? STATUS_OK
               : fail_at(reading, at, "write a command, or a map with run, env and timeout", err);
}

static enum status read_handlers(struct reading *reading, const json_t *root, json_t *handlers,
                                 struct err *err)
{
    const json_t *section = json_object_get(root, "handlers");
    size_t index = 0;
    const char *name;
    json_t *value;
    if (section == NULL || json_is_null(section))
        return STATUS_OK;
    if (!json_is_object(section))
        return err_set(err, STATUS_INVALID, "%s: handlers: a map of names to commands is expected",
                       reading->path);
    json_object_foreach((json_t *)(uintptr_t)section, name, value)
    {
        reading->name = name;
        reading->handler = json_object();
        json_put(handlers, name, reading->handler);
        if (read_handler(reading, (struct place){section, index++, false}, value, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status handler_config_load(const char *path, json_t **out, struct err *err)
{
    CLEANUP(mem_freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *handlers = json_object();
    size_t length = 0;
    enum status status = file_read(path, LIMIT_FILE_BYTES, &text, &length, err);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (status == STATUS_OK) {
        CLEANUP(yaml_tree_freep) struct yaml_tree *tree = NULL;
        CLEANUP(diag_list_fini) struct diag_list diags = {0};
        tree = yaml_tree_parse(text, length, &diags);
        struct reading reading = {.path = path, .tree = tree};
        const json_t *root = json_array_get(yaml_tree_documents(tree), 0);
        if (read_handlers(&reading, root, handlers, err) != STATUS_OK)
            return err->code;
    }
    *out = TAKE(handlers);
    return STATUS_OK;
}
