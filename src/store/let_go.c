/*
 * let_go: runs that waited begin to go.
 */
#include "base/check.h"
#include "model/timetable.h"
#include "store/admission.h"
#include "store/admission_priv.h"
#include "store/id_list.h"
#include "store/run_tasks_priv.h"

/* Where the past decides, one that may go can stand behind others that may not. */
enum { CANDIDATES_MAX = 100 };

static const char GOING[] = "SELECT count(*) FROM run WHERE dag = $1 AND admission = 1"
                            " AND state IN (0, 1) AND backfill = $2";
static const char OLDEST[] =
    "SELECT w.run, w.logical_at_us, r.kind FROM waiting w JOIN run r ON r.id = w.run"
    " WHERE w.dag = $1 AND w.backfill = $2 AND r.cancel_asked = 0"
    " ORDER BY w.dag, w.backfill, w.logical_at_us, w.run LIMIT $3";
static const char NEWEST[] =
    "SELECT w.run, w.logical_at_us, r.kind FROM waiting w JOIN run r ON r.id = w.run"
    " WHERE w.dag = $1 AND w.backfill = $2 AND r.cancel_asked = 0"
    " ORDER BY w.dag DESC, w.backfill DESC, w.logical_at_us DESC, w.run DESC LIMIT $3";
static const char LINE_LEFT[] = "DELETE FROM waiting WHERE dag = $1 AND backfill = $2 AND run = $3";
static const char GOES[] = "UPDATE run SET admission = 1, row_version = row_version + 1"
                           " WHERE id = $1";

/* What the schedule held back while others waited is looked at again. */
static const char LOOK_AGAIN[] = "UPDATE schedule SET next_us = $2 WHERE dag = $1"
                                 " AND next_us IS NULL AND offered = 1 AND paused = 0";

struct candidate {
    int64_t run;
    int64_t logical_at_us;
    bool in_series;
};

static enum status list_candidates(struct work *work, const struct let_go_request *request,
                                   int64_t most, struct candidate *out, size_t *out_count,
                                   struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status =
        db_query(work->db, &stmt, err, request->newest_first ? NEWEST : OLDEST, "iii",
                 request->dag_key, request->backfill, MIN(most, (int64_t)CANDIDATES_MAX));
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out[count++] = (struct candidate){
            .run = db_int(stmt, 0),
            .logical_at_us = db_int(stmt, 1),
            .in_series = admission_is_of_series(db_text(stmt, 2)),
        };
    *out_count = count;
    return status;
}

/* Its tasks are decided as if it had just been made. */
static enum status release(struct work *work, int64_t run_id, struct err *err)
{
    struct run_tasks tasks = {0};
    if (run_tasks_load(work, run_id, &tasks, err) != STATUS_OK)
        return err->code;
    struct run_row *run = tasks.run;
    CHECK(run != NULL);
    if (run->admission != ADMISSION_WAITING || run_state_is_final(run->state))
        return STATUS_OK;
    run->admission = ADMISSION_GOING;
    work_event(work, EVENT_RUN_ADMITTED, run, NULL, NULL);
    run_tasks_touch(work, &tasks);
    if (db_later(work->db, err, LINE_LEFT, "iii", run->dag_key, run->backfill, run->id) !=
        STATUS_OK)
        return err->code;
    return STATUS_OK;
}

