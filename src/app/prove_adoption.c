#include "app/prove_adoption.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/opening.h"
#include "app/prove_evidence.h"
#include "app/prove_host.h"
#include "app/prove_talk.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store/event_store.h"
#include "store/run_store.h"
#include "worker/prepare.h"

enum {
    PATIENCE_MS = 60000,
    STUCK_PATIENCE_MS = 10000, /* when it has failed already */
    TASK_NAME_MAX = 24,
    EVENTS_MAX = 100000,
};

#define DAG_ID "eider-prove-adoption"

/* What is known of one task, at the end. */
struct trace {
    struct prove_marks marks;
    bool is_first; /* on the host whose daemon alone is killed */
    enum task_state state;
    int64_t task;
    int64_t attempt;
    const char *nonce;
    int64_t verdicts; /* as recorded */
    int64_t losses;
};

struct adoption {
    const struct prove_world *world;
    const struct prove_request *request;
    struct prove_report *report;
    struct opening_scratch scratch;
    char *label;
    char *evidence;
    char *dag_path;
    struct arena *arena;
    struct prove_host keeps; /* its daemon is killed, its keeper is not */
    struct prove_host dies;
    struct prove_host takes; /* what the dead one had */
    const struct prove_host *awaited;
    struct trace *traces;
    size_t wanted; /* processes that must have started */
    int64_t run;   /* 0: not made yet */
    int64_t survivors;
    int64_t overlaps;
    bool is_over;
    bool is_stuck;
    bool is_interrupted;
};

static size_t task_count(const struct adoption *proof)
{
    return (size_t)proof->request->tasks;
}

/* Hosts have leases; otherwise locks tell who lives. */
static bool is_fleet(const struct adoption *proof)
{
    return !home_is_embedded(proof->world->home);
}

/* Tasks of the host that keeps its keeper. */
static size_t first_count(const struct adoption *proof)
{
    return task_count(proof) / 2;
}

static void task_name(size_t index, char out[static TASK_NAME_MAX])
{
    (void)snprintf(out, TASK_NAME_MAX, "t%zu", index + 1);
}

/* --- waiting --------------------------------------------------------------------------------- */

typedef enum status condition(struct adoption *proof, bool *out, struct err *err);

static enum status check_hosts(struct adoption *proof, struct err *err)
{
    struct prove_host *const hosts[] = {&proof->keeps, &proof->dies, &proof->takes};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        CLEANUP(mem_freep) char *last = NULL;
        if (prove_host_has_ended(hosts[i], &last))
            return err_set(err, STATUS_IO, "a host ended by itself: %s", last);
    }
    return STATUS_OK;
}

/* STATUS_TIMEOUT: it does not happen, or people do not want to wait for it. */
static enum status wait_for(struct adoption *proof, condition *is_so, const char *what,
                            struct err *err)
{
    struct prove_patience patience = {
        .world = proof->world,
        .patience_ms = proof->is_stuck ? STUCK_PATIENCE_MS : PATIENCE_MS,
        .what = what,
        .is_interrupted = &proof->is_interrupted,
    };
    for (;;) {
        bool done = false;
        if (is_so(proof, &done, err) != STATUS_OK)
            return err->code;
        if (done)
            return STATUS_OK;
        if (check_hosts(proof, err) != STATUS_OK || prove_pause(&patience, err) != STATUS_OK)
            return err->code;
    }
}

static enum status is_up(struct adoption *proof, bool *out, struct err *err)
{
    (void)err;
    *out = prove_host_is_up(proof->awaited);
    return STATUS_OK;
}

static enum status begin_host(struct adoption *proof, struct prove_host *host, size_t slots,
                              struct err *err)
{
    proof->awaited = host;
    if (prove_host_start(host, (int64_t)slots, err) != STATUS_OK)
        return err->code;
    return wait_for(proof, is_up, "a host of the proof is up", err);
}

static enum status read_marks(struct adoption *proof, size_t index, struct err *err)
{
    char name[TASK_NAME_MAX];
    task_name(index, name);
    return prove_marks_read(proof->arena, proof->evidence, name, &proof->traces[index].marks, err);
}

static enum status have_started(struct adoption *proof, bool *out, struct err *err)
{
    size_t started = 0;
    for (size_t i = 0; i < task_count(proof); i++) {
        if (read_marks(proof, i, err) != STATUS_OK)
            return err->code;
        started += proof->traces[i].marks.starts;
    }
    *out = started >= proof->wanted;
    return STATUS_OK;
}

