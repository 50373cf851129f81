#pragma once
/*
 * admission_priv: admission inside transactions that make, end or decide something else.
 */
#include "store/admission.h"
#include "store/id_list.h"
#include "store/run_store.h"
#include "store/work.h"

struct admission_asked {
    const struct run_request *request;
    int64_t dag_key;
    enum admission admission; /* the answer */
};

/* What was asked for, and may be on its way. */
struct admission_question {
    struct id_list keys; /* of DAGs that have a bound */
    struct db_stmt *rooms;
    struct db_stmt *use;
};

/*
 * For runs that are about to be made: locks the DAGs of those that are limited. Other questions may
 * be sent before the answer is read.
 */
NODISCARD enum status admission_ask(struct work *work, struct admission_asked *asked, size_t count,
                                    struct admission_question *out, struct err *err);
/* In this order. */
NODISCARD enum status admission_decide(struct work *work, struct admission_asked *asked,
                                       size_t count, const struct admission_question *question,
                                       struct err *err);
void admission_question_fini(struct admission_question *question);
/* The run goes to the end of its line, with the rows that the work set saves. */
void admission_enqueue(struct work *work, const struct run_row *run, int64_t logical_at_us);
/* Limited runs of the work set that are over; before the rows are saved. */
NODISCARD enum status admission_note_ends(struct work *work, struct err *err);

/* How full a DAG's line is. */
struct admission_room {
    int64_t dag_key;
    int64_t most;  /* 0: no bound */
    int64_t going; /* up to `most` */
    bool needs_past;
    bool has_waiting;
    bool has_newer; /* one was made in this call */
};

/* Lock the DAGs and count; `keys` are distinct. Gives a map from key to room, in the arena. */
NODISCARD enum status admission_rooms(struct store *store, struct arena *arena, const int64_t *keys,
                                      size_t count, struct idmap *out, struct err *err);
bool admission_is_full(const struct admission_room *room);

/* Whether runs of this kind follow one another by date. */
bool admission_is_of_series(const char *kind);
/* Whether the run of the DAG before this date has succeeded, or there is none. */
NODISCARD enum status admission_past_is_fine(struct db *db, int64_t dag_key, int64_t logical_at_us,
                                             bool *out, struct err *err);

/* Like store_admission_let_go, inside the caller's write transaction, which it leaves open. */
NODISCARD enum status admission_let_go_within(struct store *store,
                                              const struct let_go_request *request,
                                              int64_t *out_count, struct err *err);

/* --- past.c: tasks that wait for the same task of the run before --- */

/* Queue a task whose rule is met, unless its past keeps it waiting. */
NODISCARD enum status past_queue(struct work *work, const struct run_row *run,
                                 struct task_row *task, struct err *err);
/* The task's state is about to be saved: it need not wait any more, or others need not. */
NODISCARD enum status past_note(struct work *work, const struct task_row *task, struct err *err);
