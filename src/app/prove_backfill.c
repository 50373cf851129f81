#include "app/prove_backfill.h"

#include <stdlib.h>
#include <string.h>

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
#include "os/zone_file.h"
#include "store/backfill_store.h"
#include "store/control.h"
#include "store/run_store.h"

enum {
    PATIENCE_MS = 60000,
    SLOTS = 4,
    AT_ONCE = 20 * SLOTS, /* of the backfill: far more than fits */
    TASK_MS = 200,        /* how long a task of the backfill takes; also in HISTORY_RUN */
    SLACK_MS = 1000,      /* for a machine that is busy with other things */
    DOOMED_MAX = 100,
};

#define HISTORY_RUN   "sleep 0.2"
#define PRODUCTION_ID "eider-prove-backfill-production"
#define HISTORY_ID    "eider-prove-backfill-history"
#define FROM          "2000-01-01T00:00:00Z"
#define TO            "2002-09-26T00:00:00Z"

/* Starts of production runs, in the order of triggering. */
struct phase {
    int64_t *delays_ms;
    size_t count;
    int64_t succeeded;
};

struct on_time {
    const struct prove_world *world;
    const struct prove_request *request;
    struct prove_report *report;
    struct opening_scratch scratch;
    struct arena *arena;
    struct prove_host host;
    char *label;
    char *production_path;
    char *history_path;
    int64_t backfill; /* 0: not made yet */
    int64_t run;      /* that is waited for */
    int64_t *runs;    /* of production */
    size_t runs_count;
    struct phase alone;
    struct phase beside;
    int64_t ended; /* runs of the backfill that ended beside production */
    bool is_interrupted;
};

static enum status open_store(const struct on_time *proof, struct store **out, struct err *err)
{
    return service_store(proof->world->service, DB_READ_WRITE, out, err);
}

static enum status call(const struct on_time *proof, const char *operation, json_t *taken_request,
                        json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = taken_request;
    return operation_call(&proof->world->operations, operation, request, out, err);
}

static json_t *object_new(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
}

/* --- the backfill goes on while we wait ------------------------------------------------------ */

