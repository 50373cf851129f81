/*
 * template_path: a name with the attributes and subscripts after it, and its value.
 *
 * The scope is asked with the whole chain, so that `tasks.x.key` loads one value only.
 */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/template_eval_priv.h"

static void path_free(struct path *path)
{
    for (size_t i = 1; i < path->count; i++) {
        if (json_is_integer(path->keys[i])) {
            /* The text of a number was made for the path. */
            void *text = (void *)(uintptr_t)path->parts[i];
            mem_freep(&text);
        }
        json_decref(path->keys[i]);
    }
    mem_freep(&path);
}

void path_freep(struct path **path)
{
    if (*path != NULL)
        path_free(*path);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
struct path *path_new(struct eval *eval, const struct expr *chain)
{
    CLEANUP(path_freep) struct path *path = mem_zalloc(1, sizeof *path);
    path->parts[0] = chain->name;
    path->exprs[0] = chain;
    path->count = 1;
    for (const struct expr *part = chain->items; part != NULL; part = part->next) {
        json_t *key = eval_expr(eval, part);
        if (key == NULL)
            return NULL;
        if (!json_is_string(key) && !json_is_integer(key)) {
            (void)eval_fail(eval, STATUS_INVALID, "%s cannot be a key or an index",
                            value_type_name(key));
            json_decref(key);
            (void)eval_locate(eval, part->place);
            return NULL;
        }
        size_t i = path->count++;
        path->keys[i] = key;
        path->exprs[i] = part;
        path->parts[i] = json_is_string(key)
                             ? json_string_value(key)
                             : mem_format("%" PRId64, (int64_t)json_integer_value(key));
    }
    return TAKE(path);
}

struct name_list {
    const struct eval *eval;
};

static const char *known_name(const void *context, size_t i)
{
    const struct eval *eval = ((const struct name_list *)context)->eval;
    if (i < eval->locals_count)
        return eval->locals[i].name;
    return eval->scope->root(eval->scope->context, i - eval->locals_count);
}

json_t *eval_unknown_name(struct eval *eval, const char *kind, const char *name, bool guarded)
{
    struct name_list names = {eval};
    size_t roots = eval->scope->root != NULL ? eval->scope->roots_count : 0;
    size_t count = eval->locals_count + roots;
    const char *near = guarded ? NULL : str_nearest(name, count, known_name, &names);
    if (near == NULL)
        return eval_missing(eval, guarded, "undefined %s '%.60s'", kind, name);
    return eval_missing(eval, guarded, "undefined %s '%.60s' (did you mean '%.60s'?)", kind, name,
                        near);
}

static bool is_root(const struct template_scope *scope, const char *name)
{
    for (size_t i = 0; scope->root != NULL && i < scope->roots_count; i++)
        if (strcmp(scope->root(scope->context, i), name) == 0)
            return true;
    return false;
}

/* The value of the first parts of a path, as many as the scope answers for. */
static json_t *look_up(struct eval *eval, const struct path *path, size_t count, size_t *out_used,
                       bool guarded)
{
    const struct template_scope *scope = eval->scope;
    const struct local *local = local_find(eval, path->parts[0]);
    *out_used = 1;
    if (local != NULL)
        return local_value(local);
    if (scope->lookup == NULL)
        return eval_unknown_name(eval, "name", path->parts[0], guarded);
    json_t *value = NULL;
    struct err err = {0};
    enum status status = scope->lookup(scope->context, path->parts, count, out_used, &value, &err);
    if (status == STATUS_OK) {
        CHECK(value != NULL);
        CHECK(*out_used >= 1);
        CHECK(*out_used <= count);
        return value;
    }
    if (status != STATUS_NOT_FOUND)
        return eval_fail(eval, status, "%s", err.text);
    if (!is_root(scope, path->parts[0]) || err.text[0] == '\0')
        return eval_unknown_name(eval, "name", path->parts[0], guarded);
    return eval_missing(eval, guarded, "%s", err.text);
}

/* The value of the first `count` parts of a path. */
json_t *path_value(struct eval *eval, const struct path *path, size_t count, bool guarded)
{
    size_t used = 1;
    json_t *value = look_up(eval, path, count, &used, guarded);
    if (value == NULL)
        return eval_locate(eval, path->exprs[0]->place);
    for (size_t i = used; i < count && value != NULL; i++) {
        json_t *member = value_access(eval, value, path->keys[i], guarded);
        json_decref(value);
        value = member != NULL ? member : eval_locate(eval, path->exprs[i]->place);
    }
    return value;
}
