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
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/id_list.h"
#include "store/store_priv.h"

enum {
    /* A row has its id an instant before its transaction has a number. */
    MARK_SLACK = 1000,
    /* What transactions that run when a reader comes may have taken before the newest row. */
    FIRST_SLACK = 100000,
};

static const char LIMITS_SQLITE[] =
    "SELECT coalesce(n.newest, 0), 0, 0, e.id, e.at_us FROM (SELECT max(id) AS newest FROM event) n"
    " LEFT JOIN event e ON e.id = n.newest";
static const char LIMITS_POSTGRES[] =
    "SELECT n.newest, n.low, n.next, l.id, l.at_us FROM (SELECT (SELECT coalesce(max(id), 0)"
    " FROM event) AS newest, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS low,"
    " pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next) n"
    " LEFT JOIN LATERAL (SELECT id, at_us FROM event WHERE xid < n.low::text::xid8"
    " ORDER BY id DESC LIMIT 1) l ON true";
/* The event of the number that a cursor remembers, and what was removed since. */
static const char PAST[] =
    "SELECT s.uuid, s.epoch, (SELECT p.run FROM retention p WHERE p.what = '" EVENTS_REMOVED "'),"
    " e.at_us FROM store s LEFT JOIN event e ON e.id = $1 WHERE s.id = 1";

/*
 * $1 at, $2 from, $3 to, $4 run, $5 DAG, $6 the same as it stands in the data, $7 limit, $8 shown.
 * A server that took over may give the numbers of transactions that it had not heard of again: what
 * is new has a higher id than all that was shown.
 */
#define COLUMNS     "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM " WHERE e.id > $1"
#define SPAN_SQLITE " AND e.id <= $3 AND $2 = 0 AND $8 >= 0"
#define SPAN_POSTGRES                                                                              \
    " AND (e.xid >= $2::bigint::text::xid8 OR e.id > $8) AND e.xid < $3::bigint::text::xid8"
#define OF_DAG(find)                                                                               \
    " AND ($5 = '' OR d.dag_id = $5"                                                               \
    " OR (d.dag_id IS NULL AND " find "(coalesce(e.data, ''), $6) > 0))"
#define ANY_RUN " AND $4 = 0"
/* The index of runs leaves out jobs, which is to be said. */
#define OF_RUN       " AND e.run = $4 AND e.run > 0"
#define IN_ORDER     " ORDER BY e.id LIMIT $7"
#define NEWEST(rows) "SELECT * FROM (" rows " ORDER BY e.id DESC LIMIT $7) AS newest ORDER BY 1"

/*
 * The newest of a DAG, without looking at those of all others: of its newest runs, of which each
 * has one at least; of any run of it among what happened lately, as somebody may have done
 * something to an old one; and what is about the DAG itself. `name` is how the index has that.
 *
 * Equal is said as neither less nor more where only one index gives the order then: PostgreSQL
 * else walks over all, hoping to meet what is rare soon.
 */
#define LATELY       "10000"
#define THE_DAG(dag) "(SELECT g.id FROM dag g WHERE g.dag_id = " dag ")"
#define NEWEST_RUNS(dag, most)                                                                     \
    " FROM run w WHERE w.dag >= " THE_DAG(dag) " AND w.dag <= " THE_DAG(                           \
        dag) " ORDER BY w.dag DESC, w.id DESC LIMIT " most
#define OF_RUNS_SQLITE(dag, most)                                                                  \
    "SELECT x.id FROM (SELECT w.id AS run, coalesce((SELECT y.id FROM event y WHERE y.run = w.id"  \
    " ORDER BY y.id DESC LIMIT 1 OFFSET " most " - 1), 0) AS low" NEWEST_RUNS(                     \
        dag, most) ") n"                                                                           \
                   " CROSS JOIN event x WHERE x.run = n.run AND x.id >= n.low"
#define OF_RUNS_POSTGRES(dag, most)                                                                \
    "SELECT x.id FROM (SELECT w.id AS run" NEWEST_RUNS(                                            \
        dag,                                                                                       \
        most) ") n CROSS JOIN LATERAL"                                                             \
              " (SELECT y.id FROM event y WHERE y.run = n.run AND y.run > 0 ORDER BY y.id DESC"    \
              " LIMIT " most ") x"
