#include "model/dag_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/sha256.h"
#include "model/template.h"

/* Which key of which kind is the name of a file. */
static const struct {
    enum task_kind kind;
    const char *key;
} NAMING[] = {
    {KIND_SCRIPT, "file"},
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct file_name *)a)->name, ((const struct file_name *)b)->name);
}

static const char *name_of(const struct task_def *task, const char *key)
{
    const char *name = json_get_string(task->settings, key, NULL);
    return name != NULL && template_is_plain(name) ? name : NULL;
}

size_t dag_file_names(const struct dag *dag, const struct file_name **out)
{
    size_t count = 0;
    struct file_name *names =
        arena_array(dag->arena, dag->tasks_count * ARRAY_LEN(NAMING) + 1, sizeof *names);
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct task_def *task = &dag->tasks[i];
        for (size_t j = 0; j < ARRAY_LEN(NAMING); j++) {
            const char *name = NAMING[j].kind == task->kind ? name_of(task, NAMING[j].key) : NULL;
            if (name != NULL)
                names[count++] = (struct file_name){
                    .name = name,
                    .place = arena_format(dag->arena, "tasks.%s.%s.%s", task->id,
                                          task_kind_key(task->kind), NAMING[j].key),
                };
        }
    }
    if (count > 0)
        qsort(names, count, sizeof *names, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(names[kept - 1].name, names[i].name) != 0)
            names[kept++] = names[i];
    *out = names;
    return kept;
}

void dag_add_file(struct dag *dag, const char *name, const char *bytes, size_t size)
{
    CHECK(dag_find_file(dag, name) == NULL);
    size_t count = dag->files_count;
    struct named_file *files = arena_array(dag->arena, count + 1, sizeof *files);
    size_t at = 0;
    while (at < count && strcmp(dag->files[at].name, name) < 0)
        at++;
    if (at > 0)
        memcpy(files, dag->files, at * sizeof *files);
    if (count > at)
        memcpy(files + at + 1, dag->files + at, (count - at) * sizeof *files);
    char hash[SHA256_HEX_MAX];
    files[at] = (struct named_file){
        .name = arena_strdup(dag->arena, name),
        .hash = arena_strdup(dag->arena, sha256_hex(bytes, size, hash)),
        .bytes = arena_strndup(dag->arena, bytes, size),
        .size = size,
    };
    dag->files = files;
    dag->files_count = count + 1;
}

const struct named_file *dag_find_file(const struct dag *dag, const char *name)
{
    size_t low = 0;
    size_t high = dag->files_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(dag->files[middle].name, name);
        if (order == 0)
            return &dag->files[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
