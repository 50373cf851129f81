#pragma once
/*
 * admission: which runs of a DAG may go, and which have to wait.
 *
 * A run that was made with `is_limited` counts: no more than `max_active_runs` of a DAG go at once,
 * and with `depends_on_past` a run goes only when the one before it, by logical date, has
 * succeeded. What may not go yet is queued, with nothing of it claimable, and has a row in
 * `waiting`. Runs of a backfill wait apart, each backfill in a line of its own: they are always
 * made waiting, and whoever owns the backfill lets them go.
 *
 * Every decision is made with the DAG's row in `schedule` locked, so that no two ever let too many
 * go. When a run ends for which others wait, the scheduler hears it (STORE_CHANNEL_NEWS); so
 * it does of every end of a backfill's run.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/backfill.h"
#include "model/run_state.h"
#include "model/task_state.h"
#include "store/store.h"

struct admission_count {
    int64_t going; /* and not over */
    int64_t waiting;
};

/* Of one line: of a DAG's backfill, or with `backfill` 0 of the DAG's other limited runs. */
NODISCARD enum status store_admission_count(struct store *store, int64_t dag_key, int64_t backfill,
                                            struct admission_count *out, struct err *err);

struct let_go_request {
    int64_t dag_key;
    int64_t backfill;  /* 0: none */
    int64_t most;      /* how many may go at once, with those that go already; 0: as the DAG says */
    bool newest_first; /* by logical date; else the oldest */
};

/*
 * Let runs of a line go until `most` do. One transaction; doing it twice is fine. *out_count tells
 * how many began to go.
 */
NODISCARD enum status store_admission_let_go(struct store *store,
                                             const struct let_go_request *request,
                                             int64_t *out_count, struct err *err);

/*
 * DAGs that have room for a run that waits, in the order of their keys from `after` on, at most
 * `most`; backfills are left out.
 */
NODISCARD enum status store_admission_ready(struct store *store, int64_t after, int64_t *out_dags,
                                            size_t most, size_t *out_count, struct err *err);

struct replaced_run {
    int64_t run;
    int64_t by; /* the newer one */
};

/*
 * Runs that have to make room for a newer one that waits, since their DAG says `overlap: replace`,
 * and were not asked to stop yet; at most `most`.
 */
NODISCARD enum status store_admission_replaced(struct store *store, struct replaced_run *out_runs,
                                               size_t most, size_t *out_count, struct err *err);

/*
 * Queue tasks that waited for the same task of the run before and need not any more. *out_count
 * tells how many were looked at; *out_left whether others go on waiting.
 */
NODISCARD enum status store_past_let_go(struct store *store, int64_t *out_count, bool *out_left,
                                        struct err *err);

/* What keeps a run waiting. Texts are in an arena. */
struct admission_state {
    bool is_waiting; /* else the rest is not set */
    const char *dag_id;
    const char *past_run; /* the run before it, for which it waits (depends_on_past); NULL: none */
    enum run_state past_state;
    /* Where that one waits as well, back to one that does not: the same as the run before, or not.
       Looked for among the last few thousand runs only. */
    int64_t head;
    const char *head_run;
    enum run_state head_state;
    int64_t going; /* in its line */
    int64_t most;  /* that may; 0: no bound */
    int64_t ahead; /* that wait before it; of a backfill not counted */
    int64_t backfill;
    enum backfill_state backfill_state;
};

NODISCARD enum status store_admission_state(struct store *store, struct arena *arena, int64_t run,
                                            struct admission_state *out, struct err *err);
/* What of it there is to say about the run before, and about its line; NULL: nothing. */
const char *admission_past_text(struct arena *arena, const struct admission_state *state);
const char *admission_line_text(struct arena *arena, const struct admission_state *state);
/* What lets the run before go on; NULL: it waits for none. */
const char *admission_past_remedy(struct arena *arena, const struct admission_state *state);

/* Why a run waits, in words for people; NULL when it does not. In `arena`. */
NODISCARD enum status store_admission_why(struct store *store, struct arena *arena, int64_t run,
                                          const char **out, struct err *err);

/* What keeps a task waiting that depends on its past; texts in an arena. */
struct past_reason {
    const char *text; /* NULL: nothing of the kind */
    const char *remedy;
    const char *before_id; /* the run before, and the same task in it */
    enum task_state before_state;
    int64_t run; /* where it began: of the first task that waits for no other */
    const char *run_id;
    enum task_state state; /* of the task there */
};

NODISCARD enum status store_past_why(struct store *store, struct arena *arena, int64_t task,
                                     struct past_reason *out, struct err *err);
