#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "store/claim_priv.h"
#include "store/id_list.h"
#include "store/lane_priv.h"
#include "store/wait_priv.h"

enum {
    DUE_MAX = 2000,
    EXPANSIONS_MAX = 100,
    LEFT_MAX = 200, /* how far to look past what others have just now */
};

/* What others are about to claim is left out; nobody waits for anybody here. */
#define SKIP_LOCKED " FOR UPDATE SKIP LOCKED"
#define READY_OF_LANE                                                                              \
    "SELECT task, run FROM ready WHERE scope = $1 AND class = $2 AND lane = $3"                    \
    " ORDER BY scope, class, lane, rank, age_us, task LIMIT $4"
#define READY_JOBS_OF_LANE                                                                         \
    "SELECT task, run FROM ready WHERE scope = $1 AND class = $2 AND lane = $3 AND run = 0"        \
    " ORDER BY scope, class, lane, rank, age_us, task LIMIT $4"
#define DUE_TIMERS                                                                                 \
    "SELECT task FROM timer WHERE scope = $1 AND due_at_us <= $2"                                  \
    " ORDER BY scope, due_at_us, task LIMIT $3"
static const char *const READY_TOP[] = {
    [DB_SQLITE] = READY_OF_LANE,
    [DB_POSTGRES] = READY_OF_LANE SKIP_LOCKED,
};
/* For those who take only jobs: tasks of runs in front of them must not fill the window. */
static const char *const READY_TOP_JOBS[] = {
    [DB_SQLITE] = READY_JOBS_OF_LANE,
    [DB_POSTGRES] = READY_JOBS_OF_LANE SKIP_LOCKED,
};
static const char *const TIMER_DUE[] = {
    [DB_SQLITE] = DUE_TIMERS,
    [DB_POSTGRES] = DUE_TIMERS SKIP_LOCKED,
};
static const char EXPANSIONS[] =
    "SELECT e.task, t.run, t.node, t.parents, coalesce(t.inserted, 0),"
    " t.p_success + t.p_failed + t.p_upstream + t.p_skipped + t.p_removed"
    " FROM expansion e JOIN task t ON t.id = e.task WHERE e.scope = $1 AND e.task > $2"
    " ORDER BY e.scope, e.task LIMIT $3";

/* The tasks of an answer, and the run of each. */
static enum status collect_pairs(struct db_stmt *stmt, struct id_list *tasks, struct id_list *runs,
                                 struct err *err)
{
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, err)) {
        id_list_add(tasks, db_int(stmt, 0));
        id_list_add(runs, db_int(stmt, 1));
    }
    return status;
}

/* What one call claims from, and for whom. */
struct claiming {
    const struct advance_request *request;
    struct lanes lanes;
    struct claim_list *claims;
    int64_t slots[CLASS_COUNT];
    int64_t looked_us;  /* when it began, by the steady clock */
    int64_t trail_lane; /* it went on there where the last claim ended, and did not look; else 0 */
};

static void add_claim(struct claiming *claiming, const struct run_row *run,
                      const struct task_row *task)
{
    claim_list_add(claiming->claims, run, task);
    lanes_add_room(&claiming->lanes, ready_key_of(run, task).lane, -1);
}

static void take(struct work *work, struct claiming *claiming, struct run_row *run,
                 struct task_row *task)
{
    task->state = TASK_RUNNING;
    task->attempt++;
    rng_bytes(&task->nonce, sizeof task->nonce);
    if (SABOTAGE("counter_nonce"))
        task->nonce = (struct nonce){{(unsigned char)task->attempt}};
    task->has_nonce = true;
    task->host = claiming->request->host;
    task->due_at_us = 0;
    task->started_at_us = work->now_us;
    task->ended_at_us = 0;
    task->reason = REASON_NONE;
    task->exit_code = -1;
    task->detail = NULL;
    task->log_bytes = task->cpu_ms = task->rss_kb = 0;
    task->dirty = true;
    if (run->dag->max_active_tasks > 0) {
        CHECK(run->locked);
        run->active++;
        run->dirty = true;
    }
    /* When somebody else has the run's row, the task's end will say that the run has started. */
    if (run->state == RUN_QUEUED && run->locked)
        work_start_run(run, work->now_us);
    add_claim(claiming, run, task);
}

