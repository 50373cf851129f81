#include "app/watching.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "blob/log_reader.h"
#include "store/run_store.h"

/* How far one attempt's log was shown. */
struct shown {
    int64_t task;
    int64_t attempt;
    uint32_t node;
    int64_t map_index;
    uint64_t offset;
    bool is_over;      /* its attempt */
    int64_t log_bytes; /* then: how long its log is */
    bool ended;        /* all of its log is there */
};

enum { OUTPUT_CHUNK = 64 << 10 };

void watching_init(struct watching *watching, const struct engine_observer *observer,
                   struct session *session, const struct opened *opened, bool wants_output)
{
    *watching = (struct watching){
        .observer = observer,
        .session = session,
        .opened = opened,
        .seen = idmap_new(),
        .outputs = idmap_new(),
        .wants_output = wants_output,
        .awaits_logs = session->is_onlooker && !session_is_embedded(session),
    };
}

void watching_fini(struct watching *watching)
{
    size_t cursor = 0;
    if (watching->outputs != NULL)
        for (struct shown *shown; (shown = idmap_next(watching->outputs, &cursor)) != NULL;)
            free(shown);
    idmap_free(watching->outputs);
    idmap_free(watching->seen);
    *watching = (struct watching){0};
}

/* --- output ---------------------------------------------------------------------------------- */

static void show_lines(struct watching *watching, struct shown *shown, const char *bytes,
                       size_t length)
{
    size_t from = 0;
    while (from < length) {
        const char *end = memchr(bytes + from, '\n', length - from);
        /* A line that is not whole waits, unless it is over or fills the buffer. */
        if (end == NULL && !shown->ended && !(from == 0 && length == OUTPUT_CHUNK))
            return;
        size_t to = end != NULL ? (size_t)(end - bytes) : length;
        struct engine_log line = {
            .node = shown->node,
            .map_index = shown->map_index,
            .bytes = bytes + from,
            .length = to - from,
        };
        watching->observer->log_line(watching->observer->context, &line);
        shown->offset += to - from + (end != NULL);
        from = to + 1;
    }
}

static struct blob_key key_of(const struct watching *watching, const struct shown *shown)
{
    return (struct blob_key){
        .kind = BLOB_LOG,
        .ids = {watching->opened->run, shown->task, shown->attempt},
        .id_count = 3,
    };
}

/* Another host brings the end of a log a moment after the outcome. To be asked before reading. */
static bool is_all_there(const struct watching *watching, const struct shown *shown)
{
    struct blob_key key = key_of(watching, shown);
    CLEANUP(blob_handle_closep) struct blob_handle *log = NULL;
    struct err ignored = {0};
    bool is_sealed = false;
    uint64_t size = 0;
    if (!watching->awaits_logs || shown->log_bytes == 0)
        return true;
    return blob_open(watching->session->blob, &key, BLOB_READ, &log, &ignored) == STATUS_OK &&
           blob_is_sealed(log, &is_sealed, &ignored) == STATUS_OK &&
           blob_size(log, &size, &ignored) == STATUS_OK &&
           (is_sealed || size >= (uint64_t)shown->log_bytes);
}

static void show_new_output(struct watching *watching, struct shown *shown)
{
    struct blob_key key = key_of(watching, shown);
    CLEANUP(log_reader_closep) struct log_reader *reader = NULL;
    CLEANUP(mem_freep) char *bytes = mem_alloc(OUTPUT_CHUNK);
    struct err ignored = {0};
    if (log_reader_open(watching->session->blob, &key, &reader, &ignored) != STATUS_OK)
        return; /* nothing written yet */
    for (;;) {
        size_t got = 0;
        uint64_t before = shown->offset;
        if (log_reader_bytes(reader, shown->offset, bytes, OUTPUT_CHUNK, &got, &ignored) !=
                STATUS_OK ||
            got == 0)
            return;
        show_lines(watching, shown, bytes, got);
        if (shown->offset == before)
            return;
    }
}

