#include "store/control.h"

#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/backfill_priv.h"
#include "store/channel.h"
#include "store/control_priv.h"
#include "store/run_tasks_priv.h"
#include "store/wish_priv.h"

/* Everything a person changes is done over all rows of the run, inside one transaction. */
struct change {
    struct work *work;
    struct run_tasks tasks;
    struct work own;
    bool is_within;  /* a transaction of somebody else */
    bool main_again; /* something other than finally tasks will run again */
    bool *stops;     /* one per node: something of it runs, and is cleared when that is over */
    bool is_renewed; /* a row begins a new generation */
    bool is_anew;    /* what was asked for while it ran, and is over now */
    const char *why; /* data of the events; NULL: what the store says */
    /* Of a run that was over, when it went; 0: it was not. */
    int64_t was_started_us;
    int64_t was_ended_us;
    const char *asked; /* data of the first event of a clear; NULL: there was one already */
};

static void change_fini(struct change *change)
{
    if (!change->is_within)
        db_end(change->own.db);
    if (change->own.store != NULL)
        work_fini(&change->own);
}

static enum status change_begin(struct change *change, struct store *store, int64_t run,
                                const char *actor, struct err *err)
{
    *change = (struct change){
        .work = &change->own, .own.db = store->db, .is_within = db_in_transaction(store->db)};
    if (!change->is_within && db_begin(store->db, err) != STATUS_OK)
        return err->code;
    work_init(change->work, store, actor);
    if (run_tasks_load(change->work, run, &change->tasks, err) != STATUS_OK)
        return err->code;
    CHECK(change->tasks.run != NULL);
    return STATUS_OK;
}

/* Nothing of it has to run again: it went when it went, only the verdict is another. */
static void keep_span(struct change *change)
{
    struct run_row *run = change->tasks.run;
    if (change->was_ended_us == 0 || !run_state_is_final(run->state))
        return;
    run->started_at_us = change->was_started_us;
    run->ended_at_us = change->was_ended_us;
}

static enum status change_commit(struct change *change, struct err *err)
{
    if (work_settle(change->work, err) != STATUS_OK)
        return err->code;
    keep_span(change);
    if (work_save(change->work, err) != STATUS_OK)
        return err->code;
    return change->is_within ? STATUS_OK : db_commit(change->work->db, err);
}

/* --- cancel ---------------------------------------------------------------------------------- */

