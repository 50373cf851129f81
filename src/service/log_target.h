#pragma once
/*
 * log_target: which log a request means: one attempt of a task, of an instance, or of a job.
 */
#include "base/json.h"
#include "blob/blob.h"
#include "service/lookup.h"
#include "service/service.h"
#include "store/rows.h"

struct log_target {
    struct blob_key key;
    struct task_row task; /* a job is a task, too */
    struct found_run run; /* of a task; empty of a job */
    int64_t attempt;      /* 0: there was none */
};

/* By `run`, `task`, `map_index` and `try_number`, the newest attempt by default. */
NODISCARD enum status log_target_task(struct service *service, struct arena *arena,
                                      const json_t *request, struct log_target *out,
                                      struct err *err);
/* By `job` and `try_number`. */
NODISCARD enum status log_target_job(struct service *service, struct arena *arena,
                                     const json_t *request, struct log_target *out,
                                     struct err *err);
