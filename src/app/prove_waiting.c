#include "app/prove_waiting.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/opening.h"
#include "app/prove_host.h"
#include "app/prove_talk.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/process_usage.h"
#include "store/overview.h"
#include "store/run_store.h"

enum {
    PATIENCE_MS = 240000,
    SLOTS = 2,
    FIRST_MS = 15000, /* until the instant, and so much more for each wait: */
    EACH_US = 4000,
    WATCH_MS = 5000, /* how long the daemon is watched, and so much more for each wait: */
    WATCH_EACH_US = 500,
    PLAIN_MS_MOST = 5000, /* until a plain task has ended */
    RSS_MB_MOST = 100,
    CPU_PERCENT_MOST = 5,
};

#define DAG_ID   "eider-prove-waiting"
#define PLAIN_ID "eider-prove-waiting-plain"
#define EVERY    "20s"

struct waiting {
    const struct prove_world *world;
    const struct prove_request *request;
    struct prove_report *report;
    struct opening_scratch scratch;
    char *label;
    char *folder; /* where the files are to appear */
    struct prove_host host;
    int64_t run;   /* 0: not made yet */
    int64_t plain; /* the run of the plain task */
    int64_t at_us; /* the instant that half of them wait for */
    int64_t held;  /* slots, while all wait */
    int64_t plain_ms;
    int64_t rss_mb;
    double cpu_percent;
    int64_t early;
    int64_t latest_ms; /* after the instant */
    struct tally before;
    struct tally after;
    bool is_stuck;
    bool is_interrupted;
};

static int64_t files_count(const struct waiting *proof)
{
    return proof->request->count / 2;
}

/* --- waiting --------------------------------------------------------------------------------- */

typedef enum status condition(struct waiting *proof, bool *out, struct err *err);

static enum status check_host(struct waiting *proof, struct err *err)
{
    CLEANUP(mem_freep) char *last = NULL;
    if (prove_host_has_ended(&proof->host, &last))
        return err_set(err, STATUS_IO, "a host ended by itself: %s", last);
    return STATUS_OK;
}

static struct prove_patience patience_for(struct waiting *proof, const char *what)
{
    return (struct prove_patience){
        .world = proof->world,
        .patience_ms = PATIENCE_MS,
        .what = what,
        .is_interrupted = &proof->is_interrupted,
    };
}

/* STATUS_TIMEOUT: it does not happen, or people do not want to wait for it. */
static enum status wait_for(struct waiting *proof, condition *is_so, const char *what,
                            struct err *err)
{
    struct prove_patience patience = patience_for(proof, what);
    for (;;) {
        bool done = false;
        if (is_so(proof, &done, err) != STATUS_OK)
            return err->code;
        if (done)
            return STATUS_OK;
        if (check_host(proof, err) != STATUS_OK || prove_pause(&patience, err) != STATUS_OK)
            return err->code;
    }
}

static enum status is_up(struct waiting *proof, bool *out, struct err *err)
{
    (void)err;
    *out = prove_host_is_up(&proof->host);
    return STATUS_OK;
}

static enum status load_run(struct waiting *proof, int64_t run, struct arena *arena,
                            struct store **out_store, struct run_info *out, struct err *err)
{
    if (service_store(proof->world->service, DB_READ_WRITE, out_store, err) != STATUS_OK)
        return err->code;
    return store_run_load(*out_store, arena, run, out, err);
}

static enum status count_tasks(struct waiting *proof, struct tally *out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct run_info info;
    if (load_run(proof, proof->run, arena, &store, &info, err) != STATUS_OK)
        return err->code;
    return store_tally(store, &info, out, err);
}

static enum status do_all_wait(struct waiting *proof, bool *out, struct err *err)
{
    if (count_tasks(proof, &proof->before, err) != STATUS_OK)
        return err->code;
    *out = proof->before.states[TASK_DEFERRED] == proof->request->count;
    return STATUS_OK;
}

static enum status is_over(struct waiting *proof, int64_t run, bool *out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct run_info info;
    if (load_run(proof, run, arena, &store, &info, err) != STATUS_OK)
        return err->code;
    *out = run_state_is_final(info.state);
    return STATUS_OK;
}

