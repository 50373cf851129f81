#include "store/recent.h"

#include <string.h>

#include "base/mem.h"
#include "store/store_priv.h"
#include "store/version_priv.h"

/* --- runs ------------------------------------------------------------------------------------ */

_Static_assert(RUN_QUEUED == 0 && RUN_RUNNING == 1, "as in the SQL");
#define RUNS_OF                                                                                    \
    "SELECT r.id, r.state, d.namespace, r.created_at_us, r.started_at_us, r.ended_at_us"           \
    " FROM run r CROSS JOIN dag d"
static const char ENDED[] = RUNS_OF " WHERE d.id = r.dag AND r.ended_at_us IS NOT NULL"
                                    " AND r.ended_at_us >= $1"
                                    " ORDER BY r.ended_at_us DESC, r.id DESC LIMIT $2";
static const char ACTIVE[] = RUNS_OF " WHERE d.id = r.dag AND r.state IN (0, 1)"
                                     " ORDER BY r.id DESC LIMIT $1";

static enum status tell_runs(struct db_stmt *stmt, recent_run_fn each, void *context,
                             struct err *err)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t state = db_int(stmt, 1);
        if (state < 0 || state >= RUN_STATE_COUNT) {
            db_reset(stmt);
            return err_set(err, STATUS_CORRUPT, "a run has state %lld", (long long)state);
        }
        const struct recent_run run = {
            .id = db_int(stmt, 0),
            .state = (enum run_state)state,
            .space = db_text(stmt, 2),
            .created_at_us = db_int(stmt, 3),
            .started_at_us = db_int(stmt, 4),
            .ended_at_us = db_int(stmt, 5),
        };
        each(context, &run);
    }
    return status;
}

enum status store_recent_ended(struct store *store, int64_t since_us, int64_t limit,
                               recent_run_fn each, void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, ENDED, "ii", since_us, limit) != STATUS_OK ||
        tell_runs(stmt, each, context, err) != STATUS_OK)
        return err_wrap(err, "look for runs that ended");
    return STATUS_OK;
}

enum status store_recent_active(struct store *store, int64_t limit, recent_run_fn each,
                                void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, ACTIVE, "i", limit) != STATUS_OK ||
        tell_runs(stmt, each, context, err) != STATUS_OK)
        return err_wrap(err, "look for runs that go on");
    return STATUS_OK;
}

/* --- tasks ----------------------------------------------------------------------------------- */

/* A mapped task counts as its instances. */
static const char TALLY_OF_RUN[] =
    "SELECT t.state, count(*) FROM block b JOIN task t ON t.id >= b.first"
    " AND t.id < b.first + b.count WHERE b.run = $1 AND t.instance_base IS NULL GROUP BY t.state";
static const char TALLY_OF_RUNS[] =
    "SELECT t.state, count(*) FROM block b CROSS JOIN LATERAL (SELECT state, instance_base"
    " FROM task WHERE id >= b.first AND id < b.first + b.count ORDER BY id LIMIT 1000000) t"
    " WHERE b.run = ANY($1) AND t.instance_base IS NULL GROUP BY t.state";

static enum status add_up(struct db_stmt *stmt, struct tally *tally, struct err *err)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t state = db_int(stmt, 0);
        if (state < 0 || state >= TASK_STATE_COUNT)
            continue;
        tally->states[state] += db_int(stmt, 1);
        tally->total += db_int(stmt, 1);
    }
    return status;
}

enum status store_recent_tally(struct store *store, const int64_t *runs, size_t count,
                               struct tally *tally, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    bool at_once = db_dialect(store->db) != DB_SQLITE;
    if (at_once && count > 0) {
        status = db_query(store->db, &stmt, err, TALLY_OF_RUNS, "I", runs, count);
        if (status == STATUS_OK)
            status = add_up(stmt, tally, err);
    }
    for (size_t i = 0; i < count && !at_once && status == STATUS_OK; i++) {
        status = db_query(store->db, &stmt, err, TALLY_OF_RUN, "i", runs[i]);
        if (status == STATUS_OK)
            status = add_up(stmt, tally, err);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "count tasks");
}

