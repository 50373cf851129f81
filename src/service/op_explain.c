/*
 * Why tasks are or are not running: the rows of a run are read here, explain.h puts them into
 * words.
 */
#include "base/mem.h"
#include "base/strbuf.h"
#include "service/explain.h"
#include "service/explain_around.h"
#include "service/explain_limits.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "store/admission.h"
#include "store/host.h"

enum { TASKS_MAX = 1000, SUMMARY_MAX = 32 << 10 };

struct asking {
    struct service *service;
    struct arena *arena;
    struct found_run run;
    struct explain_around around;
    struct task_row *nodes;
    struct tally *instances; /* one per node */
    struct task_row *chosen; /* instances to speak of */
    size_t chosen_count;
    int64_t node;      /* the task asked for; -1: all that did not succeed */
    int64_t map_index; /* one instance of it; -1: all */
    int64_t left_out;
    bool has_dead_owner;
};

/* --- reading --------------------------------------------------------------------------------- */

static struct task_row copy_row(struct asking *asking, const struct task_row *task)
{
    struct task_row copy = *task;
    if (task->detail != NULL)
        copy.detail = arena_strdup(asking->arena, task->detail);
    if (task->label != NULL)
        copy.label = arena_strdup(asking->arena, task->label);
    return copy;
}

static bool is_asked_for(const struct asking *asking, const struct task_row *task)
{
    if (asking->node < 0)
        return task->state != TASK_SUCCESS;
    return task->node == asking->node &&
           (asking->map_index < 0 || task->map_index == asking->map_index);
}

static enum status note_row(void *context, const struct run_row *run, const struct task_row *task,
                            struct err *err)
{
    (void)run;
    (void)err;
    struct asking *asking = context;
    if (task->state == TASK_RUNNING && !service_host_is_alive(asking->service, task->host))
        asking->has_dead_owner = true;
    if (task->map_index < 0) {
        asking->nodes[task->node] = copy_row(asking, task);
        return STATUS_OK;
    }
    asking->instances[task->node].states[task->state]++;
    if (!is_asked_for(asking, task))
        return STATUS_OK;
    if (asking->chosen_count < TASKS_MAX)
        asking->chosen[asking->chosen_count++] = copy_row(asking, task);
    else
        asking->left_out++;
    return STATUS_OK;
}

static enum status read_rows(struct asking *asking, struct err *err)
{
    size_t count = asking->run.dag->tasks_count + 1;
    asking->nodes = arena_array(asking->arena, count, sizeof *asking->nodes);
    asking->instances = arena_array(asking->arena, count, sizeof *asking->instances);
    asking->chosen = arena_array(asking->arena, TASKS_MAX, sizeof *asking->chosen);
    return store_task_each(asking->run.store, asking->run.info.id, note_row, asking, err);
}

/* --- answering ------------------------------------------------------------------------------- */