static enum status is_run_over(struct waiting *proof, bool *out, struct err *err)
{
    return is_over(proof, proof->run, out, err);
}

static enum status is_plain_over(struct waiting *proof, bool *out, struct err *err)
{
    return is_over(proof, proof->plain, out, err);
}

/* --- the runs -------------------------------------------------------------------------------- */

static json_t *object_new(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
}

static json_t *mapped(const struct waiting *proof, int64_t count, json_t *taken_sensor)
{
    json_t *task = object_new();
    json_t *items = json_array();
    for (int64_t i = 0; i < count; i++)
        CHECK(json_array_append_new(items, json_integer(i)) == 0);
    json_put(task, "foreach", items);
    json_put(task, "sensor", taken_sensor);
    json_put_string(task, "queue", proof->label);
    json_put_string(task, "worker", proof->label);
    return task;
}

static json_t *dag_of_waits(const struct waiting *proof)
{
    char at[INSTANT_TEXT_MAX];
    CLEANUP(mem_freep) char *path = mem_format("%s/{{ item }}", proof->folder);
    json_t *dag = object_new();
    json_t *tasks = object_new();
    json_t *file = object_new();
    json_t *time = object_new();
    json_put_string(file, "file", path);
    json_put_string(file, "every", EVERY);
    json_put_string(time, "time", instant_format(proof->at_us, at));
    json_put(tasks, "files", mapped(proof, files_count(proof), file));
    json_put(tasks, "times", mapped(proof, proof->request->count - files_count(proof), time));
    json_put_string(dag, "dag", DAG_ID);
    json_put(dag, "tasks", tasks);
    return dag;
}

static json_t *dag_of_plain(const struct waiting *proof)
{
    json_t *dag = object_new();
    json_t *tasks = object_new();
    json_t *task = object_new();
    json_put_string(task, "run", "true");
    json_put_string(task, "queue", proof->label);
    json_put_string(task, "worker", proof->label);
    json_put(tasks, "plain", task);
    json_put_string(dag, "dag", PLAIN_ID);
    json_put(dag, "tasks", tasks);
    return dag;
}

static enum status call(const struct waiting *proof, const char *operation, json_t *taken_request,
                        json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = taken_request;
    return operation_call(&proof->world->operations, operation, request, out, err);
}

/* JSON is YAML. */
static enum status trigger(struct waiting *proof, json_t *taken_dag, int64_t *out_run,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *dag = taken_dag;
    CLEANUP(json_decrefp) json_t *response = NULL;
    CLEANUP(mem_freep) char *text = json_format(dag);
    CLEANUP(mem_freep)
    char *path = mem_format("%s/%s.yaml", proof->scratch.dir, json_get_string(dag, "dag", ""));
    json_t *request = object_new();
    json_put_string(request, "file", path);
    json_put_string(request, "run_id", proof->label);
    enum status status = file_write_atomic(path, text, strlen(text), 0600, err);
    if (status != STATUS_OK) {
        json_decref(request);
        return status;
    }
    if (call(proof, "dag.trigger", request, &response, err) != STATUS_OK)
        return err->code;
    CHECK(str_parse_i64(json_get_string(response, "number", ""), 1, INT64_MAX, out_run));
    return STATUS_OK;
}

/* --- what is done ---------------------------------------------------------------------------- */

static enum status start(struct waiting *proof, struct err *err)
{
    int64_t count = proof->request->count;
    if (prove_host_start(&proof->host, SLOTS, err) != STATUS_OK ||
        wait_for(proof, is_up, "a host of the proof is up", err) != STATUS_OK)
        return err->code;
    proof->at_us = clock_wall_us() + (int64_t)FIRST_MS * 1000 + count * EACH_US;
    if (trigger(proof, dag_of_waits(proof), &proof->run, err) != STATUS_OK)
        return err->code;
    prove_say(proof->request,
              "run %lld: %lld tasks wait for files, looked for every %s, %lld for an instant",
              (long long)proof->run, (long long)files_count(proof), EVERY,
              (long long)(count - files_count(proof)));
    if (wait_for(proof, do_all_wait, "all tasks wait", err) != STATUS_OK)
        return err->code;
    proof->held = proof->before.states[TASK_RUNNING];
    return STATUS_OK;
}

