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

/*
 * Runs that have to make room for a newer one that waits, since their DAG says `overlap: replace`,
 * and were not asked to stop yet; at most `most`.
 */
NODISCARD enum status store_admission_replaced(struct store *store, int64_t *out_runs, size_t most,
                                               size_t *out_count, struct err *err);

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

/* Why a run waits, in words for people; NULL when it does not. In `arena`. */
NODISCARD enum status store_admission_why(struct store *store, struct arena *arena, int64_t run,
                                          const char **out, struct err *err);

/* What a task waits for that depends on its past: the same task in an earlier run. */
struct past_why {
    const char *run_id; /* NULL: it does not wait */
    enum task_state state;
};

NODISCARD enum status store_past_why(struct store *store, struct arena *arena, int64_t task,
                                     struct past_why *out, struct err *err);
