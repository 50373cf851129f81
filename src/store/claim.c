#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "store/claim_priv.h"
#include "store/id_list.h"
#include "store/lane_priv.h"

enum { DUE_MAX = 2000, EXPANSIONS_MAX = 100 };

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
static const char GATE_TOP[] =
    "SELECT task FROM gate WHERE run = $1 ORDER BY run, rank, task LIMIT $2";
static const char GATE_OF_TASK[] =
    "SELECT task FROM gate WHERE run = $1 AND rank = $2 AND task >= $3 AND task < $4"
    " ORDER BY run, rank, task LIMIT $5";
static const char RUNNING_OF_TASK[] = "SELECT count(*) FROM running WHERE task >= $1 AND task < $2";
static const char EXPANSIONS[] =
    "SELECT e.task, t.run FROM expansion e JOIN task t ON t.id = e.task"
    " WHERE e.scope = $1 ORDER BY e.scope, e.task LIMIT $2";

static enum status collect_ids(struct db_stmt *stmt, struct id_list *out, struct err *err)
{
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, err))
        id_list_add(out, db_int(stmt, 0));
    return status;
}

/* The same with the run of each. */
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
    struct lane *lanes;
    size_t lanes_count;
    struct claim_list *claims;
    int64_t slots[CLASS_COUNT];
};

static const struct claimed_job *describe_job(const struct job_row *row, struct arena *arena)
{
    struct claimed_job *job = arena_alloc(arena, sizeof *job);
    *job = (struct claimed_job){
        .queue = arena_strdup(arena, row->queue),
        .handler = arena_strdup(arena, row->handler),
        .payload = arena_strdup(arena, row->payload),
        .namespace_ = arena_strdup(arena, row->namespace_),
        .timeout_ms = row->def.timeout_ms,
        .finish_on_lost_lease = row->def.on_lost_lease == LOST_LEASE_FINISH,
    };
    return job;
}

struct claim claim_of_row(const struct run_row *run, const struct task_row *task,
                          struct arena *arena)
{
    return (struct claim){
        .task = task->id,
        .run = task->run,
        .node = task->node,
        .map_index = task->map_index,
        .expander = task->map_index >= 0 ? run->first_task + task->node : 0,
        .generation = task->generation,
        .attempt = task->attempt,
        .nonce = task->nonce,
        .job = task->job != NULL ? describe_job(task->job, arena) : NULL,
    };
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
    struct claim_list *claims = claiming->claims;
    claims->items = mem_grow(claims->items, &claims->capacity, claims->count, sizeof(struct claim));
    claims->items[claims->count++] = claim_of_row(run, task, claims->arena);
    lanes_add_room(claiming->lanes, claiming->lanes_count, ready_key_of(run, task).lane, -1);
}

/* Retries whose time has come join the candidates. */
static enum status wake_due(struct work *work, const struct advance_request *request,
                            struct err *err)
{
    CLEANUP(id_list_fini) struct id_list due = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, TIMER_DUE[db_dialect(work->db)], "iii", request->scope,
                 work->now_us, (int64_t)DUE_MAX) != STATUS_OK ||
        collect_ids(stmt, &due, err) != STATUS_OK ||
        work_fetch_tasks(work, due.items, due.count, err) != STATUS_OK)
        return err_wrap(err, "find due retries");
    for (size_t i = 0; i < due.count; i++) {
        struct task_row *task = NULL;
        if (work_task(work, due.items[i], &task, err) != STATUS_OK)
            return err->code;
        if (task->state == TASK_UP_FOR_RETRY && task->due_at_us <= work->now_us)
            work_queue(work, task);
    }
    return STATUS_OK;
}

/* Those still at a gate become claimable. */
static enum status queue_held(struct work *work, const struct id_list *held, struct err *err)
{
    for (size_t i = 0; i < held->count; i++) {
        struct task_row *task = NULL;
        if (work_task(work, held->items[i], &task, err) != STATUS_OK)
            return err->code;
        if (task->state == TASK_SCHEDULED)
            work_queue(work, task);
    }
    return STATUS_OK;
}

/* Tasks held by their run's limit come back when there is room. */
static enum status open_gate(struct work *work, const struct run_row *run, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list held = {0};
    struct db_stmt *stmt = NULL;
    if (!run->locked || run->dag->max_active_tasks == 0 || work_run_room(run) == 0)
        return STATUS_OK;
    if (db_query(work->db, &stmt, err, GATE_TOP, "ii", run->id, work_run_room(run)) != STATUS_OK ||
        collect_ids(stmt, &held, err) != STATUS_OK)
        return err_wrap(err, "find held tasks");
    return queue_held(work, &held, err);
}

/* --- how many instances run at once ---------------------------------------------------------- */

static bool is_instance_of(const struct task_row *task, const struct task_row *expander)
{
    return task->map_index >= 0 && task->run == expander->run && task->node == expander->node;
}

