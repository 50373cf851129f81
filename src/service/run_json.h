#pragma once
/*
 * run_json: runs and task instances as JSON, with Airflow's names where it has them.
 */
#include "base/json_row.h"
#include "service/service.h"
#include "store/overview.h"
#include "store/rows.h"
#include "store/run_store.h"

/* A new reference; `tally` may be NULL. */
NODISCARD json_t *run_json(const struct service *service, const struct run_info *run,
                           const struct tally *tally);

/* Counts of a run, then its JSON. */
NODISCARD enum status run_json_load(const struct service *service, struct store *store,
                                    const struct run_info *run, json_t **out, struct err *err);

/* A task or one instance of it. Texts of the row are those of what it was made of. */
void task_json_row(const struct service *service, const struct run_info *run,
                   const struct task_def *def, const struct task_row *task, struct json_row *row);
/* The same; a new reference. */
NODISCARD json_t *task_json(const struct service *service, const struct run_info *run,
                            const struct task_def *def, const struct task_row *task);

/*
 * Who holds or held a task, added to its row: hostname, pid, and of one that runs whether it lives.
 * The text is the store's, until its next call.
 */
NODISCARD enum status task_json_row_host(const struct service *service, struct store *store,
                                         const struct task_row *task, struct json_row *row,
                                         struct err *err);
/* The same, added to its JSON. */
NODISCARD enum status task_json_add_host(const struct service *service, struct store *store,
                                         const struct task_row *task, json_t *object,
                                         struct err *err);

/* Seconds between two instants as a number; null unless both are set. */
void run_json_put_duration(json_t *object, const char *key, int64_t from_us, int64_t to_us);