#define OF_DAG_LATELY(dag)                                                                         \
    " UNION ALL SELECT x.id FROM (SELECT l.id, l.run FROM event l ORDER BY l.id DESC"              \
    " LIMIT " LATELY ") x WHERE (SELECT w.dag FROM run w WHERE w.id = x.run) = " THE_DAG(dag)
#define OF_NO_RUN(name, dag, most)                                                                 \
    " UNION ALL SELECT * FROM (SELECT x.id FROM event x WHERE " name " >= " dag " AND " name       \
    " <= " dag " AND " EVENT_OF_NO_RUN " ORDER BY " name " DESC, x.id DESC LIMIT " most ") o"

#define ROWS_SQLITE(run)   COLUMNS SPAN_SQLITE run OF_DAG("instr")
#define ROWS_POSTGRES(run) COLUMNS SPAN_POSTGRES run OF_DAG("strpos")

static const char NEWEST_OF_DAG[] = NEWEST(ROWS_SQLITE(ANY_RUN) " AND e.id IN (" OF_RUNS_SQLITE(
    "$5", "$7") OF_DAG_LATELY("$5") OF_NO_RUN(EVENT_DAG_SQLITE, "$5", "$7") ")");
/* In two steps, as the planner would read all events to join a few. */
static const char IDS_OF_DAG[] = "SELECT DISTINCT c.id FROM (" OF_RUNS_POSTGRES("$1", "$2")
    OF_DAG_LATELY("$1") OF_NO_RUN(EVENT_DAG_POSTGRES, "$1", "$2") ") c ORDER BY c.id DESC LIMIT $2";
static const char BY_IDS[] = "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM " WHERE e.id = ANY ($1)"
                             " AND e.xid < $2::bigint::text::xid8 ORDER BY e.id LIMIT $3";

/* Some of the newest: these are picked before they are named. $9 kinds, $10 a word of the data. */
#define PICKED(limit, kinds, find, word)                                                           \
    "SELECT w.id FROM (" limit ") w WHERE substr(" kinds ", w.kind + 1, 1) = '1'"                  \
    " AND (" word " = '' OR " find "(coalesce(w.data, ''), " word ") > 0)"
#define NEWEST_OF_ALL(span, limit)                                                                 \
    "SELECT e.id, e.kind, e.data FROM event e WHERE e.id > 0" span                                 \
    " ORDER BY e.id DESC LIMIT " limit
static const char NEWEST_PICKED[] = NEWEST(ROWS_SQLITE(ANY_RUN) " AND e.id IN (" PICKED(
    NEWEST_OF_ALL(" AND e.id <= $3", "$7"), "$9", "instr", "$10") ")");
static const char IDS_PICKED[] = PICKED(NEWEST_OF_ALL(" AND e.xid < $1::bigint::text::xid8", "$2"),
                                        "$3::text", "strpos", "$4::text");

/* By what is asked for: of any run or of one, what follows or the newest. */
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

enum { CURSOR_NUMBERS = 12 };

static void cursor_to_numbers(const struct event_cursor *cursor, int64_t out[CURSOR_NUMBERS])
{
    const int64_t numbers[CURSOR_NUMBERS] = {
        cursor->store,   cursor->epoch,   cursor->low,        cursor->at,
        cursor->from,    cursor->shown,   cursor->to,         cursor->mark_from,
        cursor->mark_id, cursor->last_id, cursor->last_at_us, cursor->removed,
    };
    memcpy(out, numbers, sizeof numbers);
}

const char *event_cursor_format(const struct event_cursor *cursor,
                                char out[static EVENT_CURSOR_TEXT_MAX])
{
    int64_t numbers[CURSOR_NUMBERS];
    int length = 0;
    cursor_to_numbers(cursor, numbers);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        length += snprintf(out + length, (size_t)(EVENT_CURSOR_TEXT_MAX - length), "%s%" PRId64,
                           i > 0 ? "." : "", numbers[i]);
        CHECK(length < EVENT_CURSOR_TEXT_MAX);
    }
    return out;
}

