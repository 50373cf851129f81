#pragma once
/*
 * watching: what the engine saw, told to the observer, and the result at the end.
 */
#include "app/opening.h"
#include "app/session.h"
#include "base/idmap.h"
#include "cli/engine.h"

struct watching {
    const struct engine_observer *observer;
    struct session *session;
    const struct opened *opened;
    struct idmap *seen;    /* task id to its last reported state */
    struct idmap *outputs; /* task id to how far its log was shown */
    bool wants_output;
    bool awaits_logs; /* others bring them to the store */
};

void watching_init(struct watching *watching, const struct engine_observer *observer,
                   struct session *session, const struct opened *opened, bool wants_output);
void watching_fini(struct watching *watching); /* zero is fine */

/* Tell that the run starts; with `replay`, also what is already known of its tasks. */
NODISCARD enum status watching_start(struct watching *watching, bool replay, struct err *err);
void watching_changed(struct watching *watching, const struct task_change *changes, size_t count);
/* The same from the store, when somebody else runs the tasks. */
NODISCARD enum status watching_look(struct watching *watching, struct err *err);
/* Show what running tasks wrote since the last call. */
void watching_follow(struct watching *watching);
/* False: the end of some log is not there yet. */
bool watching_has_all_output(const struct watching *watching);

enum engine_verdict watching_verdict(enum run_state state);
/* Counts and failures of the finished run, from the store. */
NODISCARD enum status watching_result(struct watching *watching, bool is_recorded,
                                      struct engine_result *result, struct err *err);