/* A limit over several tasks of a run is kept by whoever has the run's row. */
static bool needs_lock(const struct run_row *run, const struct task_row *task)
{
    const struct task_def *def = task_row_def(run, task);
    return run->dag->max_active_tasks > 0 || def->queue_timeout_ms > 0 ||
           (task->map_index >= 0 && def->max_parallel > 0) || task->state == TASK_DEFERRED ||
           work_is_stopping(run, task);
}

static enum status lock_runs(struct work *work, const struct id_list *tasks, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list wanted = {0};
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task_row *task = idmap_find(work->tasks, tasks->items[i]);
        const struct run_row *run = task != NULL ? idmap_find(work->runs, task->run) : NULL;
        if (run != NULL && !run->locked && (needs_lock(run, task) || run->state == RUN_QUEUED))
            id_list_add(&wanted, run->id);
    }
    return work_try_lock(work, wanted.items, wanted.count, err);
}

/* Retries whose time has come join the candidates, and their runs what is known of runs. Of tasks
 * that wait, those that are over are settled here, so that what follows them joins too. */
static enum status wake_due(struct work *work, struct claiming *claiming, struct err *err)
{
    const struct advance_request *request = claiming->request;
    CLEANUP(id_list_fini) struct id_list due = {0};
    CLEANUP(id_list_fini) struct id_list runs = {0};
    CLEANUP(id_list_fini) struct id_list waits = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, TIMER_DUE[db_dialect(work->db)], "iii", request->scope,
                 work->now_us, (int64_t)DUE_MAX) != STATUS_OK ||
        claim_collect_ids(stmt, &due, err) != STATUS_OK ||
        work_fetch_tasks(work, due.items, due.count, err) != STATUS_OK)
        return err_wrap(err, "find due retries");
    claiming->claims->is_partial |= due.count == 0 && claiming->lanes.count > 0;
    for (size_t i = 0; i < due.count; i++) {
        struct task_row *task = NULL;
        if (work_task(work, due.items[i], &task, err) != STATUS_OK)
            return err->code;
        bool is_waiting = task->state == TASK_DEFERRED;
        if ((task->state != TASK_UP_FOR_RETRY && !is_waiting) || task->due_at_us > work->now_us)
            continue;
        if (is_waiting)
            id_list_add(&waits, task->id);
        else
            work_queue(work, task);
        id_list_add(&runs, task->run);
    }
    if (work_fetch_runs(work, runs.items, runs.count, err) != STATUS_OK ||
        lock_runs(work, &due, err) != STATUS_OK)
        return err->code;
    return waits.count > 0 ? wait_wake(work, &waits, &claiming->claims->is_partial, err)
                           : STATUS_OK;
}

/* --- choosing -------------------------------------------------------------------------------- */

struct candidate {
    struct ready_key key;
    struct run_row *run;
    struct task_row *task;
};

struct candidate_list {
    struct candidate *items;
    size_t count;
    size_t capacity;
    bool is_all;   /* nothing further is stored */
    bool is_taken; /* all that is stored others have just now; they may leave it */
    int64_t stale; /* stored, but this transaction knows them as something else */
};

static void candidate_list_fini(struct candidate_list *list)
{
    free(list->items);
}

static int by_key(const void *a, const void *b)
{
    const struct ready_key *x = &((const struct candidate *)a)->key;
    const struct ready_key *y = &((const struct candidate *)b)->key;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->age_us != y->age_us)
        return x->age_us < y->age_us ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Where to look: one lane, for one class. */
struct window {
    enum claim_class class;
    int64_t scope;
    int64_t lane;
    const char *queue;
    bool has_stored; /* something may be in `ready` there */
    bool has_job_first;
    bool jobs_only;
};

