#include "store/advance.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "model/dag_fields.h"
#include "store/claim_priv.h"
#include "store/id_list.h"
#include "store/lane_cache.h"
#include "store/outcome_priv.h"
#include "store/own_jobs.h"
#include "store/work.h"

enum { LOOK_AGAIN_US = 10000 };

static const char TIMER_NEXT[] =
    "SELECT due_at_us FROM timer WHERE scope = $1 ORDER BY scope, due_at_us LIMIT 1";

static bool has_changed(const struct task_row *task)
{
    if (task->is_taken)
        return true;
    return task->dirty &&
           (task->fresh || task->state != task->read_state || task->attempt != task->read_attempt);
}

/* Told in an order that makes sense to people: ends, then mapped tasks as a whole, then starts. */
enum change_class { CHANGE_ENDED, CHANGE_MAPPED_ENDED, CHANGE_OTHER, CHANGE_CLASSES };

static enum change_class change_class_of(const struct task_row *task)
{
    if (!task_state_is_final(task->state))
        return CHANGE_OTHER;
    return task->instance_base != 0 ? CHANGE_MAPPED_ENDED : CHANGE_ENDED;
}

static struct task_change describe_change(const struct task_row *task, struct arena *arena)
{
    return (struct task_change){
        .task = task->id,
        .run = task->run,
        .node = task->node,
        .map_index = task->map_index,
        .state = task->state,
        .attempt = task->attempt,
        .looks = task_row_looks(task),
        .reason = task->reason,
        .exit_code = task->exit_code,
        .started_at_us = task->started_at_us,
        .ended_at_us = task->ended_at_us,
        .instances = task->instance_base != 0 ? task->counts.total : 0,
        .detail = arena_strdup_null(arena, task->detail),
        .label = arena_strdup_null(arena, task->label),
    };
}

static void list_changes(const struct work *work, struct arena *arena, struct advance_result *out)
{
    out->changes = arena_array(arena, work->rows.count, sizeof *out->changes);
    for (enum change_class class = 0; class < CHANGE_CLASSES; class ++)
        for (size_t i = 0; i < work->rows.count; i++)
            if (has_changed(work->rows.items[i]) && change_class_of(work->rows.items[i]) == class)
                out->changes[out->changes_count++] = describe_change(work->rows.items[i], arena);
    out->runs = arena_array(arena, work->run_rows.count, sizeof *out->runs);
    for (size_t i = 0; i < work->run_rows.count; i++) {
        const struct run_row *run = work->run_rows.items[i];
        if (run->state != run->read_state && run_state_is_final(run->state))
            out->runs[out->runs_count++] = (struct run_change){.run = run->id, .state = run->state};
    }
}

/* Somebody else may have ended the run whose scope this is; nothing else would tell the caller. */
static enum status look_for_end(struct work *work, const struct advance_request *request,
                                struct arena *arena, struct advance_result *out, struct err *err)
{
    struct run_row *run = NULL;
    if (request->scope == 0 || out->runs_count > 0)
        return STATUS_OK;
    enum status status = work_run(work, request->scope, &run, err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status == STATUS_OK && run_state_is_final(run->state)) {
        out->runs = arena_array(arena, 1, sizeof *out->runs);
        out->runs[out->runs_count++] = (struct run_change){.run = run->id, .state = run->state};
    }
    return status;
}

/* A node's row and those of its dependants; nothing for instances and jobs. */
static void list_around(const struct run_row *run, const struct outcome *outcome,
                        struct id_list *out)
{
    int64_t node = run != NULL ? outcome->task - run->first_task : -1;
    if (node < 0 || (size_t)node >= run->dag->tasks_count)
        return;
    const struct node_list *next = &run->dag->tasks[node].dependants;
    for (size_t i = 0; i < next->count; i++)
        id_list_add(out, run->first_task + next->items[i]);
}

/* Where nothing but success is told, what the claim left is enough. */
static bool is_success(const struct outcome *outcome)
{
    return outcome->kind == OUTCOME_END &&
           attempt_decide(task_def_default(), 0, &outcome->end, 0).state == TASK_SUCCESS;
}

/* Another attempt than the one that is remembered may have been claimed by somebody else since. */
static bool is_of(const struct outcome *outcome, const struct task_row *row)
{
    return row->attempt == outcome->attempt &&
           memcmp(&row->nonce, &outcome->nonce, sizeof row->nonce) == 0;
}