/* --- deadlines ------------------------------------------------------------------------------- */

/* By the runs that go on, of which there are few, rather than by all misses that ever were. */
static const char LATE[] =
    "SELECT r.id, min(m.due_at_us), count(*) FROM run r JOIN sla_miss m ON m.run = r.id"
    " WHERE r.state IN (0, 1) AND m.ended_at_us IS NULL GROUP BY r.id ORDER BY 2, 1 LIMIT $1";

enum status store_recent_late(struct store *store, int64_t limit, struct recent_late *out,
                              size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, LATE, "i", limit);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out[count++] = (struct recent_late){db_int(stmt, 0), db_int(stmt, 1), db_int(stmt, 2)};
    if (status != STATUS_OK)
        return err_wrap(err, "look for runs that are late");
    *out_count = count;
    return STATUS_OK;
}

static const char MISSES[] =
    "SELECT d.namespace, m.due_at_us FROM sla_miss m JOIN dag d ON d.id = m.dag"
    " WHERE m.due_at_us >= $1 ORDER BY m.due_at_us DESC LIMIT $2";

enum status store_recent_misses(struct store *store, int64_t since_us, int64_t limit,
                                void (*each)(void *context, const char *space, int64_t due_at_us),
                                void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, MISSES, "ii", since_us, limit);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        each(context, db_text(stmt, 0), db_int(stmt, 1));
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "count missed deadlines");
}

/* --- failures -------------------------------------------------------------------------------- */

_Static_assert(RUN_FAILED == 3 && RUN_CANCELLED == 4, "as in the SQL, and as in run_bad");
_Static_assert(TASK_FAILED == 5, "as in the SQL");
/* Of runs that failed the newest, along run_bad; then whether the DAG had one since that is over.
 */
static const char FAILING[] =
    "SELECT r.id FROM (SELECT id, dag FROM run WHERE state IN (3, 4) AND state = 3"
    " ORDER BY id DESC LIMIT $1) r CROSS JOIN dag d WHERE d.id = r.dag AND d.active <> 0"
    " AND " SEEN(
        "$3",
        "d.namespace") " AND NOT EXISTS (SELECT 1 FROM run n WHERE n.dag = r.dag AND n.id > r.id"
                       " AND n.state NOT IN (0, 1)) ORDER BY r.id DESC LIMIT $2";
/* Among the first rows of a run only: the one with most tasks must not cost more than others. */
static const char FAILURE[] =
    "SELECT t.id, t.node, t.map_index, t.attempt, t.reason, t.label, t.detail, t.exit_code"
    " FROM (SELECT b.first, b.count FROM block b WHERE b.run = $1 ORDER BY b.first LIMIT 20) b"
    " CROSS JOIN task t WHERE t.id >= b.first AND t.id < b.first + b.count AND t.id < b.first + $2"
    " AND t.state = 5 AND t.instance_base IS NULL"
    " ORDER BY coalesce(t.ended_at_us, 9223372036854775807), t.id LIMIT 1";
enum { ROWS_LOOKED_AT = 2000 };

enum status store_recent_failing(struct store *store, int64_t limit, int64_t *out,
                                 size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, FAILING, "iit", (int64_t)RECENT_FAILED_MAX,
                                  limit, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out[count++] = db_int(stmt, 0);
    if (status != STATUS_OK)
        return err_wrap(err, "look for DAGs that fail");
    *out_count = count;
    return STATUS_OK;
}

