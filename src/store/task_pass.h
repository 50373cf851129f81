#pragma once
/*
 * task_pass: whom a task's token (model/task_token.h) lets in, and the key of the store by which
 * that is known.
 *
 * A token is good while its task runs as the attempt that it names, under the claim that it was
 * made for: after its end, its loss or another try there is nobody whom it could be of. Looking
 * writes nothing.
 */
#include "base/arena.h"
#include "model/task_token.h"
#include "store/store.h"

/* The key, which is made if there is none. */
NODISCARD enum status store_task_key(struct store *store, struct task_token_key *out,
                                     struct err *err);

/* A task that runs, or a job. */
struct task_holder {
    int64_t task;
    int64_t attempt;
    const char *name;  /* as its changes are signed: "task DAG/RUN_ID/TASK", "job 12" */
    const char *space; /* the namespace of its DAG, or of the job */
};

/* By the text of a token; texts in the arena. STATUS_NOT_FOUND: it is none, or not any more. */
NODISCARD enum status store_task_token_find(struct store *store, struct arena *arena,
                                            const char *text, struct task_holder *out,
                                            struct err *err);
/* Whether the task still runs as this attempt. */
NODISCARD enum status store_task_is_held(struct store *store, int64_t task, int64_t attempt,
                                         bool *out, struct err *err);
