#pragma once
/*
 * watch: what of a DAG is watched, worked out once when it is read: deadlines, and who is told of
 * what. Whoever ends a task of a DAG that nobody watches finds a NULL and goes on. on_retry and
 * on_skip of the DAG are those of every task that has none of its own.
 *
 * Ownership  Part of the DAG, in its arena.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "model/dag.h"
#include "model/hook.h"
#include "model/sla.h"

/* One hook as it is kept with what it has to tell. */
struct watch_hook {
    enum hook_event event;
    enum hook_target target;
    const char *json; /* {"on_failure": entry}: what hook_list_of reads as this one hook */
    const char *key;  /* of the hook wherever it stands: a hash of `json` */
    int64_t group_ms;
    bool is_resolvable;
};

struct watch_hooks {
    struct watch_hook *items;
    size_t count;
};

/* Of a run or a task. */
struct watch {
    bool has_sla;
    struct sla sla;
    struct watch_hooks hooks[HOOK_EVENT_COUNT];
};

struct dag_watch {
    struct watch run;
    const struct watch **tasks; /* one per node; NULL: nobody watches it */
    bool has_sla;               /* the run or one of the tasks */
    const char *tz;             /* of the schedule */
};

/* NULL when there is nothing to watch. */
const struct dag_watch *watch_of_dag(const struct dag *dag);

/* From the keys that a DAG or a task keeps; false: there is nothing. In the arena. */
bool watch_read(const json_t *rest, struct arena *arena, struct watch *out);
/*
 * Further hooks, which outlive the DAG: of its runs, and of each of its tasks. One that is there
 * already is not added again.
 */
void watch_add(struct dag *dag, const struct watch *run, const struct watch *task);
