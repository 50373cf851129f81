#include "service/graph_part.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "service/lookup.h"

enum { CLOSED_MAX = 1000 };

static enum status read_levels(const json_t *request, const char *member, int64_t *out,
                               struct err *err)
{
    *out = json_get_int(request, member, 1);
    if (*out < 0 || *out > LIMIT_TASKS)
        return err_set(err, STATUS_INVALID, "'%s' is a number of levels from 0 to %d", member,
                       LIMIT_TASKS);
    return STATUS_OK;
}

static enum status read_task(const struct dag *whole, const json_t *request,
                             struct dag_part_request *part, struct err *err)
{
    const char *task = json_get_string(request, "task", NULL);
    part->node = -1;
    if (task == NULL &&
        (json_object_get(request, "up") != NULL || json_object_get(request, "down") != NULL))
        return err_set(err, STATUS_INVALID, "'up' and 'down' are levels around a 'task': name it");
    if (task == NULL)
        return STATUS_OK;
    if (read_levels(request, "up", &part->up, err) != STATUS_OK ||
        read_levels(request, "down", &part->down, err) != STATUS_OK)
        return err->code;
    return lookup_node(whole, task, &part->node, err);
}

enum status graph_part_read(struct arena *arena, const struct dag *whole, const json_t *request,
                            struct dag_part *out, struct err *err)
{
    const json_t *collapsed = json_object_get(request, "collapsed");
    size_t count = json_array_size(collapsed);
    struct dag_part_request part = {0};
    if (read_task(whole, request, &part, err) != STATUS_OK)
        return err->code;
    if (count > CLOSED_MAX)
        return err_set(err, STATUS_LIMIT,
                       "name at most %d groups; '" DAG_PART_EVERY_GROUP "' stands for all",
                       CLOSED_MAX);
    const char **closed = arena_array(arena, count + 1, sizeof *closed);
    for (size_t i = 0; i < count; i++)
        closed[i] = json_string_value(json_array_get(collapsed, i));
    part.closed = closed;
    part.closed_count = count;
    return dag_part_make(arena, whole, &part, out, err);
}

/* From what is least worth a look. */
static const enum task_state RANKS[] = {
    TASK_REMOVED,      TASK_SKIPPED,        TASK_SUCCESS,           TASK_CANCELLED, TASK_NONE,
    TASK_SCHEDULED,    TASK_QUEUED,         TASK_UP_FOR_RESCHEDULE, TASK_DEFERRED,  TASK_RUNNING,
    TASK_UP_FOR_RETRY, TASK_AWAITING_INPUT, TASK_UPSTREAM_FAILED,   TASK_FAILED,
};
_Static_assert(ARRAY_LEN(RANKS) == TASK_STATE_COUNT, "every state has a rank");

static size_t rank_of(enum task_state state)
{
    size_t rank = 0;
    while (rank < ARRAY_LEN(RANKS) && RANKS[rank] != state)
        rank++;
    CHECK(rank < ARRAY_LEN(RANKS));
    return rank;
}

enum task_state graph_part_state(const struct dag_part_node *node, const enum task_state *states)
{
    CHECK(node->members_count > 0);
    enum task_state shown = states[node->members[0]];
    for (size_t i = 1; i < node->members_count; i++)
        if (rank_of(states[node->members[i]]) > rank_of(shown))
            shown = states[node->members[i]];
    return shown;
}

enum status graph_part_advise(const struct dag *whole, struct err *err)
{
    if (err->code != STATUS_LIMIT)
        return err->code;
    CLEANUP(mem_freep) char *problem = mem_format("%s", err->text);
    return err_set(err, STATUS_LIMIT,
                   "'%s' has %zu tasks, and what is to be drawn is too large: %s; ask for what is "
                   "around one task (task, up, down) or for groups as one node each (collapsed)",
                   whole->id, whole->tasks_count, problem);
}
