#include "store/platform.h"

#include "store/store_priv.h"

/* The row is also that of numbers, which every new run takes: it is left alone if nothing changed.
 */
static const char POLICY_SET[] =
    "UPDATE store SET backfill_approval = $1, backfill_queue = $2"
    " WHERE id = 1 AND (backfill_approval <> $1 OR backfill_queue <> $2)";
static const char POLICY_GET[] = "SELECT backfill_approval, backfill_queue FROM store WHERE id = 1";

static enum status set_once(struct store *store, const void *context, struct err *err)
{
    const struct platform_policy *policy = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, POLICY_SET, "it", policy->backfill_approval, policy->backfill_queue) !=
            STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_platform_set(struct store *store, const struct platform_policy *policy,
                               struct err *err)
{
    return store_repeat(store, set_once, policy, err) == STATUS_OK
               ? STATUS_OK
               : err_wrap(err, "write down the policy of the platform");
}

enum status store_platform_load(struct store *store, struct arena *arena,
                                struct platform_policy *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct platform_policy policy = {.backfill_queue = ""};
    enum status status = db_query(store->db, &stmt, err, POLICY_GET, "");
    while (status == STATUS_OK && db_next(stmt, &status, err))
        policy = (struct platform_policy){
            .backfill_approval = db_int(stmt, 0),
            .backfill_queue = arena_strdup(arena, db_text(stmt, 1)),
        };
    if (status != STATUS_OK)
        return err_wrap(err, "look for the policy of the platform");
    *out = policy;
    return STATUS_OK;
}
