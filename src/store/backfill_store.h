#pragma once
/*
 * backfill_store: backfills as the store knows them (model/backfill.h has their rules).
 *
 * Each is a row that the scheduler works off: dates are decided on in their order, a portion per
 * transaction, and the cursor moves in the same transaction as the runs, so that any number of
 * schedulers, stopped wherever, make one run per date. No more than `max_active` of its runs go on
 * at once, in a line of their own (admission.h); their tasks come after all others of their queues.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/backfill.h"
#include "store/store.h"

struct backfill_request {
    int64_t dag_key;
    int64_t version; /* of the runs that it makes */
    int64_t from_us; /* logical dates, both included */
    int64_t to_us;
    int64_t until_us; /* ticks after this are not due */
    bool newest_first;
    enum backfill_redo redo;
    int64_t max_active;
    int64_t queue;      /* that its runs wait in; 0: the tasks' own */
    const char *params; /* JSON objects */
    const char *conf;
    const char *tasks; /* JSON list of ids; empty: all */
    const char *note;  /* of its runs */
    const char *reason;
    const char *actor;
    int64_t size;      /* dates in the range */
    int64_t cursor_us; /* where they begin */
    bool awaits_approval;
};

/* Make one; the scheduler hears of it. */
NODISCARD enum status store_backfill_create(struct store *store,
                                            const struct backfill_request *request, int64_t *out_id,
                                            struct err *err);

struct backfill_info {
    int64_t id;
    int64_t dag_key;
    const char *dag_id;
    int64_t version;
    int64_t version_number;
    enum backfill_state state;
    int64_t from_us;
    int64_t to_us;
    int64_t until_us;
    bool newest_first;
    enum backfill_redo redo;
    int64_t max_active;
    int64_t queue;
    const char *queue_name; /* NULL: the tasks' own */
    const char *params;
    const char *conf;
    const char *tasks;
    const char *note;
    const char *reason;
    const char *actor;
    int64_t size;
    int64_t cursor_us;
    bool is_spent; /* every date was decided on */
    bool stops_running;
    int64_t created; /* dates by what became of them */
    int64_t redone;
    int64_t kept;
    int64_t succeeded; /* runs of its own that are over */
    int64_t failed;
    int64_t cancelled;
    int64_t created_at_us;
    int64_t started_at_us; /* 0: it awaits approval */
    int64_t ended_at_us;
    bool is_active; /* its DAG is offered by some file; else nothing of it begins */
};

/* Runs of its own that go on. */
int64_t backfill_info_active(const struct backfill_info *info);

/* Texts in `arena`. STATUS_NOT_FOUND: there is none with this number. */
NODISCARD enum status store_backfill_load(struct store *store, struct arena *arena, int64_t id,
                                          struct backfill_info *out, struct err *err);

struct backfill_filter {
    const char *dag_id; /* NULL: any */
    int64_t state;      /* enum backfill_state, or -1: any */
    int64_t limit;
};

/* Newest first. */
NODISCARD enum status store_backfill_each(struct store *store, const struct backfill_filter *filter,
                                          enum status (*each)(void *context,
                                                              const struct backfill_info *info,
                                                              struct err *err),
                                          void *context, struct err *err);
/* How many there are, at most `most`; `limit` does not count. */
NODISCARD enum status store_backfill_count(struct store *store,
                                           const struct backfill_filter *filter, int64_t most,
                                           int64_t *out, struct err *err);

struct backfill_date {
    int64_t logical_at_us;
    int64_t run;
    const char *run_id; /* NULL: the run was deleted */
    enum backfill_action action;
    enum run_state state; /* of the run as it is; of a deleted one as it ended */
};

/* Dates that were decided on, oldest first, at most `limit`. */
NODISCARD enum status store_backfill_date_each(struct store *store, int64_t id, int64_t limit,
                                               enum status (*each)(void *context,
                                                                   const struct backfill_date *date,
                                                                   struct err *err),
                                               void *context, struct err *err);

struct backfill_change {
    int64_t id;
    enum backfill_verb verb;
    bool stops_running; /* of a cancel: what runs is stopped, too */
    const char *actor;
    const char *reason; /* NULL: none */
};

/* STATUS_CONFLICT: that cannot be done in the state it is in. */
NODISCARD enum status store_backfill_change(struct store *store,
                                            const struct backfill_change *change, struct err *err);

/* Remove one that is over; its runs stay. STATUS_CONFLICT: it goes on. */
NODISCARD enum status store_backfill_forget(struct store *store, int64_t id, const char *actor,
                                            struct err *err);

/* Why it does not go on by itself, with what would help; NULL: nothing is known. In `arena`. */
NODISCARD enum status store_backfill_held(struct store *store, struct arena *arena,
                                          const struct backfill_info *info, const char **out,
                                          struct err *err);

/* --- before it is made ----------------------------------------------------------------------- */

struct backfill_survey {
    int64_t size; /* dates; counting stops at `most` + 1 */
    int64_t first_us;
    int64_t last_us;
    int64_t actions[ACTION_COUNT];
    int64_t existing[RUN_STATE_COUNT]; /* runs that are there */
};

struct backfill_question {
    struct backfill_range range;
    enum backfill_redo redo;
    int64_t dag_key;
    int64_t most;
    /* Called for every date, oldest first, with its run and that one's state; or NULL. */
    enum status (*each)(void *context, const struct tick_dates *dates, enum backfill_action action,
                        const enum run_state *state, struct err *err);
    void *context;
};

NODISCARD enum status store_backfill_survey(struct store *store,
                                            const struct backfill_question *question,
                                            struct backfill_survey *out, struct err *err);

/*
 * How long runs of a DAG took that succeeded last, in the middle; 0: there are none. Those that
 * were reopened count only where there are no others.
 */
NODISCARD enum status store_dag_usual_ms(struct store *store, int64_t dag_key, int64_t *out_ms,
                                         struct err *err);
/* The version of a DAG with this number. STATUS_NOT_FOUND says which there are. */
NODISCARD enum status store_backfill_version(struct store *store, int64_t dag_key, int64_t number,
                                             int64_t *out_version, struct err *err);

/* --- working them off ------------------------------------------------------------------------ */

/* Backfills for which there is something to do now, at most `most`; and whether others go on. */
NODISCARD enum status store_backfill_due(struct store *store, int64_t *out_ids, size_t most,
                                         size_t *out_count, bool *out_goes_on, struct err *err);

struct backfill_progress {
    int64_t created;
    int64_t redone;
    int64_t kept;
    int64_t let_go; /* runs that began to go, those that were made among them */
    int64_t ended;  /* runs whose end was noted */
    bool is_more;   /* there is more to do at once */
    bool is_over;   /* the backfill has its verdict */
};

/*
 * One portion of the work for a backfill, in one transaction: ends of its runs are noted, then runs
 * for further dates begin, then it is ended if nothing is left. Doing it twice, or at the same
 * time, is fine.
 */
NODISCARD enum status store_backfill_step(struct store *store, int64_t id, zone_reader zones,
                                          struct backfill_progress *out, struct err *err);
struct doomed_run {
    int64_t run;
    int64_t backfill;
};

/* Runs of cancelled backfills that are still to be asked to stop, at most `most`. */
NODISCARD enum status store_backfill_doomed(struct store *store, struct doomed_run *out_runs,
                                            size_t most, size_t *out_count, struct err *err);
