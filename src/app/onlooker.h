#pragma once
/*
 * onlooker: `eider run DAG` and `eider retry` where daemons do the work: the run is made or opened
 * again for them, and watched until it is over.
 */
#include "app/foreground.h"

/* Whether the request is for daemons: a DAG by name while one lives, or a run that is theirs. */
NODISCARD enum status onlooker_is_asked(const struct foreground *self,
                                        const struct engine_request *request, bool *out,
                                        struct err *err);

NODISCARD enum status onlooker_run(const struct foreground *self,
                                   const struct engine_request *request,
                                   const struct engine_observer *observer,
                                   struct engine_result *result, struct err *err);
