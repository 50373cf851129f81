/*
 * pool_names: which rows of `pool` the tasks of a DAG mean.
 *
 * Rows are never deleted, so what was found stays true; whether there is such a pool is another
 * question, asked when it matters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/lane_cache.h"
#include "store/pool_priv.h"

static const char POOL_FIND[] =
    "SELECT id FROM pool WHERE kind = $1 AND namespace = $2 AND name = $3";
static const char POOL_NAME[] =
    "INSERT INTO pool (kind, namespace, name, slots, removed, created_at_us)"
    " VALUES ($1, $2, $3, 0, 1, $4) ON CONFLICT (kind, namespace, name) DO NOTHING";

enum status pool_find_or_make(struct store *store, enum pool_kind kind, const char *namespace_,
                              const char *name, int64_t *out, struct err *err)
{
    if (db_get_int(store->db, 0, out, err, POOL_FIND, "itt", (int64_t)kind, namespace_, name) !=
        STATUS_OK)
        return err->code;
    if (*out != 0)
        return STATUS_OK;
    /* Known only once it is committed, and nobody else sees it before. */
    store->lane_cache->unsure = true;
    if (db_do(store->db, err, POOL_NAME, "itti", (int64_t)kind, namespace_, name,
              store_now_us(store)) != STATUS_OK)
        return err->code;
    return db_get_int(store->db, 0, out, err, POOL_FIND, "itt", (int64_t)kind, namespace_, name);
}

static enum status find_refs(struct store *store, const struct dag *dag, struct pool_ref *refs,
                             struct err *err)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const char *pool = dag->tasks[i].pool;
        if (pool == NULL)
            continue;
        if (last != SIZE_MAX && strcmp(dag->tasks[last].pool, pool) == 0) {
            refs[i] = refs[last];
        } else if (pool_find_or_make(store, POOL_NAMED, dag->namespace_, pool, &refs[i].own, err) !=
                       STATUS_OK ||
                   pool_find_or_make(store, POOL_NAMED, POOL_NAMESPACE_OF_ALL, pool,
                                     &refs[i].shared, err) != STATUS_OK) {
            return err_wrap(err, "pool '%s'", pool);
        }
        last = i;
    }
    return STATUS_OK;
}

enum status pools_ensure(struct store *store, const struct dag *dag, struct err *err)
{
    if (!dag->has_pools)
        return STATUS_OK;
    CLEANUP(mem_freep) struct pool_ref *refs = mem_zalloc(dag->tasks_count + 1, sizeof *refs);
    return find_refs(store, dag, refs, err);
}

enum status store_pools_of(struct store *store, int64_t version, const struct dag *dag,
                           const struct pool_ref **out, struct err *err)
{
    *out = NULL;
    if (!dag->has_pools)
        return STATUS_OK;
    struct pool_ref *refs = idmap_find(store->lane_cache->pools, version);
    if (refs == NULL) {
        refs = mem_zalloc(dag->tasks_count + 1, sizeof *refs);
        if (find_refs(store, dag, refs, err) != STATUS_OK) {
            free(refs);
            return err->code;
        }
        idmap_set(store->lane_cache->pools, version, refs);
    }
    *out = refs;
    return STATUS_OK;
}
