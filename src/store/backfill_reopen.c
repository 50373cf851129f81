/*
 * backfill_reopen: a date of a backfill whose run is open again, and what holds a backfill up.
 */
#include "base/check.h"
#include "store/admission.h"
#include "store/backfill_priv.h"
#include "store/store_priv.h"

/* --- a run that is open again ---------------------------------------------------------------- */

static const char LOCK[] = "SELECT id FROM backfill WHERE id = $1 FOR UPDATE";
/* A backfill that was cancelled, or is about to be, has no use for what people do to its runs; one
   that has succeeded keeps its verdict. */
static const char NOTED[] =
    "SELECT o.outcome FROM backfill b JOIN backfill_run o ON o.backfill = b.id"
    " JOIN run r ON r.id = o.run AND r.logical_at_us = o.logical_at_us"
    " WHERE b.id = $1 AND b.state IN (1, 2, 5) AND r.id = $2 AND o.logical_at_us = r.logical_at_us"
    " AND o.action <> 2";
_Static_assert(BACKFILL_RUNNING == 1 && BACKFILL_PAUSED == 2 && BACKFILL_FAILED == 5,
               "as in the SQL");
_Static_assert(ACTION_KEEP == 2, "as in the SQL");
static const char TAKE_BACK[] =
    "UPDATE backfill SET succeeded = succeeded - $2, failed = failed - $3,"
    " cancelled = cancelled - $4, state = CASE WHEN state = 5 THEN 1 ELSE state END,"
    " ended_at_us = NULL WHERE id = $1";
static const char OUTCOME_DROP[] =
    "UPDATE backfill_run SET outcome = NULL WHERE backfill = $1 AND run = $2 AND logical_at_us ="
    " (SELECT logical_at_us FROM run WHERE id = $2)";

enum status backfill_take_back(struct work *work, const struct run_row *run, struct err *err)
{
    struct db *db = work->db;
    int64_t locked = 0;
    int64_t outcome = -1;
    if (run->backfill == 0)
        return STATUS_OK;
    /* Whoever notes ends has the row locked: the outcome is there, or is not noted before this. */
    if (db_dialect(db) == DB_POSTGRES &&
        db_get_int(db, 0, &locked, err, LOCK, "i", run->backfill) != STATUS_OK)
        return err->code;
    if (db_get_int(db, -1, &outcome, err, NOTED, "ii", run->backfill, run->id) != STATUS_OK)
        return err->code;
    /* Null reads as 0, which is the state of no end. */
    if (outcome <= 0)
        return STATUS_OK;
    if (db_later(db, err, TAKE_BACK, "iiii", run->backfill, (int64_t)(outcome == RUN_SUCCESS),
                 (int64_t)(outcome == RUN_FAILED),
                 (int64_t)(outcome == RUN_CANCELLED)) != STATUS_OK)
        return err->code;
    return db_later(db, err, OUTCOME_DROP, "ii", run->backfill, run->id);
}

/* --- what holds it up ------------------------------------------------------------------------ */

static const char FIRST_WAITING[] = "SELECT run FROM waiting WHERE dag = $1 AND backfill = $2"
                                    " ORDER BY dag, backfill, logical_at_us LIMIT 1";
static const char FIRST_OF_PAST[] =
    "SELECT p.task FROM past p JOIN backfill_run o ON o.run = p.run WHERE o.backfill = $1"
    " AND o.outcome IS NULL ORDER BY o.logical_at_us, p.task LIMIT 1";

/* A run before that goes on holds up nothing that anybody could mend. */
static enum status runs_held(struct store *store, struct arena *arena,
                             const struct backfill_info *info, const char **out, struct err *err)
{
    int64_t run = 0;
    struct admission_state state = {0};
    if (db_get_int(store->db, 0, &run, err, FIRST_WAITING, "ii", info->dag_key, info->id) !=
            STATUS_OK ||
        (run != 0 && store_admission_state(store, arena, run, &state, err) != STATUS_OK))
        return err->code;
    if (state.past_run != NULL && run_state_is_final(state.head_state))
        *out = arena_format(arena, "%s (%s)", admission_past_text(arena, &state),
                            admission_past_remedy(arena, &state));
    return STATUS_OK;
}

static enum status tasks_held(struct store *store, struct arena *arena,
                              const struct backfill_info *info, const char **out, struct err *err)
{
    int64_t task = 0;
    struct past_reason reason = {0};
    if (db_get_int(store->db, 0, &task, err, FIRST_OF_PAST, "i", info->id) != STATUS_OK ||
        (task != 0 && store_past_why(store, arena, task, &reason, err) != STATUS_OK))
        return err->code;
    if (reason.text != NULL && task_state_is_final(reason.state))
        *out = arena_format(arena, "%s (%s)", reason.text, reason.remedy);
    return STATUS_OK;
}

enum status store_backfill_held(struct store *store, struct arena *arena,
                                const struct backfill_info *info, const char **out, struct err *err)
{
    *out = NULL;
    if (backfill_state_is_final(info->state) || info->state == BACKFILL_AWAITING)
        return STATUS_OK;
    if (!info->is_active) {
        *out = arena_format(arena,
                            "DAG '%s' is inactive, its file is gone: what runs is finished, and it "
                            "goes on when the file is there again",
                            info->dag_id);
        return STATUS_OK;
    }
    if (runs_held(store, arena, info, out, err) != STATUS_OK ||
        (*out == NULL && tasks_held(store, arena, info, out, err) != STATUS_OK))
        return err_wrap(err, "look what holds up backfill %lld", (long long)info->id);
    return STATUS_OK;
}
