#pragma once
/*
 * forecast: what the coming hours will bring, by playing them.
 *
 * The DAGs of a store, their schedules and how long their tasks took lately are played on a virtual
 * clock in a store of its own (player.h), under the pools, limits and queue policies of the real
 * one. DAGs that are paused stay so, ticks that were decided on are not played again unless the
 * time played lies before. Nothing of the real store changes.
 */
#include "base/arena.h"
#include "model/sla.h"
#include "store/store.h"

struct forecast_request {
    struct store *store;     /* the real one; only read */
    const char *scratch_url; /* of an empty one */
    int64_t now_us;          /* up to which the real one has decided on ticks, or is about to */
    int64_t from_us;
    int64_t to_us;
    int64_t slots;      /* of the whole fleet */
    int64_t unknown_us; /* how long a task takes that has never run */
    /* How far it is; NULL: nobody waits. */
    void (*progress)(void *context, int64_t now_us);
    void *context;
};

struct forecast_hour {
    int64_t start_us;
    int64_t runs;  /* that began */
    int64_t tasks; /* that began */
    int64_t busy_us;
    int64_t most_running;
    int64_t most_waiting; /* claimable, with no slot free; looked at once a minute */
};

struct forecast_dag {
    const char *dag_id;
    int64_t runs;
    int64_t failed;
    int64_t tasks;
    int64_t busy_us;
    int64_t longest_run_us;
    int64_t unknown;    /* tasks that have never run: their time is a guess */
    int64_t unfinished; /* runs that are not over at the end, whatever they wait for */
};

struct forecast_pool {
    const char *namespace_;
    const char *name;
    int64_t slots;
    int64_t most_used;       /* slots */
    int64_t tasks;           /* that began */
    int64_t hours_waited;    /* in which some waited for slots; looked at once a minute */
    int64_t most_waiting;    /* tasks, the same */
    int64_t longest_wait_us; /* of a task, from when it could have begun, whatever it waited for */
};

/* Deadlines of one run or task that are missed. */
struct forecast_miss {
    const char *dag_id;
    const char *task_id; /* NULL: the run itself */
    enum sla_kind kind;
    int64_t count;
    int64_t worst_us; /* how late the worst is, at the end of the time played if it is late still */
    int64_t first_us; /* the first of these deadlines */
};

struct forecast {
    struct forecast_hour *hours;
    size_t hours_count;
    struct forecast_dag *dags; /* the busiest first */
    size_t dags_count;
    struct forecast_pool *pools; /* that tasks used or waited for, by name */
    size_t pools_count;
    struct forecast_miss *misses; /* the most frequent first */
    size_t misses_count;
};

/* All of it in `arena`. The player's clock of this thread is used. */
NODISCARD enum status forecast_make(const struct forecast_request *request, struct arena *arena,
                                    struct forecast *out, struct err *err);
