#pragma once
/*
 * event_page: what happened, with the names of what it happened to, a page at a time.
 *
 * A cursor remembers what was shown, so that whoever comes back with it gets everything that was
 * committed since, each event once, whichever of many writers was slow. Ids alone cannot say that
 * on PostgreSQL: a transaction that took its ids early may commit late. There the cursor counts
 * transactions: shown are those before the oldest that still runs, and so all of them that ever
 * will be.
 *
 * It also remembers the store, and the newest event of it at the time. A store that was put back
 * from a backup, or a server that took over without having heard the last of it, has another past:
 * there the cursor points at nothing, and the reader is told so (enum event_gap) and begins anew.
 *
 * Tests  tests/unit/store/test_event_page.c
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/attempt.h"
#include "model/event_kind.h"
#include "store/store.h"

/* Texts are borrowed for the call that gives it. */
struct event_row {
    int64_t id;
    int64_t at_us;
    enum event_kind kind;
    const char *actor;  /* or NULL */
    const char *data;   /* JSON or NULL */
    int64_t run;        /* 0: about no run */
    const char *dag_id; /* of the run; NULL: none, or the run is gone */
    const char *run_id;
    int64_t version;
    int64_t task; /* row, or the id of a job; 0: about no task */
    int64_t node; /* -1: none */
    int64_t map_index;
    int64_t new_state; /* -1: none */
    int64_t attempt;   /* 0: none */
    enum reason reason;
    int64_t old_state; /* -1: none */
    const char *space; /* namespace of the run's DAG, or of the job; NULL: of neither */
    /* Of a page: the cursor that goes on behind this event. */
    const struct event_cursor *after;
};

/* Columns for event_row_read, of `event e` and what is joined to it. */
#define EVENT_ROW_COLUMNS                                                                          \
    "e.id, e.at_us, e.kind, e.actor, e.data, e.run, d.dag_id, r.run_id, r.version, e.task,"        \
    " t.node, t.map_index, e.new_state, e.attempt, e.reason, e.old_state,"                         \
    " coalesce(d.namespace, j.namespace)"
#define EVENT_ROW_FROM                                                                             \
    " FROM event e LEFT JOIN run r ON r.id = e.run LEFT JOIN dag d ON d.id = r.dag"                \
    " LEFT JOIN task t ON t.id = e.task LEFT JOIN job j ON j.id = e.task AND coalesce(e.run, 0) "  \
    "= 0"

/* The DAG that the data of `event x` names, as the index of what is about no run has it. */
#define EVENT_DAG_KEY "instr(x.data, '\"dag_id\":\"')"
#define EVENT_DAG_SQLITE                                                                           \
    "CASE WHEN " EVENT_DAG_KEY " > 0 THEN substr(x.data, " EVENT_DAG_KEY " + 10,"                  \
    " instr(substr(x.data, " EVENT_DAG_KEY " + 10), '\"') - 1) END"
#define EVENT_DAG_POSTGRES "substring(x.data from '\"dag_id\":\"([^\"]*)\"')"
#define EVENT_OF_NO_RUN    "((x.run IS NULL AND x.task IS NULL) OR x.kind = 13)"
_Static_assert(EVENT_RUN_DELETED == 13, "as in the SQL");

struct db_stmt;
struct event_row event_row_read(struct db_stmt *stmt);

/* Where a reader is. All zero: nowhere yet. */
struct event_cursor {
    bool is_set;
    int64_t store; /* the beginning of its uuid, and its epoch */
    int64_t epoch;
    int64_t low;   /* what is still to be shown has higher ids */
    int64_t at;    /* of what is being shown, up to here it was */
    int64_t from;  /* transactions before this one were shown; 0 on SQLite */
    int64_t shown; /* none of them had a higher id */
    int64_t to; /* what is being shown ends there: a transaction, or an id on SQLite; 0: nothing */
    /* Transactions from this one on have higher ids than that, as was seen once. */
    int64_t mark_from;
    int64_t mark_id;
    /* The newest event up to that end, which tells this past from another; 0: there was none. */
    int64_t last_id;
    int64_t last_at_us;
    int64_t removed; /* the highest id that was removed until then */
};

enum { EVENT_CURSOR_TEXT_MAX = 260 };

/* As a text without blanks, and back; false: that is none. */
const char *event_cursor_format(const struct event_cursor *cursor,
                                char out[static EVENT_CURSOR_TEXT_MAX]);
NODISCARD bool event_cursor_parse(const char *text, struct event_cursor *out);

struct event_page {
    const char *dag_id; /* NULL: of any */
    int64_t run;        /* 0: of any */
    int64_t limit;
    /* Who is nowhere yet, and asks for no DAG and no run, is told no others among the newest. */
    const char *kinds; /* a letter for each kind, '1': it is; NULL: all */
    const char *word;  /* that the data has; NULL: any */
    /* Up to where this one was, when it had shown all there was; NULL: up to now. */
    const struct event_cursor *until;
    enum status (*each)(void *context, const struct event_row *row, struct err *err);
    void *context;
};

/* What a reader who comes back has not seen and never will. */
#define EVENT_GAP_MAP(X)                                                                           \
    X(NONE, NULL, NULL)                                                                            \
    X(REMOVED, "removed",                                                                          \
      "events after this cursor were removed before they were read; those that are kept follow")   \
    X(HISTORY, "history",                                                                          \
      "the cursor is from another store, or from before this one was put back to an earlier "      \
      "state; events may be missing or repeated, and the newest ones follow")

enum event_gap {
#define X(name, text, words) EVENT_GAP_##name,
    EVENT_GAP_MAP(X)
#undef X
        EVENT_GAP_COUNT
};

const char *event_gap_name(enum event_gap gap);  /* NULL: there is none */
const char *event_gap_words(enum event_gap gap); /* the same in a sentence */

struct event_turn {
    bool is_more;       /* there are more already */
    enum event_gap gap; /* before the events of this page; told once */
};

/*
 * The next events after the cursor, oldest first; of a cursor that is nowhere yet, or of another
 * past, the newest ones. The cursor moves.
 */
NODISCARD enum status store_event_page(struct store *store, const struct event_page *page,
                                       struct event_cursor *cursor, struct event_turn *out,
                                       struct err *err);
