#include "model/dag.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/limits.h"
#include "model/sensor.h"
#include "model/word_set.h"

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

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool run_id_is_valid(const char *run_id)
{
    size_t length = strlen(run_id);
    return strspn(run_id, LETTERS_AND_DIGITS "_") > 0 &&
           strspn(run_id, LETTERS_AND_DIGITS "_-.:+~@") == length && length <= LIMIT_ID_BYTES;
}

bool dag_name_is_valid(const char *name)
{
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

enum { LABELS_BYTES_MAX = 64 << 10 };

bool task_def_writes(const struct task_def *task, const char *uri)
{
    const json_t *outputs = json_object_get(task->rest, "outputs");
    if (json_is_string(outputs))
        return str_equal(json_string_value(outputs), uri);
    for (size_t i = 0; i < json_array_size(outputs); i++)
        if (str_equal(json_string_value(json_array_get(outputs, i)), uri))
            return true;
    return false;
}

/* `worker: gpu` or `worker: [gpu, eu]`; what is no text is none. */
const char *task_def_labels(const struct task_def *task, struct arena *arena)
{
    const json_t *worker = json_object_get(task->rest, "worker");
    if (worker == NULL)
        return "";
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, LABELS_BYTES_MAX);
    if (json_is_string(worker))
        strbuf_add(&text, json_string_value(worker));
    for (size_t i = 0; i < json_array_size(worker); i++) {
        const char *label = json_string_value(json_array_get(worker, i));
        strbuf_addf(&text, "%s,", label != NULL ? label : "");
    }
    CLEANUP(mem_freep) char *labels = word_set_parse(text.text);
    return arena_strdup(arena, labels);
}