/* Rows of this transaction are not saved yet, so the stored count is put right by them. */
static enum status count_running(struct work *work, struct task_row *expander, struct err *err)
{
    int64_t count = 0;
    if (db_get_int(work->db, 0, &count, err, RUNNING_OF_TASK, "ii", expander->instance_base,
                   expander->instance_base + expander->counts.total) != STATUS_OK)
        return err_wrap(err, "count running instances");
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        if (is_instance_of(task, expander))
            count +=
                (task->state == TASK_RUNNING) - (!task->fresh && task->read_state == TASK_RUNNING);
    }
    expander->running = count;
    expander->has_running = true;
    return STATUS_OK;
}

/* The mapped task whose max_parallel binds `task`, or NULL. */
static enum status binding_expander(struct work *work, const struct run_row *run,
                                    const struct task_row *task, struct task_row **out,
                                    struct err *err)
{
    *out = NULL;
    if (task->map_index < 0 || task_row_def(run, task)->max_parallel == 0)
        return STATUS_OK;
    if (work_node(work, run, task->node, out, err) != STATUS_OK)
        return err->code;
    return (*out)->has_running ? STATUS_OK : count_running(work, *out, err);
}

/* Instances held by max_parallel come back when one of them stops running. */
static enum status open_gate_of_task(struct work *work, const struct run_row *run,
                                     struct task_row *expander, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list held = {0};
    struct db_stmt *stmt = NULL;
    const struct task_def *def = task_row_def(run, expander);
    int64_t room = def->max_parallel - expander->running;
    if (room <= 0)
        return STATUS_OK;
    if (db_query(work->db, &stmt, err, GATE_OF_TASK, "iiiii", run->id, (int64_t)-def->priority,
                 expander->instance_base, expander->instance_base + expander->counts.total,
                 room) != STATUS_OK ||
        collect_ids(stmt, &held, err) != STATUS_OK)
        return err_wrap(err, "find held instances");
    return queue_held(work, &held, err);
}

