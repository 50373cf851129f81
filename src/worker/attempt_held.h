#pragma once
/*
 * attempt_held: a task or job that this process holds, from the claim to its outcome.
 *
 * What is needed to report on it is also kept as a text by the process that runs it, so that a
 * program that was killed and started again knows what it finds running.
 */
#include "base/arena.h"
#include "store/advance.h"
#include "worker/attempt_end.h"

struct executor;
struct loop_timer;

/* What happens with its end. */
enum attempt_fate {
    ATTEMPT_REPORT, /* it is reported as it was */
    ATTEMPT_RETURN, /* stopped by us so that others run it: handed back, unless it ended by itself
                     */
    ATTEMPT_DROP,   /* it is not ours any more: nobody is told */
};

struct attempt {
    struct claim claim;
    struct arena *arena; /* everything below is in it */
    const char *label;
    const char *outputs_dir;
    const char *const *datasets; /* that its success updates */
    size_t datasets_count;
    const char *nonce; /* as its processes carry it */
    int64_t slot;      /* from 1 */
    int64_t started_at_us;
    bool is_finally;
    bool is_stopping; /* it was asked to end */
    bool is_adopted;  /* started by a program before this one */
    enum attempt_fate fate;
    struct attempt_reports reports; /* said by the task on descriptor 4 */
    struct loop_timer *sleep;       /* instead of a process; else NULL */
    struct executor *owner;         /* with `sleep` */
    const struct wait_plan *poke;   /* what it looks for meanwhile; else NULL */
    bool is_met;                    /* and it is there */
};

/* With a copy of everything that the claim points to. */
NODISCARD struct attempt *attempt_new(const struct claim *claim);
void attempt_free(struct attempt *attempt); /* NULL is allowed */

/* The text to find it by again, in its arena. */
const char *attempt_note(const struct attempt *attempt);
/* The same way back. STATUS_INVALID: it is none of ours. */
NODISCARD enum status attempt_from_note(const char *note, struct attempt **out, struct err *err);

bool nonce_equal(const struct nonce *a, const struct nonce *b);
