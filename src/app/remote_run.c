#include "app/remote_run.h"

#include <signal.h>
#include <stdlib.h>

#include "app/remote_watch.h"
#include "app/watching.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run_state.h"
#include "os/loop.h"

/* A look costs the server a list of all tasks: not more often than it takes four times as long. */
enum { LOOK_MS = 300, LOOKS_SHARE = 4, LOGS_WAIT_MS = 10000, SERVER_WAIT_MS = 60000 };

struct distant {
    const struct operation_caller *operations;
    const struct engine_observer *observer;
    struct remote_dag dag;
    struct remote_watch watch;
    json_t *run;    /* as the server told it last */
    json_t *before; /* of a run that is opened again: its tasks until then */
    json_t *again;  /* and those that run again */
    char *number;
    struct loop *loop;
    struct loop_timer *look;
    struct loop_timer *tick;
    struct loop_signal *signals[2];
    int interrupts;
    bool is_over;
    int64_t ended_us; /* when that was seen, by the steady clock */
    int64_t seen_us;  /* when the server answered last, by the same */
    struct err failure;
};

/* --- interrupts before there is a run to stop ------------------------------------------------ */

static const int SIGNALS[] = {SIGINT, SIGTERM};
static volatile sig_atomic_t was_interrupted;

static void remember(int signo)
{
    (void)signo;
    was_interrupted = 1;
}

/*
 * Whoever ended now would leave a run behind that the server makes already, so the first interrupt
 * is remembered until its number is known. The server may be slow: the second ends the program.
 */
static void remember_interrupts(void)
{
    struct sigaction action = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    was_interrupted = 0;
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        CHECK(sigaction(SIGNALS[i], &action, NULL) == 0);
}

static void forget_interrupts(void)
{
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        (void)signal(SIGNALS[i], SIG_DFL);
}

/* --- asking for it --------------------------------------------------------------------------- */

static json_t *names_of(const struct engine_request *request)
{
    json_t *names = json_array();
    CHECK(names != NULL);
    for (size_t i = 0; i < request->tasks_count; i++)
        CHECK(json_array_append_new(names, json_string(request->tasks[i])) == 0);
    return names;
}

static json_t *new_request(const char *key, const char *text)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    json_put_string(object, key, text);
    return object;
}

static void put_copy(json_t *request, const char *key, const json_t *value)
{
    if (value != NULL)
        json_put(request, key, json_deep_copy(value));
}

static enum status trigger(struct distant *distant, const struct engine_request *request,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *asked = new_request("dag", request->name);
    put_copy(asked, "params", request->params);
    put_copy(asked, "conf", request->conf);
    if (request->has_logical_date)
        json_put_instant(asked, "logical_date", request->logical_date_us);
    if (request->run_id != NULL)
        json_put_string(asked, "run_id", request->run_id);
    if (request->note != NULL)
        json_put_string(asked, "note", request->note);
    json_put(asked, "tasks", names_of(request));
    json_put_bool(asked, "needs_worker", true);
    return operation_call(distant->operations, "dag.trigger", asked, &distant->run, err);
}

static enum status reopen(struct distant *distant, const struct engine_request *request,
                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *named = new_request("run", request->name);
    if (operation_call(distant->operations, "run.show", named, &distant->run, err) != STATUS_OK ||
        operation_call(distant->operations, "run.tasks", named, &distant->before, err) != STATUS_OK)
        return err->code;
    const char *number = json_get_string(distant->run, "number", "");
    if (str_equal(json_get_string(distant->run, "state", ""), "success") &&
        request->tasks_count == 0)
        return err_set(err, STATUS_CONFLICT,
                       "run %s succeeded; name the tasks that should run again", number);
    CLEANUP(json_decrefp) json_t *asked = new_request("run", number);
    json_put(asked, "tasks", names_of(request));
    if (request->reason != NULL)
        json_put_string(asked, "reason", request->reason);
    return operation_call(distant->operations, "run.retry", asked, &distant->again, err);
}

static enum status learn_dag(struct distant *distant, struct err *err)
{
    CLEANUP(json_decrefp) json_t *shown = NULL;
    CLEANUP(json_decrefp)
    json_t *asked = new_request("dag", json_get_string(distant->run, "dag_id", ""));
    json_put_int(asked, "version", json_get_int(distant->run, "dag_version", 0));
    if (operation_call(distant->operations, "dag.show", asked, &shown, err) != STATUS_OK)
        return err->code;
    remote_dag_init(&distant->dag, shown);
    return STATUS_OK;
}