bool event_cursor_parse(const char *text, struct event_cursor *out)
{
    int64_t numbers[CURSOR_NUMBERS] = {0};
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
        .store = numbers[0],
        .epoch = numbers[1],
        .low = numbers[2],
        .at = numbers[3],
        .from = numbers[4],
        .shown = numbers[5],
        .to = numbers[6],
        .mark_from = numbers[7],
        .mark_id = numbers[8],
        .last_id = numbers[9],
        .last_at_us = numbers[10],
        .removed = numbers[11],
    };
    return true;
}

/* --- gaps ------------------------------------------------------------------------------------ */

static const char *const GAP_NAMES[] = {
#define X(name, text, words) [EVENT_GAP_##name] = text,
    EVENT_GAP_MAP(X)
#undef X
};

static const char *const GAP_WORDS[] = {
#define X(name, text, words) [EVENT_GAP_##name] = words,
    EVENT_GAP_MAP(X)
#undef X
};

const char *event_gap_name(enum event_gap gap)
{
    CHECK(gap < EVENT_GAP_COUNT);
    return GAP_NAMES[gap];
}

const char *event_gap_words(enum event_gap gap)
{
    CHECK(gap < EVENT_GAP_COUNT);
    return GAP_WORDS[gap];
}

/* What the store says of a cursor. */
struct past {
    int64_t store;
    int64_t epoch;
    int64_t removed;
    int64_t last_at_us; /* of the event that has the cursor's number; 0: none has */
};

static enum status read_past(struct store *store, const struct event_cursor *cursor,
                             struct past *out, struct err *err)
{
    enum { HEX = 16, UUID_DIGITS = 8 };
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, PAST, "i", cursor->last_id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    CHECK(row);
    char beginning[UUID_DIGITS + 1];
    (void)snprintf(beginning, sizeof beginning, "%s", db_text(stmt, 0));
    *out = (struct past){
        .store = (int64_t)strtoull(beginning, NULL, HEX),
        .epoch = db_int(stmt, 1),
        .removed = db_int(stmt, 2),
        .last_at_us = db_int(stmt, 3),
    };
    db_reset(stmt);
    return STATUS_OK;
}

static enum event_gap find_gap(const struct event_cursor *cursor, const struct past *past)
{
    int64_t read_up_to = cursor->to != 0 ? cursor->at : cursor->last_id;
    bool is_gone = past->last_at_us == 0 && cursor->last_id <= past->removed;
    if (!cursor->is_set)
        return EVENT_GAP_NONE;
    if (cursor->store != past->store || cursor->epoch != past->epoch ||
        cursor->removed > past->removed)
        return EVENT_GAP_HISTORY;
    if (cursor->last_id != 0 && cursor->last_at_us != past->last_at_us && !is_gone)
        return EVENT_GAP_HISTORY;
    return past->removed > cursor->removed && past->removed > read_up_to ? EVENT_GAP_REMOVED
                                                                         : EVENT_GAP_NONE;
}

static enum status check_past(struct store *store, struct event_cursor *cursor,
                              enum event_gap *out_gap, struct err *err)
{
    struct past past = {0};
    if (read_past(store, cursor, &past, err) != STATUS_OK)
        return err->code;
    *out_gap = find_gap(cursor, &past);
    if (*out_gap == EVENT_GAP_HISTORY)
        *cursor = (struct event_cursor){0};
    cursor->store = past.store;
    cursor->epoch = past.epoch;
    cursor->removed = past.removed;
    return STATUS_OK;
}

/* --- spans ----------------------------------------------------------------------------------- */

/* As far as another reader has come, who began later than what this one shows. */
static void end_at(struct event_cursor *cursor, const struct event_cursor *until, bool is_sqlite)
{
    cursor->to = is_sqlite ? MAX(until->low, cursor->low) : MAX(until->from, cursor->from);
    cursor->last_id = until->last_id;
    cursor->last_at_us = until->last_at_us;
}

/* What is to be shown from here on. */
static enum status begin(struct store *store, const struct event_cursor *until,
                         struct event_cursor *cursor, struct err *err)
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
    cursor->last_id = db_int(stmt, 3);
    cursor->last_at_us = db_int(stmt, 4);
    db_reset(stmt);
    cursor->to = is_sqlite ? newest : oldest_running;
    bool is_set_back = cursor->from > next;
    if (!is_sqlite && (cursor->mark_from == 0 || is_set_back)) {
        cursor->mark_from = next;
        cursor->mark_id = newest;
    }
    if (!cursor->is_set)
        cursor->low = is_sqlite ? newest : MAX(newest - FIRST_SLACK, (int64_t)0);
    if (until != NULL)
        end_at(cursor, until, is_sqlite);
    return STATUS_OK;
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
    cursor->shown = cursor->last_id;
    cursor->to = 0;
    cursor->at = cursor->low;
}