/* What a scheduler does; the proof works off its own backfill and leaves others alone. */
static enum status work_off(struct on_time *proof, struct err *err)
{
    struct backfill_progress progress = {.is_more = true};
    struct doomed_run runs[DOOMED_MAX];
    size_t count = 0;
    struct store *store = NULL;
    if (proof->backfill == 0)
        return STATUS_OK;
    if (open_store(proof, &store, err) != STATUS_OK)
        return err->code;
    while (progress.is_more)
        if (store_backfill_step(store, proof->backfill, zone_file_read, &progress, err) !=
            STATUS_OK)
            return err->code;
    if (store_backfill_doomed(store, runs, DOOMED_MAX, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        struct cancel_request cancel = {
            .run = runs[i].run, .cause = CANCEL_ASKED, .actor = proof->label};
        enum status status = store_run_cancel(store, &cancel, err);
        if (status != STATUS_OK && status != STATUS_CONFLICT)
            return status;
    }
    if (count + (size_t)progress.let_go > 0)
        service_wake(proof->world->service);
    return STATUS_OK;
}

typedef enum status condition(struct on_time *proof, bool *out, struct err *err);

static enum status wait_for(struct on_time *proof, condition *is_so, const char *what,
                            struct err *err)
{
    struct prove_patience patience = {
        .world = proof->world,
        .patience_ms = PATIENCE_MS,
        .what = what,
        .is_interrupted = &proof->is_interrupted,
    };
    for (;;) {
        CLEANUP(mem_freep) char *last = NULL;
        bool done = false;
        if (work_off(proof, err) != STATUS_OK || is_so(proof, &done, err) != STATUS_OK)
            return err->code;
        if (done)
            return STATUS_OK;
        if (prove_host_has_ended(&proof->host, &last))
            return err_set(err, STATUS_IO, "a host ended by itself: %s", last);
        if (prove_pause(&patience, err) != STATUS_OK)
            return err->code;
    }
}

static enum status is_up(struct on_time *proof, bool *out, struct err *err)
{
    (void)err;
    *out = prove_host_is_up(&proof->host);
    return STATUS_OK;
}

static enum status load_run(const struct on_time *proof, int64_t id, struct run_info *out,
                            struct err *err)
{
    struct store *store = NULL;
    if (open_store(proof, &store, err) != STATUS_OK)
        return err->code;
    return store_run_load(store, proof->arena, id, out, err);
}

static enum status is_run_over(struct on_time *proof, bool *out, struct err *err)
{
    struct run_info info = {0};
    if (load_run(proof, proof->run, &info, err) != STATUS_OK)
        return err->code;
    *out = run_state_is_final(info.state);
    return STATUS_OK;
}

static enum status load_backfill(const struct on_time *proof, struct backfill_info *out,
                                 struct err *err)
{
    struct store *store = NULL;
    if (open_store(proof, &store, err) != STATUS_OK)
        return err->code;
    return store_backfill_load(store, proof->arena, proof->backfill, out, err);
}

/* Every slot has had a task of it, and many more wait. */
static enum status is_crowded(struct on_time *proof, bool *out, struct err *err)
{
    struct backfill_info info = {0};
    if (load_backfill(proof, &info, err) != STATUS_OK)
        return err->code;
    *out = info.succeeded >= SLOTS;
    return STATUS_OK;
}

static enum status is_backfill_over(struct on_time *proof, bool *out, struct err *err)
{
    struct backfill_info info = {0};
    if (load_backfill(proof, &info, err) != STATUS_OK)
        return err->code;
    *out = backfill_state_is_final(info.state);
    return STATUS_OK;
}

/* --- production ------------------------------------------------------------------------------ */

/* JSON is YAML. */
static enum status write_dag(const struct on_time *proof, const char *path, const char *id,
                             const char *schedule, const char *command, struct err *err)
{
    CLEANUP(json_decrefp) json_t *dag = object_new();
    json_t *tasks = object_new();
    json_t *task = object_new();
    json_put_string(task, "queue", proof->label);
    json_put_string(task, "worker", proof->label);
    json_put_string(task, "run", command);
    json_put(tasks, "work", task);
    json_put_string(dag, "dag", id);
    json_put_int(dag, "max_active_runs", PROVE_TASKS_MOST);
    if (schedule != NULL)
        json_put_string(dag, "schedule", schedule);
    json_put(dag, "tasks", tasks);
    CLEANUP(mem_freep) char *text = json_format(dag);
    return file_write_atomic(path, text, strlen(text), 0600, err);
}

static enum status produce(struct on_time *proof, struct phase *phase, struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct run_info info = {0};
    json_t *request = object_new();
    json_put_string(request, "file", proof->production_path);
    if (call(proof, "dag.trigger", request, &response, err) != STATUS_OK)
        return err->code;
    CHECK(str_parse_i64(json_get_string(response, "number", ""), 1, INT64_MAX, &proof->run));
    proof->runs[proof->runs_count++] = proof->run;
    if (wait_for(proof, is_run_over, "a production run is over", err) != STATUS_OK ||
        load_run(proof, proof->run, &info, err) != STATUS_OK)
        return err->code;
    phase->succeeded += info.state == RUN_SUCCESS;
    phase->delays_ms[phase->count++] = (info.started_at_us - info.created_at_us) / 1000;
    return STATUS_OK;
}

static enum status produce_all(struct on_time *proof, struct phase *phase, struct err *err)
{
    for (int64_t i = 0; i < proof->request->tasks; i++)
        if (produce(proof, phase, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* --- the proof ------------------------------------------------------------------------------- */

static enum status begin_backfill(struct on_time *proof, struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    json_t *request = object_new();
    json_put_string(request, "file", proof->history_path);
    json_put_string(request, "from", FROM);
    json_put_string(request, "to", TO);
    json_put_int(request, "max_active", AT_ONCE);
    json_put_string(request, "reason", "eider prove backfill");
    if (call(proof, "backfill.create", request, &response, err) != STATUS_OK)
        return err->code;
    CHECK(str_parse_i64(json_get_string(response, "backfill", ""), 1, INT64_MAX, &proof->backfill));
    if (str_equal(json_get_string(response, "state", ""), "running"))
        return STATUS_OK;
    struct store *store = NULL;
    const struct backfill_change approve = {
        .id = proof->backfill, .verb = VERB_APPROVE, .actor = proof->label};
    if (open_store(proof, &store, err) != STATUS_OK)
        return err->code;
    return store_backfill_change(store, &approve, err);
}

static enum status play(struct on_time *proof, struct err *err)
{
    struct backfill_info before = {0};
    struct backfill_info after = {0};
    if (write_dag(proof, proof->production_path, PRODUCTION_ID, NULL, "true", err) != STATUS_OK ||
        write_dag(proof, proof->history_path, HISTORY_ID, "0 0 * * *", HISTORY_RUN, err) !=
            STATUS_OK ||
        prove_host_start(&proof->host, SLOTS, err) != STATUS_OK ||
        wait_for(proof, is_up, "the host of the proof is up", err) != STATUS_OK)
        return err->code;
    prove_say(proof->request, "%lld production runs alone on %d slots",
              (long long)proof->request->tasks, SLOTS);
    if (produce_all(proof, &proof->alone, err) != STATUS_OK ||
        begin_backfill(proof, err) != STATUS_OK)
        return err->code;
    prove_say(proof->request, "backfill %lld: %d runs of it at once, in the same queue",
              (long long)proof->backfill, AT_ONCE);
    if (wait_for(proof, is_crowded, "the backfill fills the slots", err) != STATUS_OK ||
        load_backfill(proof, &before, err) != STATUS_OK)
        return err->code;
    prove_say(proof->request, "%lld production runs beside it", (long long)proof->request->tasks);
    if (produce_all(proof, &proof->beside, err) != STATUS_OK ||
        load_backfill(proof, &after, err) != STATUS_OK)
        return err->code;
    proof->ended = after.succeeded - before.succeeded;
    return STATUS_OK;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void note_phase(struct on_time *proof, const char *name, struct phase *phase)
{
    qsort(phase->delays_ms, phase->count, sizeof *phase->delays_ms, by_size);
    prove_report_note(proof->report, "%s: started after %lld ms in the middle, %lld ms at worst",
                      name, (long long)phase->delays_ms[phase->count / 2],
                      (long long)phase->delays_ms[phase->count - 1]);
}

static void judge(struct on_time *proof)
{
    struct prove_report *report = proof->report;
    note_phase(proof, "production alone", &proof->alone);
    note_phase(proof, "production beside the backfill", &proof->beside);
    int64_t bound_ms = proof->alone.delays_ms[proof->alone.count - 1] + TASK_MS + SLACK_MS;
    int64_t late = 0;
    for (size_t i = 0; i < proof->beside.count; i++)
        late += proof->beside.delays_ms[i] > bound_ms;
    prove_report_check(report, "production runs that succeeded", 2 * proof->request->tasks,
                       proof->alone.succeeded + proof->beside.succeeded);
    prove_report_check(report, "production runs that started late", 0, late);
    prove_report_check(report, "the backfill went on meanwhile", 1, proof->ended > 0);
    prove_report_note(report,
                      "late is more than %lld ms: the worst alone, a task of the backfill, "
                      "and %d ms for the machine",
                      (long long)bound_ms, SLACK_MS);
}

/* --- before and after ------------------------------------------------------------------------ */

static enum status prepare(struct on_time *proof, struct err *err)
{
    uint64_t chance = 0;
    size_t runs = (size_t)proof->request->tasks;
    rng_bytes(&chance, sizeof chance);
    proof->label = mem_format("prove-%012llx", (unsigned long long)(chance >> 16));
    proof->arena = arena_new();
    proof->runs = arena_array(proof->arena, 2 * runs, sizeof *proof->runs);
    proof->alone.delays_ms = arena_array(proof->arena, runs, sizeof(int64_t));
    proof->beside.delays_ms = arena_array(proof->arena, runs, sizeof(int64_t));
    if (home_make(proof->world->home, err) != STATUS_OK ||
        opening_scratch_make(&proof->world->config->settings, &proof->scratch, err) != STATUS_OK)
        return err->code;
    proof->production_path = file_path_join(proof->scratch.dir, PRODUCTION_ID ".yaml");
    proof->history_path = file_path_join(proof->scratch.dir, HISTORY_ID ".yaml");
    return prove_host_init(&proof->host, proof->world, proof->scratch.dir, proof->label, 1, err);
}

static enum status cancel_all(struct on_time *proof, struct err *err)
{
    struct store *store = NULL;
    const struct backfill_change cancel = {
        .id = proof->backfill, .verb = VERB_CANCEL, .stops_running = true, .actor = proof->label};
    if (proof->backfill == 0)
        return STATUS_OK;
    if (open_store(proof, &store, err) != STATUS_OK ||
        store_backfill_change(store, &cancel, err) != STATUS_OK)
        return err->code;
    proof->is_interrupted = false;
    return wait_for(proof, is_backfill_over, "the backfill is cancelled", err);
}

static enum status delete_run(const struct on_time *proof, int64_t run, struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    CLEANUP(mem_freep) char *number = mem_format("%lld", (long long)run);
    json_t *request = object_new();
    json_put_string(request, "run", number);
    return call(proof, "run.delete", request, &response, err);
}

struct id_sink {
    struct arena *arena;
    int64_t *items;
    size_t count;
};

static enum status add_run(void *context, const struct backfill_date *date, struct err *err)
{
    (void)err;
    struct id_sink *sink = context;
    if (date->run_id != NULL)
        sink->items[sink->count++] = date->run;
    return STATUS_OK;
}

static enum status forget_backfill(struct on_time *proof, struct err *err)
{
    struct backfill_info info = {0};
    struct store *store = NULL;
    struct id_sink sink = {0};
    if (proof->backfill == 0)
        return STATUS_OK;
    if (load_backfill(proof, &info, err) != STATUS_OK ||
        open_store(proof, &store, err) != STATUS_OK)
        return err->code;
    int64_t most = info.created + info.redone + info.kept;
    sink.items = arena_array(proof->arena, (size_t)most + 1, sizeof *sink.items);
    if (store_backfill_date_each(store, info.id, most, add_run, &sink, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < sink.count; i++)
        if (delete_run(proof, sink.items[i], err) != STATUS_OK)
            return err->code;
    return store_backfill_forget(store, info.id, proof->label, err);
}

static enum status forget(struct on_time *proof, struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    if (forget_backfill(proof, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < proof->runs_count; i++)
        if (delete_run(proof, proof->runs[i], err) != STATUS_OK)
            return err->code;
    if (proof->runs_count == 0)
        return STATUS_OK;
    json_t *request = object_new();
    json_put_string(request, "name", proof->label);
    return call(proof, "queue.delete", request, &response, err);
}

static void clean_up(struct on_time *proof)
{
    struct err err = {0};
    bool was_interrupted = proof->is_interrupted;
    if (cancel_all(proof, &err) != STATUS_OK)
        prove_say(proof->request, "the backfill was not stopped: %s", err.text);
    proof->is_interrupted = was_interrupted;
    prove_host_stop(&proof->host);
    prove_host_fini(&proof->host);
    if (proof->request->keeps && proof->backfill != 0) {
        prove_say(proof->request, "backfill %lld and %s were kept", (long long)proof->backfill,
                  proof->scratch.dir);
        home_fini(&proof->scratch.home);
        free(proof->scratch.dir);
    } else {
        if (forget(proof, &err) != STATUS_OK)
            prove_say(proof->request, "not everything was cleaned up: %s", err.text);
        opening_scratch_fini(&proof->scratch);
    }
    free(proof->label);
    free(proof->production_path);
    free(proof->history_path);
    arena_free(proof->arena);
}

enum status prove_backfill(const struct prove_world *world, const struct prove_request *request,
                           struct prove_report *report, bool *out_interrupted, struct err *err)
{
    struct on_time proof = {
        .world = world,
        .request = request,
        .report = report,
        .host = {.process = {.pidfd = -1}},
    };
    enum status status = prepare(&proof, err);
    if (status == STATUS_OK)
        status = play(&proof, err);
    *out_interrupted = proof.is_interrupted;
    if (status == STATUS_OK)
        judge(&proof);
    if (proof.is_interrupted)
        status = STATUS_OK;
    clean_up(&proof);
    return status;
}
