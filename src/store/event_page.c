/*
 * event_page: a reader of events that loses none.
 *
 *   begin   what is shown next ends before the oldest transaction that runs (SQLite: at the newest
 *           id, since there is one writer at a time)
 *   rows    in the order of their ids, as many calls as it takes
 *   done    the next beginning is where this one ended
 *
 * Where to look for the ids of transactions that were not shown yet: at some beginning all that
 * came later had ids above those there were; once everything older is shown, that is the bound.
 */
#include "store/event_page.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/store_priv.h"

enum {
    /* A row has its id an instant before its transaction has a number. */
    MARK_SLACK = 1000,
    /* What transactions that run when a reader comes may have taken before the newest row. */
    FIRST_SLACK = 100000,
};

static const char LIMITS_SQLITE[] = "SELECT coalesce(max(id), 0), 0, 0 FROM event";
static const char LIMITS_POSTGRES[] =
    "SELECT coalesce(max(id), 0), pg_snapshot_xmin(pg_current_snapshot())::text::bigint,"
    " pg_snapshot_xmax(pg_current_snapshot())::text::bigint FROM event";

/* $1 at, $2 from, $3 to, $4 run, $5 DAG, $6 the same as it stands in the data, $7 limit */
#define COLUMNS       "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM " WHERE e.id > $1"
#define SPAN_SQLITE   " AND e.id <= $3 AND $2 = 0"
#define SPAN_POSTGRES " AND e.xid >= $2::bigint::text::xid8 AND e.xid < $3::bigint::text::xid8"
#define OF_DAG(find)                                                                               \
    " AND ($5 = '' OR d.dag_id = $5"                                                               \
    " OR (d.dag_id IS NULL AND " find "(coalesce(e.data, ''), $6) > 0))"
#define ANY_RUN " AND $4 = 0"
/* The index of runs leaves out jobs, which is to be said. */
#define OF_RUN       " AND e.run = $4 AND e.run > 0"
#define IN_ORDER     " ORDER BY e.id LIMIT $7"
#define NEWEST(rows) "SELECT * FROM (" rows " ORDER BY e.id DESC LIMIT $7) AS newest ORDER BY 1"

#define ROWS_SQLITE(run)   COLUMNS SPAN_SQLITE run OF_DAG("instr")
#define ROWS_POSTGRES(run) COLUMNS SPAN_POSTGRES run OF_DAG("strpos")

static const char *const ROWS[2][2][2] = {
    [DB_SQLITE] =
        {
            {ROWS_SQLITE(ANY_RUN) IN_ORDER, NEWEST(ROWS_SQLITE(ANY_RUN))},
            {ROWS_SQLITE(OF_RUN) IN_ORDER, NEWEST(ROWS_SQLITE(OF_RUN))},
        },
    [DB_POSTGRES] =
        {
            {ROWS_POSTGRES(ANY_RUN) IN_ORDER, NEWEST(ROWS_POSTGRES(ANY_RUN))},
            {ROWS_POSTGRES(OF_RUN) IN_ORDER, NEWEST(ROWS_POSTGRES(OF_RUN))},
        },
};

struct event_row event_row_read(struct db_stmt *stmt)
{
    return (struct event_row){
        .id = db_int(stmt, 0),
        .at_us = db_int(stmt, 1),
        .kind = (enum event_kind)db_int(stmt, 2),
        .actor = db_text(stmt, 3),
        .data = db_text(stmt, 4),
        .run = db_int(stmt, 5),
        .dag_id = db_text(stmt, 6),
        .run_id = db_text(stmt, 7),
        .version = db_int(stmt, 8),
        .task = db_int(stmt, 9),
        .node = db_is_null(stmt, 10) ? -1 : db_int(stmt, 10),
        .map_index = db_is_null(stmt, 11) ? -1 : db_int(stmt, 11),
        .new_state = db_is_null(stmt, 12) ? -1 : db_int(stmt, 12),
        .attempt = db_int(stmt, 13),
        .reason = (enum reason)db_int(stmt, 14),
        .old_state = db_is_null(stmt, 15) ? -1 : db_int(stmt, 15),
        .space = db_text(stmt, 16),
    };
}

/* --- cursors --------------------------------------------------------------------------------- */

#define CURSOR_FORM(number)                                                                        \
    "%" number "."                                                                                 \
    "%" number "."                                                                                 \
    "%" number "."                                                                                 \
    "%" number "."                                                                                 \
    "%" number "."                                                                                 \
    "%" number

