#include "worker/reconcile.h"

#include "base/idmap.h"
#include "worker/attempt_held.h"

static bool is_same(const struct claim *claim, const struct reconcile_item *item)
{
    return claim->task == item->task && claim->attempt == item->attempt &&
           nonce_equal(&claim->nonce, &item->nonce);
}

void reconcile(const struct claim *held, size_t held_count, const struct reconcile_item *ours,
               size_t ours_count, struct arena *arena, struct reconcile_result *out)
{
    *out = (struct reconcile_result){
        .unknown = arena_array(arena, held_count + 1, sizeof(size_t)),
        .foreign = arena_array(arena, ours_count + 1, sizeof(size_t)),
    };
    CLEANUP(idmap_freep) struct idmap *claims = idmap_new();
    CLEANUP(idmap_freep) struct idmap *met = idmap_new();
    for (size_t i = 0; i < held_count; i++)
        idmap_set(claims, held[i].task, (void *)(uintptr_t)&held[i]);
    for (size_t i = 0; i < ours_count; i++) {
        const struct claim *claim = idmap_find(claims, ours[i].task);
        if (claim != NULL && is_same(claim, &ours[i]))
            idmap_set(met, claim->task, (void *)(uintptr_t)claim);
        else
            out->foreign[out->foreign_count++] = i;
    }
    for (size_t i = 0; i < held_count; i++)
        if (idmap_find(met, held[i].task) == NULL)
            out->unknown[out->unknown_count++] = i;
}