static enum status load_host(struct asking *asking, int64_t id, struct explain_host *out,
                             struct err *err)
{
    struct host_info host;
    struct err problem = {0};
    enum status status = store_host_load(asking->run.store, asking->arena, id, &host, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    *out = (struct explain_host){.is_alive = service_host_is_alive(asking->service, id)};
    if (status == STATUS_OK) {
        out->is_known = true;
        out->name = host.name;
        out->pid = host.pid;
        out->slots = host.slots;
        out->holds = host.holds;
    }
    return STATUS_OK;
}

/* It may have stopped waiting since its row was read. */
static enum status load_wait(struct asking *asking, const struct task_row *task,
                             struct explain_subject *out, struct err *err)
{
    struct err problem = {0};
    enum status status =
        store_wait_find(asking->run.store, task->id, asking->arena, &out->wait, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (store_wait_target(asking->run.store, &out->wait, &out->target, err) != STATUS_OK)
        return err->code;
    return out->wait.host == 0 ? STATUS_OK : load_host(asking, out->wait.host, &out->host, err);
}

/* Pools and limits without room for it, and its place where a limit of its run holds it. */
static enum status load_limits(struct asking *asking, const struct task_row *task,
                               struct explain_subject *out, struct err *err)
{
    const struct explain_limits_request limits = {
        .store = asking->run.store,
        .arena = asking->arena,
        .around = &asking->around,
        .dag = asking->run.dag,
        .task = task,
    };
    out->siblings_running = asking->instances[task->node].states[TASK_RUNNING];
    if (explain_limits_load(&limits, out, err) != STATUS_OK)
        return err->code;
    return store_gate_ahead(asking->run.store, task->run, task->id, &out->gate_ahead, err);
}

static void put_lane(struct asking *asking, const struct task_row *task,
                     struct explain_subject *out)
{
    const struct task_def *def = &asking->run.dag->tasks[task->node];
    const char *queue = asking->run.info.queue != NULL ? asking->run.info.queue : def->queue;
    out->queue = explain_around_queue(&asking->around, queue);
    out->labels = task_def_labels(def, asking->arena);
}

static enum status make_subject(struct asking *asking, const struct task_row *task,
                                struct explain_subject *out, struct err *err)
{
    *out = (struct explain_subject){.task = task};
    if (task->map_index < 0)
        out->instances = asking->instances[task->node];
    if (!task_state_is_final(task->state))
        put_lane(asking, task, out);
    if (task->wish != WISH_NONE &&
        store_wish_find(asking->run.store, asking->arena, task->id, &out->wish, err) != STATUS_OK)
        return err->code;
    if (task->state == TASK_RUNNING)
        return load_host(asking, task->host, &out->host, err);
    bool has_to_come = task_row_is_expanding(task);
    if ((task->state == TASK_SCHEDULED || task->state == TASK_QUEUED || has_to_come) &&
        load_limits(asking, task, out, err) != STATUS_OK)
        return err->code;
    if (task->state == TASK_DEFERRED && task->instance_base == 0)
        return load_wait(asking, task, out, err);
    if (task->state == TASK_QUEUED)
        return store_queue_place(asking->run.store, task->run, task->id, &out->place, err);
    if (task->state == TASK_CANCELLED && asking->run.info.cancel_asked == CANCEL_NONE)
        return store_stop_load(asking->run.store, asking->arena, task->run, task->id, &out->stop,
                               err);
    if (task->state == TASK_NONE && asking->run.dag->tasks[task->node].depends_on_past)
        return store_past_why(asking->run.store, asking->arena, task->id, &out->past, err);
    return STATUS_OK;
}

static enum status add_attempt(void *context, const struct task_row *attempt, struct err *err)
{
    (void)err;
    json_t *object = json_build_object();
    json_put_int(object, "try_number", attempt->attempt);
    json_put_string(object, "state", task_state_name(attempt->state));
    json_put_string(object, "reason",
                    attempt->reason == REASON_NONE ? NULL : reason_name(attempt->reason));
    json_put_string(object, "message", attempt->detail);
    if (attempt->exit_code >= 0)
        json_put_int(object, attempt->reason == REASON_SIGNAL ? "signal" : "exit_code",
                     attempt->exit_code);
    json_put_instant(object, "start_date", attempt->started_at_us);
    json_put_instant(object, "end_date", attempt->ended_at_us);
    run_json_put_duration(object, "duration", attempt->started_at_us, attempt->ended_at_us);
    json_build_append(context, object);
    return STATUS_OK;
}

/* Earlier attempts of the task asked for, with how each ended. */
static enum status put_attempts(struct asking *asking, const struct task_row *task, json_t *object,
                                struct err *err)
{
    json_t *attempts = json_build_array();
    json_put(object, "attempts", attempts);
    return store_attempt_each(asking->run.store, task->id, add_attempt, attempts, err);
}

static void put_task(struct asking *asking, const struct task_row *task,
                     const struct explanation *explanation, json_t *object)
{
    json_put_string(object, "task_id", asking->run.dag->tasks[task->node].id);
    json_put_int(object, "map_index", task->map_index);
    json_put_string(object, "label", task->label);
    json_put_string(object, "state", task_state_name(task->state));
    json_put_string(object, "reason",
                    task->reason == REASON_NONE ? NULL : reason_name(task->reason));
    json_put(object, "because", json_text(explanation->because.text, explanation->because.length));
    json_put(object, "change",
             explanation->change.length > 0
                 ? json_text(explanation->change.text, explanation->change.length)
                 : json_null());
    json_put(object, "waits_for", json_incref(explanation->waits_for));
    json_put(object, "conditions", json_incref(explanation->conditions));
    if (explanation->caused_by != NULL)
        json_put(object, "caused_by", json_incref(explanation->caused_by));
    json_put_int(object, "try_number", task_row_tries(task));
    json_put_instant(object, "next_retry", task->due_at_us);
}

/* The whole answer for a task that was asked for by name. */
static void add_sentence(struct asking *asking, const struct task_row *task,
                         const struct explanation *explanation, struct strbuf *summary)
{
    const char *id = asking->run.dag->tasks[task->node].id;
    if (summary->length > 0)
        strbuf_add_char(summary, '\n');
    strbuf_addf(summary, "'%s'", id);
    if (task->map_index >= 0)
        strbuf_addf(summary, " [%lld]", (long long)task->map_index);
    strbuf_addf(summary, " is %s: %s", task_state_name(task->state), explanation->because.text);
    if (explanation->change.length > 0)
        strbuf_addf(summary, ". To change it: %s", explanation->change.text);
}

/* The same for a run as a whole. */
static void add_run_sentence(const struct explanation *of_run, struct strbuf *summary)
{
    strbuf_add(summary, of_run->because.text);
    if (of_run->change.length > 0)
        strbuf_addf(summary, ". To change it: %s", of_run->change.text);
}

static enum status answer_task(struct asking *asking, const struct explain_world *world,
                               const struct task_row *task, json_t *tasks, struct strbuf *summary,
                               struct err *err)
{
    struct explain_subject subject;
    if (make_subject(asking, task, &subject, err) != STATUS_OK)
        return err->code;
    CLEANUP(explanation_fini) struct explanation explanation;
    explanation_init(&explanation);
    explain_task(world, &subject, &explanation);
    json_t *object = json_build_object();
    json_build_append(tasks, object);
    put_task(asking, task, &explanation, object);
    if (asking->node < 0)
        return STATUS_OK;
    if (task->map_index < 0 || asking->map_index >= 0)
        add_sentence(asking, task, &explanation, summary);
    return put_attempts(asking, task, object, err);
}

static enum status answer_tasks(struct asking *asking, const struct explain_world *world,
                                json_t *tasks, struct strbuf *summary, struct err *err)
{
    const struct dag *dag = asking->run.dag;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct task_row *task = &asking->nodes[dag->order[i]];
        if (!is_asked_for(asking, task))
            continue;
        if (json_array_size(tasks) >= TASKS_MAX)
            asking->left_out++;
        else if (answer_task(asking, world, task, tasks, summary, err) != STATUS_OK)
            return err->code;
    }
    for (size_t i = 0; i < asking->chosen_count; i++) {
        if (json_array_size(tasks) >= TASKS_MAX)
            asking->left_out++;
        else if (answer_task(asking, world, &asking->chosen[i], tasks, summary, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status begin(struct asking *asking, const json_t *request, struct err *err)
{
    const char *task_id = json_get_string(request, "task", NULL);
    struct task_row task;
    asking->node = -1;
    asking->map_index = json_get_int(request, "map_index", -1);
    if (lookup_run(asking->service, DB_READ_ONLY, asking->arena, request, &asking->run, err) !=
        STATUS_OK)
        return err->code;
    if (task_id == NULL)
        return asking->map_index < 0 ? STATUS_OK
                                     : err_set(err, STATUS_INVALID, "'map_index' needs a task");
    if (lookup_node(asking->run.dag, task_id, &asking->node, err) != STATUS_OK)
        return err->code;
    return lookup_task(&asking->run, asking->arena, asking->node, asking->map_index, &task, err);
}

static json_t *answer(const struct asking *asking, json_t *taken_tasks,
                      const struct explanation *of_run, const struct strbuf *summary)
{
    json_t *object = json_build_object();
    json_put_id(object, "number", asking->run.info.id);
    json_put_string(object, "dag_id", asking->run.info.dag_id);
    json_put_string(object, "dag_run_id", asking->run.info.run_id);
    json_put_string(object, "state", run_state_name(asking->run.info.state));
    json_put(object, "summary", json_text(summary->text, summary->length));
    json_put(object, "conditions", json_incref(of_run->conditions));
    json_put(object, "tasks", taken_tasks);
    json_put_int(object, "left_out", asking->left_out);
    return object;
}

static enum status load_admission(struct asking *asking, struct admission_state *out,
                                  struct err *err)
{
    *out = (struct admission_state){0};
    if (asking->run.info.admission != ADMISSION_WAITING)
        return STATUS_OK;
    return store_admission_state(asking->run.store, asking->arena, asking->run.info.id, out, err);
}

static struct explain_world make_world(const struct asking *asking, const struct tally *tally,
                                       const struct admission_state *admission)
{
    const struct run_info *run = &asking->run.info;
    bool is_open = !run_state_is_final(run->state) && !admission->is_waiting;
    bool is_foreground = run->scope != 0;
    return (struct explain_world){
        .run = run,
        .dag = asking->run.dag,
        .nodes = asking->nodes,
        .now_us = service_now_us(asking->service),
        .running = tally->states[TASK_RUNNING],
        .is_foreground = is_foreground,
        .is_orphaned = is_foreground && is_open &&
                       (asking->has_dead_owner || !service_run_is_held(asking->service, run->id)),
        .has_scheduler = asking->around.has_scheduler,
        .fleet = {asking->around.hosts, asking->around.hosts_count},
        .foregrounds = {asking->around.foregrounds, asking->around.foregrounds_count},
        .admission = admission->is_waiting ? admission : NULL,
    };
}

enum status op_run_explain(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *tasks = json_build_array();
    CLEANUP(strbuf_fini) struct strbuf summary;
    CLEANUP(explanation_fini) struct explanation of_run;
    strbuf_init(&summary, SUMMARY_MAX);
    explanation_init(&of_run);
    struct asking asking = {.service = service, .arena = arena};
    struct admission_state admission;
    struct tally tally;
    if (begin(&asking, request, err) != STATUS_OK || read_rows(&asking, err) != STATUS_OK ||
        explain_around_load(service, asking.run.store, arena, &asking.around, err) != STATUS_OK ||
        store_tally(asking.run.store, &asking.run.info, &tally, err) != STATUS_OK ||
        load_admission(&asking, &admission, err) != STATUS_OK)
        return err->code;
    struct explain_world world = make_world(&asking, &tally, &admission);
    if (asking.run.info.cancel_asked != CANCEL_NONE &&
        store_stop_load(asking.run.store, arena, asking.run.info.id, 0, &world.stop, err) !=
            STATUS_OK)
        return err->code;
    explain_run(&world, &tally, &of_run);
    if (asking.node < 0)
        add_run_sentence(&of_run, &summary);
    if (answer_tasks(&asking, &world, tasks, &summary, err) != STATUS_OK)
        return err->code;
    *out = answer(&asking, TAKE(tasks), &of_run, &summary);
    return STATUS_OK;
}
