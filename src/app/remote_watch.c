#include "app/remote_watch.h"

#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

enum { LINE_BYTES_MAX = 1 << 20, PART_BYTES_MAX = 64 << 20 };

void remote_watch_init(struct remote_watch *watch, const struct engine_observer *observer,
                       const struct operation_caller *operations, const struct remote_dag *dag,
                       const char *run)
{
    *watch = (struct remote_watch){
        .observer = observer,
        .operations = operations,
        .dag = dag,
        .run = run,
        .seen = json_object(),
        .has_all_output = true,
    };
    CHECK(watch->seen != NULL);
    strbuf_init(&watch->line, LINE_BYTES_MAX);
}

void remote_watch_fini(struct remote_watch *watch)
{
    if (watch->seen == NULL)
        return;
    json_decref(watch->seen);
    json_decref(watch->log_request);
    strbuf_fini(&watch->line);
    *watch = (struct remote_watch){0};
}

static json_t *request_of(const struct remote_watch *watch)
{
    json_t *request = json_object();
    CHECK(request != NULL);
    json_put_string(request, "run", watch->run);
    return request;
}

/* --- states ---------------------------------------------------------------------------------- */

/* What tells instances apart; heap. */
static char *key_of(const json_t *task)
{
    return mem_format("%s %lld", json_get_string(task, "task_id", "?"),
                      (long long)json_get_int(task, "map_index", -1));
}

static int64_t instant_of(const json_t *task, const char *key)
{
    const char *text = json_get_string(task, key, NULL);
    int64_t at_us = 0;
    return text != NULL && instant_parse(text, &at_us) ? at_us : 0;
}

static int int_of(const json_t *task, const char *key, int otherwise)
{
    int64_t value = json_get_int(task, key, otherwise);
    return value >= INT32_MIN && value <= INT32_MAX ? (int)value : otherwise;
}

static int64_t duration_of(const json_t *task)
{
    int64_t from_us = instant_of(task, "start_date");
    int64_t to_us = instant_of(task, "end_date");
    return from_us != 0 && to_us != 0 ? (to_us - from_us) / 1000 : -1;
}

static void tell(struct remote_watch *watch, const json_t *task, bool replayed)
{
    const struct engine_observer *observer = watch->observer;
    CLEANUP(mem_freep) char *key = key_of(task);
    enum task_state state = TASK_NONE;
    uint32_t node = 0;
    enum task_state from = (enum task_state)json_get_int(watch->seen, key, TASK_NONE);
    if (!task_state_parse(json_get_string(task, "state", ""), &state) || state == from ||
        !remote_dag_find(watch->dag, json_get_string(task, "task_id", ""), &node))
        return;
    json_put_int(watch->seen, key, state);
    int64_t instances = json_get_int(json_object_get(task, "instances"), "total", 0);
    if (state == TASK_DEFERRED && instances > 0 && observer->task_expanded != NULL)
        observer->task_expanded(observer->context, node, instances);
    if (observer->task_changed == NULL)
        return;
    int64_t ended_at_us = instant_of(task, "end_date");
    struct engine_task change = {
        .node = node,
        .map_index = json_get_int(task, "map_index", -1),
        .label = json_get_string(task, "label", NULL),
        .from = from,
        .to = state,
        .attempt = json_get_int(task, "try_number", 0),
        .attempts_max = json_get_int(task, "max_tries", 0) + 1,
        .at_us = ended_at_us != 0 ? ended_at_us : clock_wall_us(),
        .duration_ms = duration_of(task),
        .reason = json_get_string(task, "reason", NULL),
        .exit_code = int_of(task, "exit_code", -1),
        .signal = int_of(task, "signal", 0),
        .message = json_get_string(task, "message", NULL),
        .replayed = replayed,
    };
    observer->task_changed(observer->context, &change);
}

static enum status ask_tasks(const struct remote_watch *watch, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = request_of(watch);
    return operation_call(watch->operations, "run.tasks", request, out, err);
}

void remote_watch_replay(struct remote_watch *watch, const json_t *tasks, const json_t *again)
{
    CLEANUP(json_decrefp) json_t *left_out = json_object();
    size_t i;
    json_t *task;
    CHECK(left_out != NULL);
    json_array_foreach(again, i, task)
    {
        CLEANUP(mem_freep) char *key = key_of(task);
        json_put_bool(left_out, key, true);
    }
    json_array_foreach(tasks, i, task)
    {
        CLEANUP(mem_freep) char *key = key_of(task);
        if (json_object_get(left_out, key) == NULL)
            tell(watch, task, true);
    }
}

