#pragma once
/*
 * template_world: a scope for template tests: roots of a JSON object, ti.xcom_pull, two zones.
 */
#include <string.h>

#include "base/json.h"
#include "model/template.h"
#include "zone_bytes.h"

struct template_world {
    json_t *roots;
    size_t lookups;
    size_t parts_asked; /* of the last lookup */
};

static inline const char *world_root(const void *context, size_t i)
{
    const struct template_world *world = context;
    void *iter = json_object_iter(world->roots);
    while (i-- > 0)
        iter = json_object_iter_next(world->roots, iter);
    return json_object_iter_key(iter);
}

/* `lazy.a.b` is answered whole, as a store would; other roots are plain values. */
static inline enum status world_lookup(void *context, const char *const *path, size_t count,
                                       size_t *out_used, json_t **out, struct err *err)
{
    struct template_world *world = context;
    json_t *value = json_object_get(world->roots, path[0]);
    world->lookups++;
    world->parts_asked = count;
    if (value == NULL)
        return err_set(err, STATUS_NOT_FOUND, "no root");
    if (strcmp(path[0], "lazy") == 0 && count >= 3) {
        if (strcmp(path[1], "gone") == 0)
            return err_set(err, STATUS_NOT_FOUND, "task '%s' has no value '%s'", path[1], path[2]);
        if (strcmp(path[1], "broken") == 0)
            return err_set(err, STATUS_IO, "the disk is on fire");
        *out_used = 3;
        *out = json_sprintf("%s/%s", path[1], path[2]);
        return STATUS_OK;
    }
    *out_used = 1;
    *out = json_incref(value);
    return STATUS_OK;
}

static inline bool world_is_function(void *context, const char *const *path, size_t count)
{
    (void)context;
    return count == 2 && strcmp(path[0], "ti") == 0 && strcmp(path[1], "xcom_pull") == 0;
}

/* Gives back its arguments; the task 'gone' has no value. */
static inline enum status world_call(void *context, const char *const *path, size_t count,
                                     json_t *args, json_t *named, json_t **out, struct err *err)
{
    (void)context;
    (void)path;
    (void)count;
    const char *task = json_string_value(json_array_get(args, 0));
    if (task != NULL && strcmp(task, "gone") == 0)
        return err_set(err, STATUS_NOT_FOUND, "task 'gone' has no value");
    *out = json_pack("{s:O, s:O}", "args", args, "named", named);
    return STATUS_OK;
}

static inline struct template_scope template_world_scope(struct template_world *world)
{
    return (struct template_scope){
        .context = world,
        .lookup = world_lookup,
        .is_function = world_is_function,
        .call = world_call,
        .zones = zone_bytes_read,
        .roots_count = json_object_size(world->roots),
        .root = world_root,
    };
}
