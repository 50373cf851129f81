#pragma once
/*
 * build_dag: a struct dag by hand, without any reader, for tests.
 *
 *     static const struct build_task TASKS[] = {{"a", ""}, {"b", "a"}, {.id = "g.c", .needs = "a
 * b"}}; struct dag *dag = build_dag("demo", TASKS, ARRAY_LEN(TASKS));
 *     ...
 *     build_dag_free(dag);
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/dag.h"

struct build_task {
    const char *id;
    const char *needs; /* ids of earlier tasks, with single spaces; NULL: none */
    const char *group;
    bool is_mapped;
    const char *doc;
};

static inline uint32_t build_dag_find(const struct build_task *tasks, size_t count,
                                      const char *word, size_t length)
{
    for (uint32_t i = 0; i < count; i++)
        if (strlen(tasks[i].id) == length && strncmp(tasks[i].id, word, length) == 0)
            return i;
    abort(); /* the test names a task that it does not have */
}

static inline struct dag *build_dag(const char *id, const struct build_task *tasks, size_t count)
{
    struct dag *dag = mem_zalloc(1, sizeof *dag);
    dag->id = id;
    dag->tasks_count = count;
    dag->tasks = mem_zalloc(count + 1, sizeof *dag->tasks);
    for (size_t i = 0; i < count; i++) {
        struct task_def *task = &dag->tasks[i];
        const char *needs = tasks[i].needs != NULL ? tasks[i].needs : "";
        task->id = tasks[i].id;
        task->group = tasks[i].group != NULL ? tasks[i].group : "";
        task->doc = tasks[i].doc;
        task->foreach = tasks[i].is_mapped ? json_array() : NULL;
        task->needs.items = mem_zalloc(strlen(needs) + 1, sizeof(uint32_t));
        for (const char *at = needs; at[0] != '\0';) {
            size_t length = strcspn(at, " ");
            task->needs.items[task->needs.count++] = build_dag_find(tasks, i, at, length);
            at += length + (at[length] == ' ');
        }
    }
    return dag;
}

static inline void build_dag_free(struct dag *dag)
{
    for (size_t i = 0; i < dag->tasks_count; i++) {
        json_decref(dag->tasks[i].foreach);
        free(dag->tasks[i].needs.items);
    }
    free(dag->tasks);
    free(dag);
}
