#pragma once
/*
 * foreground: the engine behind `eider run`, `test` and `retry`.
 *
 * Registers as a host, creates or takes over one run, claims only its tasks and returns when the
 * run is over. A process that dies leaves the run to `eider retry`.
 */
#include "app/config.h"
#include "app/home.h"
#include "cli/engine.h"

struct foreground {
    const struct config *config;
    const struct home *home;
    const char *exe; /* this program, for the keeper */
};

/* For struct engine: `context` is a struct foreground. */
NODISCARD enum status foreground_run(void *context, const struct engine_request *request,
                                     const struct engine_observer *observer,
                                     struct engine_result *out_result, struct err *err);
