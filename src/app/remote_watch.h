#pragma once
/*
 * remote_watch: what the tasks of a run on a server did, told to the observer.
 *
 * Built on the lists that operations give, each of which is compared with the one before it.
 */
#include "app/remote_dag.h"
#include "base/strbuf.h"
#include "cli/engine.h"
#include "service/operation.h"

struct remote_watch {
    const struct engine_observer *observer;
    const struct operation_caller *operations;
    const struct remote_dag *dag;
    const char *run;       /* its number, as operations take it */
    json_t *seen;          /* "TASK INDEX" to the state that was told last */
    json_t *log_request;   /* NULL: nobody wants output; its cursor moves on */
    struct strbuf line;    /* the begun line of the log that was read last */
    struct engine_log log; /* whose that is */
    bool has_all_output;
};

void remote_watch_init(struct remote_watch *watch, const struct engine_observer *observer,
                       const struct operation_caller *operations, const struct remote_dag *dag,
                       const char *run);
void remote_watch_fini(struct remote_watch *watch); /* zero is fine */

/* From here on the output of tasks is told, too. */
void remote_watch_want_output(struct remote_watch *watch);

/*
 * Tell how a run was before it was opened again: `tasks` as they were, without those that run
 * again. Both are lists of task instances.
 */
void remote_watch_replay(struct remote_watch *watch, const json_t *tasks, const json_t *again);
/* Tell what changed since the last call. */
NODISCARD enum status remote_watch_look(struct remote_watch *watch, struct err *err);
/* Tell what was printed since the last call. */
NODISCARD enum status remote_watch_follow(struct remote_watch *watch, struct err *err);
/* Counts and failures of the finished run. */
NODISCARD enum status remote_watch_result(const struct remote_watch *watch,
                                          struct engine_result *result, struct err *err);
