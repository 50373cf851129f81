#pragma once
/*
 * explain: why a task is in the state it is in, and what would change that. In words.
 *
 * Everything is worked out from the rows of one run, which the caller has read.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "model/dag.h"
#include "store/overview.h"
#include "store/rows.h"
#include "store/run_store.h"
#include "store/wait.h"

enum { EXPLAIN_NAMES_MAX = 10 };

struct explain_host {
    bool is_known;
    bool is_alive;
    const char *name;
    int64_t pid;
    int64_t slots;
    int64_t holds;
};

struct explain_world {
    const struct run_info *run;
    const struct dag *dag;
    const struct task_row *nodes; /* one per node */
    int64_t now_us;
    bool has_living_host;
    bool is_orphaned;              /* unfinished, and nobody works on it */
    const char *run_waits_because; /* NULL: it may go */
};

/* One task or instance. */
struct explain_subject {
    const struct task_row *task;
    struct explain_host host; /* of a running one; of one that waits: who looks */
    struct wait_info wait;    /* of one that waits for something outside; task 0: not known */
    struct queue_place place; /* of a queued one */
    struct tally instances;   /* of an expanded one: its instances by state */
    const char *past;         /* why its past keeps it waiting, or NULL */
};

struct explanation {
    struct strbuf because;
    struct strbuf change; /* what would change it; may be empty */
    json_t *waits_for;    /* names */
    json_t *caused_by;    /* name of the task where it began, or NULL */
};

void explanation_init(struct explanation *explanation);
void explanation_fini(struct explanation *explanation);

void explain_task(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out);

/* How the run as a whole stands. */
void explain_run(const struct explain_world *world, const struct tally *tally, struct strbuf *out);
