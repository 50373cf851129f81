#include "worker/orphans.h"

#include "store/run_store.h"
#include "worker/keeper_client.h"
#include "worker/prepare.h"

struct search {
    bool (*is_alive)(void *context, int64_t host);
    void *context;
};

static enum status kill_orphans(void *context, const struct run_row *run,
                                const struct task_row *task, struct err *err)
{
    (void)run;
    (void)err;
    const struct search *search = context;
    bool is_running = task->state == TASK_RUNNING && !search->is_alive(search->context, task->host);
    bool was_taken_back = task->reason == REASON_LOST_OWNER && task->state != TASK_RUNNING;
    if (!task->has_nonce || (!is_running && !was_taken_back))
        return STATUS_OK;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    (void)keeper_kill_claim(prepare_nonce_text(arena, &task->nonce));
    return STATUS_OK;
}

enum status orphans_kill(struct store *store, int64_t run,
                         bool (*is_alive)(void *context, int64_t host), void *context,
                         struct err *err)
{
    struct search search = {.is_alive = is_alive, .context = context};
    return store_task_each(store, run, kill_orphans, &search, err);
}
