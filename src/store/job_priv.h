#pragma once
/*
 * job_priv: jobs as rows of a work set. A job is a task without a run: it seems to belong to a
 * run of its own kind, which has no row, and its policy comes from its own row.
 */
#include "store/rows.h"

struct db;
struct db_stmt;

/* Of the tables `job j JOIN queue q ON q.id = j.queue`; first in a list of columns. */
#define JOB_ROW_COLUMNS                                                                            \
    "j.id, j.lane, j.rank, j.created_at_us, j.handler, j.payload, j.namespace, j.retries,"         \
    " j.retry_delay_ms, j.timeout_ms, j.finish_on_lost_lease, q.name, j.cancel_asked"
enum { JOB_ROW_COLUMNS_COUNT = 13 };
const struct job_row *job_row_read(struct db_stmt *stmt, struct arena *arena);

NODISCARD struct run_row *job_run_new(struct arena *arena);
/* Give those of the rows that are jobs what stands in their job rows. */
NODISCARD enum status job_rows_complete(struct db *db, struct arena *arena,
                                        struct task_row *const *rows, size_t count,
                                        struct err *err);
enum claim_class job_class_of(const char *handler);