static enum status add_candidate(struct work *work, struct candidate_list *list,
                                 struct task_row *task, const struct window *window,
                                 struct err *err)
{
    struct run_row *run = NULL;
    if (task->state != TASK_QUEUED || (window->jobs_only && !work_is_job(task)))
        return STATUS_OK;
    if (work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    struct ready_key key = ready_key_of(run, task);
    if (key.class != window->class || key.scope != window->scope || key.lane != window->lane)
        return STATUS_OK;
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = (struct candidate){.key = key, .run = run, .task = task};
    return STATUS_OK;
}

/* The best `most` rows of the ready table; rows of this transaction are not in it yet. */
static enum status add_stored(struct work *work, struct candidate_list *list,
                              const struct window *window, int64_t most, struct err *err)
{
    if (!window->has_stored)
        return STATUS_OK;
    size_t before = list->count;
    CLEANUP(id_list_fini) struct id_list stored = {0};
    CLEANUP(id_list_fini) struct id_list runs = {0};
    const char *const *sql = window->jobs_only ? READY_TOP_JOBS : READY_TOP;
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, sql[db_dialect(work->db)], "iiii", window->scope,
                 (int64_t)window->class, window->lane, most) != STATUS_OK ||
        collect_pairs(stmt, &stored, &runs, err) != STATUS_OK ||
        work_fetch_tasks(work, stored.items, stored.count, err) != STATUS_OK ||
        work_fetch_runs(work, runs.items, runs.count, err) != STATUS_OK ||
        lock_runs(work, &stored, err) != STATUS_OK)
        return err_wrap(err, "find claimable work");
    for (size_t i = 0; i < stored.count; i++) {
        struct task_row *task = NULL;
        if (work_task(work, stored.items[i], &task, err) != STATUS_OK ||
            add_candidate(work, list, task, window, err) != STATUS_OK)
            return err->code;
    }
    list->stale = (int64_t)(stored.count - (list->count - before));
    list->is_all = (int64_t)stored.count < most;
    list->is_taken = stored.count == 0 && !window->jobs_only;
    return STATUS_OK;
}

static enum status drop_if_too_old(struct work *work, const struct candidate *candidate,
                                   bool *out_dropped, struct err *err)
{
    int64_t bound_ms = task_row_def(candidate->run, candidate->task)->queue_timeout_ms;
    int64_t waited_us = work->now_us - candidate->task->queued_at_us;
    *out_dropped = bound_ms > 0 && waited_us > bound_ms * 1000;
    if (!*out_dropped)
        return STATUS_OK;
    return work_end_task(work, candidate->run, candidate->task,
                         (struct ending){TASK_FAILED, REASON_QUEUE_TIMEOUT,
                                         "waited longer than queue_timeout allows"},
                         err);
}

enum fate { FATE_TAKEN, FATE_HELD, FATE_ENDED, FATE_LEFT };

/* What must wait for others of its run or its mapped task is held at the gate. */
static enum status take_or_hold(struct work *work, struct claiming *claiming,
                                const struct candidate *candidate, enum fate *out, struct err *err)
{
    struct task_row *task = candidate->task;
    struct task_row *expander = NULL;
    if (claim_binding_expander(work, candidate->run, task, &expander, err) != STATUS_OK)
        return err->code;
    bool is_full =
        expander != NULL && expander->running >= task_row_def(candidate->run, task)->max_parallel;
    bool is_taken = work_run_room(candidate->run) > 0 && !is_full;
    if (is_taken) {
        take(work, claiming, candidate->run, task);
        if (expander != NULL)
            expander->running++;
    } else {
        task->state = TASK_SCHEDULED;
        task->dirty = true;
    }
    *out = is_taken ? FATE_TAKEN : FATE_HELD;
    return STATUS_OK;
}

static enum status decide_candidate(struct work *work, struct claiming *claiming,
                                    const struct candidate *candidate, enum fate *out,
                                    struct err *err)
{
    struct run_row *run = candidate->run;
    struct task_row *task = candidate->task;
    bool dropped = false;
    *out = FATE_LEFT;
    if (!run->locked && needs_lock(run, task))
        return STATUS_OK; /* somebody has the run's row just now */
    *out = FATE_ENDED;
    if (work_is_stopping(run, task))
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    if (drop_if_too_old(work, candidate, &dropped, err) != STATUS_OK || dropped)
        return dropped ? STATUS_OK : err->code;
    return take_or_hold(work, claiming, candidate, out, err);
}

/* Everything this transaction made claimable, and the best of what is stored; best first. */
static enum status list_candidates(struct work *work, const struct window *window, int64_t most,
                                   struct candidate_list *list, struct err *err)
{
    for (size_t i = 0; i < work->ready.count; i++)
        if (add_candidate(work, list, work->ready.items[i], window, err) != STATUS_OK)
            return err->code;
    if (add_stored(work, list, window, most, err) != STATUS_OK)
        return err->code;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_key);
    return STATUS_OK;
}

