#pragma once
/*
 * job_priv: jobs as rows of a work set. A job is a task without a run: it seems to belong to a
 * run of its own kind, which has no row, and its policy comes from its own row.
 */
#include "store/rows.h"

struct db;

NODISCARD struct run_row *job_run_new(struct arena *arena);
/* Give those of the rows that are jobs what stands in their job rows. */
NODISCARD enum status job_rows_complete(struct db *db, struct arena *arena,
                                        struct task_row *const *rows, size_t count,
                                        struct err *err);
enum claim_class job_class_of(const char *handler);
