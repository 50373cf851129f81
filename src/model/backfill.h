#pragma once
/*
 * backfill: runs for dates of the past, as one piece of work that people start, watch and stop.
 * Pure: which dates it has, what happens to each, what may be done to it, how long it takes.
 *
 * Dates are the logical dates of a DAG's timetable, both ends of the range included. Whoever works
 * one off keeps a cursor, the last tick that was decided on, and moves it in the same transaction
 * as the runs.
 *
 * Tests      tests/unit/model/test_backfill.c
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "model/run_state.h"
#include "model/timetable.h"

/* Stored as numbers: add at the end only. */
#define BACKFILL_STATE_MAP(X)                                                                      \
    X(AWAITING, "awaiting_approval")                                                               \
    X(RUNNING, "running")                                                                          \
    X(PAUSED, "paused")                                                                            \
    X(CANCELLING, "cancelling")                                                                    \
    X(SUCCESS, "success")                                                                          \
    X(FAILED, "failed")                                                                            \
    X(CANCELLED, "cancelled")

enum backfill_state {
#define X(name, text) BACKFILL_##name,
    BACKFILL_STATE_MAP(X)
#undef X
        BACKFILL_STATE_COUNT
};

const char *backfill_state_name(enum backfill_state state);
NODISCARD bool backfill_state_parse(const char *name, enum backfill_state *out);
bool backfill_state_is_final(enum backfill_state state);

/* Which dates that have a run already are done again. */
#define BACKFILL_REDO_MAP(X)                                                                       \
    X(NONE, "none")                                                                                \
    X(FAILED, "failed")                                                                            \
    X(ALL, "all")

enum backfill_redo {
#define X(name, text) REDO_##name,
    BACKFILL_REDO_MAP(X)
#undef X
        REDO_COUNT
};

const char *backfill_redo_name(enum backfill_redo redo);
NODISCARD bool backfill_redo_parse(const char *name, enum backfill_redo *out);

/* The name under which it does things by itself: "backfill 13". */
#define BACKFILL_ACTOR_MAX 48
const char *backfill_actor(int64_t id, char out[static BACKFILL_ACTOR_MAX]);

/* ---- dates ---- */

struct backfill_range {
    const struct timetable *timetable;
    int64_t from_us; /* logical dates, both included */
    int64_t to_us;
    int64_t until_us; /* ticks after this are not due */
    bool newest_first;
};

/* Where the cursor begins. */
int64_t backfill_first_cursor(const struct backfill_range *range);
/* The next date, and the cursor moved to it. False: there are no more; nothing was touched. */
NODISCARD bool backfill_next(const struct backfill_range *range, int64_t *cursor_us,
                             struct tick_dates *out);
/* How many dates there are; counting stops at `most` + 1. */
int64_t backfill_count(const struct backfill_range *range, int64_t most);

/* ---- decisions ---- */

/* What becomes of one date; stored as a number. */
#define BACKFILL_ACTION_MAP(X)                                                                     \
    X(CREATE, "created")                                                                           \
    X(REDO, "redone")                                                                              \
    X(KEEP, "kept")

enum backfill_action {
#define X(name, text) ACTION_##name,
    BACKFILL_ACTION_MAP(X)
#undef X
        ACTION_COUNT
};

const char *backfill_action_name(enum backfill_action action);
/* Of a date that has a run; one that goes on is never touched. Without a run it is created. */
enum backfill_action backfill_decide(enum backfill_redo redo, enum run_state state);

/* What people do to one. */
#define BACKFILL_VERB_MAP(X)                                                                       \
    X(APPROVE, "approve")                                                                          \
    X(PAUSE, "pause")                                                                              \
    X(RESUME, "resume")                                                                            \
    X(CANCEL, "cancel")

enum backfill_verb {
#define X(name, text) VERB_##name,
    BACKFILL_VERB_MAP(X)
#undef X
        VERB_COUNT
};

const char *backfill_verb_name(enum backfill_verb verb);
NODISCARD bool backfill_verb_parse(const char *name, enum backfill_verb *out);
/* Where it leads from a state; false: that cannot be done then. */
NODISCARD bool backfill_verb_leads(enum backfill_verb verb, enum backfill_state from,
                                   enum backfill_state *out);

/* The end of a backfill none of whose runs goes on: of its own runs, not of those it kept. */
enum backfill_state backfill_verdict(enum backfill_state state, int64_t failed, int64_t cancelled);

/* How long runs take, `at_once` at a time, each as long as runs of the DAG usually do. */
int64_t backfill_estimate_ms(int64_t runs, int64_t at_once, int64_t usual_ms);
