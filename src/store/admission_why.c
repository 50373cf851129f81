/*
 * admission_why: what keeps a run waiting, for people.
 */
#include <string.h>

#include "base/check.h"
#include "store/admission.h"
#include "store/admission_priv.h"

static const char WHY_RUN[] =
    "SELECT r.dag, r.kind, r.backfill, r.logical_at_us, s.most_runs, s.needs_past, d.dag_id,"
    " coalesce(b.state, 0), coalesce(b.max_active, 0)"
    " FROM run r JOIN schedule s ON s.dag = r.dag JOIN dag d ON d.id = r.dag"
    " LEFT JOIN backfill b ON b.id = r.backfill"
    " WHERE r.id = $1 AND r.admission = 2 AND r.state IN (0, 1)";
static const char WHY_PAST[] =
    "SELECT run_id, state, id FROM run WHERE dag = $1 AND logical_at_us < $2 AND state <> 2"
    " AND kind IN ('scheduled', 'backfill') AND id = (SELECT p.id FROM run p WHERE p.dag = $1"
    " AND p.logical_at_us < $2 AND p.kind IN ('scheduled', 'backfill')"
    " ORDER BY p.dag DESC, p.logical_at_us DESC LIMIT 1)";
/* The nearest run before that does not wait itself. */
static const char HEAD[] =
    "SELECT id, run_id, state FROM (SELECT id, run_id, state, admission, logical_at_us FROM run"
    " WHERE dag = $1 AND logical_at_us < $2 AND kind IN ('scheduled', 'backfill')"
    " ORDER BY dag DESC, logical_at_us DESC LIMIT $3) p"
    " WHERE NOT (p.state IN (0, 1) AND p.admission = 2) ORDER BY p.logical_at_us DESC LIMIT 1";
enum { HEAD_LOOKS_MAX = 5000 };
static const char AHEAD[] = "SELECT count(*) FROM waiting WHERE dag = $1 AND backfill = 0"
                            " AND (logical_at_us < $2 OR (logical_at_us = $2 AND run < $3))";

struct waiting_run {
    int64_t dag_key;
    int64_t logical_at_us;
    bool needs_past;
};

static enum status find_waiting(struct store *store, struct arena *arena, int64_t run,
                                struct waiting_run *out, struct admission_state *state,
                                struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, WHY_RUN, "i", run) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return STATUS_OK;
    *out = (struct waiting_run){
        .dag_key = db_int(stmt, 0),
        .logical_at_us = db_int(stmt, 3),
        .needs_past = db_int(stmt, 5) != 0 && admission_is_of_series(db_text(stmt, 1)),
    };
    *state = (struct admission_state){
        .is_waiting = true,
        .dag_id = arena_strdup(arena, db_text(stmt, 6)),
        .backfill = db_int(stmt, 2),
        .backfill_state = (enum backfill_state)db_int(stmt, 7),
        .most = db_int(stmt, 2) != 0 ? db_int(stmt, 8) : db_int(stmt, 4),
    };
    db_reset(stmt);
    return STATUS_OK;
}

/* One that succeeded holds up nothing: the one after it has its turn. */
static enum status find_head(struct store *store, struct arena *arena,
                             const struct waiting_run *waiting, struct admission_state *state,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, HEAD, "iii", waiting->dag_key, waiting->logical_at_us,
                 (int64_t)HEAD_LOOKS_MAX) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return STATUS_OK;
    if ((enum run_state)db_int(stmt, 2) != RUN_SUCCESS) {
        state->head = db_int(stmt, 0);
        state->head_run = arena_strdup(arena, db_text(stmt, 1));
        state->head_state = (enum run_state)db_int(stmt, 2);
    }
    db_reset(stmt);
    return STATUS_OK;
}

