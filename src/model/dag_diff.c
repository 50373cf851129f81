#include "model/dag_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_write.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys whose values differ, or that only one of them has, except those in `but`. Sorted. */
static json_t *changed_keys(const json_t *before, const json_t *after, const char *const *but)
{
    const json_t *sides[] = {before, after};
    size_t most = json_object_size(before) + json_object_size(after);
    CLEANUP(mem_freep) const char **keys = mem_zalloc(most + 1, sizeof *keys);
    size_t count = 0;
    for (size_t side = 0; side < ARRAY_LEN(sides); side++) {
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach((json_t *)(uintptr_t)sides[side], key, value)
        {
            const json_t *other = json_object_get(sides[1 - side], key);
            bool is_left_out = false;
            for (size_t i = 0; but != NULL && but[i] != NULL; i++)
                is_left_out |= str_equal(but[i], key);
            bool is_seen = side == 1 && other != NULL;
            if (!is_left_out && !is_seen && !json_equal(value, other))
                keys[count++] = key;
        }
    }
    if (count > 0)
        qsort(keys, count, sizeof *keys, by_text);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        CHECK(json_array_append_new(list, json_string(keys[i])) == 0);
    return list;
}

static void add_change(json_t *list, const char *what, const char *task, json_t *taken_keys)
{
    json_t *change = json_object();
    json_put_string(change, "what", what);
    json_put_string(change, "task", task);
    json_put(change, "keys", taken_keys);
    CHECK(json_array_append_new(list, change) == 0);
}

static void compare_dags(json_t *list, const json_t *before, const json_t *after)
{
    static const char *const BUT[] = {"tasks", "finally", "files", NULL};
    json_t *keys = changed_keys(before, after, BUT);
    CLEANUP(json_decrefp)
    json_t *files =
        changed_keys(json_object_get(before, "files"), json_object_get(after, "files"), NULL);
    for (size_t i = 0; i < json_array_size(files); i++) {
        CLEANUP(mem_freep)
        char *key = mem_format("file %s", json_string_value(json_array_get(files, i)));
        CHECK(json_array_append_new(keys, json_string(key)) == 0);
    }
    if (json_array_size(keys) > 0)
        add_change(list, "changed", NULL, keys);
    else
        json_decref(keys);
}

/* Tasks and finally tasks in one map; one that moves between them says so by a key. */
static json_t *all_tasks(const json_t *tree)
{
    json_t *tasks = json_object();
    const char *id = NULL;
    json_t *task = NULL;
    json_object_foreach(json_object_get(tree, "tasks"), id, task)
        json_put(tasks, id, json_incref(task));
    json_object_foreach(json_object_get(tree, "finally"), id, task)
    {
        json_t *copy = json_copy(task);
        json_put_bool(copy, "finally", true);
        json_put(tasks, id, copy);
    }
    return tasks;
}

json_t *dag_diff(const struct dag *before, const struct dag *after)
{
    CLEANUP(json_decrefp) json_t *old = dag_write(before);
    CLEANUP(json_decrefp) json_t *new = dag_write(after);
    CLEANUP(json_decrefp) json_t *old_tasks = all_tasks(old);
    CLEANUP(json_decrefp) json_t *new_tasks = all_tasks(new);
    CLEANUP(json_decrefp) json_t *ids = changed_keys(old_tasks, new_tasks, NULL);
    json_t *list = json_array();
    compare_dags(list, old, new);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        const json_t *was = json_object_get(old_tasks, id);
        const json_t *is = json_object_get(new_tasks, id);
        const char *what = was == NULL ? "added" : is == NULL ? "removed" : "changed";
        bool is_change = was != NULL && is != NULL;
        add_change(list, what, id, is_change ? changed_keys(was, is, NULL) : json_array());
    }
    return list;
}