enum status store_recent_failure(struct store *store, struct arena *arena, int64_t run,
                                 struct recent_failure *out, bool *out_found, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool is_found = false;
    enum status status =
        db_query(store->db, &stmt, err, FAILURE, "ii", run, (int64_t)ROWS_LOOKED_AT);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t reason = db_int(stmt, 4);
        const char *label = db_text(stmt, 5);
        const char *detail = db_text(stmt, 6);
        *out = (struct recent_failure){
            .task = db_int(stmt, 0),
            .node = db_int(stmt, 1),
            .map_index = db_int(stmt, 2),
            .attempt = db_int(stmt, 3),
            .reason = reason >= 0 && reason < REASON_COUNT ? (enum reason)reason : REASON_NONE,
            .label = label != NULL ? arena_strdup(arena, label) : NULL,
            .detail = detail != NULL ? arena_strdup(arena, detail) : NULL,
            .exit_code = db_int(stmt, 7),
        };
        is_found = true;
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look for what failed");
    *out_found = is_found;
    return STATUS_OK;
}

/* --- DAGs ------------------------------------------------------------------------------------ */

_Static_assert(DAG_INACTIVE == 0, "as in the SQL");
static const char DAGS[] =
    "SELECT d.namespace, count(*), count(CASE WHEN d.active <> 0 THEN 1 END),"
    " count(CASE WHEN d.active <> 0 AND s.paused <> 0 THEN 1 END)"
    " FROM dag d LEFT JOIN schedule s ON s.dag = d.id GROUP BY d.namespace";
static const char NEXT[] =
    "SELECT d.dag_id, d.namespace, s.next_us FROM schedule s JOIN dag d ON d.id = s.dag"
    " WHERE s.next_us IS NOT NULL AND s.paused = 0 ORDER BY s.next_us LIMIT $1";
static const char BROKEN[] = "SELECT count(*) FROM dag_file WHERE problems IS NOT NULL";

enum status store_recent_dags(struct store *store,
                              void (*each)(void *context, const char *space,
                                           const struct recent_dags *dags),
                              void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, DAGS, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        const struct recent_dags dags = {db_int(stmt, 1), db_int(stmt, 2), db_int(stmt, 3)};
        each(context, db_text(stmt, 0), &dags);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "count DAGs");
}

enum status store_recent_next(struct store *store, struct arena *arena, int64_t limit,
                              struct recent_next **out, size_t *out_count, struct err *err)
{
    struct recent_next *list = arena_array(arena, (size_t)limit + 1, sizeof *list);
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, NEXT, "i", limit);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        list[count++] = (struct recent_next){
            .dag_id = arena_strdup(arena, db_text(stmt, 0)),
            .namespace_ = arena_strdup(arena, db_text(stmt, 1)),
            .at_us = db_int(stmt, 2),
        };
    if (status != STATUS_OK)
        return err_wrap(err, "look for what comes next");
    *out = list;
    *out_count = count;
    return STATUS_OK;
}

enum status store_recent_broken(struct store *store, int64_t *out, struct err *err)
{
    return db_get_int(store->db, 0, out, err, BROKEN, "");
}

/* --- hosts ----------------------------------------------------------------------------------- */

static const char LOST[] =
    "SELECT DISTINCT h.name FROM host h WHERE h.fate = 'lost' AND h.kind = 'daemon'"
    " AND h.ended_at_us >= $1"
    " AND NOT EXISTS (SELECT 1 FROM host o WHERE o.name = h.name AND o.kind = 'daemon'"
    " AND o.id > h.id)"
    " ORDER BY h.name LIMIT $2";

enum status store_recent_lost(struct store *store, struct arena *arena, int64_t since_us,
                              size_t limit, struct recent_names *out, struct err *err)
{
    struct recent_names names = {.items = arena_array(arena, limit + 1, sizeof *names.items)};
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, LOST, "ii", since_us, (int64_t)limit);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        names.items[names.count++] = arena_strdup(arena, db_text(stmt, 0));
    if (status != STATUS_OK)
        return err_wrap(err, "look for hosts that were lost");
    *out = names;
    return STATUS_OK;
}