void watching_follow(struct watching *watching)
{
    if (!watching->wants_output)
        return;
    size_t cursor = 0;
    for (struct shown *shown; (shown = idmap_next(watching->outputs, &cursor)) != NULL;) {
        if (shown->ended)
            continue;
        shown->ended = shown->is_over && is_all_there(watching, shown);
        show_new_output(watching, shown);
    }
}

bool watching_has_all_output(const struct watching *watching)
{
    size_t cursor = 0;
    for (const struct shown *shown; (shown = idmap_next(watching->outputs, &cursor)) != NULL;)
        if (!shown->ended)
            return false;
    return true;
}

static void follow_change(struct watching *watching, const struct task_change *change)
{
    struct shown *shown = idmap_find(watching->outputs, change->task);
    if (change->state == TASK_RUNNING) {
        if (shown == NULL) {
            shown = mem_zalloc(1, sizeof *shown);
            idmap_set(watching->outputs, change->task, shown);
        }
        *shown = (struct shown){
            .task = change->task,
            .attempt = change->attempt,
            .node = (uint32_t)change->node,
            .map_index = change->map_index,
        };
    } else if (shown != NULL && !shown->is_over) {
        shown->is_over = true;
        shown->ended = is_all_there(watching, shown);
        show_new_output(watching, shown);
    }
}

/* --- states ---------------------------------------------------------------------------------- */

/* States fit into a pointer; 0 would mean absent. */
static void *state_pointer(enum task_state state)
{
    return (void *)((uintptr_t)state + 1);
}

static enum task_state last_seen(const struct watching *watching, int64_t task)
{
    uintptr_t value = (uintptr_t)idmap_find(watching->seen, task);
    return value == 0 ? TASK_NONE : (enum task_state)(value - 1);
}

static void tell(struct watching *watching, const struct task_change *change, bool replayed)
{
    const struct task_def *def = &watching->opened->dag->tasks[change->node];
    const struct engine_observer *observer = watching->observer;
    enum task_state from = last_seen(watching, change->task);
    idmap_set(watching->seen, change->task, state_pointer(change->state));
    if (change->state == TASK_DEFERRED && change->instances > 0 && observer->task_expanded != NULL)
        observer->task_expanded(observer->context, (uint32_t)change->node, change->instances);
    if (observer->task_changed == NULL)
        return;
    bool ended = change->ended_at_us != 0 && change->started_at_us != 0;
    struct engine_task task = {
        .node = (uint32_t)change->node,
        .map_index = change->map_index,
        .label = change->label,
        .from = from,
        .to = change->state,
        .attempt = MAX(change->attempt - change->looks, MIN(change->attempt, (int64_t)1)),
        .attempts_max = def->retry.retries + 1,
        .at_us = change->ended_at_us != 0 ? change->ended_at_us : clock_wall_us(),
        .duration_ms = ended ? (change->ended_at_us - change->started_at_us) / 1000 : -1,
        .reason = change->reason != REASON_NONE ? reason_name(change->reason) : NULL,
        .exit_code = change->reason == REASON_EXIT ? (int)change->exit_code : -1,
        .signal = change->reason == REASON_SIGNAL ? (int)change->exit_code : 0,
        .message = change->detail,
        .replayed = replayed,
    };
    observer->task_changed(observer->context, &task);
}

void watching_changed(struct watching *watching, const struct task_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (watching->wants_output)
            follow_change(watching, &changes[i]);
        tell(watching, &changes[i], false);
    }
}

static struct task_change change_of_row(const struct task_row *row)
{
    return (struct task_change){
        .task = row->id,
        .run = row->run,
        .node = row->node,
        .map_index = row->map_index,
        .state = row->state,
        .attempt = row->attempt,
        .looks = task_row_looks(row),
        .reason = row->reason,
        .exit_code = row->exit_code,
        .started_at_us = row->started_at_us,
        .ended_at_us = row->ended_at_us,
        .instances = row->instance_base != 0 ? row->counts.total : 0,
        .detail = row->detail,
        .label = row->label,
    };
}