/* A job's row from memory, if it may be taken from there. */
static void recall(struct work *work, const struct outcome *outcome)
{
    const struct task_row *row = own_jobs_take(work->store->own_jobs, outcome->task, work->arena);
    if (row != NULL && is_success(outcome) && is_of(outcome, row) &&
        idmap_find(work->tasks, outcome->task) == NULL)
        (void)work_add(work, row);
}

/*
 * All that the outcomes touch at first, in two questions: the runs, locked in the order of their
 * ids so that hosts which finish tasks of the same runs wait for each other in turn, then the rows.
 */
static enum status fetch(struct work *work, const struct advance_request *request, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list ids = {0};
    for (size_t i = 0; i < request->outcomes_count; i++)
        id_list_add(&ids, request->outcomes[i].run);
    if (work_fetch_runs(work, ids.items, ids.count, err) != STATUS_OK)
        return err->code;
    ids.count = 0;
    for (size_t i = 0; i < request->outcomes_count; i++) {
        const struct outcome *outcome = &request->outcomes[i];
        id_list_add(&ids, outcome->task);
        if (outcome->run == RUN_OF_JOBS)
            recall(work, outcome);
        else
            list_around(idmap_find(work->runs, outcome->run), outcome, &ids);
    }
    return work_fetch_tasks(work, ids.items, ids.count, err);
}

/* What others had just now was there before: nobody tells when they leave it as it is. */
static void look_again_soon(const struct work *work, struct advance_result *out)
{
    int64_t soon_us = work->now_us + LOOK_AGAIN_US + (int64_t)rng_below(LOOK_AGAIN_US);
    if (out->next_due_us == 0 || out->next_due_us > soon_us)
        out->next_due_us = soon_us;
}

static enum status advance(struct work *work, const struct advance_request *request,
                           struct arena *arena, struct claim_list *claims,
                           struct advance_result *out, struct err *err)
{
    if (fetch(work, request, err) != STATUS_OK)
        return err->code;
    if (request->outcomes_count > 0)
        work_read_clock(work);
    out->accepted = arena_array(arena, request->outcomes_count, sizeof *out->accepted);
    for (size_t i = 0; i < request->outcomes_count; i++)
        if (outcome_apply(work, &request->outcomes[i], &out->accepted[i], err) != STATUS_OK)
            return err->code;
    if (work_settle(work, err) != STATUS_OK || claim_work(work, request, claims, err) != STATUS_OK)
        return err->code;
    /* A claim may end a task that waited too long, which must be settled too. */
    if (work_settle(work, err) != STATUS_OK)
        return err->code;
    list_changes(work, arena, out);
    if (work_save(work, err) != STATUS_OK)
        return err->code;
    out->has_news = work->has_news;
    out->told = work->has_notices;
    if (claims->count == 0 && look_for_end(work, request, arena, out, err) != STATUS_OK)
        return err->code;
    /* Who has no room for what is due need not know of it. */
    if (request->process_slots <= 0 && request->inline_slots <= 0)
        return STATUS_OK;
    out->next_due_us = claims->next_due_us;
    bool is_known = claims->knows_next_due && !work->saver.moved_timers;
    if (!is_known && db_get_int(work->db, 0, &out->next_due_us, err, TIMER_NEXT, "i",
                                request->scope) != STATUS_OK)
        return err->code;
    if (claims->is_partial)
        look_again_soon(work, out);
    return STATUS_OK;
}

/* What was claimed for sure; after a failure nothing is. */
static void remember_jobs(struct work *work, const struct claim_list *claims, enum status status)
{
    struct own_jobs *own = work->store->own_jobs;
    if (status != STATUS_OK)
        own_jobs_forget(own);
    /* A retry may be due before the next look. */
    if (work->saver.moved_timers)
        own_jobs_set_trail(own, NULL);
    for (size_t i = 0; i < claims->count && status == STATUS_OK; i++)
        if (claims->items[i].run == RUN_OF_JOBS && db_dialect(work->db) == DB_POSTGRES)
            own_jobs_keep(own, idmap_find(work->tasks, claims->items[i].task));
}

