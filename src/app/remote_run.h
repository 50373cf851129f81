#pragma once
/*
 * remote_run: `eider run DAG` and `eider retry` where a server has the store: the run is asked for
 * there and watched until it is over.
 *
 * Everything goes through operations, so this knows as much as anybody who may look at the run.
 */
#include "cli/engine.h"
#include "service/operation.h"

/* STATUS_INVALID: a file runs where it is, not on a server. */
NODISCARD enum status remote_run(const struct operation_caller *operations,
                                 const struct engine_request *request,
                                 const struct engine_observer *observer,
                                 struct engine_result *out_result, struct err *err);
