#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/claim_priv.h"

enum { DUE_MAX = 2000 };

static const char READY_TOP[] = "SELECT task FROM ready WHERE scope = $1 AND class = $2"
                                " ORDER BY scope, class, rank, run, task LIMIT $3";
static const char TIMER_DUE[] = "SELECT task FROM timer WHERE scope = $1 AND due_at_us <= $2"
                                " ORDER BY scope, due_at_us, task LIMIT $3";
static const char GATE_TOP[] =
    "SELECT task FROM gate WHERE run = $1 ORDER BY run, rank, task LIMIT $2";
static const char GATE_OF_TASK[] =
    "SELECT task FROM gate WHERE run = $1 AND rank = $2 AND task >= $3 AND task < $4"
    " ORDER BY run, rank, task LIMIT $5";
static const char RUNNING_OF_TASK[] = "SELECT count(*) FROM running WHERE task >= $1 AND task < $2";
static const char EXPANSIONS[] = "SELECT task FROM expansion WHERE scope = $1 ORDER BY scope, task";

struct id_list {
    int64_t *items;
    size_t count;
    size_t capacity;
};

static void id_list_fini(struct id_list *list)
{
    free(list->items);
}

static enum status collect_ids(struct db_stmt *stmt, struct id_list *out, struct err *err)
{
    for (;;) {
        bool row = false;
        if (db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            return STATUS_OK;
        out->items = mem_grow(out->items, &out->capacity, out->count, sizeof *out->items);
        out->items[out->count++] = db_int(stmt, 0);
    }
}

static void take(struct work *work, const struct advance_request *request, struct run_row *run,
                 struct task_row *task, struct claim_list *claims)
{
    task->state = TASK_RUNNING;
    task->attempt++;
    rng_bytes(&task->nonce, sizeof task->nonce);
    task->has_nonce = true;
    task->host = request->host;
    task->due_at_us = 0;
    task->started_at_us = work->now_us;
    task->ended_at_us = 0;
    task->reason = REASON_NONE;
    task->exit_code = -1;
    task->detail = NULL;
    task->log_bytes = task->cpu_ms = task->rss_kb = 0;
    task->dirty = true;
    run->active++;
    run->dirty = true;
    if (run->state == RUN_QUEUED) {
        run->state = RUN_RUNNING;
        run->started_at_us = work->now_us;
    }
    claims->items = mem_grow(claims->items, &claims->capacity, claims->count, sizeof(struct claim));
    claims->items[claims->count++] = (struct claim){
        .task = task->id,
        .run = task->run,
        .node = task->node,
        .map_index = task->map_index,
        .expander = task->map_index >= 0 ? run->first_task + task->node : 0,
        .generation = task->generation,
        .attempt = task->attempt,
        .nonce = task->nonce,
    };
}

/* Retries whose time has come join the candidates. */
static enum status wake_due(struct work *work, const struct advance_request *request,
                            struct err *err)
{
    CLEANUP(id_list_fini) struct id_list due = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, TIMER_DUE, "iii", request->scope, work->now_us,
                 (int64_t)DUE_MAX) != STATUS_OK ||
        collect_ids(stmt, &due, err) != STATUS_OK)
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
    if (run->dag->max_active_tasks == 0 || work_run_room(run) == 0)
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
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static enum status add_candidate(struct work *work, struct candidate_list *list,
                                 struct task_row *task, enum claim_class class, int64_t scope,
                                 struct err *err)
{
    struct run_row *run = NULL;
    if (task->state != TASK_QUEUED)
        return STATUS_OK;
    if (work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    struct ready_key key = ready_key_of(run, task);
    if (key.class != class || key.scope != scope)
        return STATUS_OK;
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = (struct candidate){.key = key, .run = run, .task = task};
    return STATUS_OK;
}

/* The best `slots` rows of the ready table; rows of this transaction are not in it yet. */
static enum status add_stored(struct work *work, struct candidate_list *list,
                              enum claim_class class, int64_t scope, int64_t slots, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list stored = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, READY_TOP, "iii", scope, (int64_t) class, slots) !=
            STATUS_OK ||
        collect_ids(stmt, &stored, err) != STATUS_OK)
        return err_wrap(err, "find claimable work");
    for (size_t i = 0; i < stored.count; i++) {
        struct task_row *task = NULL;
        if (work_task(work, stored.items[i], &task, err) != STATUS_OK ||
            add_candidate(work, list, task, class, scope, err) != STATUS_OK)
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

/* What must wait for others of its run or its mapped task is held at the gate. */
static enum status take_or_hold(struct work *work, const struct advance_request *request,
                                const struct candidate *candidate, struct claim_list *claims,
                                bool *out_taken, struct err *err)
{
    struct task_row *task = candidate->task;
    struct task_row *expander = NULL;
    if (binding_expander(work, candidate->run, task, &expander, err) != STATUS_OK)
        return err->code;
    bool is_full =
        expander != NULL && expander->running >= task_row_def(candidate->run, task)->max_parallel;
    *out_taken = work_run_room(candidate->run) > 0 && !is_full;
    if (*out_taken) {
        take(work, request, candidate->run, task, claims);
        if (expander != NULL)
            expander->running++;
    } else {
        task->state = TASK_SCHEDULED;
        task->dirty = true;
    }
    return STATUS_OK;
}

/* Everything this transaction made claimable, and the best of what is stored; best first. */
static enum status list_candidates(struct work *work, const struct advance_request *request,
                                   enum claim_class class, int64_t most,
                                   struct candidate_list *list, struct err *err)
{
    for (size_t i = 0; i < work->ready.count; i++)
        if (add_candidate(work, list, work->ready.items[i], class, request->scope, err) !=
            STATUS_OK)
            return err->code;
    if (add_stored(work, list, class, request->scope, most, err) != STATUS_OK)
        return err->code;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_key);
    return STATUS_OK;
}

