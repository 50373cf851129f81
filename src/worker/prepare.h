#pragma once
/*
 * prepare: from a claim to what must be done: a process to start, or an outcome that is
 * known at once.
 *
 * Evaluates `foreach`, `matrix`, `if`, `label` and every template of the task. It cannot fail: what
 * goes wrong becomes the outcome of the attempt.
 */
#include "store/advance.h"
#include "worker/keeper_task.h"
#include "worker/run_context.h"
#include "worker/task_api.h"

struct prepare_options {
    const char *scratch_dir; /* existing folder for outputs and scripts of attempts */
    int64_t slot;            /* from 1: the outputs folder of this slot is used again; 0: none */
    int64_t host;            /* whose slot it is */
    const char *blob_root;
    int64_t output_bytes; /* of a log, unless the task says otherwise */
    int64_t grace_ms;     /* the same for the time between TERM and KILL */
    int64_t poke_max_ms;  /* how long a sensor may keep its slot; 0: no bound */
    const char *(*get_env)(const char *name);
    const struct task_api *api; /* that tasks may use; NULL: they are told of none */
};

struct prepared {
    bool is_process;
    bool is_sleep; /* no process, but a while: `sleep_ms` */
    int64_t sleep_ms;
    const struct wait_plan *poke; /* with is_sleep: what it looks for meanwhile */
    bool store_is_away;           /* the outcome says so: it may work later */
    struct keeper_task process;
    struct outcome outcome;
    const char *label;
};

/* The outputs folder of a slot, in `arena`. */
const char *prepare_slot_outputs(struct arena *arena, const struct prepare_options *options);

/* Everything of *out lives in `arena`. */
void prepare_attempt(struct run_context *run, const struct claim *claim,
                     const struct prepare_options *options, struct arena *arena,
                     struct prepared *out);

/* Once it was handed over: what it was given in secret is wiped, its environment with it. */
void prepared_wipe(struct prepared *prepared);

/* A claim's nonce as the processes of its attempt carry it. */
const char *prepare_nonce_text(struct arena *arena, const struct nonce *nonce);