static enum status cancel_row(struct change *change, struct task_row *task, struct err *err)
{
    if (task_state_is_final(task->state) || task->state == TASK_RUNNING)
        return STATUS_OK;
    if (task->state == TASK_DEFERRED && task->instance_base != 0)
        return work_drop_uninserted(change->work, change->tasks.run, task, err);
    return work_end_task(change->work, change->tasks.run, task,
                         (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
}

static enum status cancel_rows(struct change *change, bool finally_too, struct err *err)
{
    struct run_tasks *tasks = &change->tasks;
    for (size_t node = 0; node < tasks->run->dag->tasks_count; node++) {
        if (tasks->run->dag->tasks[node].is_finally && !finally_too)
            continue;
        for (size_t i = 0; i < tasks->instances[node].count; i++)
            if (cancel_row(change, tasks->instances[node].items[i], err) != STATUS_OK)
                return err->code;
        if (cancel_row(change, tasks->nodes[node], err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static bool drop_clear(struct task_row *task)
{
    bool is_wished = task->wish == WISH_CLEAR;
    if (is_wished)
        task_row_set_wish(task, WISH_STOP);
    return is_wished;
}

/* What was to stop and run again is to stop now; of mapped ones nothing was counted meanwhile. */
static void drop_clears(struct change *change, bool finally_too)
{
    struct run_tasks *tasks = &change->tasks;
    bool is_any = false;
    for (size_t node = 0; node < tasks->run->dag->tasks_count; node++) {
        if (tasks->run->dag->tasks[node].is_finally && !finally_too)
            continue;
        is_any |= drop_clear(tasks->nodes[node]);
        for (size_t i = 0; i < tasks->instances[node].count; i++)
            is_any |= drop_clear(tasks->instances[node].items[i]);
    }
    if (!is_any)
        return;
    run_tasks_recount(tasks);
    run_tasks_touch(change->work, tasks);
}

/* NULL: nothing but who asked, and why. */
static const char *cancel_data(struct change *change, const struct cancel_request *request)
{
    return request->replaced_by == 0
               ? NULL
               : arena_format(change->work->arena,
                              "{\"reason\":\"overlap: replace\",\"replaced_by\":%lld}",
                              (long long)request->replaced_by);
}

static enum status cancel_once(struct store *store, const void *context, struct err *err)
{
    const struct cancel_request *request = context;
    CLEANUP(change_fini) struct change change;
    if (change_begin(&change, store, request->run, request->actor, err) != STATUS_OK)
        return err_wrap(err, "cancel");
    struct run_row *run = change.tasks.run;
    CHECK(run != NULL);
    if (run_state_is_final(run->state))
        return err_set(err, STATUS_CONFLICT, "the run is over already: %s",
                       run_state_name(run->state));
    /* Whoever asks a run to stop is not overruled by a time that runs out meanwhile. */
    if (run->cancel_asked != CANCEL_ASKED)
        run->cancel_asked = request->cause;
    run->dirty = true;
    work_event(change.work, EVENT_RUN_CANCEL_ASKED, run, NULL, cancel_data(&change, request));
    /* Of a run that never began nothing is to be closed. */
    bool finally_too = request->finally_too || run->admission == ADMISSION_WAITING;
    if (cancel_rows(&change, finally_too, err) != STATUS_OK)
        return err_wrap(err, "cancel");
    drop_clears(&change, finally_too);
    if (db_notify(change.work->db, STORE_CHANNEL_STOP, "", err) != STATUS_OK ||
        change_commit(&change, err) != STATUS_OK)
        return err_wrap(err, "cancel");
    return STATUS_OK;
}

static const char CANCEL_MARK[] = "UPDATE run SET cancel_asked = $2, row_version = row_version + 1"
                                  " WHERE id = $1 AND cancel_asked = 0 AND state IN (0, 1)";

/* From here on nothing of the run is claimed any more, so that nobody comes in between. */
static enum status cancel_announce(struct store *store, const struct cancel_request *request,
                                   struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, CANCEL_MARK, "ii", request->run, (int64_t)request->cause) != STATUS_OK ||
        db_notify(db, STORE_CHANNEL_STOP, "", err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_run_cancel(struct store *store, const struct cancel_request *request,
                             struct err *err)
{
    enum status status = cancel_once(store, request, err);
    if (!store_may_repeat(store, status))
        return status;
    if (cancel_announce(store, request, err) != STATUS_OK)
        return err_wrap(err, "cancel");
    return store_repeat(store, cancel_once, request, err);
}

/* --- starting a new generation --------------------------------------------------------------- */

/* The items of a mapped task stay: its instances may run again within the same expansion. */
static const char VALUES_DROP[] = "DELETE FROM value WHERE task = $1 AND key <> '__items'";

/* The row is as if it had never been decided; its old attempt is kept. */
static enum status renew(struct change *change, struct task_row *task, enum task_state state,
                         enum event_kind kind, struct err *err)
{
    struct work *work = change->work;
    bool had_attempt = task->attempt > 0 && task_state_is_final(task->state) &&
                       task->started_at_us != 0 && task->instance_base == 0;
    if (had_attempt && task_row_keep_attempt(work->db, task, task->state, err) != STATUS_OK)
        return err->code;
    if (db_later(work->db, err, VALUES_DROP, "i", task->id) != STATUS_OK ||
        work_forget_letter(work, task, err) != STATUS_OK)
        return err->code;
    /* Of one that ended just now the row would not tell any more. */
    if (task->begins_anew && task->read_state == TASK_RUNNING)
        work_event(work, EVENT_TASK_ENDED, change->tasks.run, task, NULL);
    change->is_renewed = true;
    task->generation++;
    task->state = state;
    task->failures = task->losses = 0;
    task->host = 0;
    task->queued_at_us = task->started_at_us = task->ended_at_us = task->due_at_us = 0;
    task_row_set_wish(task, WISH_NONE);
    task->begins_anew = false;
    task->exit_code = -1;
    task->detail = NULL;
    task->log_bytes = task->cpu_ms = task->rss_kb = 0;
    work_event(work, kind, change->tasks.run, task,
               change->asked != NULL ? change->asked : change->why);
    change->asked = NULL;
    return STATUS_OK;
}

/* A run that was over starts anew, with the first task that does; its old time is no part of it. */
static enum status reopen(struct change *change, struct err *err)
{
    struct run_row *run = change->tasks.run;
    if (run_state_is_final(run->state)) {
        if (backfill_take_back(change->work, run, err) != STATUS_OK)
            return err->code;
        change->was_started_us = run->started_at_us;
        change->was_ended_us = run->ended_at_us;
        run->state = RUN_QUEUED;
        run->started_at_us = 0;
    }
    run->ended_at_us = 0;
    run->dirty = true;
    return STATUS_OK;
}

/* --- clear ----------------------------------------------------------------------------------- */

static bool did_not_succeed(const struct task_row *task)
{
    return task->state == TASK_FAILED || task->state == TASK_UPSTREAM_FAILED ||
           task->state == TASK_CANCELLED;
}

/* It has a verdict or is on its way to one, so that what it stands on must not change. */
static bool has_started(const struct task_row *task)
{
    return task->state != TASK_NONE && task->reason != REASON_NOT_SELECTED;
}

static bool is_asked(const struct clear_request *request, const struct task_row *task)
{
    if (request->nodes != NULL && !request->nodes[task->node])
        return false;
    return (request->nodes != NULL && !request->only_failed) || did_not_succeed(task);
}

/* The chosen nodes, everything downstream of them that started, and what must go with it. */
static void choose_nodes(struct change *change, const struct clear_request *request, bool *chosen)
{
    const struct run_tasks *tasks = &change->tasks;
    const struct dag *dag = tasks->run->dag;
    for (size_t node = 0; node < dag->tasks_count; node++) {
        chosen[node] = is_asked(request, tasks->nodes[node]) &&
                       tasks->nodes[node]->reason != REASON_NOT_SELECTED;
    }
    for (size_t i = 0; i < dag->tasks_count; i++) {
        uint32_t node = dag->order[i];
        const struct node_list *next = &dag->tasks[node].dependants;
        for (size_t j = 0; chosen[node] && j < next->count; j++)
            chosen[next->items[j]] |= has_started(tasks->nodes[next->items[j]]);
        change->main_again |= chosen[node] && !dag->tasks[node].is_finally;
    }
    for (size_t node = 0; node < dag->tasks_count; node++) {
        const struct task_def *def = &dag->tasks[node];
        /* Finally tasks close the run again; a teardown needs its setups to have run. */
        if (change->main_again && def->is_finally)
            chosen[node] |= has_started(tasks->nodes[node]);
        /* Those of one that had to stop first were cleared when that was asked for. */
        bool undone = chosen[node] && has_started(tasks->nodes[node]) &&
                      !(change->is_anew && tasks->nodes[node]->begins_anew);
        for (size_t i = 0; undone && i < def->teardown_of.count; i++)
            chosen[def->teardown_of.items[i]] |=
                has_started(tasks->nodes[def->teardown_of.items[i]]);
    }
}

static bool runs(const struct change *change, size_t node)
{
    const struct instances *list = &change->tasks.instances[node];
    bool running = change->tasks.nodes[node]->state == TASK_RUNNING;
    for (size_t i = 0; i < list->count && !running; i++)
        running = list->items[i]->state == TASK_RUNNING;
    return running;
}

static enum status refuse_stopping(const struct change *change, struct err *err)
{
    const struct run_row *run = change->tasks.run;
    for (size_t node = 0; run->cancel_asked != CANCEL_NONE && node < run->dag->tasks_count; node++)
        if (runs(change, node))
            return err_set(err, STATUS_CONFLICT, "the run is being stopped; wait for its end");
    return STATUS_OK;
}

static enum status refuse_running(const struct change *change, const bool *chosen, struct err *err)
{
    const struct dag *dag = change->tasks.run->dag;
    if (refuse_stopping(change, err) != STATUS_OK)
        return err->code;
    for (size_t node = 0; node < dag->tasks_count; node++)
        if (chosen[node] && runs(change, node))
            return err_set(err, STATUS_CONFLICT, "task '%s' is running; stop it first",
                           dag->tasks[node].id);
    return STATUS_OK;
}

/* --- what runs is stopped first -------------------------------------------------------------- */

static enum status ask(struct change *change, struct task_row *task, enum task_wish wish,
                       struct err *err)
{
    bool is_new = false;
    if (wish_ask(change->work, task, wish, change->why, &is_new, err) != STATUS_OK)
        return err->code;
    if (is_new && wish == WISH_CLEAR)
        work_event(change->work, EVENT_TASK_CLEAR_ASKED, change->tasks.run, task,
                   change->asked != NULL ? change->asked : change->why);
    change->stops[task->node] = true;
    return STATUS_OK;
}

/* Over without a word to others, who wait for what comes after the clear. */
static void forget_instance(struct change *change, struct task_row *instance)
{
    instance->state = TASK_CANCELLED;
    instance->reason = REASON_CANCELLED;
    instance->ended_at_us = change->work->now_us;
    instance->due_at_us = 0;
    instance->dirty = true;
}

/* The node is cleared by whoever records the end of the last that runs of it: clear_anew. */
static enum status stop_first(struct change *change, size_t node, struct err *err)
{
    struct task_row *task = change->tasks.nodes[node];
    const struct instances *list = &change->tasks.instances[node];
    for (size_t i = 0; i < list->count; i++) {
        struct task_row *instance = list->items[i];
        if (instance->state == TASK_RUNNING && ask(change, instance, WISH_STOP, err) != STATUS_OK)
            return err->code;
        if (instance->state != TASK_RUNNING && !task_state_is_final(instance->state))
            forget_instance(change, instance);
    }
    if (task->instance_base != 0)
        task->inserted = task->counts.total; /* those without rows never get one */
    return ask(change, task, WISH_CLEAR, err);
}

static bool is_instance_meant(const struct change *change, const struct task_row *task,
                              int64_t map_index)
{
    if (change->is_anew)
        return task->begins_anew;
    return map_index >= 0 ? task->map_index == map_index : did_not_succeed(task);
}

/* The one instance that is meant, if it runs. */
static struct task_row *find_running(const struct change *change, size_t node, int64_t map_index)
{
    const struct instances *list = &change->tasks.instances[node];
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->state == TASK_RUNNING &&
            is_instance_meant(change, list->items[i], map_index))
            return list->items[i];
    return NULL;
}

/* Instances to run again within an expansion that stays. */
static enum status clear_instances(struct change *change, size_t node, int64_t map_index,
                                   int64_t *count, struct err *err)
{
    struct task_row *expander = change->tasks.nodes[node];
    struct instances *list = &change->tasks.instances[node];
    if (map_index >= expander->counts.total)
        return err_set(err, STATUS_NOT_FOUND, "task '%s' has no instance %lld",
                       task_row_def(change->tasks.run, expander)->id, (long long)map_index);
    int64_t before = *count;
    struct task_row *running = find_running(change, node, map_index);
    if (running != NULL) {
        (*count)++;
        return ask(change, running, WISH_CLEAR, err);
    }
    for (size_t i = 0; i < list->count; i++) {
        struct task_row *task = list->items[i];
        if (!is_instance_meant(change, task, map_index))
            continue;
        if (renew(change, task, TASK_NONE, EVENT_TASK_CLEARED, err) != STATUS_OK)
            return err->code;
        work_queue(change->work, task);
        (*count)++;
    }
    /* Those dropped before they had rows come back. */
    *count += expander->inserted - (int64_t)list->count;
    expander->inserted = (int64_t)list->count;
    if (*count == before && !did_not_succeed(expander))
        return STATUS_OK; /* nothing of it runs again */
    *count += *count == before;
    int64_t total = expander->counts.total;
    if (renew(change, expander, TASK_DEFERRED, EVENT_TASK_CLEARED, err) != STATUS_OK)
        return err->code;
    expander->counts.total = total;
    return STATUS_OK;
}

/* A new expansion will have instances of its own; what is left of the old one is over. */
static void forget_instances(struct change *change, size_t node)
{
    struct task_row *task = change->tasks.nodes[node];
    struct instances *list = &change->tasks.instances[node];
    for (size_t i = 0; i < list->count; i++) {
        struct task_row *instance = list->items[i];
        if (!task_state_is_final(instance->state))
            forget_instance(change, instance);
    }
    list->count = 0;
    if (task->instance_base != 0)
        task->inserted = 0;
    task->instance_base = 0;
}

static enum status clear_whole(struct change *change, size_t node, int64_t *count, struct err *err)
{
    struct task_row *task = change->tasks.nodes[node];
    if (task->state == TASK_NONE)
        return STATUS_OK;
    (*count)++;
    if (runs(change, node))
        return stop_first(change, node, err);
    forget_instances(change, node);
    return renew(change, task, TASK_NONE, EVENT_TASK_CLEARED, err);
}

/* A mapped task keeps its items only if nothing before it runs again. */
static bool keeps_expansion(const struct change *change, const struct clear_request *request,
                            const bool *chosen, size_t node)
{
    const struct task_row *task = change->tasks.nodes[node];
    const struct task_def *def = &change->tasks.run->dag->tasks[node];
    bool follows = def->is_finally && change->main_again;
    for (size_t i = 0; i < def->needs.count; i++)
        follows |= chosen[def->needs.items[i]];
    /* One that is to be cleared as a whole still is. */
    bool is_doomed = task->wish == WISH_CLEAR || task->begins_anew;
    return task->instance_base != 0 && is_asked(request, task) && !request->whole && !follows &&
           !is_doomed;
}

static const char CHOSEN_GET[] = "SELECT json FROM value WHERE task = $1 AND key = 'chosen'";

/* A choice that stands goes on skipping what it did not choose. */
static enum status repeat_choice(struct change *change, size_t node, struct err *err)
{
    struct task_row *task = change->tasks.nodes[node];
    const struct dag *dag = change->tasks.run->dag;
    enum task_kind kind = dag->tasks[node].kind;
    if ((kind != KIND_BRANCH && kind != KIND_SHORT_CIRCUIT) || task->state != TASK_SUCCESS)
        return STATUS_OK;
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(change->work->db, &stmt, err, CHOSEN_GET, "i", task->id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK || !row)
        return row ? err->code : STATUS_OK;
    CLEANUP(json_decrefp) json_t *names = NULL;
    const char *text = db_text(stmt, 0);
    enum status status = json_parse(text, strlen(text), &names, err);
    db_reset(stmt);
    if (status != STATUS_OK)
        return status;
    uint32_t *chosen = arena_array(change->work->arena, json_array_size(names) + 1, sizeof *chosen);
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *id = json_string_value(json_array_get(names, i));
        int64_t found = id != NULL ? dag_find_task(dag, id) : -1;
        if (found >= 0)
            chosen[count++] = (uint32_t)found;
    }
    return work_skip_unchosen(change->work, change->tasks.run, task, chosen, count, err);
}

static enum status clear_nodes(struct change *change, const struct clear_request *request,
                               const bool *chosen, int64_t *count, struct err *err)
{
    for (size_t node = 0; node < change->tasks.run->dag->tasks_count; node++) {
        if (!chosen[node])
            continue;
        enum status status = keeps_expansion(change, request, chosen, node)
                                 ? clear_instances(change, node, request->map_index, count, err)
                                 : clear_whole(change, node, count, err);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Everything that waits is decided over what is left. */
static enum status decide_again(struct change *change, struct err *err)
{
    run_tasks_recount(&change->tasks);
    for (size_t node = 0; node < change->tasks.run->dag->tasks_count; node++)
        if (repeat_choice(change, node, err) != STATUS_OK)
            return err->code;
    run_tasks_touch(change->work, &change->tasks);
    return STATUS_OK;
}

static enum status apply_clear(struct change *change, const struct clear_request *request,
                               const bool *chosen, int64_t *count, struct err *err)
{
    struct run_row *run = change->tasks.run;
    if (clear_nodes(change, request, chosen, count, err) != STATUS_OK)
        return err->code;
    if (*count == 0)
        return STATUS_OK;
    if (change->is_renewed) {
        if (reopen(change, err) != STATUS_OK)
            return err->code;
        run->is_reopened = true;
        run->cancel_asked = CANCEL_NONE;
        work_event(change->work, EVENT_RUN_REOPENED, run, NULL, NULL);
    }
    return decide_again(change, err);
}

/* Whether something of the node runs that the clear would stop. */
static bool would_stop(const struct change *change, const struct clear_request *request,
                       const bool *chosen, size_t node)
{
    if (!chosen[node])
        return false;
    return keeps_expansion(change, request, chosen, node)
               ? find_running(change, node, request->map_index) != NULL
               : runs(change, node);
}

/* Who owns it must be able to hear that it is to stop. */
static enum status require_owners(const struct change *change, const struct clear_request *request,
                                  const bool *chosen, struct err *err)
{
    enum status status = refuse_stopping(change, err);
    for (size_t i = 0; i < change->tasks.run->dag->tasks_count && status == STATUS_OK; i++)
        if (would_stop(change, request, chosen, i))
            status = wish_require_owners(
                change->work, &change->tasks, (int64_t)i,
                keeps_expansion(change, request, chosen, i) ? request->map_index : -1, err);
    return status;
}

struct clear_call {
    const struct clear_request *request;
    struct arena *arena;
    struct clear_result *out;
};

static enum status clear_once(struct store *store, const void *context, struct err *err)
{
    const struct clear_call *call = context;
    const struct clear_request *request = call->request;
    CLEANUP(change_fini) struct change change;
    if (change_begin(&change, store, request->run, request->actor, err) != STATUS_OK)
        return err_wrap(err, "clear");
    CHECK(change.tasks.run != NULL);
    size_t nodes = change.tasks.run->dag->tasks_count;
    struct clear_result result = {.cleared = arena_array(call->arena, nodes, sizeof(bool)),
                                  .stops = arena_array(call->arena, nodes, sizeof(bool))};
    change.stops = result.stops;
    choose_nodes(&change, request, result.cleared);
    if ((request->stops_running ? require_owners(&change, request, result.cleared, err)
                                : refuse_running(&change, result.cleared, err)) != STATUS_OK)
        return err_wrap(err, "clear");
    if (request->asked != NULL) {
        CLEANUP(mem_freep) char *reasoned = store_add_reason(store, request->actor, request->asked);
        change.asked =
            arena_strdup(change.work->arena, reasoned != NULL ? reasoned : request->asked);
    }
    if (request->dry_run) {
        for (size_t node = 0; node < nodes; node++) {
            result.count += result.cleared[node];
            result.stops[node] = would_stop(&change, request, result.cleared, node);
        }
    } else if (apply_clear(&change, request, result.cleared, &result.count, err) != STATUS_OK ||
               change_commit(&change, err) != STATUS_OK) {
        return err_wrap(err, "clear");
    }
    *call->out = result;
    return STATUS_OK;
}

enum status clear_within(struct store *store, const struct clear_request *request,
                         struct arena *arena, struct clear_result *out, struct err *err)
{
    CHECK(db_in_transaction(store->db));
    return clear_once(store, &(struct clear_call){request, arena, out}, err);
}

enum status store_clear(struct store *store, const struct clear_request *request,
                        struct arena *arena, struct clear_result *out, struct err *err)
{
    return store_repeat(store, clear_once, &(struct clear_call){request, arena, out}, err);
}

/* --- what was asked for while it ran --------------------------------------------------------- */

/* Of this transaction: what waits anew is not to be claimed as what it was. */
static void forget_ready(struct work *work)
{
    size_t kept = 0;
    for (size_t i = 0; i < work->ready.count; i++)
        if (work->ready.items[i]->state == TASK_QUEUED)
            work->ready.items[kept++] = work->ready.items[i];
    work->ready.count = kept;
}

/* All that begins anew of one run, and what stands on it; others that run are stopped first. */
static enum status clear_run_anew(struct change *change, const struct task_row *first,
                                  struct err *err)
{
    struct work *work = change->work;
    int64_t count = 0;
    if (run_tasks_load(work, first->run, &change->tasks, err) != STATUS_OK)
        return err->code;
    size_t nodes = change->tasks.run->dag->tasks_count;
    bool *asked = arena_array(work->arena, nodes, sizeof *asked);
    bool *chosen = arena_array(work->arena, nodes, sizeof *chosen);
    change->stops = arena_array(work->arena, nodes, sizeof *change->stops);
    for (size_t i = 0; i < work->anew.count; i++)
        if (work->anew.items[i]->run == first->run)
            asked[work->anew.items[i]->node] = true;
    const struct clear_request request = {.run = first->run, .nodes = asked, .map_index = -1};
    choose_nodes(change, &request, chosen);
    if (clear_nodes(change, &request, chosen, &count, err) != STATUS_OK)
        return err->code;
    /* An instance of a mapped task that is expanded anew is just over. */
    for (size_t i = 0; i < work->anew.count; i++) {
        if (work->anew.items[i]->run != first->run)
            continue;
        work->anew.items[i]->begins_anew = false;
        work->anew.items[i]->wish = WISH_NONE;
    }
    forget_ready(work);
    return decide_again(change, err);
}

/* In the name of who asked for it. */
static enum status clear_for(struct work *work, const struct task_row *first, struct err *err)
{
    struct change change = {.work = work, .is_within = true, .is_anew = true};
    struct wish_info wish;
    if (store_wish_find(work->store, work->arena, first->id, &wish, err) != STATUS_OK)
        return err->code;
    const char *actor = work->actor;
    work->actor = wish.actor;
    change.why = wish.data;
    enum status status = clear_run_anew(&change, first, err);
    work->actor = actor;
    return status;
}

enum status clear_anew(struct work *work, struct err *err)
{
    for (size_t i = 0; i < work->anew.count; i++)
        if (work->anew.items[i]->begins_anew &&
            clear_for(work, work->anew.items[i], err) != STATUS_OK)
            return err_wrap(err, "clear what was stopped");
    work->anew.count = 0;
    return STATUS_OK;
}

/* --- mark ------------------------------------------------------------------------------------ */

/* Rows that never ran because of how their parents ended are decided again. */
static enum status renew_undecided(struct change *change, size_t from, struct err *err)
{
    struct run_tasks *tasks = &change->tasks;
    const struct dag *dag = tasks->run->dag;
    bool *affected = arena_array(change->work->arena, dag->tasks_count, sizeof *affected);
    affected[from] = true;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        uint32_t node = dag->order[i];
        const struct node_list *next = &dag->tasks[node].dependants;
        for (size_t j = 0; affected[node] && j < next->count; j++) {
            struct task_row *child = tasks->nodes[next->items[j]];
            bool by_rule = child->reason == REASON_UPSTREAM && task_state_is_final(child->state);
            /* What was let through by a verdict that is open again waits for it again. */
            bool waits =
                node != from && (child->state == TASK_QUEUED || child->state == TASK_SCHEDULED ||
                                 child->state == TASK_UP_FOR_RETRY ||
                                 (child->state == TASK_DEFERRED && child->instance_base == 0));
            if ((!by_rule && !waits) || affected[next->items[j]])
                continue;
            affected[next->items[j]] = true;
            change->main_again |= !dag->tasks[next->items[j]].is_finally;
            if (renew(change, child, TASK_NONE, EVENT_TASK_CLEARED, err) != STATUS_OK)
                return err->code;
        }
    }
    return STATUS_OK;
}

static enum status find_marked(struct change *change, const struct mark_request *request,
                               struct task_row **out, struct err *err)
{
    CHECK(change->tasks.nodes != NULL);
    struct task_row *task = change->tasks.nodes[request->node];
    if (request->map_index < 0) {
        *out = task;
        return STATUS_OK;
    }
    const struct instances *list = &change->tasks.instances[request->node];
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->map_index == request->map_index) {
            *out = list->items[i];
            return STATUS_OK;
        }
    }
    return err_set(err, STATUS_NOT_FOUND, "task '%s' has no instance %lld",
                   task_row_def(change->tasks.run, task)->id, (long long)request->map_index);
}

/* Finally tasks close the run again when something before them is open again. */
static enum status renew_finally(struct change *change, struct err *err)
{
    const struct dag *dag = change->tasks.run->dag;
    bool *chosen = arena_array(change->work->arena, dag->tasks_count, sizeof *chosen);
    int64_t count = 0;
    for (size_t node = 0; node < dag->tasks_count; node++)
        chosen[node] = change->main_again && dag->tasks[node].is_finally &&
                       has_started(change->tasks.nodes[node]);
    if (refuse_running(change, chosen, err) != STATUS_OK)
        return err->code;
    for (size_t node = 0; node < dag->tasks_count; node++)
        if (chosen[node] && clear_whole(change, node, &count, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status apply_mark(struct change *change, const struct mark_request *request,
                              struct err *err)
{
    struct task_row *task = NULL;
    struct run_row *run = change->tasks.run;
    if (find_marked(change, request, &task, err) != STATUS_OK)
        return err->code;
    CHECK(task != NULL);
    if (task->state == TASK_RUNNING || (task->state == TASK_DEFERRED && task->instance_base != 0))
        return err_set(err, STATUS_CONFLICT, "task '%s' is running; stop it first",
                       task_row_def(run, task)->id);
    struct task_row *expander = change->tasks.nodes[request->node];
    if (task->map_index < 0)
        forget_instances(change, (size_t)request->node);
    else if (task_state_is_final(expander->state) &&
             renew(change, expander, TASK_DEFERRED, EVENT_TASK_CLEARED, err) != STATUS_OK)
        return err->code;
    if (renew(change, task, request->state, EVENT_TASK_MARKED, err) != STATUS_OK ||
        renew_undecided(change, (size_t)request->node, err) != STATUS_OK ||
        renew_finally(change, err) != STATUS_OK)
        return err->code;
    task->reason = REASON_MARKED;
    task->ended_at_us = change->work->now_us;
    /* A run that was stopped stays stopped: a mark changes what is known, not what was asked. */
    if (reopen(change, err) != STATUS_OK)
        return err->code;
    run_tasks_recount(&change->tasks);
    run_tasks_touch(change->work, &change->tasks);
    return STATUS_OK;
}

static enum status mark_once(struct store *store, const void *context, struct err *err)
{
    const struct mark_request *request = context;
    CHECK(task_state_is_final(request->state));
    CLEANUP(change_fini) struct change change;
    if (change_begin(&change, store, request->run, request->actor, err) != STATUS_OK ||
        apply_mark(&change, request, err) != STATUS_OK || change_commit(&change, err) != STATUS_OK)
        return err_wrap(err, "mark");
    return STATUS_OK;
}

enum status store_mark(struct store *store, const struct mark_request *request, struct err *err)
{
    return store_repeat(store, mark_once, request, err);
}
