#pragma once
/*
 * wait_priv: tasks that wait for something outside, inside a write transaction.
 *
 * A task that waits is deferred: no host holds it, and its row in `timer` says when the store must
 * act by itself, whoever claims next. What it waits for is a row in `wait`.
 */
#include "store/id_list.h"
#include "store/wait.h"
#include "store/work.h"

/* A running task begins to wait, or goes on to if it ran in between. */
NODISCARD enum status wait_begin(struct work *work, struct run_row *run, struct task_row *task,
                                 const struct wait_plan *plan, struct err *err);
/* A sensor's command said that it is not there yet. */
NODISCARD enum status wait_again(struct work *work, struct run_row *run, struct task_row *task,
                                 struct err *err);
/*
 * Deferred tasks that are due, whose runs were fetched: over, claimable, or left as they are. Those
 * of runs that others have locked are left, and *out_partial says so.
 */
NODISCARD enum status wait_wake(struct work *work, const struct id_list *tasks, bool *out_partial,
                                struct err *err);
