#pragma once
/*
 * counted: what a transaction does is counted when it is durable, and only then.
 *
 * While a transaction goes on, what is to be counted is noted; a commit counts it, and what is
 * undone is forgotten. Without meters and without anybody who takes spans nothing is noted.
 *
 * Private to the store layer.
 */
#include "model/meters.h"
#include "model/span.h"
#include "store/db.h"

struct claim_list;
struct run_row;
struct task_row;
struct work;

struct counted_note;

struct counted {
    struct meters *meters;         /* NULL: nobody counts */
    const struct span_sink *spans; /* NULL: nobody traces */
    struct counted_note *notes;
    size_t count;
    size_t capacity;
    size_t mark; /* what was noted before a part of a transaction began */
};

void counted_fini(struct counted *counted);
/* For db_watch; the context is the counted. */
void counted_on_end(void *context, enum db_end how, int64_t took_us);

/* --- notes, within a transaction ------------------------------------------------------------- */

void counted_add(struct counted *counted, enum metric metric, const struct meter_labels *labels,
                 int64_t amount);
/* A row that is about to be saved, with the state it was read in. */
void counted_task(struct work *work, const struct run_row *run, const struct task_row *task);
/* A run that ends. */
void counted_run(struct work *work, const struct run_row *run);
/* A task or job whose owner died. */
void counted_lost(struct work *work, const struct run_row *run, const struct task_row *task);

/* --- at once, after it ----------------------------------------------------------------------- */

/* What was claimed, by whoever began at that instant of the steady clock. */
void counted_claims(struct work *work, const struct claim_list *claims, int64_t began_us);