static enum status find_past(struct store *store, struct arena *arena,
                             const struct waiting_run *waiting, struct admission_state *state,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, WHY_PAST, "ii", waiting->dag_key, waiting->logical_at_us) !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return STATUS_OK;
    state->past_run = arena_strdup(arena, db_text(stmt, 0));
    state->past_state = (enum run_state)db_int(stmt, 1);
    state->head = db_int(stmt, 2);
    state->head_run = state->past_run;
    state->head_state = state->past_state;
    db_reset(stmt);
    return find_head(store, arena, waiting, state, err);
}

enum status store_admission_state(struct store *store, struct arena *arena, int64_t run,
                                  struct admission_state *out, struct err *err)
{
    struct waiting_run waiting = {0};
    struct admission_state state = {0};
    struct admission_count count = {0};
    if (find_waiting(store, arena, run, &waiting, &state, err) != STATUS_OK)
        return err->code;
    if (state.is_waiting &&
        ((waiting.needs_past && find_past(store, arena, &waiting, &state, err) != STATUS_OK) ||
         store_admission_count(store, waiting.dag_key, state.backfill, &count, err) != STATUS_OK ||
         db_get_int(store->db, 0, &state.ahead, err, AHEAD, "iii", waiting.dag_key,
                    waiting.logical_at_us, run) != STATUS_OK))
        return err->code;
    state.going = count.going;
    *out = state;
    return STATUS_OK;
}

const char *admission_past_text(struct arena *arena, const struct admission_state *state)
{
    if (state->past_run == NULL)
        return NULL;
    const char *chain = "";
    if (strcmp(state->head_run, state->past_run) != 0)
        chain = arena_format(arena, " and waits in turn, back to run %lld, %s, which is %s",
                             (long long)state->head, state->head_run,
                             run_state_name(state->head_state));
    return arena_format(arena,
                        "depends_on_past: the run before, %s, is %s%s; it goes when that one has "
                        "succeeded",
                        state->past_run, run_state_name(state->past_state), chain);
}

const char *admission_past_remedy(struct arena *arena, const struct admission_state *state)
{
    if (state->past_run == NULL)
        return NULL;
    return arena_format(arena,
                        run_state_is_final(state->head_state)
                            ? "`eider retry %lld` runs again what did not succeed of %s"
                            : "`eider explain %lld` tells what %s waits for",
                        (long long)state->head, state->head_run);
}

static const char *backfill_text(struct arena *arena, const struct admission_state *state)
{
    bool goes = state->backfill_state == BACKFILL_RUNNING;
    return arena_format(arena,
                        "it waits for its turn in its backfill %lld%s%s: %lld of %lld runs go now",
                        (long long)state->backfill, goes ? "" : ", which is ",
                        goes ? "" : backfill_state_name(state->backfill_state),
                        (long long)state->going, (long long)state->most);
}

const char *admission_line_text(struct arena *arena, const struct admission_state *state)
{
    if (state->backfill != 0)
        return backfill_text(arena, state);
    /* Behind one that waits for its past, or at the end of a line. */
    if (state->past_run != NULL && (state->most == 0 || state->going < state->most))
        return NULL;
    return arena_format(
        arena, "max_active_runs: %lld of %lld runs of '%s' go now, %lld wait before it",
        (long long)state->going, (long long)state->most, state->dag_id, (long long)state->ahead);
}

enum status store_admission_why(struct store *store, struct arena *arena, int64_t run,
                                const char **out, struct err *err)
{
    struct admission_state state = {0};
    if (store_admission_state(store, arena, run, &state, err) != STATUS_OK)
        return err->code;
    *out = NULL;
    if (!state.is_waiting)
        return STATUS_OK;
    const char *past = admission_past_text(arena, &state);
    const char *line = admission_line_text(arena, &state);
    if (past != NULL)
        past = arena_format(arena, "%s (%s)", past, admission_past_remedy(arena, &state));
    *out = past != NULL && line != NULL ? arena_format(arena, "%s; %s", past, line)
           : past != NULL               ? past
                                        : line;
    return STATUS_OK;
}