enum status claim_open_gates(struct work *work, struct err *err)
{
    for (size_t i = 0; i < work->run_rows.count; i++)
        if (open_gate(work, work->run_rows.items[i], err) != STATUS_OK)
            return err->code;
    /* The list grows while it is walked; what it grows by has not stopped running. */
    size_t count = work->rows.count;
    for (size_t i = 0; i < count; i++) {
        const struct task_row *task = work->rows.items[i];
        struct task_row *expander = NULL;
        struct run_row *run = NULL;
        if (task->map_index < 0 || task->read_state != TASK_RUNNING || task->state == TASK_RUNNING)
            continue;
        if (work_run(work, task->run, &run, err) != STATUS_OK)
            return err->code;
        expander = idmap_find(work->tasks, run->first_task + task->node);
        if (expander != NULL && expander->has_running)
            continue; /* done for another instance */
        if (binding_expander(work, run, task, &expander, err) != STATUS_OK)
            return err->code;
        if (expander != NULL && open_gate_of_task(work, run, expander, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
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

/* A limit over several tasks of a run is kept by whoever has the run's row. */
static bool needs_lock(const struct run_row *run, const struct task_row *task)
{
    const struct task_def *def = task_row_def(run, task);
    return run->dag->max_active_tasks > 0 || def->queue_timeout_ms > 0 ||
           (task->map_index >= 0 && def->max_parallel > 0) || work_is_stopping(run, task);
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

/* The best `most` rows of the ready table; rows of this transaction are not in it yet. */
static enum status add_stored(struct work *work, struct candidate_list *list,
                              const struct window *window, int64_t most, struct err *err)
{
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
    if (binding_expander(work, candidate->run, task, &expander, err) != STATUS_OK)
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
        return STATUS_OK; /* whoever has the run's row now makes it claimable again, or ends it */
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

static int64_t room_in(const struct claiming *claiming, const struct window *window)
{
    const struct lane *lane = lanes_find(claiming->lanes, claiming->lanes_count, window->lane);
    return lane != NULL ? MIN(claiming->slots[window->class], lane->room) : 0;
}

/* How many were sent elsewhere, which leaves room for others that may be further down. */
static enum status claim_from(struct work *work, struct claiming *claiming,
                              const struct window *window, const struct candidate_list *list,
                              int64_t *out_passed, struct err *err)
{
    for (size_t i = 0; i < list->count && room_in(claiming, window) > 0; i++) {
        enum fate fate = FATE_LEFT;
        if (decide_candidate(work, claiming, &list->items[i], &fate, err) != STATUS_OK)
            return err->code;
        claiming->slots[window->class] -= fate == FATE_TAKEN;
        *out_passed += fate == FATE_HELD || fate == FATE_ENDED;
    }
    return STATUS_OK;
}

static enum status claim_window(struct work *work, struct claiming *claiming,
                                const struct window *window, struct err *err)
{
    int64_t passed = 0;
    int64_t passed_before = -1;
    while (room_in(claiming, window) > 0 && passed > passed_before) {
        CLEANUP(candidate_list_fini) struct candidate_list list = {0};
        passed_before = passed;
        if (list_candidates(work, window, room_in(claiming, window) + passed, &list, err) !=
                STATUS_OK ||
            claim_from(work, claiming, window, &list, &passed, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* --- instances that have no rows yet --------------------------------------------------------- */

static int64_t room_for_instances(const struct task_def *def, const struct task_row *expander,
                                  int64_t slots)
{
    const struct parent_counts *counts = &expander->counts;
    int64_t ended = counts->success + counts->failed + counts->upstream_failed + counts->skipped +
                    counts->removed;
    int64_t room = MIN(slots, counts->total - expander->inserted);
    if (def->max_parallel > 0)
        room = MIN(room, def->max_parallel - (expander->inserted - ended));
    return MAX(room, (int64_t)0);
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
    if (expander->state != TASK_DEFERRED)
        return STATUS_OK;
    const struct task_def *def = task_row_def(run, expander);
    const struct window window = {
        .class = task_kind_is_inline(def->kind) ? CLASS_INLINE : CLASS_PROCESS,
        .lane = run->lanes[expander->node],
    };
    int64_t room = room_for_instances(def, expander, room_in(claiming, &window));
    room = MIN(room, work_run_room(run));
    for (int64_t i = 0; i < room; i++) {
        struct task_row *task =
            work_add(work, &(struct task_row){
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
    claiming->slots[window.class] -= room;
    return STATUS_OK;
}

/* Rows read before their run was locked would be old: the run comes first. */
static enum status list_expanders(struct work *work, int64_t scope, struct id_list *out,
                                  struct err *err)
{
    CLEANUP(id_list_fini) struct id_list tasks = {0};
    CLEANUP(id_list_fini) struct id_list runs = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, EXPANSIONS, "ii", scope, (int64_t)EXPANSIONS_MAX) !=
            STATUS_OK ||
        collect_pairs(stmt, &tasks, &runs, err) != STATUS_OK ||
        work_fetch_runs(work, runs.items, runs.count, err) != STATUS_OK ||
        work_try_lock(work, runs.items, runs.count, err) != STATUS_OK)
        return err_wrap(err, "find mapped tasks");
    for (size_t i = 0; i < tasks.count; i++) {
        const struct run_row *run = idmap_find(work->runs, runs.items[i]);
        if (run != NULL && run->locked)
            id_list_add(out, tasks.items[i]);
    }
    /* Those expanded in this transaction have no row in the table yet. */
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        if (task->state == TASK_DEFERRED && task->read_state != TASK_DEFERRED)
            id_list_add(out, task->id);
    }
    return work_fetch_tasks(work, out->items, out->count, err);
}

static enum status claim_expansions(struct work *work, struct claiming *claiming, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list expanders = {0};
    if (claiming->slots[CLASS_PROCESS] <= 0 && claiming->slots[CLASS_INLINE] <= 0)
        return STATUS_OK;
    if (list_expanders(work, claiming->request->scope, &expanders, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < expanders.count; i++) {
        if (claiming->slots[CLASS_PROCESS] <= 0 && claiming->slots[CLASS_INLINE] <= 0)
            break;
        if (claim_instances(work, claiming, expanders.items[i], err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* What ends in this transaction still counts as running in the tables. */
static void free_lanes(struct work *work, struct claiming *claiming)
{
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        const struct run_row *run =
            work_is_job(task) ? work->jobs : idmap_find(work->runs, task->run);
        bool left = !task->fresh && task->read_state == TASK_RUNNING && task->state != TASK_RUNNING;
        if (left && run != NULL)
            lanes_add_room(claiming->lanes, claiming->lanes_count, ready_key_of(run, task).lane, 1);
    }
}

static enum status claim_lanes(struct work *work, struct claiming *claiming, struct err *err)
{
    for (enum claim_class class = 0; class < CLASS_COUNT; class ++) {
        for (size_t i = 0; i < claiming->lanes_count; i++) {
            const struct window window = {
                .class = class,
                .scope = claiming->request->scope,
                .lane = claiming->lanes[i].id,
                .jobs_only = claiming->request->jobs_only,
            };
            if (claim_window(work, claiming, &window, err) != STATUS_OK)
                return err->code;
        }
        if (class == CLASS_PROCESS && claiming->request->jobs_only)
            claiming->slots[CLASS_INLINE] = claiming->slots[CLASS_PROCESS];
    }
    return STATUS_OK;
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
    if (request->process_slots <= 0 && request->inline_slots <= 0)
        return STATUS_OK;
    work->lock = RUN_UNLOCKED;
    if (wake_due(work, request, err) != STATUS_OK ||
        lanes_open(work->store, request->labels, request->queues, work->arena, &claiming.lanes,
                   &claiming.lanes_count, err) != STATUS_OK)
        return err->code;
    free_lanes(work, &claiming);
    if (claim_lanes(work, &claiming, err) != STATUS_OK)
        return err->code;
    if (request->jobs_only)
        return STATUS_OK;
    return claim_expansions(work, &claiming, err);
}