static enum status replay_row(void *context, const struct run_row *run, const struct task_row *row,
                              struct err *err)
{
    (void)run;
    (void)err;
    struct watching *watching = context;
    struct task_change change = change_of_row(row);
    if (row->state != TASK_NONE)
        tell(watching, &change, true);
    return STATUS_OK;
}

static enum status look_at_row(void *context, const struct run_row *run, const struct task_row *row,
                               struct err *err)
{
    (void)run;
    (void)err;
    struct watching *watching = context;
    struct task_change change = change_of_row(row);
    if (row->state == last_seen(watching, row->id))
        return STATUS_OK;
    struct shown *shown = idmap_find(watching->outputs, row->id);
    bool is_new = shown == NULL || shown->attempt != row->attempt;
    if (watching->wants_output && is_new && row->started_at_us != 0) {
        /* It was not seen running, and what it wrote is shown nevertheless. */
        struct task_change ran = change;
        ran.state = TASK_RUNNING;
        follow_change(watching, &ran);
        shown = idmap_find(watching->outputs, row->id);
    }
    if (shown != NULL && !shown->is_over)
        shown->log_bytes = row->log_bytes;
    watching_changed(watching, &change, 1);
    return STATUS_OK;
}

enum status watching_look(struct watching *watching, struct err *err)
{
    return store_task_each(watching->session->store, watching->opened->run, look_at_row, watching,
                           err);
}

enum status watching_start(struct watching *watching, bool replay, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct run_info info;
    struct store *store = watching->session->store;
    if (store_run_load(store, arena, watching->opened->run, &info, err) != STATUS_OK)
        return err->code;
    struct engine_run run = {
        .dag = watching->opened->dag,
        .run_id = info.run_id,
        .number = info.id,
        .logical_date_us = info.logical_at_us,
        .started_at_us = clock_wall_us(),
    };
    if (watching->observer->run_started != NULL)
        watching->observer->run_started(watching->observer->context, &run);
    if (!replay)
        return STATUS_OK;
    return store_task_each(store, watching->opened->run, replay_row, watching, err);
}

/* --- the end --------------------------------------------------------------------------------- */

static enum status count_row(void *context, const struct run_row *run, const struct task_row *row,
                             struct err *err)
{
    (void)err;
    struct engine_result *result = context;
    if (row->instance_base != 0)
        return STATUS_OK; /* its instances speak for it */
    result->counts[row->state]++;
    if (row->state != TASK_FAILED)
        return STATUS_OK;
    const struct task_def *def = task_row_def(run, row);
    CLEANUP(mem_freep) char *task_id = mem_strdup(def->id);
    CLEANUP(mem_freep) char *label = row->label != NULL ? mem_strdup(row->label) : NULL;
    CLEANUP(mem_freep) char *reason = mem_strdup(reason_name(row->reason));
    CLEANUP(mem_freep) char *message = row->detail != NULL ? mem_strdup(row->detail) : NULL;
    struct engine_failure failure = {
        .task_id = task_id,
        .map_index = row->map_index,
        .label = label,
        .state = row->state,
        .attempt = task_row_tries(row),
        .reason = reason,
        .message = message,
        .exit_code = row->reason == REASON_EXIT ? (int)row->exit_code : -1,
        .signal = row->reason == REASON_SIGNAL ? (int)row->exit_code : 0,
    };
    engine_result_add_failure(result, &failure);
    return STATUS_OK;
}

enum engine_verdict watching_verdict(enum run_state state)
{
    if (state == RUN_SUCCESS)
        return ENGINE_SUCCESS;
    return state == RUN_CANCELLED ? ENGINE_CANCELLED : ENGINE_FAILED;
}

enum status watching_result(struct watching *watching, bool is_recorded,
                            struct engine_result *result, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct run_info info;
    struct store *store = watching->session->store;
    if (store_run_load(store, arena, watching->opened->run, &info, err) != STATUS_OK)
        return err->code;
    result->dag_id = mem_strdup(info.dag_id);
    result->run_id = mem_strdup(info.run_id);
    result->number = is_recorded ? info.id : 0;
    return store_task_each(store, watching->opened->run, count_row, result, err);
}
