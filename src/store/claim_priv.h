#pragma once
/*
 * claim_priv: taking work for free capacity inside the advance transaction.
 */
#include "store/advance.h"
#include "store/own_jobs.h"
#include "store/work.h"

struct claim_list {
    struct claim *items;
    size_t count;
    size_t capacity;
    struct arena *arena; /* of what claims point to */
    bool is_partial;     /* something was left because others have its run or queue just now */
    bool knows_next_due; /* of what others left; this transaction may add earlier ones */
    int64_t next_due_us; /* the first retry, or 0 */
};

struct id_list;

/* The first column of every row. */
NODISCARD enum status claim_collect_ids(struct db_stmt *stmt, struct id_list *out, struct err *err);

void claim_list_add(struct claim_list *claims, const struct run_row *run,
                    const struct task_row *task);
struct claim claim_of_row(const struct run_row *run, const struct task_row *task,
                          struct arena *arena);

/*
 * Tasks held by a limit of their run or their mapped task become claimable as far as there is room
 * now; to be called where tasks stop running.
 */
NODISCARD enum status claim_open_gates(struct work *work, struct err *err);
/* The mapped task whose max_parallel binds `task`, its running instances counted; or NULL. */
NODISCARD enum status claim_binding_expander(struct work *work, const struct run_row *run,
                                             const struct task_row *task, struct task_row **out,
                                             struct err *err);

/* What stands first in a lane, for one class of slots. */
struct job_window {
    int64_t scope;
    enum claim_class class;
    int64_t lane;
    const char *queue; /* of the lane */
    int64_t host;
    int64_t now_us; /* 0: to be asked */
    int64_t most;
    const struct job_place *after; /* NULL: from the first */
    bool is_unseen; /* whether its queue is paused or has a bound: nothing is taken then */
};

struct jobs_taken {
    size_t first; /* in work->rows */
    size_t count;
    struct job_place last;
    int64_t seen; /* with tasks of runs, which were left */
};

/*
 * Take the jobs among the first `most`; their rows are in the work set, saved already. On
 * PostgreSQL only; not necessarily in a transaction.
 */
NODISCARD enum status claim_jobs(struct work *work, const struct job_window *window,
                                 struct jobs_taken *out, struct err *err);

/*
 * A claim took all it had room for, and nothing but jobs of one lane: the next one may go on from
 * there for a while. Where dead rows pile up because somebody holds an old snapshot, going through
 * them from the first each time would cost more than the claims. `spent_us` is what looking cost:
 * the more it was, the longer it is spared. What comes in before that place waits as long.
 */
void claim_leave_trail(struct work *work, const struct job_window *window,
                       const struct jobs_taken *taken, int64_t next_due_us, int64_t spent_us);
/*
 * Go on from there, and take what was claimed off the `slots` of each class. *out_lane is where it
 * went on if it filled all the room there was; 0: it is time to look.
 */
NODISCARD enum status claim_follow_trail(struct work *work, const struct advance_request *request,
                                         struct claim_list *claims, int64_t slots[CLASS_COUNT],
                                         int64_t *out_lane, struct err *err);

/*
 * Claim due work of a scope: urgent first, then the older run, then the lower task. What became
 * claimable in this very transaction takes part without passing through `ready`.
 */
NODISCARD enum status claim_work(struct work *work, const struct advance_request *request,
                                 struct claim_list *claims, struct err *err);
