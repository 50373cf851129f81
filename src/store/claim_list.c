/*
 * claim_list: rows as the claims that a host is given.
 */
#include "base/mem.h"
#include "store/claim_priv.h"

static const struct claimed_job *describe_job(const struct job_row *row, struct arena *arena)
{
    struct claimed_job *job = arena_alloc(arena, sizeof *job);
    *job = (struct claimed_job){
        .queue = arena_strdup(arena, row->queue),
        .handler = arena_strdup(arena, row->handler),
        .payload = arena_strdup(arena, row->payload),
        .namespace_ = arena_strdup(arena, row->namespace_),
        .timeout_ms = row->def.timeout_ms,
        .finish_on_lost_lease = row->def.on_lost_lease == LOST_LEASE_FINISH,
    };
    return job;
}

struct claim claim_of_row(const struct run_row *run, const struct task_row *task,
                          struct arena *arena)
{
    return (struct claim){
        .task = task->id,
        .run = task->run,
        .node = task->node,
        .map_index = task->map_index,
        .expander = task->map_index >= 0 ? run->first_task + task->node : 0,
        .generation = task->generation,
        .attempt = task->attempt,
        .looks = task_row_looks(task),
        .nonce = task->nonce,
        .job = task->job != NULL ? describe_job(task->job, arena) : NULL,
    };
}

void claim_list_add(struct claim_list *claims, const struct run_row *run,
                    const struct task_row *task)
{
    claims->items = mem_grow(claims->items, &claims->capacity, claims->count, sizeof(struct claim));
    claims->items[claims->count++] = claim_of_row(run, task, claims->arena);
}
