#pragma once
/*
 * job_request: a job as a producer writes it in JSON, checked member by member.
 */
#include "base/arena.h"
#include "base/json.h"
#include "store/job.h"

/*
 * {"handler", "payload", "queue", "delay", "run_after", "priority", "dedupe", "retries",
 * "retry_delay", "timeout", "on_lost_lease", "namespace", "line"}; durations are texts such as 30s,
 * or seconds. `queue` is for those that name none. Texts are in the arena or borrowed from `job`.
 */
NODISCARD enum status job_request_read(const json_t *job, const char *queue, struct arena *arena,
                                       struct job_request *out, struct err *err);