enum status remote_watch_look(struct remote_watch *watch, struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    size_t i;
    json_t *task;
    if (ask_tasks(watch, &response, err) != STATUS_OK)
        return err->code;
    json_array_foreach(json_object_get(response, "task_instances"), i, task)
        tell(watch, task, false);
    return STATUS_OK;
}

/* --- output ---------------------------------------------------------------------------------- */

void remote_watch_want_output(struct remote_watch *watch)
{
    watch->log_request = request_of(watch);
    watch->has_all_output = false;
}

static void end_line(struct remote_watch *watch)
{
    watch->log.bytes = watch->line.text;
    watch->log.length = watch->line.length;
    watch->observer->log_line(watch->observer->context, &watch->log);
    strbuf_clear(&watch->line);
}

static void tell_lines(struct remote_watch *watch, const char *bytes, size_t length)
{
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end != NULL ? (size_t)(end - bytes) : length;
        strbuf_add_bytes(&watch->line, bytes, part);
        if (end != NULL || watch->line.overflow)
            end_line(watch);
        part += end != NULL;
        bytes += part;
        length -= part;
    }
}

/* A begun line waits for its end, unless another log comes in between. */
static void tell_entry(struct remote_watch *watch, const json_t *entry)
{
    const json_t *text = json_object_get(entry, "text");
    const json_t *raw = json_object_get(entry, "base64");
    int64_t map_index = json_get_int(entry, "map_index", -1);
    uint32_t node = 0;
    if (!remote_dag_find(watch->dag, json_get_string(entry, "task_id", ""), &node))
        return;
    if (watch->line.length > 0 && (watch->log.node != node || watch->log.map_index != map_index))
        end_line(watch);
    watch->log = (struct engine_log){.node = node, .map_index = map_index};
    CLEANUP(strbuf_fini) struct strbuf bytes;
    strbuf_init(&bytes, PART_BYTES_MAX);
    if (json_is_string(raw) &&
        base64_decode(&bytes, json_string_value(raw), json_string_length(raw)))
        tell_lines(watch, bytes.text, bytes.length);
    else
        tell_lines(watch, json_string_value(text), json_string_length(text));
}

enum status remote_watch_follow(struct remote_watch *watch, struct err *err)
{
    bool has_more = watch->log_request != NULL && !watch->has_all_output;
    while (has_more) {
        CLEANUP(json_decrefp) json_t *response = NULL;
        size_t i;
        json_t *entry;
        if (operation_call(watch->operations, "log.read", watch->log_request, &response, err) !=
            STATUS_OK)
            return err->code;
        json_array_foreach(json_object_get(response, "entries"), i, entry) tell_entry(watch, entry);
        json_put_string(watch->log_request, "cursor", json_get_string(response, "cursor", NULL));
        has_more = json_get_bool(response, "more", false);
        watch->has_all_output = !has_more && !json_get_bool(response, "live", false) &&
                                !json_get_bool(response, "arriving", false);
    }
    if (watch->has_all_output && watch->line.length > 0)
        end_line(watch);
    return STATUS_OK;
}

/* --- the end --------------------------------------------------------------------------------- */

static void count_task(struct engine_result *result, const json_t *task)
{
    enum task_state state = TASK_NONE;
    bool has_instances = json_object_get(task, "instances") != NULL;
    if (has_instances || !task_state_parse(json_get_string(task, "state", ""), &state))
        return; /* its instances speak for it */
    result->counts[state]++;
    if (state != TASK_FAILED)
        return;
    struct engine_failure failure = {
        .task_id = json_get_string(task, "task_id", "?"),
        .map_index = json_get_int(task, "map_index", -1),
        .label = json_get_string(task, "label", NULL),
        .state = state,
        .attempt = json_get_int(task, "try_number", 0),
        .reason = json_get_string(task, "reason", NULL),
        .message = json_get_string(task, "message", NULL),
        .exit_code = int_of(task, "exit_code", -1),
        .signal = int_of(task, "signal", 0),
    };
    engine_result_add_failure(result, &failure);
}

enum status remote_watch_result(const struct remote_watch *watch, struct engine_result *result,
                                struct err *err)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    size_t i;
    json_t *task;
    if (ask_tasks(watch, &response, err) != STATUS_OK)
        return err->code;
    json_array_foreach(json_object_get(response, "task_instances"), i, task)
        count_task(result, task);
    return STATUS_OK;
}
