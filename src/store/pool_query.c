/*
 * pool_query: what of a DAG would wait for ever, and what a task waits for.
 */
#include <string.h>

#include "base/str.h"
#include "store/pool.h"
#include "store/pool_priv.h"
#include "store/tier_count.h"

/* --- doubts ---------------------------------------------------------------------------------- */

static const char POOL_SLOTS[] =
    "SELECT slots FROM pool WHERE kind = 0 AND removed = 0 AND name = $2"
    " AND (namespace = $1 OR namespace = 'default')"
    " ORDER BY CASE WHEN namespace = $1 THEN 0 ELSE 1 END LIMIT 1";

/* The same pool again: it was said of another task that there is none. */
static bool was_said(const struct pool_doubt *doubts, size_t count, const char *pool)
{
    for (size_t i = 0; i < count; i++)
        if (doubts[i].slots < 0 && strcmp(doubts[i].pool, pool) == 0)
            return true;
    return false;
}

enum status store_pool_doubts(struct store *store, struct arena *arena, const struct dag *dag,
                              struct pool_doubt **out, size_t *out_count, struct err *err)
{
    struct pool_doubt *doubts = arena_array(arena, dag->tasks_count + 1, sizeof *doubts);
    size_t count = 0;
    for (size_t i = 0; dag->has_pools && i < dag->tasks_count; i++) {
        const struct task_def *def = &dag->tasks[i];
        int64_t slots = -1;
        if (def->pool == NULL || was_said(doubts, count, def->pool))
            continue;
        if (db_get_int(store->db, -1, &slots, err, POOL_SLOTS, "tt", dag->namespace_, def->pool) !=
            STATUS_OK)
            return err_wrap(err, "look for pools");
        if (slots < def->slots)
            doubts[count++] = (struct pool_doubt){def->id, def->pool, def->slots, slots};
    }
    *out = doubts;
    *out_count = count;
    return STATUS_OK;
}

const char *pool_doubt_text(struct arena *arena, const char *namespace_,
                            const struct pool_doubt *doubt)
{
    const char *or_default = strcmp(namespace_, "default") != 0 ? " or 'default'" : "";
    if (doubt->slots < 0)
        return arena_format(arena,
                            "task '%s': there is no pool '%s' in namespace '%s'%s; it waits until "
                            "`eider pools set %s --slots N` makes it",
                            doubt->task, doubt->pool, namespace_, or_default, doubt->pool);
    return arena_format(arena,
                        "task '%s' needs %lld slots of the pool '%s', which has %lld: it waits "
                        "until there are more",
                        doubt->task, (long long)doubt->need, doubt->pool, (long long)doubt->slots);
}

/* --- one that waits -------------------------------------------------------------------------- */

/* clang-format off */
static const char *const KINDS[POOL_KIND_COUNT] = {
    [POOL_NAMED] = "pool", [POOL_OF_NAMESPACE] = "namespace", [POOL_OF_DAG] = "dag",
    [POOL_OF_TIER] = "tier",
};
/* clang-format on */

static const char PLACE[] =
    "SELECT p.kind, p.name, p.slots, p.removed, w.need,"
    " (SELECT count(*) FROM pool_wait o WHERE o.pool = w.pool AND o.lane = w.lane"
    " AND (o.rank < w.rank OR (o.rank = w.rank AND (o.age_us < w.age_us"
    " OR (o.age_us = w.age_us AND o.task < w.task))))),"
    " CASE p.kind WHEN 0 THEN (SELECT count(*) FROM pool_slot s WHERE s.pool = p.id)"
    " WHEN 1 THEN (SELECT count(*) FROM running r JOIN task t ON t.id = r.task"
    " LEFT JOIN run u ON u.id = t.run LEFT JOIN job j ON j.id = t.id AND t.run = 0"
    " WHERE coalesce(u.namespace, j.namespace) = p.name)"
    " WHEN 2 THEN (SELECT count(*) FROM running r JOIN task t ON t.id = r.task"
    " JOIN run u ON u.id = t.run JOIN dag d ON d.id = u.dag WHERE d.dag_id = p.name) ELSE 0 END"
    " FROM pool_wait w JOIN pool p ON p.id = w.pool WHERE w.task = $1";

enum status store_pool_place(struct store *store, struct arena *arena, int64_t task,
                             struct pool_place *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct pool_place place = {0};
    enum status status = db_query(store->db, &stmt, err, PLACE, "i", task);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        place = (struct pool_place){
            .is_waiting = true,
            .kind = KINDS[db_int(stmt, 0)],
            .name = arena_strdup(arena, db_text(stmt, 1)),
            .slots = db_int(stmt, 2),
            .is_there = db_int(stmt, 3) == 0,
            .need = db_int(stmt, 4),
            .ahead = db_int(stmt, 5),
            .used = db_int(stmt, 6),
        };
    if (status == STATUS_OK && place.kind == KINDS[POOL_OF_TIER])
        status = tier_count(store, place.name, NULL, 0, &place.used, err);
    if (status != STATUS_OK)
        return err_wrap(err, "look for what the task waits for");
    *out = place;
    return STATUS_OK;
}
