/*
 * backfill_survey: what a backfill would find, before there is one.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/mem.h"
#include "model/event_kind.h"
#include "store/backfill_store.h"
#include "store/store_priv.h"

/* --- dates and the runs they have ------------------------------------------------------------ */

static const char RUNS_IN_RANGE[] =
    "SELECT logical_at_us, state FROM run WHERE dag = $1 AND logical_at_us >= $2"
    " AND logical_at_us <= $3 AND kind IN ('scheduled', 'backfill') ORDER BY dag, logical_at_us";

/* Runs in the order of their dates, read alongside. */
struct run_reader {
    struct db_stmt *stmt;
    bool has_row;
};

static enum status reader_next(struct run_reader *reader, struct err *err)
{
    return db_step(reader->stmt, &reader->has_row, err);
}

/* Forward to the first run that is not before the date; *out: there is one for it. */
static enum status reader_seek(struct run_reader *reader, int64_t date_us, bool *out,
                               enum run_state *out_state, struct err *err)
{
    while (reader->has_row && db_int(reader->stmt, 0) < date_us)
        if (reader_next(reader, err) != STATUS_OK)
            return err->code;
    *out = reader->has_row && db_int(reader->stmt, 0) == date_us;
    if (*out)
        *out_state = (enum run_state)db_int(reader->stmt, 1);
    return STATUS_OK;
}

static enum status survey_dates(struct run_reader *reader, const struct backfill_question *question,
                                struct backfill_survey *out, struct err *err)
{
    struct backfill_range range = question->range;
    range.newest_first = false;
    int64_t cursor_us = backfill_first_cursor(&range);
    struct tick_dates dates;
    while (out->size <= question->most && backfill_next(&range, &cursor_us, &dates)) {
        enum run_state state = RUN_QUEUED;
        bool is_there = false;
        if (reader_seek(reader, dates.logical_at_us, &is_there, &state, err) != STATUS_OK)
            return err->code;
        enum backfill_action action =
            is_there ? backfill_decide(question->redo, state) : ACTION_CREATE;
        out->existing[state] += is_there;
        out->actions[action]++;
        out->first_us = out->size == 0 ? dates.logical_at_us : out->first_us;
        out->last_us = dates.logical_at_us;
        out->size++;
        if (question->each != NULL && question->each(question->context, &dates, action,
                                                     is_there ? &state : NULL, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status store_backfill_survey(struct store *store, const struct backfill_question *question,
                                  struct backfill_survey *out, struct err *err)
{
    struct run_reader reader = {0};
    struct backfill_survey survey = {0};
    enum status status =
        db_query(store->db, &reader.stmt, err, RUNS_IN_RANGE, "iii", question->dag_key,
                 question->range.from_us, question->range.to_us);
    if (status == STATUS_OK)
        status = reader_next(&reader, err);
    if (status == STATUS_OK)
        status = survey_dates(&reader, question, &survey, err);
    if (reader.has_row)
        db_reset(reader.stmt);
    if (status != STATUS_OK)
        return err_wrap(err, "look at the dates of a backfill");
    *out = survey;
    return STATUS_OK;
}

/* --- how long runs take ---------------------------------------------------------------------- */

enum { HISTORY_MAX = 25 };

/* A run that was reopened went for a part of its tasks, as a rule. */
static const char HISTORY[] =
    "SELECT r.ms, CASE WHEN EXISTS (SELECT 1 FROM event e WHERE e.run = r.id AND e.run > 0"
    " AND e.kind = $3) THEN 1 ELSE 0 END FROM (SELECT id, (ended_at_us - started_at_us) / 1000 ms"
    " FROM run WHERE dag = $1 AND state = 2 AND started_at_us IS NOT NULL"
    " ORDER BY dag DESC, logical_at_us DESC LIMIT $2) r";
_Static_assert(RUN_SUCCESS == 2, "as in the SQL");

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct lengths {
    int64_t items[HISTORY_MAX];
    size_t count;
};

static int64_t middle_of(struct lengths *lengths)
{
    qsort(lengths->items, lengths->count, sizeof *lengths->items, by_length);
    return lengths->count > 0 ? lengths->items[lengths->count / 2] : 0;
}

enum status store_dag_usual_ms(struct store *store, int64_t dag_key, int64_t *out_ms,
                               struct err *err)
{
    struct lengths whole = {0};
    struct lengths reopened = {0};
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, HISTORY, "iii", dag_key,
                                  (int64_t)HISTORY_MAX, (int64_t)EVENT_RUN_REOPENED);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct lengths *list = db_int(stmt, 1) != 0 ? &reopened : &whole;
        list->items[list->count++] = MAX(db_int(stmt, 0), (int64_t)1);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look at earlier runs");
    *out_ms = middle_of(whole.count > 0 ? &whole : &reopened);
    return STATUS_OK;
}

static const char VERSION_NUMBERED[] = "SELECT id FROM version WHERE dag = $1 AND number = $2";
static const char VERSION_NEWEST[] = "SELECT coalesce(max(number), 0) FROM version WHERE dag = $1";

enum status store_backfill_version(struct store *store, int64_t dag_key, int64_t number,
                                   int64_t *out_version, struct err *err)
{
    int64_t version = 0;
    int64_t newest = 0;
    if (db_get_int(store->db, 0, &version, err, VERSION_NUMBERED, "ii", dag_key, number) !=
            STATUS_OK ||
        db_get_int(store->db, 0, &newest, err, VERSION_NEWEST, "i", dag_key) != STATUS_OK)
        return err->code;
    if (version == 0)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no version %lld of the DAG; the newest is "
                       "%lld",
                       (long long)number, (long long)newest);
    *out_version = version;
    return STATUS_OK;
}