static enum status run_plain(struct waiting *proof, struct err *err)
{
    prove_say(proof->request, "a plain task in the same queue");
    int64_t began_us = clock_mono_us();
    if (trigger(proof, dag_of_plain(proof), &proof->plain, err) != STATUS_OK ||
        wait_for(proof, is_plain_over, "the plain task has ended", err) != STATUS_OK)
        return err->code;
    proof->plain_ms = (clock_mono_us() - began_us) / 1000;
    return STATUS_OK;
}

static enum status watch(struct waiting *proof, struct err *err)
{
    struct process_usage first;
    struct process_usage last;
    int64_t watch_us = (int64_t)WATCH_MS * 1000 + proof->request->count * WATCH_EACH_US;
    prove_say(proof->request, "the daemon is watched for %lld s", (long long)(watch_us / 1000000));
    if (process_usage_read(proof->host.process.pid, &first, err) != STATUS_OK)
        return err->code;
    int64_t began_us = clock_mono_us();
    struct prove_patience patience = patience_for(proof, "it was watched");
    while (clock_mono_us() - began_us < watch_us)
        if (check_host(proof, err) != STATUS_OK || prove_pause(&patience, err) != STATUS_OK)
            return err->code;
    if (process_usage_read(proof->host.process.pid, &last, err) != STATUS_OK)
        return err->code;
    int64_t took_ms = (clock_mono_us() - began_us) / 1000;
    proof->rss_mb = last.rss_bytes / 1000000;
    proof->cpu_percent = (double)(last.cpu_ms - first.cpu_ms) * 100 / (double)took_ms;
    return STATUS_OK;
}

static enum status meet(struct waiting *proof, struct err *err)
{
    prove_say(proof->request, "the files appear, and the instant comes");
    for (int64_t i = 0; i < files_count(proof); i++) {
        CLEANUP(mem_freep) char *path = mem_format("%s/%lld", proof->folder, (long long)i);
        CLEANUP(file_closep) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return err_set(err, STATUS_IO, "make '%s'", path);
    }
    return wait_for(proof, is_run_over, "the run is over", err);
}

/* A step that does not happen is a finding, not an error. */
static enum status play(struct waiting *proof, struct err *err)
{
    static enum status (*const STEPS[])(struct waiting *, struct err *) = {start, run_plain, watch,
                                                                           meet};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < ARRAY_LEN(STEPS) && status == STATUS_OK; i++)
        status = STEPS[i](proof, err);
    if (status != STATUS_TIMEOUT)
        return status;
    proof->is_stuck = true;
    prove_report_note(proof->report, "%s", err->text);
    return STATUS_OK;
}

/* --- what came of it ------------------------------------------------------------------------- */

static enum status note_row(void *context, const struct run_row *run, const struct task_row *task,
                            struct err *err)
{
    struct waiting *proof = context;
    (void)err;
    bool is_time = str_equal(run->dag->tasks[task->node].id, "times");
    if (!is_time || task->map_index < 0 || task->state != TASK_SUCCESS)
        return STATUS_OK;
    proof->early += task->ended_at_us < proof->at_us;
    proof->latest_ms = MAX(proof->latest_ms, (task->ended_at_us - proof->at_us) / 1000);
    return STATUS_OK;
}