const char *event_cursor_format(const struct event_cursor *cursor,
                                char out[static EVENT_CURSOR_TEXT_MAX])
{
    int length = snprintf(out, EVENT_CURSOR_TEXT_MAX, CURSOR_FORM(PRId64), cursor->low, cursor->at,
                          cursor->from, cursor->to, cursor->mark_from, cursor->mark_id);
    CHECK(length < EVENT_CURSOR_TEXT_MAX);
    return out;
}

bool event_cursor_parse(const char *text, struct event_cursor *out)
{
    int64_t numbers[6] = {0};
    const char *at = text;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (*at < '0' || *at > '9')
            return false;
        for (; *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(numbers[i], 10, &numbers[i]) ||
                __builtin_add_overflow(numbers[i], *at - '0', &numbers[i]))
                return false;
        if (*at != (i + 1 < ARRAY_LEN(numbers) ? '.' : '\0'))
            return false;
        at++;
    }
    *out = (struct event_cursor){
        .is_set = true,
        .low = numbers[0],
        .at = numbers[1],
        .from = numbers[2],
        .to = numbers[3],
        .mark_from = numbers[4],
        .mark_id = numbers[5],
    };
    return true;
}

/* What is to be shown from here on. */
static enum status begin(struct store *store, struct event_cursor *cursor, struct err *err)
{
    bool is_sqlite = db_dialect(store->db) == DB_SQLITE;
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, is_sqlite ? LIMITS_SQLITE : LIMITS_POSTGRES, "") !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    CHECK(row);
    int64_t newest = db_int(stmt, 0);
    int64_t oldest_running = db_int(stmt, 1);
    int64_t next = db_int(stmt, 2);
    db_reset(stmt);
    cursor->to = is_sqlite ? newest : oldest_running;
    if (!is_sqlite && cursor->mark_from == 0) {
        cursor->mark_from = next;
        cursor->mark_id = newest;
    }
    if (!cursor->is_set)
        cursor->low = is_sqlite ? newest : MAX(newest - FIRST_SLACK, (int64_t)0);
    return STATUS_OK;
}

/* As far as another reader has come, who began later than what this one shows. */
static void end_at(struct event_cursor *cursor, const struct event_cursor *until, bool is_sqlite)
{
    cursor->to = is_sqlite ? MAX(until->low, cursor->low) : MAX(until->from, cursor->from);
}

static bool has_reached(const struct event_cursor *cursor, const struct event_cursor *until)
{
    return cursor->from >= until->from && (until->from != 0 || cursor->low >= until->low);
}

/* Everything up to `to` was shown. */
static void finish(const struct store *store, struct event_cursor *cursor)
{
    if (db_dialect(store->db) == DB_SQLITE) {
        cursor->low = MAX(cursor->low, cursor->to);
    } else {
        cursor->from = cursor->to;
        if (cursor->mark_from <= cursor->from) {
            cursor->low = MAX(cursor->low, cursor->mark_id - MARK_SLACK);
            cursor->mark_from = cursor->mark_id = 0;
        }
    }
    cursor->to = 0;
    cursor->at = cursor->low;
}

/* --- pages ----------------------------------------------------------------------------------- */

enum status store_event_page(struct store *store, const struct event_page *page,
                             struct event_cursor *cursor, bool *out_more, struct err *err)
{
    struct event_cursor moved = *cursor;
    bool is_first = !moved.is_set;
    struct db_stmt *stmt = NULL;
    int64_t rows = 0;
    const char *dag_id = page->dag_id != NULL ? page->dag_id : "";
    CLEANUP(mem_freep) char *in_data = mem_format("\"dag_id\":\"%s\"", dag_id);
    bool begins = moved.to == 0;
    if (begins && begin(store, &moved, err) != STATUS_OK)
        return err_wrap(err, "read events");
    if (begins && page->until != NULL)
        end_at(&moved, page->until, db_dialect(store->db) == DB_SQLITE);
    const char *sql = ROWS[db_dialect(store->db)][page->run != 0][is_first];
    enum status status = db_query(store->db, &stmt, err, sql, "iiiitti", moved.at, moved.from,
                                  moved.to, page->run, dag_id, in_data, page->limit);
    moved.is_set = true;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct event_row row = event_row_read(stmt);
        moved.at = row.id;
        row.after = &moved;
        rows++;
        status = page->each(page->context, &row, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "read events");
    bool is_full = !is_first && rows == page->limit;
    if (!is_full)
        finish(store, &moved);
    *cursor = moved;
    *out_more = is_full || (page->until != NULL && !has_reached(cursor, page->until));
    return STATUS_OK;
}