static void give_claims(const struct claim_list *claims, struct arena *arena,
                        struct advance_result *out)
{
    out->claims = arena_array(arena, claims->count, sizeof *out->claims);
    for (size_t i = 0; i < claims->count; i++)
        out->claims[i] = claims->items[i];
    out->claims_count = claims->count;
}

/* --- a job that was just told of ------------------------------------------------------------- */

enum { AT_ONCE_MAX = 16 };

static enum status take_where_last(struct work *work, const struct advance_request *request,
                                   struct claim_list *claims, struct err *err)
{
    const struct job_origin *origin = own_jobs_origin(work->store->own_jobs);
    int64_t slots = origin->class == CLASS_INLINE ? request->inline_slots : request->process_slots;
    const struct job_window window = {
        .class = origin->class,
        .lane = origin->lane,
        .queue = origin->queue,
        .host = request->host,
        .most = MIN(slots, (int64_t)AT_ONCE_MAX),
        .is_unseen = true,
    };
    struct jobs_taken taken = {0};
    struct run_row *run = NULL;
    if (origin->lane == 0 || window.most <= 0)
        return STATUS_OK;
    if (claim_jobs(work, &window, &taken, err) != STATUS_OK ||
        work_run(work, RUN_OF_JOBS, &run, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < taken.count; i++)
        claim_list_add(claims, run, work->rows.items[taken.first + i]);
    return STATUS_OK;
}

/*
 * Most of the time to a start is spent in asking the database where to look. Who has slept until he
 * was told of something new looks first where the last job was, in one question. More urgent
 * queues lose little by it: few are taken this way, and only by who had nothing to do.
 */
static enum status claim_at_once(struct store *store, const struct advance_request *request,
                                 struct arena *arena, struct advance_result *out, struct err *err)
{
    struct claim_list claims = {.arena = arena};
    int64_t began_us = clock_mono_us();
    struct work work;
    work_init_timeless(&work, store, NULL);
    enum status status = take_where_last(&work, request, &claims, err);
    if (status == STATUS_OK) {
        list_changes(&work, arena, out);
        give_claims(&claims, arena, out);
    }
    remember_jobs(&work, &claims, status);
    if (status == STATUS_OK)
        counted_claims(&work, &claims, began_us);
    work_fini(&work);
    free(claims.items);
    return status;
}

/* --------------------------------------------------------------------------------------------- */

static enum status finish_and_claim(struct store *store, const struct advance_request *request,
                                    struct arena *arena, struct advance_result *out,
                                    struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    struct claim_list claims = {.arena = arena};
    /* Before the transaction, when the clock is known without a question that takes its time. */
    int64_t began_us = clock_mono_us();
    int64_t skew_us = request->clock_us != 0 ? store_now_us(store) - request->clock_us : 0;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    struct work work;
    work_init_timeless(&work, store, NULL);
    work.skew_us = skew_us;
    enum status status = advance(&work, request, arena, &claims, out, err);
    if (status == STATUS_OK)
        status = db_commit(db, err);
    remember_jobs(&work, &claims, status);
    if (status == STATUS_OK)
        counted_claims(&work, &claims, began_us);
    work_fini(&work);
    if (SABOTAGE("unknown_is_success") && status == STATUS_UNKNOWN)
        status = STATUS_OK;
    if (status == STATUS_OK)
        give_claims(&claims, arena, out);
    free(claims.items);
    return status;
}

enum status store_advance(struct store *store, const struct advance_request *request,
                          struct arena *arena, struct advance_result *out, struct err *err)
{
    enum status status = STATUS_OK;
    struct advance_result result = {0};
    if (request->is_woken && db_dialect(store->db) == DB_POSTGRES) {
        CHECK(request->outcomes_count == 0);
        status = claim_at_once(store, request, arena, &result, err);
    }
    if (status == STATUS_OK && result.claims_count == 0)
        status = finish_and_claim(store, request, arena, &result, err);
    if (status == STATUS_OK && request->outcomes_count > 0)
        meters_count(store->counted.meters, METRIC_STORE_BATCH, (int64_t)request->outcomes_count);
    if (status == STATUS_BUSY)
        meters_count(store->counted.meters, METRIC_CLAIM_CONFLICTS, 1);
    if (status != STATUS_OK) {
        lane_cache_doubt(store->lane_cache);
        return err_wrap(err, "finish and claim");
    }
    *out = result;
    return STATUS_OK;
}