static enum status collect(struct waiting *proof, struct err *err)
{
    struct store *store = NULL;
    if (service_store(proof->world->service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        count_tasks(proof, &proof->after, err) != STATUS_OK)
        return err->code;
    return store_task_each(store, proof->run, note_row, proof, err);
}

static void judge(struct waiting *proof)
{
    struct prove_report *report = proof->report;
    int64_t count = proof->request->count;
    const struct {
        const char *what;
        int64_t expected;
        int64_t seen;
    } checks[] = {
        {"steps that did not come in time", 0, proof->is_stuck},
        {"tasks that waited at once", count, proof->before.states[TASK_DEFERRED]},
        {"slots that they held", 0, proof->held},
        {"a plain task ran at once", 1, proof->plain_ms > 0 && proof->plain_ms <= PLAIN_MS_MOST},
        {"the daemon has less than 100 MB in memory", 1,
         proof->rss_mb > 0 && proof->rss_mb < RSS_MB_MOST},
        {"it uses less than 5 % of a core", 1, proof->cpu_percent < CPU_PERCENT_MOST},
        {"tasks that found what they waited for", count, proof->after.states[TASK_SUCCESS]},
        {"tasks whose instant came too early", 0, proof->early},
    };
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        prove_report_check(report, checks[i].what, checks[i].expected, checks[i].seen);
    prove_report_note(report,
                      "the plain task took %lld ms; the daemon has %lld MB in memory and used "
                      "%.1f %% of a core; the last task for an instant ended %lld ms after it",
                      (long long)proof->plain_ms, (long long)proof->rss_mb, proof->cpu_percent,
                      (long long)proof->latest_ms);
}

/* --- before and after ------------------------------------------------------------------------ */

static enum status prepare(struct waiting *proof, struct err *err)
{
    uint64_t chance = 0;
    rng_bytes(&chance, sizeof chance);
    proof->label = mem_format("prove-%012llx", (unsigned long long)(chance >> 16));
    if (home_make(proof->world->home, err) != STATUS_OK ||
        opening_scratch_make(&proof->world->config->settings, &proof->scratch, err) != STATUS_OK)
        return err->code;
    proof->folder = file_path_join(proof->scratch.dir, "files");
    if (file_tree_make(proof->folder, 0700, err) != STATUS_OK)
        return err->code;
    prove_say(proof->request, "the host of the proof lives in %s", proof->scratch.dir);
    return prove_host_init(&proof->host, proof->world, proof->scratch.dir, proof->label, 1, err);
}

static json_t *request_of(const char *key, const char *value)
{
    json_t *request = object_new();
    json_put_string(request, key, value);
    return request;
}

/* A run that goes on is stopped first; its host is there for it. */
static enum status forget_run(struct waiting *proof, int64_t run, condition *is_so, struct err *err)
{
    CLEANUP(json_decrefp) json_t *stopped = NULL;
    CLEANUP(json_decrefp) json_t *deleted = NULL;
    CLEANUP(mem_freep) char *number = mem_format("%lld", (long long)run);
    bool is_done = run == 0;
    if (is_done)
        return STATUS_OK;
    if (is_so(proof, &is_done, err) != STATUS_OK)
        return err->code;
    proof->is_interrupted = false;
    /* A conflict: it ended meanwhile. */
    if (!is_done &&
        call(proof, "run.cancel", request_of("run", number), &stopped, err) != STATUS_OK &&
        err->code != STATUS_CONFLICT)
        return err->code;
    if (!is_done && wait_for(proof, is_so, "the run is cancelled", err) != STATUS_OK)
        return err->code;
    return call(proof, "run.delete", request_of("run", number), &deleted, err);
}

static enum status forget(struct waiting *proof, struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    if (forget_run(proof, proof->run, is_run_over, err) != STATUS_OK ||
        forget_run(proof, proof->plain, is_plain_over, err) != STATUS_OK)
        return err->code;
    return call(proof, "queue.delete", request_of("name", proof->label), &response, err);
}

static void clean_up(struct waiting *proof)
{
    struct err err = {0};
    bool keeps = proof->request->keeps && proof->run != 0;
    if (!keeps && proof->run != 0 && forget(proof, &err) != STATUS_OK)
        prove_say(proof->request, "not everything was cleaned up: %s", err.text);
    prove_host_stop(&proof->host);
    prove_host_fini(&proof->host);
    if (keeps) {
        prove_say(proof->request, "run %lld and %s were kept", (long long)proof->run,
                  proof->scratch.dir);
        home_fini(&proof->scratch.home);
        free(proof->scratch.dir);
    } else {
        opening_scratch_fini(&proof->scratch);
    }
    free(proof->label);
    free(proof->folder);
}

enum status prove_waiting(const struct prove_world *world, const struct prove_request *request,
                          struct prove_report *report, bool *out_interrupted, struct err *err)
{
    struct waiting proof = {
        .world = world,
        .request = request,
        .report = report,
        .host = {.process = {.pidfd = -1}},
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