static int64_t room_in(struct claiming *claiming, const struct window *window)
{
    const struct lane *lane = lanes_find(&claiming->lanes, window->lane);
    return lane != NULL && lane->is_served ? MIN(claiming->slots[window->class], lane->room) : 0;
}

/* What was not taken leaves room for others that may be further down. */
struct passed {
    int64_t elsewhere; /* held or ended: it is not among the candidates any more */
    int64_t left;      /* of this look */
    int64_t stale;     /* the same: taken already, for one, and still stored */
};

static enum status claim_from(struct work *work, struct claiming *claiming,
                              const struct window *window, const struct candidate_list *list,
                              struct passed *out, struct err *err)
{
    out->left = 0;
    out->stale = list->stale;
    for (size_t i = 0; i < list->count && room_in(claiming, window) > 0; i++) {
        enum fate fate = FATE_LEFT;
        if (decide_candidate(work, claiming, &list->items[i], &fate, err) != STATUS_OK)
            return err->code;
        claiming->slots[window->class] -= fate == FATE_TAKEN;
        out->elsewhere += fate == FATE_HELD || fate == FATE_ENDED;
        out->left += fate == FATE_LEFT;
    }
    claiming->claims->is_partial |= out->left > 0;
    return STATUS_OK;
}

/* Jobs that stand first in the lane, in one step. Not when what became claimable just now may
 * come before them. */
