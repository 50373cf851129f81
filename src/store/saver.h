#pragma once
/*
 * saver: everything one transaction writes, collected and then written table by table.
 *
 * The narrow tables that index rows by state (ready, timer, gate, pool_wait, running, expansion)
 * follow the state of a task and are written only here, so a row is in `ready` exactly when it is
 * queued, and so on: `store check` relies on it. Every change of a row that was read is guarded by
 * what was read; when another was faster, the whole transaction fails with STATUS_BUSY.
 *
 * Private to the store layer.
 */
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "store/db.h"
#include "store/rows.h"

/* In the order of writing, which is the order of locking: places left, rows, places taken. */
enum saver_table {
    SAVER_READY_LEFT,
    SAVER_GATE_LEFT,
    SAVER_POOL_WAIT_LEFT,
    SAVER_TIMER_LEFT,
    SAVER_RUNNING_LEFT,
    SAVER_SLOT_LEFT,
    SAVER_EXPANSION_LEFT,
    SAVER_WAIT_LEFT,
    SAVER_WISH_LEFT,
    SAVER_TASK_NEW,
    SAVER_TASK_CLAIMED,
    SAVER_TASK_COUNTED,
    SAVER_TASK_ENDED,
    SAVER_TASK_CHANGED,
    SAVER_READY_TAKEN,
    SAVER_GATE_TAKEN,
    SAVER_POOL_WAIT_TAKEN,
    SAVER_TIMER_TAKEN,
    SAVER_RUNNING_TAKEN,
    SAVER_SLOT_TAKEN,
    SAVER_EXPANSION_TAKEN,
    SAVER_WAITING_TAKEN,
    SAVER_WAIT_TAKEN,
    SAVER_WISH_TAKEN,
    SAVER_VALUE,
    SAVER_JOB_NEW,
    SAVER_JOB_RESULT,
    SAVER_JOB_ERROR,
    SAVER_JOB_CANCEL,
    SAVER_JOB_ENDED,
    SAVER_DEAD,
    SAVER_EVENT,
    SAVER_RUN_CHANGED,
    SAVER_TABLES
};

struct saver {
    struct db_bulk bulks[SAVER_TABLES];
    bool moved_timers;
    bool freed_work; /* there may be something to claim for any host, now or at a time to come */
};

void saver_init(struct saver *saver);
void saver_fini(struct saver *saver);

/* The row and its places; it counts as saved from here on. */
void saver_task(struct saver *saver, const struct run_row *run, struct task_row *task);
void saver_run(struct saver *saver, struct run_row *run);
/* Write all of it. */
NODISCARD enum status saver_flush(struct saver *saver, struct db *db, struct err *err);