static enum status begin(struct distant *distant, const struct engine_request *request,
                         struct err *err)
{
    if (request->source == ENGINE_FILE)
        return err_set(
            err, STATUS_INVALID,
            "a file runs on this machine, and a server is in use: `--server off` runs it "
            "here, `eider dags trigger %.100s` sends it there",
            request->name);
    bool is_retry = request->source == ENGINE_RETRY;
    if ((is_retry ? reopen(distant, request, err) : trigger(distant, request, err)) != STATUS_OK)
        return err->code;
    distant->number = mem_strdup(json_get_string(distant->run, "number", ""));
    return learn_dag(distant, err);
}

/* --- watching -------------------------------------------------------------------------------- */

static void stop_watching(struct distant *distant, const struct err *err)
{
    distant->failure = *err;
    loop_stop(distant->loop);
}

static void interrupt(struct distant *distant)
{
    CLEANUP(json_decrefp) json_t *asked = new_request("run", distant->number);
    CLEANUP(json_decrefp) json_t *ignored = NULL;
    struct err err = {0};
    distant->interrupts++;
    bool kill = distant->interrupts > 1;
    json_put_bool(asked, "kill", kill);
    if (distant->observer->interrupted != NULL)
        distant->observer->interrupted(distant->observer->context, kill ? 2 : 1);
    enum status status = operation_call(distant->operations, "run.cancel", asked, &ignored, &err);
    if (status != STATUS_OK && status != STATUS_CONFLICT) /* over meanwhile */
        stop_watching(distant, &err);
}

static void on_signal(void *context, int signo)
{
    (void)signo;
    interrupt(context);
}

static void on_tick(void *context)
{
    struct distant *distant = context;
    const struct engine_observer *observer = distant->observer;
    if (observer->tick != NULL)
        observer->tick(observer->context, clock_wall_us());
    if (observer->should_stop != NULL && distant->interrupts == 0 &&
        observer->should_stop(observer->context))
        interrupt(distant);
}

static bool run_is_over(const json_t *run)
{
    enum run_state state = RUN_QUEUED;
    return run_state_parse(json_get_string(run, "state", ""), &state) && run_state_is_final(state);
}

/* The state is read first: when it is final, so is what is read after it. */
static enum status look_once(struct distant *distant, struct err *err)
{
    CLEANUP(json_decrefp) json_t *asked = new_request("run", distant->number);
    json_t *run = NULL;
    if (operation_call(distant->operations, "run.show", asked, &run, err) != STATUS_OK)
        return err->code;
    json_decref(distant->run);
    distant->run = run;
    if (remote_watch_look(&distant->watch, err) != STATUS_OK)
        return err->code;
    return remote_watch_follow(&distant->watch, err);
}

static void on_look(void *context)
{
    struct distant *distant = context;
    struct err err = {0};
    int64_t from_us = clock_mono_us();
    enum status status = look_once(distant, &err);
    int64_t now_us = clock_mono_us();
    if (status == STATUS_OK)
        distant->seen_us = now_us;
    bool is_patient = now_us - distant->seen_us < (int64_t)SERVER_WAIT_MS * 1000;
    if (status != STATUS_OK && !(status_is_retryable(status) && is_patient)) {
        stop_watching(distant, &err);
        return;
    }
    on_tick(distant);
    if (status == STATUS_OK && run_is_over(distant->run)) {
        distant->ended_us = distant->ended_us != 0 ? distant->ended_us : now_us;
        distant->is_over = distant->watch.has_all_output ||
                           now_us - distant->ended_us > (int64_t)LOGS_WAIT_MS * 1000;
    }
    if (distant->is_over)
        loop_stop(distant->loop);
    else
        loop_timer_start(distant->look,
                         MAX((int64_t)LOOK_MS, LOOKS_SHARE * (now_us - from_us) / 1000), 0);
}