static enum status is_run_over(struct adoption *proof, bool *out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct run_info info;
    if (service_store(proof->world->service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_run_load(store, arena, proof->run, &info, err) != STATUS_OK)
        return err->code;
    *out = proof->is_over = run_state_is_final(info.state);
    return STATUS_OK;
}

/* --- the run --------------------------------------------------------------------------------- */

static json_t *object_new(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
}

/* JSON is YAML. */
static enum status write_dag(struct adoption *proof, struct err *err)
{
    CLEANUP(json_decrefp) json_t *dag = object_new();
    json_t *tasks = object_new();
    for (size_t i = 0; i < task_count(proof); i++) {
        char name[TASK_NAME_MAX];
        json_t *task = object_new();
        json_t *env = object_new();
        task_name(i, name);
        json_put_string(env, "EVIDENCE", proof->evidence);
        json_put(task, "env", env);
        json_put_string(task, "queue", proof->label);
        json_put_string(task, "worker", proof->label);
        json_put_string(task, "timeout", "30m");
        json_put_string(task, "run", PROVE_SCRIPT);
        json_put(tasks, name, task);
    }
    json_put_string(dag, "dag", DAG_ID);
    json_put(dag, "tasks", tasks);
    CLEANUP(mem_freep) char *text = json_format(dag);
    return file_write_atomic(proof->dag_path, text, strlen(text), 0600, err);
}

static enum status call(const struct adoption *proof, const char *operation, json_t *taken_request,
                        json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = taken_request;
    return operation_call(&proof->world->operations, operation, request, out, err);
}

static enum status trigger(struct adoption *proof, struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    json_t *request = object_new();
    json_put_string(request, "file", proof->dag_path);
    json_put_string(request, "run_id", proof->label);
    if (call(proof, "dag.trigger", request, &response, err) != STATUS_OK)
        return err->code;
    CHECK(str_parse_i64(json_get_string(response, "number", ""), 1, INT64_MAX, &proof->run));
    return STATUS_OK;
}

static json_t *request_of_run(const struct adoption *proof)
{
    json_t *request = object_new();
    CLEANUP(mem_freep) char *number = mem_format("%lld", (long long)proof->run);
    json_put_string(request, "run", number);
    return request;
}

/* --- what is done to it ---------------------------------------------------------------------- */

static enum status start_first(struct adoption *proof, struct err *err)
{
    proof->wanted = first_count(proof);
    if (begin_host(proof, &proof->keeps, first_count(proof), err) != STATUS_OK ||
        write_dag(proof, err) != STATUS_OK || trigger(proof, err) != STATUS_OK)
        return err->code;
    prove_say(proof->request, "run %lld of %zu tasks; the first host takes half of them",
              (long long)proof->run, task_count(proof));
    if (wait_for(proof, have_started, "the first host runs half of the tasks", err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < task_count(proof); i++)
        proof->traces[i].is_first = proof->traces[i].marks.starts > 0;
    return STATUS_OK;
}

static enum status kill_daemons(struct adoption *proof, struct err *err)
{
    for (int64_t kill = 1; kill < proof->request->kills; kill++) {
        prove_say(proof->request,
                  "kill %lld of %lld: the daemon of the first host; it is started again",
                  (long long)kill, (long long)proof->request->kills);
        prove_host_kill(&proof->keeps);
        for (size_t i = 0; i < task_count(proof); i++)
            if (proof->traces[i].is_first)
                proof->survivors += prove_mark_is_alive(prove_marks_first(&proof->traces[i].marks));
        if (begin_host(proof, &proof->keeps, first_count(proof), err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status start_others(struct adoption *proof, struct err *err)
{
    proof->wanted = task_count(proof);
    prove_say(proof->request, "a second host takes the other half");
    if (begin_host(proof, &proof->dies, task_count(proof) - first_count(proof), err) != STATUS_OK ||
        wait_for(proof, have_started, "the second host runs the other tasks", err) != STATUS_OK)
        return err->code;
    return begin_host(proof, &proof->takes, task_count(proof), err);
}

static enum status kill_host(struct adoption *proof, struct err *err)
{
    size_t others = task_count(proof) - first_count(proof);
    proof->wanted = task_count(proof) + others;
    prove_say(proof->request,
              "kill %lld of %lld: the second host with all it runs; a third one takes over",
              (long long)proof->request->kills, (long long)proof->request->kills);
    prove_host_kill_all(&proof->dies);
    if (wait_for(proof, have_started, "its tasks run again elsewhere", err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < task_count(proof); i++)
        if (!proof->traces[i].is_first)
            proof->overlaps += prove_mark_is_alive(prove_marks_first(&proof->traces[i].marks));
    prove_say(proof->request, "the second host comes back");
    return begin_host(proof, &proof->dies, others, err);
}

static void signal_second(struct adoption *proof, int signo)
{
    for (size_t i = 0; i < task_count(proof); i++)
        if (!proof->traces[i].is_first)
            prove_mark_signal(prove_marks_start(&proof->traces[i].marks, 1), signo);
}

static enum status have_second_ended(struct adoption *proof, bool *out, struct err *err)
{
    (void)err;
    *out = true;
    for (size_t i = 0; i < task_count(proof); i++)
        if (!proof->traces[i].is_first)
            *out &= !prove_mark_is_alive(prove_marks_start(&proof->traces[i].marks, 1));
    return STATUS_OK;
}

static enum status is_new(struct adoption *proof, bool *out, struct err *err)
{
    (void)err;
    *out = prove_host_is_new(&proof->takes);
    return STATUS_OK;
}

/* Without leases nobody takes anything from a process that exists. */
static enum status freeze_host(struct adoption *proof, struct err *err)
{
    if (!is_fleet(proof))
        return STATUS_OK;
    prove_say(proof->request, "the third host is frozen for longer than its lease");
    proof->wanted += task_count(proof) - first_count(proof);
    prove_host_freeze(&proof->takes);
    signal_second(proof, SIGSTOP);
    enum status status = wait_for(proof, have_started, "tasks of the frozen host run again", err);
    prove_say(proof->request, "it goes on, and must end what is not its own any more");
    /* Its keeper first, so that the daemon has late outcomes to tell. */
    prove_host_thaw_keepers(&proof->takes);
    signal_second(proof, SIGCONT);
    if (status == STATUS_OK)
        status = wait_for(proof, have_second_ended, "the frozen host ended its tasks", err);
    prove_host_thaw_daemon(&proof->takes);
    if (status != STATUS_OK)
        return status;
    return wait_for(proof, is_new, "the frozen host noticed", err);
}

static enum status finish(struct adoption *proof, struct err *err)
{
    CLEANUP(mem_freep) char *go = file_path_join(proof->evidence, "go");
    prove_say(proof->request, "all tasks may end now");
    if (file_write_atomic(go, "", 0, 0600, err) != STATUS_OK)
        return err->code;
    return wait_for(proof, is_run_over, "the run is over", err);
}

/* A step that does not happen is a finding, not an error. */
static enum status note_stuck(struct adoption *proof, enum status status, const struct err *err)
{
    if (status != STATUS_TIMEOUT)
        return status;
    proof->is_stuck = true;
    prove_report_note(proof->report, "%s", err->text);
    return STATUS_OK;
}

static enum status play(struct adoption *proof, struct err *err)
{
    static enum status (*const STEPS[])(struct adoption *, struct err *) = {
        start_first, kill_daemons, start_others, kill_host, freeze_host};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < ARRAY_LEN(STEPS) && status == STATUS_OK; i++)
        status = STEPS[i](proof, err);
    status = note_stuck(proof, status, err);
    if (status == STATUS_OK && proof->run != 0 && !proof->is_interrupted)
        status = note_stuck(proof, finish(proof, err), err);
    return status;
}

/* --- what came of it ------------------------------------------------------------------------- */

static struct trace *find_trace(struct adoption *proof, int64_t task)
{
    for (size_t i = 0; i < task_count(proof); i++)
        if (proof->traces[i].task == task)
            return &proof->traces[i];
    return NULL;
}

static enum status note_row(void *context, const struct run_row *run, const struct task_row *task,
                            struct err *err)
{
    struct adoption *proof = context;
    int64_t number = 0;
    if (!str_parse_i64(run->dag->tasks[task->node].id + 1, 1, proof->request->tasks, &number))
        return err_set(err, STATUS_CORRUPT, "the run has a task that is not ours");
    struct trace *trace = &proof->traces[number - 1];
    trace->task = task->id;
    trace->state = task->state;
    trace->attempt = task->attempt;
    trace->nonce = prepare_nonce_text(proof->arena, &task->nonce);
    return STATUS_OK;
}

static enum status note_event(void *context, const struct event_info *event, struct err *err)
{
    struct adoption *proof = context;
    struct trace *trace = find_trace(proof, event->task);
    (void)err;
    if (trace == NULL)
        return STATUS_OK;
    trace->verdicts += event->kind == EVENT_TASK_ENDED;
    trace->losses += event->kind == EVENT_TASK_LOST && event->reason == REASON_LOST_OWNER;
    return STATUS_OK;
}

static enum status collect(struct adoption *proof, struct err *err)
{
    struct store *store = NULL;
    const struct event_range range = {.run = proof->run, .limit = EVENTS_MAX};
    if (service_store(proof->world->service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_task_each(store, proof->run, note_row, proof, err) != STATUS_OK ||
        store_event_each(store, &range, note_event, proof, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < task_count(proof); i++)
        if (read_marks(proof, i, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* One process from the start to the end, in the first attempt. */
static bool was_adopted(const struct trace *trace)
{
    const struct prove_marks *marks = &trace->marks;
    return marks->count == 2 && marks->starts == 1 && marks->ends == 1 &&
           marks->items[0].pid == marks->items[1].pid && marks->items[0].attempt == 1 &&
           trace->attempt == 1 && trace->losses == 0;
}

/* Each process on another host than the one before; the second host was a new one by then. */
static bool ended_elsewhere(const struct adoption *proof, const struct trace *trace)
{
    const struct prove_marks *marks = &trace->marks;
    const struct prove_host *last = is_fleet(proof) ? &proof->dies : &proof->takes;
    if (marks->ends != 1 || !marks->items[marks->count - 1].is_end)
        return false;
    return str_starts_with(prove_marks_first(marks)->outputs, proof->dies.home) &&
           str_starts_with(marks->items[marks->count - 1].outputs, last->home);
}

struct tally {
    int64_t judged, doubled, open, adopted, lost, elsewhere, true_ends, starts, repeated, nonces;
};

static struct tally count_traces(const struct adoption *proof)
{
    struct tally tally = {0};
    CLEANUP(strmap_freep) struct strmap *nonces = strmap_new();
    for (size_t i = 0; i < task_count(proof); i++) {
        const struct trace *trace = &proof->traces[i];
        tally.judged += trace->verdicts == 1 && trace->state == TASK_SUCCESS;
        tally.doubled += trace->verdicts > 1;
        tally.open += !task_state_is_final(trace->state);
        tally.adopted += trace->is_first && was_adopted(trace);
        tally.lost += trace->losses;
        tally.elsewhere += !trace->is_first && ended_elsewhere(proof, trace);
        tally.true_ends += prove_marks_has_end(&trace->marks, trace->attempt, trace->nonce);
        tally.starts += (int64_t)trace->marks.starts;
        tally.repeated += trace->marks.starts > 1;
        for (size_t m = 0; m < trace->marks.count; m++)
            if (!trace->marks.items[m].is_end)
                tally.nonces += strmap_add(nonces, trace->marks.items[m].nonce, 1);
    }
    return tally;
}

static void judge(struct adoption *proof)
{
    struct prove_report *report = proof->report;
    const struct tally tally = count_traces(proof);
    int64_t tasks = proof->request->tasks;
    int64_t first = (int64_t)first_count(proof);
    int64_t others = tasks - first;
    const struct {
        const char *what;
        int64_t expected;
        int64_t seen;
    } checks[] = {
        {"steps that did not come in time", 0, proof->is_stuck},
        {"tasks with one verdict, success", tasks, tally.judged},
        {"tasks with a second verdict", 0, tally.doubled},
        {"tasks without a verdict", 0, tally.open},
        {"verdicts of an attempt that did its work", tasks, tally.true_ends},
        {"processes that outlived their killed daemon", first * (proof->request->kills - 1),
         proof->survivors},
        {"adopted tasks: one process, one attempt", first, tally.adopted},
        {"attempts recorded as lost_owner", others * (is_fleet(proof) ? 2 : 1), tally.lost},
        {"tasks of dead hosts that ended on another", others, tally.elsewhere},
        {"processes of a dead host beside their successors", 0, proof->overlaps},
        {"claims with a nonce of their own", tally.starts, tally.nonces},
    };
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        prove_report_check(report, checks[i].what, checks[i].expected, checks[i].seen);
    prove_report_note(report,
                      "execution is at least once: %lld of %lld tasks started more than once",
                      (long long)tally.repeated, (long long)tasks);
}

/* --- before and after ------------------------------------------------------------------------ */

static enum status prepare(struct adoption *proof, struct err *err)
{
    uint64_t chance = 0;
    rng_bytes(&chance, sizeof chance);
    proof->label = mem_format("prove-%012llx", (unsigned long long)(chance >> 16));
    proof->arena = arena_new();
    proof->traces = arena_array(proof->arena, task_count(proof), sizeof *proof->traces);
    memset(proof->traces, 0, task_count(proof) * sizeof *proof->traces);
    if (home_make(proof->world->home, err) != STATUS_OK ||
        opening_scratch_make(&proof->world->config->settings, &proof->scratch, err) != STATUS_OK)
        return err->code;
    const char *folder = proof->scratch.dir;
    proof->evidence = file_path_join(folder, "evidence");
    proof->dag_path = file_path_join(folder, DAG_ID ".yaml");
    if (file_tree_make(proof->evidence, 0700, err) != STATUS_OK ||
        prove_host_init(&proof->keeps, proof->world, folder, proof->label, 1, err) != STATUS_OK ||
        prove_host_init(&proof->dies, proof->world, folder, proof->label, 2, err) != STATUS_OK ||
        prove_host_init(&proof->takes, proof->world, folder, proof->label, 3, err) != STATUS_OK)
        return err->code;
    prove_say(proof->request, "hosts of the proof live in %s", folder);
    return STATUS_OK;
}

/* Hosts must be there for it, since they end what runs. */
static void cancel(struct adoption *proof)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err err = {0};
    if (proof->run == 0 || proof->is_over)
        return;
    proof->is_stuck = true;
    proof->is_interrupted = false;
    if (call(proof, "run.cancel", request_of_run(proof), &response, &err) == STATUS_OK)
        (void)wait_for(proof, is_run_over, "the run is cancelled", &err);
}

static json_t *request_of_queue(const struct adoption *proof, const char *key)
{
    json_t *request = object_new();
    json_put_string(request, key, proof->label);
    return request;
}

static enum status forget(struct adoption *proof, struct err *err)
{
    /* Dead letters are only there when the proof failed. */
    const struct {
        const char *operation;
        json_t *request;
    } steps[] = {
        {"run.delete", request_of_run(proof)},
        {"dead.purge", request_of_queue(proof, "queue")},
        {"queue.delete", request_of_queue(proof, "name")},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        CLEANUP(json_decrefp) json_t *request = steps[i].request;
        CLEANUP(json_decrefp) json_t *response = NULL;
        if (status == STATUS_OK)
            status = operation_call(&proof->world->operations, steps[i].operation, request,
                                    &response, err);
    }
    return status;
}

static void clean_up(struct adoption *proof)
{
    struct err err = {0};
    cancel(proof);
    prove_host_stop(&proof->keeps);
    prove_host_stop(&proof->dies);
    prove_host_stop(&proof->takes);
    prove_host_fini(&proof->keeps);
    prove_host_fini(&proof->dies);
    prove_host_fini(&proof->takes);
    if (proof->request->keeps && proof->run != 0) {
        prove_say(proof->request, "run %lld and %s were kept", (long long)proof->run,
                  proof->scratch.dir);
        home_fini(&proof->scratch.home);
        free(proof->scratch.dir);
    } else {
        if (proof->run != 0 && forget(proof, &err) != STATUS_OK)
            prove_say(proof->request, "not everything was cleaned up: %s", err.text);
        opening_scratch_fini(&proof->scratch);
    }
    free(proof->label);
    free(proof->evidence);
    free(proof->dag_path);
    arena_free(proof->arena);
}

enum status prove_adoption(const struct prove_world *world, const struct prove_request *request,
                           struct prove_report *report, bool *out_interrupted, struct err *err)
{
    struct adoption proof = {
        .world = world,
        .request = request,
        .report = report,
        .keeps = {.process = {.pidfd = -1}},
        .dies = {.process = {.pidfd = -1}},
        .takes = {.process = {.pidfd = -1}},
    };
    enum status status = prepare(&proof, err);
    if (status == STATUS_OK)
        status = play(&proof, err);
    if (status == STATUS_OK && !proof.is_interrupted && proof.run != 0)
        status = collect(&proof, err);
    *out_interrupted = proof.is_interrupted;
    if (status == STATUS_OK && !proof.is_interrupted)
        judge(&proof);
    clean_up(&proof);
    return status;
}
