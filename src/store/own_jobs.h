#pragma once
/*
 * own_jobs: jobs that this store claimed and that have not ended yet, as their rows were when the
 * claim was committed.
 *
 * A job that succeeds is then finished without being read again. What is remembered may be old:
 * the guard of the update tells so (STATUS_BUSY), everything is forgotten, and the repetition
 * reads.
 *
 * Private to the store layer.
 */
#include "store/rows.h"

struct own_jobs;

struct own_jobs *own_jobs_new(void);
void own_jobs_free(struct own_jobs *own); /* NULL is allowed */

/* A job as it stands after its claim; its texts are not kept. */
void own_jobs_keep(struct own_jobs *own, const struct task_row *task);
/* What is known of it, copied into the arena, and forgotten here; or NULL. */
struct task_row *own_jobs_take(struct own_jobs *own, int64_t task, struct arena *arena);
void own_jobs_forget(struct own_jobs *own);

/* Where the job that was kept last came from. */
struct job_origin {
    int64_t lane; /* 0: there was none */
    enum claim_class class;
    const char *queue;
};
const struct job_origin *own_jobs_origin(const struct own_jobs *own);

/* A place in the order of claiming within a lane and class. */
struct job_place {
    int64_t rank;
    int64_t age_us;
    int64_t task;
};
#define JOB_PLACE_FIRST ((struct job_place){INT64_MIN, INT64_MIN, INT64_MIN})

/* Where a claim that took all it had room for left off. */
struct job_trail {
    struct job_origin origin;
    struct job_place last;
    int64_t next_due_us; /* the first retry, as it was seen then; 0: none */
    int64_t until_us;    /* by the steady clock: after that it is better to look again */
};

/* It is forgotten with the jobs. NULL: there is none any more. */
void own_jobs_set_trail(struct own_jobs *own, const struct job_trail *trail);
/* NULL: there is none, or none any more. */
const struct job_trail *own_jobs_trail(const struct own_jobs *own);