/* What is left of a class while it is claimed from. */
struct claiming {
    int64_t slots;
    int64_t held; /* candidates sent to wait at a gate */
    struct claim_list *claims;
};

static enum status claim_from(struct work *work, const struct advance_request *request,
                              const struct candidate_list *list, struct claiming *claiming,
                              struct err *err)
{
    for (size_t i = 0; i < list->count && claiming->slots > 0; i++) {
        bool dropped = false;
        bool taken = false;
        if (drop_if_too_old(work, &list->items[i], &dropped, err) != STATUS_OK)
            return err->code;
        if (dropped)
            continue;
        if (take_or_hold(work, request, &list->items[i], claiming->claims, &taken, err) !=
            STATUS_OK)
            return err->code;
        claiming->slots -= taken;
        claiming->held += !taken;
    }
    return STATUS_OK;
}

static enum status claim_class_of_work(struct work *work, const struct advance_request *request,
                                       enum claim_class class, int64_t *slots,
                                       struct claim_list *claims, struct err *err)
{
    struct claiming claiming = {.slots = *slots, .claims = claims};
    int64_t held_before = -1;
    /* What is sent to a gate leaves room for others, which may be further down. */
    while (claiming.slots > 0 && claiming.held > held_before) {
        CLEANUP(candidate_list_fini) struct candidate_list list = {0};
        held_before = claiming.held;
        if (list_candidates(work, request, class, claiming.slots + claiming.held, &list, err) !=
                STATUS_OK ||
            claim_from(work, request, &list, &claiming, err) != STATUS_OK)
            return err->code;
    }
    *slots = claiming.slots;
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
static enum status claim_instances(struct work *work, const struct advance_request *request,
                                   int64_t expander_id, int64_t slots[static CLASS_COUNT],
                                   struct claim_list *claims, struct err *err)
{
    struct task_row *expander = NULL;
    struct run_row *run = NULL;
    if (work_task(work, expander_id, &expander, err) != STATUS_OK ||
        work_run(work, expander->run, &run, err) != STATUS_OK)
        return err->code;
    if (expander->state != TASK_DEFERRED)
        return STATUS_OK;
    const struct task_def *def = task_row_def(run, expander);
    int64_t *left = &slots[task_kind_is_inline(def->kind) ? CLASS_INLINE : CLASS_PROCESS];
    int64_t room = room_for_instances(def, expander, *left);
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
        take(work, request, run, task, claims);
        expander->inserted++;
        expander->dirty = true;
    }
    *left -= room;
    return STATUS_OK;
}

static enum status claim_expansions(struct work *work, const struct advance_request *request,
                                    int64_t slots[static CLASS_COUNT], struct claim_list *claims,
                                    struct err *err)
{
    CLEANUP(id_list_fini) struct id_list expanders = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, EXPANSIONS, "i", request->scope) != STATUS_OK ||
        collect_ids(stmt, &expanders, err) != STATUS_OK)
        return err_wrap(err, "find mapped tasks");
    /* Those expanded in this transaction have no row in the table yet. */
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        if (task->state != TASK_DEFERRED || task->read_state == TASK_DEFERRED)
            continue;
        expanders.items = mem_grow(expanders.items, &expanders.capacity, expanders.count,
                                   sizeof *expanders.items);
        expanders.items[expanders.count++] = task->id;
    }
    for (size_t i = 0; i < expanders.count; i++) {
        if (slots[CLASS_PROCESS] <= 0 && slots[CLASS_INLINE] <= 0)
            break;
        if (claim_instances(work, request, expanders.items[i], slots, claims, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status claim_work(struct work *work, const struct advance_request *request,
                       struct claim_list *claims, struct err *err)
{
    int64_t slots[CLASS_COUNT] = {
        [CLASS_PROCESS] = request->process_slots,
        [CLASS_INLINE] = request->inline_slots,
    };
    if (wake_due(work, request, err) != STATUS_OK)
        return err->code;
    if (claim_open_gates(work, err) != STATUS_OK)
        return err->code;
    for (enum claim_class class = 0; class < CLASS_COUNT; class ++)
        if (claim_class_of_work(work, request, class, &slots[class], claims, err) != STATUS_OK)
            return err->code;
    return claim_expansions(work, request, slots, claims, err);
}