/* --- pages ----------------------------------------------------------------------------------- */

static const char *kinds_of(const struct event_page *page)
{
    static const char ALL[] = {
#define X(name, text) '1',
        EVENT_KIND_MAP(X)
#undef X
            '\0'};
    return page->kinds != NULL ? page->kinds : ALL;
}

static const char *word_of(const struct event_page *page)
{
    return page->word != NULL ? page->word : "";
}

/* Of a DAG or picked, on PostgreSQL: which they are first. */
static enum status newest_by_ids(struct store *store, const struct event_page *page,
                                 const struct event_cursor *cursor, struct db_stmt **out,
                                 struct err *err)
{
    CLEANUP(id_list_fini) struct id_list ids = {0};
    struct db_stmt *stmt = NULL;
    enum status status =
        page->dag_id != NULL
            ? db_query(store->db, &stmt, err, IDS_OF_DAG, "ti", page->dag_id, page->limit)
            : db_query(store->db, &stmt, err, IDS_PICKED, "iitt", cursor->to, page->limit,
                       kinds_of(page), word_of(page));
    while (status == STATUS_OK && db_next(stmt, &status, err))
        id_list_add(&ids, db_int(stmt, 0));
    if (status != STATUS_OK)
        return status;
    return db_query(store->db, out, err, BY_IDS, "Iii", ids.items, ids.count, cursor->to,
                    page->limit);
}

static enum status ask(struct store *store, const struct event_page *page,
                       const struct event_cursor *cursor, struct db_stmt **out, struct err *err)
{
    enum db_dialect dialect = db_dialect(store->db);
    bool is_newest = !cursor->is_set && page->run == 0;
    bool is_picked =
        is_newest && page->dag_id == NULL && (page->kinds != NULL || page->word != NULL);
    const char *dag_id = page->dag_id != NULL ? page->dag_id : "";
    CLEANUP(mem_freep) char *in_data = mem_format("\"dag_id\":\"%s\"", dag_id);
    const char *sql = ROWS[dialect][page->run != 0][!cursor->is_set];
    if (dialect == DB_POSTGRES && is_newest && (is_picked || page->dag_id != NULL))
        return newest_by_ids(store, page, cursor, out, err);
    if (is_picked)
        return db_query(store->db, out, err, NEWEST_PICKED, "iiiittiitt", cursor->at, cursor->from,
                        cursor->to, page->run, dag_id, in_data, page->limit, cursor->shown,
                        kinds_of(page), word_of(page));
    return db_query(store->db, out, err, is_newest && page->dag_id != NULL ? NEWEST_OF_DAG : sql,
                    "iiiittii", cursor->at, cursor->from, cursor->to, page->run, dag_id, in_data,
                    page->limit, cursor->shown);
}

static enum status show(struct store *store, const struct event_page *page,
                        struct event_cursor *cursor, int64_t *out_rows, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = ask(store, page, cursor, &stmt, err);
    *out_rows = 0;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct event_row row = event_row_read(stmt);
        cursor->at = row.id;
        row.after = cursor;
        (*out_rows)++;
        status = page->each(page->context, &row, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

enum status store_event_page(struct store *store, const struct event_page *page,
                             struct event_cursor *cursor, struct event_turn *out, struct err *err)
{
    struct event_cursor moved = *cursor;
    struct event_turn turn = {0};
    int64_t rows = 0;
    if (check_past(store, &moved, &turn.gap, err) != STATUS_OK ||
        (moved.to == 0 && begin(store, page->until, &moved, err) != STATUS_OK) ||
        show(store, page, &moved, &rows, err) != STATUS_OK)
        return err_wrap(err, "read events");
    bool is_full = moved.is_set && rows == page->limit;
    moved.is_set = true;
    if (!is_full)
        finish(store, &moved);
    turn.is_more = is_full || (page->until != NULL && !has_reached(&moved, page->until));
    *cursor = moved;
    *out = turn;
    return STATUS_OK;
}
