#include "app/remote_dag.h"

void remote_dag_init(struct remote_dag *remote, const json_t *shown)
{
    const json_t *tasks = json_object_get(shown, "tasks");
    size_t count = json_array_size(tasks);
    struct arena *arena = arena_new();
    *remote = (struct remote_dag){.arena = arena, .nodes = strmap_new()};
    remote->dag = (struct dag){
        .id = arena_strdup(arena, json_get_string(shown, "dag_id", "?")),
        .tasks = arena_array(arena, count + 1, sizeof(struct task_def)),
        .tasks_count = count,
    };
    for (size_t i = 0; i < count; i++) {
        const json_t *task = json_array_get(tasks, i);
        bool is_mapped = json_get_bool(task, "is_mapped", false);
        struct task_def *def = &remote->dag.tasks[i];
        def->id = arena_strdup(arena, json_get_string(task, "task_id", "?"));
        def->group = arena_strdup_null(arena, json_get_string(task, "group", NULL));
        def->foreach = is_mapped ? json_true() : NULL; /* never counted */
        (void)strmap_add(remote->nodes, def->id, (int64_t)i);
    }
}

void remote_dag_fini(struct remote_dag *remote)
{
    if (remote->arena == NULL)
        return;
    strmap_free(remote->nodes);
    arena_free(remote->arena);
    *remote = (struct remote_dag){0};
}

bool remote_dag_find(const struct remote_dag *remote, const char *task_id, uint32_t *out_node)
{
    int64_t node = 0;
    if (!strmap_find(remote->nodes, task_id, &node))
        return false;
    *out_node = (uint32_t)node;
    return true;
}
