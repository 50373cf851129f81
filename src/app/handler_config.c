#include "app/handler_config.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/duration.h"
#include "model/limits.h"
#include "os/file.h"
#include "spec/yaml_tree.h"

struct reading {
    const char *path;
    const struct yaml_tree *tree;
};

/* The child of a container that a problem is about. */
struct place {
    const json_t *container;
    size_t index;
    bool of_key;
};

static enum status fail_at(const struct reading *reading, struct place at, struct err *err,
                           const char *name, const char *problem)
{
    struct source_span span =
        yaml_tree_find_place(reading->tree, at.container, at.index, at.of_key);
    return err_set(err, STATUS_INVALID, "%s:%d:%d: handler '%.100s': %s", reading->path, span.line,
                   span.column, name, problem);
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

static enum status read_env(const struct reading *reading, const char *handler, const json_t *env,
                            json_t *into, struct err *err)
{
    json_t *texts = json_object();
    size_t index = 0;
    const char *name;
    json_t *value;
    json_put(into, "env", texts);
    json_object_foreach((json_t *)(uintptr_t)env, name, value)
    {
        struct place at = {env, index++, false};
        if (json_is_object(value) || json_is_array(value) || json_is_null(value))
            return fail_at(reading, at, err, handler, "a variable of 'env' must be a single value");
        if (name[0] == '\0' || strchr(name, '=') != NULL || str_starts_with(name, "EIDER_"))
            return fail_at(reading, (struct place){env, at.index, true}, err, handler,
                           "this cannot be the name of a variable");
        CLEANUP(mem_freep)
        char *text = json_is_string(value) ? mem_strdup(json_string_value(value))
                                           : json_format(value);
        json_put_string(texts, name, text);
    }
    return STATUS_OK;
}

static enum status unknown_member(const struct reading *reading, struct place at, const char *name,
                                  const char *key, struct err *err)
{
    const char *near = str_nearest(key, ARRAY_LEN(MEMBERS), member_at, NULL);
    CLEANUP(mem_freep)
    char *problem = near != NULL
                        ? mem_format("unknown key '%.60s', did you mean '%s'?", key, near)
                        : mem_format("unknown key '%.60s'; known are run, env, timeout", key);
    at.of_key = true;
    return fail_at(reading, at, err, name, problem);
}

static enum status read_member(const struct reading *reading, const char *name, struct place at,
                               const char *key, const json_t *value, json_t *into, struct err *err)
{
    if (!is_member(key))
        return unknown_member(reading, at, name, key, err);
    if (str_equal(key, "run") && !put_run(into, value))
        return fail_at(reading, at, err, name, "'run' must be a command");
    if (str_equal(key, "timeout") && !put_timeout(into, value))
        return fail_at(reading, at, err, name, "'timeout' must be a duration such as 30s or 5m");
    if (str_equal(key, "env"))
        return json_is_object(value)
                   ? read_env(reading, name, value, into, err)
                   : fail_at(reading, at, err, name, "'env' must be a map of names to values");
    return STATUS_OK;
}

/* --- handlers -------------------------------------------------------------------------------- */

static enum status read_map(const struct reading *reading, const char *name, struct place at,
                            const json_t *map, json_t *into, struct err *err)
{
    size_t index = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        if (read_member(reading, name, (struct place){map, index++, false}, key, value, into,
                        err) != STATUS_OK)
            return err->code;
    }
    return json_object_get(into, "run") != NULL
               ? STATUS_OK
               : fail_at(reading, at, err, name, "'run' is missing: the command to run");
}

static bool is_builtin(const char *name)
{
    return str_equal(name, "noop") || str_equal(name, "sleep");
}

static enum status read_handler(const struct reading *reading, const char *name, struct place at,
                                const json_t *value, json_t *handlers, struct err *err)
{
    struct place key = {at.container, at.index, true};
    if (!dag_name_is_valid(name))
        return fail_at(reading, key, err, name,
                       "a name has letters, digits, '_', '-' and '.', a letter or digit first");
    if (is_builtin(name))
        return fail_at(reading, key, err, name, "this one is built in; choose another name");
    json_t *handler = json_object();
    json_put(handlers, name, handler);
    json_put(handler, "env", json_object());
    json_put_int(handler, "timeout_ms", 0);
    if (json_is_object(value))
        return read_map(reading, name, at, value, handler, err);
    return put_run(handler, value)
               ? STATUS_OK
               : fail_at(reading, at, err, name,
                         "write a command, or a map with run, env and timeout");
}

static enum status read_handlers(const struct reading *reading, const json_t *root,
                                 json_t *handlers, struct err *err)
{
    const json_t *section = json_object_get(root, "handlers");
    size_t index = 0;
    const char *name;
    json_t *value;
    if (section == NULL || json_is_null(section))
        return STATUS_OK;
    if (!json_is_object(section))
        return err_set(err, STATUS_INVALID,
                       "%s: handlers: a map of names to commands is expected", reading->path);
    json_object_foreach((json_t *)(uintptr_t)section, name, value)
    {
        if (read_handler(reading, name, (struct place){section, index++, false}, value, handlers,
                         err) != STATUS_OK)
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