static enum status claim_jobs_first(struct work *work, struct claiming *claiming,
                                    const struct window *window, bool *out_done, struct err *err)
{
    struct run_row *run = NULL;
    struct jobs_taken taken;
    const struct job_window jobs = {
        .scope = window->scope,
        .class = window->class,
        .lane = window->lane,
        .queue = window->queue,
        .host = claiming->request->host,
        .now_us = work->now_us,
        .most = room_in(claiming, window),
    };
    if (jobs.most <= 0 || !window->has_job_first || work->ready.count > 0 ||
        db_dialect(work->db) != DB_POSTGRES)
        return STATUS_OK;
    if (claim_jobs(work, &jobs, &taken, err) != STATUS_OK ||
        work_run(work, RUN_OF_JOBS, &run, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < taken.count; i++)
        add_claim(claiming, run, work->rows.items[taken.first + i]);
    const struct lane *lane = lanes_find(&claiming->lanes, window->lane);
    if ((int64_t)taken.count == jobs.most && !lane->is_bounded && !claiming->lanes.has_expansions &&
        !claiming->request->jobs_only)
        claim_leave_trail(work, &jobs, &taken, claiming->lanes.next_due_us,
                          clock_mono_us() - claiming->looked_us);
    claiming->slots[window->class] -= (int64_t)taken.count;
    claiming->claims->is_partial |= taken.seen == 0;
    *out_done = taken.seen == (int64_t)taken.count;
    return STATUS_OK;
}

/*
 * Further down each time, and twice as far, since what was passed is still stored: a thousand tasks
 * that a limit holds cost a few looks. Past what others have just now it goes only a little way.
 */
static enum status claim_window(struct work *work, struct claiming *claiming,
                                const struct window *window, struct err *err)
{
    struct passed passed = {0};
    bool is_done = false;
    if (claim_jobs_first(work, claiming, window, &is_done, err) != STATUS_OK)
        return err->code;
    is_done |= room_in(claiming, window) <= 0;
    while (!is_done) {
        CLEANUP(candidate_list_fini) struct candidate_list list = {.is_all = !window->has_stored};
        int64_t before = passed.elsewhere;
        int64_t behind = passed.elsewhere + passed.left + passed.stale;
        int64_t most = room_in(claiming, window) + 2 * behind;
        if (list_candidates(work, window, most, &list, err) != STATUS_OK ||
            claim_from(work, claiming, window, &list, &passed, err) != STATUS_OK)
            return err->code;
        claiming->claims->is_partial |= list.is_taken;
        bool may_help = passed.elsewhere > before || (passed.left > 0 && most < LEFT_MAX);
        is_done = list.is_all || !may_help || room_in(claiming, window) <= 0;
    }
    return STATUS_OK;
}

/* --- instances that have no rows yet --------------------------------------------------------- */

static int64_t room_for_instances(const struct task_def *def, int64_t uninserted, int64_t open,
                                  int64_t slots)
{
    int64_t room = MIN(slots, uninserted);
    if (def->max_parallel > 0)
        room = MIN(room, def->max_parallel - open);
    return MAX(room, (int64_t)0);
}

static struct window window_of_instances(const struct run_row *run, int64_t node)
{
    return (struct window){
        .class = task_def_is_inline(&run->dag->tasks[node]) ? CLASS_INLINE : CLASS_PROCESS,
        .lane = run->lanes[node],
    };
}

static void add_instance(struct work *work, struct claiming *claiming, struct run_row *run,
                         struct task_row *expander)
{
    struct task_row *task = work_add(work, &(struct task_row){
                                               .id = expander->instance_base + expander->inserted,
                                               .run = run->id,
                                               .node = expander->node,
                                               .map_index = expander->inserted,
                                               .generation = expander->generation,
                                               .queued_at_us = work->now_us,
                                               .exit_code = -1,
                                               .cause = -1,
                                               .fresh = true,
                                           });
    take(work, claiming, run, task);
    expander->inserted++;
    expander->dirty = true;
}

/* Rows of instances are made when there is room to run them, already claimed. */
static enum status claim_instances(struct work *work, struct claiming *claiming,
                                   int64_t expander_id, struct err *err)
{
    struct task_row *expander = NULL;
    struct run_row *run = NULL;
    if (work_task(work, expander_id, &expander, err) != STATUS_OK ||
        work_run(work, expander->run, &run, err) != STATUS_OK)
        return err->code;
    if (!task_row_is_expanding(expander))
        return STATUS_OK;
    if (work_is_stopping(run, expander))
        return work_drop_uninserted(work, run, expander, err);
    const struct window window = window_of_instances(run, expander->node);
    const struct parent_counts *counts = &expander->counts;
    int64_t ended = counts->success + counts->failed + counts->upstream_failed + counts->skipped +
                    counts->removed;
    int64_t room =
        room_for_instances(task_row_def(run, expander), counts->total - expander->inserted,
                           expander->inserted - ended, room_in(claiming, &window));
    room = MIN(room, work_run_room(run));
    for (int64_t i = 0; i < room; i++)
        add_instance(work, claiming, run, expander);
    claiming->slots[window.class] -= room;
    return STATUS_OK;
}

/* A stored mapped task, as it was before its run is locked. */
struct expander {
    int64_t task;
    int64_t run;
    int64_t node;
    int64_t uninserted;
    int64_t open; /* instances with rows that have not ended */
};

struct expander_list {
    struct expander *items;
    size_t count;
    size_t capacity;
};

static void expander_list_fini(struct expander_list *list)
{
    free(list->items);
}

static enum status read_expanders(struct work *work, int64_t scope, int64_t after,
                                  struct expander_list *out, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list runs = {0};
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(work->db, &stmt, err, EXPANSIONS, "iii", scope, after, (int64_t)EXPANSIONS_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        out->items = mem_grow(out->items, &out->capacity, out->count, sizeof *out->items);
        out->items[out->count++] = (struct expander){
            .task = db_int(stmt, 0),
            .run = db_int(stmt, 1),
            .node = db_int(stmt, 2),
            .uninserted = db_int(stmt, 3) - db_int(stmt, 4),
            .open = db_int(stmt, 4) - db_int(stmt, 5),
        };
        id_list_add(&runs, db_int(stmt, 1));
    }
    if (status != STATUS_OK)
        return err_wrap(err, "find mapped tasks");
    return work_fetch_runs(work, runs.items, runs.count, err);
}

/* Those that may have instances to claim, or to drop; others' runs are not locked for nothing. */
static void choose_expanders(struct work *work, struct claiming *claiming,
                             const struct expander_list *list, struct id_list *tasks,
                             struct id_list *runs)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct expander *expander = &list->items[i];
        const struct run_row *run = idmap_find(work->runs, expander->run);
        if (run == NULL)
            continue; /* it was deleted this very moment */
        const struct window window = window_of_instances(run, expander->node);
        const struct task_def *def = &run->dag->tasks[expander->node];
        bool is_stopping = run->cancel_asked != CANCEL_NONE && !def->is_finally;
        int64_t room = room_for_instances(def, expander->uninserted, expander->open,
                                          MIN(room_in(claiming, &window), work_run_room(run)));
        /* What is ours already may have changed in this very transaction. */
        if (room == 0 && !is_stopping && !run->locked)
            continue;
        id_list_add(tasks, expander->task);
        id_list_add(runs, expander->run);
    }
}