static enum status release_all(struct work *work, const struct id_list *runs, struct err *err)
{
    if (work_fetch_runs(work, runs->items, runs->count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < runs->count; i++)
        if (release(work, runs->items[i], err) != STATUS_OK)
            return err->code;
    if (work_settle(work, err) != STATUS_OK || work_save(work, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < runs->count; i++)
        if (db_later(work->db, err, GOES, "i", runs->items[i]) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status choose(struct work *work, const struct let_go_request *request,
                          struct id_list *out, struct err *err)
{
    CLEANUP(idmap_freep) struct idmap *rooms = idmap_new();
    struct candidate candidates[CANDIDATES_MAX];
    size_t count = 0;
    int64_t going = 0;
    if (admission_rooms(work->store, work->arena, &request->dag_key, 1, rooms, err) != STATUS_OK ||
        db_get_int(work->db, 0, &going, err, GOING, "ii", request->dag_key, request->backfill) !=
            STATUS_OK)
        return err->code;
    const struct admission_room *room = idmap_find(rooms, request->dag_key);
    if (room == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no such DAG");
    int64_t most = request->most > 0 ? request->most : room->most;
    int64_t left = most > 0 ? most - going : CANDIDATES_MAX;
    if (left <= 0)
        return STATUS_OK;
    if (list_candidates(work, request, room->needs_past ? CANDIDATES_MAX : left, candidates, &count,
                        err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count && (int64_t)out->count < left; i++) {
        bool is_fine = true;
        if (room->needs_past && candidates[i].in_series &&
            admission_past_is_fine(work->db, request->dag_key, candidates[i].logical_at_us,
                                   &is_fine, err) != STATUS_OK)
            return err->code;
        if (is_fine)
            id_list_add(out, candidates[i].run);
    }
    return STATUS_OK;
}

enum status admission_let_go_within(struct store *store, const struct let_go_request *request,
                                    int64_t *out_count, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list runs = {0};
    struct work work;
    work_init(&work, store, NULL);
    enum status status = choose(&work, request, &runs, err);
    if (status == STATUS_OK && runs.count > 0)
        status = release_all(&work, &runs, err);
    if (status == STATUS_OK && runs.count > 0 && request->backfill == 0)
        status = db_do(work.db, err, LOOK_AGAIN, "ii", request->dag_key, work.now_us);
    work_fini(&work);
    *out_count = (int64_t)runs.count;
    return status;
}

struct letting_go {
    const struct let_go_request *request;
    int64_t *out_count;
};

static enum status let_go_once(struct store *store, const void *context, struct err *err)
{
    const struct letting_go *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    int64_t count = 0;
    if (db_begin(db, err) != STATUS_OK ||
        admission_let_go_within(store, call->request, &count, err) != STATUS_OK)
        return err->code;
    if (count == 0)
        return STATUS_OK;
    if (db_commit(db, err) != STATUS_OK)
        return err->code;
    *call->out_count = count;
    return STATUS_OK;
}

enum status store_admission_let_go(struct store *store, const struct let_go_request *request,
                                   int64_t *out_count, struct err *err)
{
    *out_count = 0;
    if (store_repeat(store, let_go_once, &(struct letting_go){request, out_count}, err) !=
        STATUS_OK)
        return err_wrap(err, "let runs go");
    return STATUS_OK;
}

/* --- who is to be looked at ------------------------------------------------------------------ */

/* The first of a line that depends on its past is told apart here: it may wait for days. */
static const char READY[] =
    "SELECT w.dag FROM (SELECT dag, min(logical_at_us) AS first FROM waiting"
    " WHERE backfill = 0 AND dag > $1 GROUP BY dag) w JOIN schedule s ON s.dag = w.dag"
    " WHERE (s.most_runs = 0 OR s.most_runs > (SELECT count(*) FROM run r WHERE r.dag = w.dag"
    " AND r.admission = 1 AND r.state IN (0, 1) AND r.backfill = 0))"
    " AND (s.needs_past = 0 OR coalesce((SELECT p.state FROM run p WHERE p.dag = w.dag"
    " AND p.logical_at_us < w.first AND p.kind IN ('scheduled', 'backfill')"
    " ORDER BY p.dag DESC, p.logical_at_us DESC LIMIT 1), 2) = 2"
    " OR EXISTS (SELECT 1 FROM waiting x JOIN run m ON m.id = x.run WHERE x.dag = w.dag"
    " AND x.backfill = 0 AND m.kind NOT IN ('scheduled', 'backfill')))"
    " ORDER BY w.dag LIMIT $2";

static enum status list_ids(struct db_stmt *stmt, int64_t *out, size_t *out_count, struct err *err)
{
    enum status status = STATUS_OK;
    size_t count = 0;
    while (db_next(stmt, &status, err))
        out[count++] = db_int(stmt, 0);
    *out_count = count;
    return status;
}

enum status store_admission_ready(struct store *store, int64_t after, int64_t *out_dags,
                                  size_t most, size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, READY, "ii", after, (int64_t)most) != STATUS_OK ||
        list_ids(stmt, out_dags, out_count, err) != STATUS_OK)
        return err_wrap(err, "look for runs that may go");
    return STATUS_OK;
}

/*
 * Of the runs of a DAG that are older than the newest one that waits and came by the schedule, so
 * many of the newest may stay that there is room for it.
 */
_Static_assert(OVERLAP_REPLACE == 2, "as in the SQL");
static const char REPLACED[] =
    "SELECT v.id, (SELECT max(y.run) FROM waiting y JOIN run z ON z.id = y.run WHERE y.dag = v.dag"
    " AND y.backfill = 0 AND y.logical_at_us = v.newest AND z.kind = 'scheduled')"
    " FROM (SELECT r.id, r.dag, n.newest, r.cancel_asked, s.most_runs, row_number() OVER"
    " (PARTITION BY r.dag ORDER BY r.logical_at_us DESC, r.id DESC) AS place"
    " FROM (SELECT w.dag, max(w.logical_at_us) AS newest FROM waiting w"
    " JOIN schedule o ON o.dag = w.dag AND o.overlap = 2 JOIN run x ON x.id = w.run"
    " WHERE w.backfill = 0 AND x.kind = 'scheduled' AND x.cancel_asked = 0 GROUP BY w.dag) n"
    " JOIN schedule s ON s.dag = n.dag JOIN run r ON r.dag = n.dag"
    " WHERE r.state IN (0, 1) AND r.admission > 0 AND r.backfill = 0"
    " AND r.logical_at_us < n.newest) v"
    " WHERE v.cancel_asked = 0 AND v.place > v.most_runs - 1 ORDER BY v.id LIMIT $1";

enum status store_admission_replaced(struct store *store, struct replaced_run *out_runs,
                                     size_t most, size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, REPLACED, "i", (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out_runs[count++] = (struct replaced_run){.run = db_int(stmt, 0), .by = db_int(stmt, 1)};
    if (status != STATUS_OK)
        return err_wrap(err, "look for runs that make room");
    *out_count = count;
    return STATUS_OK;
}