static enum status tell_start(struct distant *distant, struct err *err)
{
    int64_t logical_date_us = 0;
    const char *date = json_get_string(distant->run, "logical_date", NULL);
    if (date != NULL && !instant_parse(date, &logical_date_us))
        logical_date_us = 0;
    struct engine_run run = {
        .dag = &distant->dag.dag,
        .run_id = json_get_string(distant->run, "dag_run_id", ""),
        .logical_date_us = logical_date_us,
        .started_at_us = clock_wall_us(),
    };
    if (!str_parse_i64(distant->number, 0, INT64_MAX, &run.number))
        return err_set(err, STATUS_UNREACHABLE, "the server tells no number of the run");
    if (distant->observer->run_started != NULL)
        distant->observer->run_started(distant->observer->context, &run);
    remote_watch_replay(&distant->watch, json_object_get(distant->before, "task_instances"),
                        json_object_get(distant->again, "task_instances"));
    return STATUS_OK;
}

static enum status watch_run(struct distant *distant, const struct engine_request *request,
                             struct err *err)
{
    _Static_assert(ARRAY_LEN(SIGNALS) == ARRAY_LEN(distant->signals), "room for every signal");
    remote_watch_init(&distant->watch, distant->observer, distant->operations, &distant->dag,
                      distant->number);
    if (request->wants_output && distant->observer->log_line != NULL)
        remote_watch_want_output(&distant->watch);
    if (tell_start(distant, err) != STATUS_OK || loop_new(&distant->loop, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        if (loop_signal_new(distant->loop, SIGNALS[i], on_signal, distant, &distant->signals[i],
                            err) != STATUS_OK)
            return err->code;
    if (was_interrupted)
        interrupt(distant);
    distant->look = loop_timer_new(distant->loop, on_look, distant);
    distant->tick = loop_timer_new(distant->loop, on_tick, distant);
    distant->seen_us = clock_mono_us();
    loop_timer_start(distant->look, 1, 0);
    if (distant->observer->tick_ms > 0)
        loop_timer_start(distant->tick, distant->observer->tick_ms, distant->observer->tick_ms);
    loop_run(distant->loop);
    return STATUS_OK;
}

/* --- the end --------------------------------------------------------------------------------- */

static enum status conclude(struct distant *distant, struct engine_result *result, struct err *err)
{
    enum run_state state = RUN_FAILED;
    if (!distant->is_over) {
        *err = distant->failure;
        CHECK(err->code != STATUS_OK);
        return err_wrap(err, "run %s goes on without us", distant->number);
    }
    (void)!run_state_parse(json_get_string(distant->run, "state", ""), &state);
    result->verdict = watching_verdict(state);
    result->interrupted = distant->interrupts > 0 && state == RUN_CANCELLED;
    result->dag_id = mem_strdup(json_get_string(distant->run, "dag_id", ""));
    result->run_id = mem_strdup(json_get_string(distant->run, "dag_run_id", ""));
    CHECK(str_parse_i64(distant->number, 0, INT64_MAX, &result->number));
    return remote_watch_result(&distant->watch, result, err);
}

static void distant_fini(struct distant *distant)
{
    loop_timer_free(distant->look);
    loop_timer_free(distant->tick);
    for (size_t i = 0; i < ARRAY_LEN(distant->signals); i++)
        loop_signal_free(distant->signals[i]);
    loop_free(distant->loop);
    remote_watch_fini(&distant->watch);
    remote_dag_fini(&distant->dag);
    json_decref(distant->run);
    json_decref(distant->before);
    json_decref(distant->again);
    free(distant->number);
}

enum status remote_run(const struct operation_caller *operations,
                       const struct engine_request *request, const struct engine_observer *observer,
                       struct engine_result *out_result, struct err *err)
{
    CLEANUP(distant_fini)
    struct distant distant = {.operations = operations, .observer = observer};
    struct engine_result result = {0};
    remember_interrupts();
    enum status status = begin(&distant, request, err);
    if (status != STATUS_OK) {
        forget_interrupts();
        return status;
    }
    int64_t started_us = clock_mono_us();
    if (watch_run(&distant, request, err) != STATUS_OK ||
        conclude(&distant, &result, err) != STATUS_OK) {
        engine_result_fini(&result);
        return err->code;
    }
    result.duration_ms = (clock_mono_us() - started_us) / 1000;
    *out_result = result;
    return STATUS_OK;
}