static bool has_slots(const struct claiming *claiming)
{
    return claiming->slots[CLASS_PROCESS] > 0 || claiming->slots[CLASS_INLINE] > 0;
}

/* Rows read before their run was locked would be old: the run comes first. */
static enum status claim_stored_instances(struct work *work, struct claiming *claiming,
                                          const struct expander_list *list, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list tasks = {0};
    CLEANUP(id_list_fini) struct id_list runs = {0};
    CLEANUP(id_list_fini) struct id_list ours = {0};
    choose_expanders(work, claiming, list, &tasks, &runs);
    if (work_try_lock(work, runs.items, runs.count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < tasks.count; i++) {
        const struct run_row *run = idmap_find(work->runs, runs.items[i]);
        if (run->locked)
            id_list_add(&ours, tasks.items[i]);
        claiming->claims->is_partial |= !run->locked;
    }
    if (work_fetch_tasks(work, ours.items, ours.count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ours.count && has_slots(claiming); i++)
        if (claim_instances(work, claiming, ours.items[i], err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* Those expanded in this transaction have no row in the table yet. */
static enum status claim_new_instances(struct work *work, struct claiming *claiming,
                                       struct err *err)
{
    /* The list grows by the instances. */
    size_t count = work->rows.count;
    for (size_t i = 0; i < count && has_slots(claiming); i++) {
        const struct task_row *task = work->rows.items[i];
        if (task_row_is_expanding(task) && task->read_state != TASK_DEFERRED &&
            claim_instances(work, claiming, task->id, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status claim_expansions(struct work *work, struct claiming *claiming,
                                    struct expander_list *first, struct err *err)
{
    struct expander_list *list = first;
    while (list->count > 0 && has_slots(claiming)) {
        int64_t last = list->items[list->count - 1].task;
        bool is_last = list->count < EXPANSIONS_MAX;
        if (claim_stored_instances(work, claiming, list, err) != STATUS_OK)
            return err->code;
        list->count = 0;
        if (!is_last && has_slots(claiming) &&
            read_expanders(work, claiming->request->scope, last, list, err) != STATUS_OK)
            return err->code;
    }
    return claim_new_instances(work, claiming, err);
}

/* --- the whole ------------------------------------------------------------------------------- */

static bool has_left(const struct task_row *task)
{
    return !task->fresh && task->read_state == TASK_RUNNING && task->state != TASK_RUNNING;
}

/* What ends in this transaction still counts as running in the tables. */
static void free_lanes(struct work *work, struct lanes *lanes)
{
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        const struct run_row *run =
            work_is_job(task) ? work->jobs : idmap_find(work->runs, task->run);
        if (has_left(task) && run != NULL)
            lanes_add_room(lanes, ready_key_of(run, task).lane, 1);
    }
}

static void want(struct lanes *lanes, int64_t id)
{
    struct lane *lane = lanes_find(lanes, id);
    if (lane != NULL)
        lane->is_wanted = lane->is_served;
}

/* Where there is something to claim. */
static enum status want_lanes(struct work *work, struct claiming *claiming,
                              const struct expander_list *expanders, struct err *err)
{
    struct lanes *lanes = &claiming->lanes;
    for (size_t i = 0; i < lanes->count; i++)
        for (enum claim_class class = 0; class < CLASS_COUNT; class ++)
            if (lanes->items[i].has_ready[class] && claiming->slots[class] > 0)
                want(lanes, lanes->items[i].id);
    for (size_t i = 0; i < work->ready.count; i++) {
        struct run_row *run = NULL;
        if (work_run(work, work->ready.items[i]->run, &run, err) != STATUS_OK)
            return err->code;
        want(lanes, ready_key_of(run, work->ready.items[i]).lane);
    }
    for (size_t i = 0; i < expanders->count; i++) {
        const struct run_row *run = idmap_find(work->runs, expanders->items[i].run);
        if (run != NULL)
            want(lanes, run->lanes[expanders->items[i].node]);
    }
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        const struct run_row *run = idmap_find(work->runs, task->run);
        if (run != NULL && task_row_is_expanding(task) && !task->read_expanding)
            want(lanes, run->lanes[task->node]);
    }
    return STATUS_OK;
}

static enum status claim_lanes(struct work *work, struct claiming *claiming, struct err *err)
{
    for (enum claim_class class = 0; class < CLASS_COUNT; class ++) {
        for (size_t i = 0; i < claiming->lanes.count; i++) {
            const struct lane *lane = &claiming->lanes.items[i];
            const struct window window = {
                .class = class,
                .scope = claiming->request->scope,
                .lane = lane->id,
                .queue = lane->queue_name,
                .has_stored = lane->has_ready[class],
                .has_job_first = lane->has_job_first[class] && !claiming->request->jobs_only,
                .jobs_only = claiming->request->jobs_only,
            };
            /* Another host counts in its queue just now. */
            claiming->claims->is_partial |= lane->is_wanted && lane->is_bounded && !lane->is_bound;
            if (claim_window(work, claiming, &window, err) != STATUS_OK)
                return err->code;
        }
        if (class == CLASS_PROCESS && claiming->request->jobs_only)
            claiming->slots[CLASS_INLINE] = claiming->slots[CLASS_PROCESS];
    }
    return STATUS_OK;
}

/* A lane without a bound has always places. */
static bool is_of_trail(const struct claiming *claiming, const struct task_row *task)
{
    return task->job != NULL && task->job->lane == claiming->trail_lane;
}

/* Others may be able to use the places that this host left and has no use for. */
static void tell_of_places(struct work *work, const struct claiming *claiming)
{
    bool freed = lanes_have_freed(&claiming->lanes);
    bool looked = claiming->lanes.count > 0 || has_slots(claiming);
    for (size_t i = 0; i < work->rows.count && !looked; i++)
        freed |= has_left(work->rows.items[i]) && !is_of_trail(claiming, work->rows.items[i]);
    work->saver.freed_work |= freed;
}

static enum status claim(struct work *work, struct claiming *claiming, struct err *err)
{
    CLEANUP(expander_list_fini) struct expander_list expanders = {0};
    const struct advance_request *request = claiming->request;
    const struct lane_question question = {
        .scope = request->scope,
        .labels = request->labels,
        .queues = request->queues,
    };
    if (claim_follow_trail(work, request, claiming->claims, claiming->slots, &claiming->trail_lane,
                           err) != STATUS_OK)
        return err->code;
    if (claiming->trail_lane != 0)
        return STATUS_OK;
    claiming->looked_us = clock_mono_us();
    if (lanes_look(work->store, &question, work->arena, &claiming->lanes, err) != STATUS_OK)
        return err->code;
    work_read_clock(work);
    const struct lanes *lanes = &claiming->lanes;
    bool is_due = lanes->next_due_us != 0 && lanes->next_due_us <= work->now_us;
    if ((is_due || lanes->count == 0) && wake_due(work, claiming, err) != STATUS_OK)
        return err->code;
    claiming->claims->next_due_us = lanes->next_due_us;
    claiming->claims->knows_next_due = !is_due && lanes->count > 0;
    if (claiming->lanes.has_expansions && !request->jobs_only &&
        read_expanders(work, request->scope, 0, &expanders, err) != STATUS_OK)
        return err->code;
    if (want_lanes(work, claiming, &expanders, err) != STATUS_OK ||
        lanes_bind(work->store, &claiming->lanes, err) != STATUS_OK)
        return err->code;
    free_lanes(work, &claiming->lanes);
    if (claim_lanes(work, claiming, err) != STATUS_OK)
        return err->code;
    if (request->jobs_only)
        return STATUS_OK;
    return claim_expansions(work, claiming, &expanders, err);
}

enum status claim_work(struct work *work, const struct advance_request *request,
                       struct claim_list *claims, struct err *err)
{
    struct claiming claiming = {
        .request = request,
        .claims = claims,
        .slots =
            {
                [CLASS_PROCESS] = request->process_slots,
                [CLASS_INLINE] = request->inline_slots,
            },
    };
    if (claim_open_gates(work, err) != STATUS_OK)
        return err->code;
    work->lock = RUN_UNLOCKED;
    if (has_slots(&claiming) && claim(work, &claiming, err) != STATUS_OK)
        return err->code;
    tell_of_places(work, &claiming);
    return STATUS_OK;
}
