#include "model/dag.h"

#include <string.h>

#include "base/arena.h"
#include "model/limits.h"
#include "model/sensor.h"

void dag_free(struct dag *dag)
{
    if (dag == NULL)
        return;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        struct task_def *task = &dag->tasks[i];
        json_decref(task->settings);
        json_decref(task->foreach);
        json_decref(task->matrix);
        json_decref(task->rest);
    }
    for (size_t i = 0; i < dag->params_count; i++)
        json_decref(dag->params[i].schema);
    json_decref(dag->rest);
    arena_free(dag->arena); /* the DAG itself lives there */
}

int64_t dag_find_task(const struct dag *dag, const char *task_id)
{
    size_t low = 0;
    size_t high = dag->tasks_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(dag->tasks[middle].id, task_id);
        if (order == 0)
            return (int64_t)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* Compares a place's path with the first `length` bytes of `path`. */
static int compare_path(const char *place, const char *path, size_t length)
{
    int order = strncmp(place, path, length);
    return order != 0 ? order : place[length] != '\0';
}

static const struct source_place *find_exact(const struct dag *dag, const char *path, size_t length)
{
    size_t low = 0;
    size_t high = dag->places_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_path(dag->places[middle].path, path, length);
        if (order == 0)
            return &dag->places[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct source_place *dag_find_place(const struct dag *dag, const char *path)
{
    for (size_t length = strlen(path); length > 0; length--) {
        if (path[length] != '\0' && path[length] != '.')
            continue;
        const struct source_place *place = find_exact(dag, path, length);
        if (place != NULL)
            return place;
    }
    return NULL;
}

bool dag_name_is_valid(const char *name)
{
    static const char LETTERS_AND_DIGITS[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    if (strspn(name, LETTERS_AND_DIGITS) == 0)
        return false;
    for (const char *p = name; *p != '\0'; p++)
        if (strchr(LETTERS_AND_DIGITS, *p) == NULL && strchr("_-.", *p) == NULL)
            return false;
    return strlen(name) <= LIMIT_ID_BYTES;
}

bool task_def_is_inline(const struct task_def *task)
{
    return task_kind_is_inline(task->kind) ||
           (task->kind == KIND_SENSOR && !sensor_needs_slot(task));
}
