#include "worker/recovery.h"

#include <stdlib.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "store/advance.h"
#include "store/control.h"
#include "store/host.h"
#include "worker/keeper_client.h"
#include "worker/prepare.h"
#include "worker/presence.h"

struct dead_host {
    int64_t id;
    struct presence lock; /* held by us */
};

struct sweep {
    const char *meeting_dir;
    int64_t self;
    struct dead_host *dead;
    size_t count;
    size_t capacity;
    struct idmap *by_id;
};

static void sweep_fini(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++)
        presence_end(&sweep->dead[i].lock);
    free(sweep->dead);
    idmap_free(sweep->by_id);
}

static enum status note_if_dead(void *context, const struct host_info *info, struct err *err)
{
    (void)err;
    struct sweep *sweep = context;
    struct presence lock = {.path = NULL};
    struct err ignored = {0};
    /* Whoever has a lease is judged by it. */
    if (info->id == sweep->self || info->lease_ms > 0 ||
        presence_is_alive((void *)(uintptr_t)sweep->meeting_dir, info->id) ||
        presence_begin(sweep->meeting_dir, info->id, &lock, &ignored) != STATUS_OK)
        return STATUS_OK;
    sweep->dead = mem_grow(sweep->dead, &sweep->capacity, sweep->count, sizeof *sweep->dead);
    sweep->dead[sweep->count++] = (struct dead_host){.id = info->id, .lock = lock};
    idmap_set(sweep->by_id, info->id, sweep);
    return STATUS_OK;
}

static bool is_not_dead(void *context, int64_t host)
{
    const struct sweep *sweep = context;
    return idmap_find(sweep->by_id, host) == NULL;
}

/* What a dead host ran may still run, under its keeper or on its own. */
static enum status kill_tasks(struct store *store, int64_t host, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct claim *held = NULL;
    size_t count = 0;
    if (store_held(store, host, arena, &held, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        (void)keeper_kill_claim(prepare_nonce_text(arena, &held[i].nonce));
    return STATUS_OK;
}

static enum status take_back(struct store *store, struct sweep *sweep, int64_t *out_tasks,
                             struct err *err)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (kill_tasks(store, sweep->dead[i].id, err) != STATUS_OK)
            return err->code;
    if (store_recover(store, 0, is_not_dead, sweep, out_tasks, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < sweep->count; i++)
        if (store_host_bury(store, sweep->dead[i].id, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status recovery_sweep(struct store *store, const char *meeting_dir, int64_t self,
                           struct recovery_result *out, struct err *err)
{
    CLEANUP(sweep_fini)
    struct sweep sweep = {.meeting_dir = meeting_dir, .self = self, .by_id = idmap_new()};
    struct recovery_result result = {0};
    if (store_host_each(store, false, note_if_dead, &sweep, err) != STATUS_OK)
        return err_wrap(err, "look for dead hosts");
    if (sweep.count > 0 && take_back(store, &sweep, &result.tasks, err) != STATUS_OK)
        return err_wrap(err, "take back what dead hosts left");
    result.hosts = (int64_t)sweep.count;
    *out = result;
    return STATUS_OK;
}
