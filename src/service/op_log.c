/*
 * Logs of a run, in parts: see log_cursor.h for how a reader goes on.
 */
#include "base/mem.h"
#include "service/json_build.h"
#include "service/log_arrival.h"
#include "service/log_cursor.h"
#include "service/log_part.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/host.h"
#include "store/host_work.h"

struct reading {
    struct service *service;
    struct found_run run;
    struct blob *blob; /* NULL: nothing was ever written */
    struct arena *arena;
    int64_t try_number; /* only this attempt; 0: the newest and those after it */
    int64_t tail;       /* of what is begun in this part; -1: all */
    const char *grep;
    json_t *entries;
    size_t part_bytes;      /* most in a part */
    size_t bytes;           /* in this part so far */
    struct log_cursor next; /* for the part after this one */
    bool has_more;
    bool is_orphaned; /* something runs whose owner is dead */
    bool is_arriving; /* something is over whose log is not all there yet */
    bool is_removed;  /* something has printed whose log is gone */
};

/* --- entries --------------------------------------------------------------------------------- */

static void add_entry(struct reading *reading, const struct task_row *task, int64_t attempt,
                      const struct strbuf *bytes)
{
    json_t *entry = log_part_json(bytes);
    json_put_string(entry, "task_id", reading->run.dag->tasks[task->node].id);
    json_put_int(entry, "map_index", task->map_index);
    json_put_string(entry, "label", task->label);
    json_put_int(entry, "try_number", attempt);
    json_build_append(reading->entries, entry);
    reading->bytes += bytes->length;
}

/* --- one task -------------------------------------------------------------------------------- */

static bool attempt_is_over(const struct task_row *task, const struct log_place *place)
{
    return place->attempt < task->attempt || task->state != TASK_RUNNING;
}

/* Where a reader stands with an attempt. */
enum progress { HAS_MORE, IS_AT_END, IS_OVER, IS_ARRIVING };

/* The next bytes of the place's attempt; moves the place on. */
static enum status read_attempt(struct reading *reading, const struct task_row *task,
                                struct log_place *place, bool is_begun, enum progress *out,
                                struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 64 << 20);
    struct log_part part;
    bool is_due = false;
    bool is_over = attempt_is_over(task, place);
    struct log_part_request request = {
        .key = {.kind = BLOB_LOG,
                .ids = {reading->run.info.id, task->id, place->attempt},
                .id_count = 3},
        .offset = place->offset,
        .tail = is_begun ? -1 : reading->tail,
        .grep = reading->grep,
        .bytes_max = reading->part_bytes - reading->bytes,
    };
    if (is_over && log_arrival_is_due(reading->service, reading->blob, &request.key, task, &is_due,
                                      err) != STATUS_OK)
        return err->code;
    request.is_over = is_over && !is_due;
    if (log_part_read(reading->blob, &request, &text, &part, err) != STATUS_OK)
        return err_wrap(err, "log of '%s'", reading->run.dag->tasks[task->node].id);
    if (text.length > 0)
        add_entry(reading, task, place->attempt, &text);
    reading->is_removed |= part.is_missing && request.is_over && place->attempt == task->attempt &&
                           task->log_bytes > 0;
    place->offset = part.offset;
    *out = !part.is_at_end ? HAS_MORE : is_due ? IS_ARRIVING : is_over ? IS_OVER : IS_AT_END;
    return STATUS_OK;
}

static void keep_open(struct reading *reading, const struct task_row *task,
                      const struct log_place *place)
{
    log_cursor_keep(&reading->next, place);
    if (task->state == TASK_RUNNING && !service_host_is_alive(reading->service, task->host))
        reading->is_orphaned = true;
}

/* A task that is not mapped, or an instance. */
static enum status read_task(struct reading *reading, const struct task_row *task,
                             struct log_place place, struct err *err)
{
    bool is_begun = place.attempt > 0;
    bool is_final = task_state_is_final(task->state);
    if (place.attempt == 0)
        place.attempt =
            reading->try_number > 0 ? MIN(reading->try_number, task->attempt) : task->attempt;
    if (reading->try_number > 0 && task->attempt < reading->try_number)
        return STATUS_OK;
    while (place.attempt > 0) {
        enum progress progress = HAS_MORE;
        if (reading->bytes >= reading->part_bytes) {
            reading->has_more = true;
            keep_open(reading, task, &place);
            return STATUS_OK;
        }
        if (read_attempt(reading, task, &place, is_begun, &progress, err) != STATUS_OK)
            return err->code;
        is_begun = true;
        if (progress == HAS_MORE)
            continue;
        if (progress == IS_ARRIVING) {
            reading->is_arriving = true;
            keep_open(reading, task, &place);
            return STATUS_OK;
        }
        if (reading->try_number > 0 && progress == IS_OVER)
            return STATUS_OK;
        if (place.attempt >= task->attempt)
            break;
        place = (struct log_place){.task = place.task, .attempt = place.attempt + 1};
    }
    if (!is_final)
        keep_open(reading, task, &place);
    return STATUS_OK;
}

static enum status read_instances(struct reading *reading, const struct task_row *expander,
                                  struct log_place place, struct err *err)
{
    for (; place.offset < expander->inserted; place.offset++) {
        struct task_row task;
        struct log_place instance = {.task = expander->instance_base + place.offset};
        struct err problem = {0};
        if (reading->bytes >= reading->part_bytes) {
            reading->has_more = true;
            log_cursor_keep(&reading->next, &place);
            return STATUS_OK;
        }
        enum status status =
            store_task_load(reading->run.store, reading->arena, instance.task, &task, &problem);
        if (status == STATUS_NOT_FOUND)
            continue; /* dropped before it had a row */
        if (status == STATUS_OK)
            status = read_task(reading, &task, instance, &problem);
        if (status != STATUS_OK) {
            *err = problem;
            return status;
        }
    }
    if (!task_state_is_final(expander->state))
        log_cursor_keep(&reading->next, &place);
    return STATUS_OK;
}

static enum status read_place(struct reading *reading, const struct log_place *place,
                              struct err *err)
{
    struct task_row task;
    if (reading->bytes >= reading->part_bytes) {
        reading->has_more = true;
        log_cursor_keep(&reading->next, place);
        return STATUS_OK;
    }
    if (store_task_load(reading->run.store, reading->arena, place->task, &task, err) != STATUS_OK)
        return err->code;
    if (task.run != reading->run.info.id)
        return err_set(err, STATUS_INVALID, "'cursor' belongs to another run");
    return task.instance_base != 0 ? read_instances(reading, &task, *place, err)
                                   : read_task(reading, &task, *place, err);
}

/* --- the whole ------------------------------------------------------------------------------- */

static enum status read_all(struct reading *reading, const struct log_cursor *from, struct err *err)
{
    int64_t count = (int64_t)reading->run.dag->tasks_count;
    for (size_t i = 0; i < from->count; i++)
        if (read_place(reading, &from->open[i], err) != STATUS_OK)
            return err->code;
    reading->next.next = from->next;
    while (reading->next.next < count && reading->bytes < reading->part_bytes) {
        struct log_place place = {.task = reading->run.info.first_task +
                                          reading->run.dag->order[reading->next.next]};
        reading->next.next++;
        if (read_place(reading, &place, err) != STATUS_OK)
            return err->code;
    }
    reading->has_more = reading->has_more || reading->next.next < count;
    return STATUS_OK;
}

/* Where a reader of one task begins; the rest of the run is not visited. */
static enum status begin_at_task(struct reading *reading, const json_t *request,
                                 struct log_cursor *from, struct err *err)
{
    int64_t map_index = json_get_int(request, "map_index", -1);
    int64_t node = 0;
    struct task_row task;
    if (lookup_node(reading->run.dag, json_get_string(request, "task", ""), &node, err) !=
            STATUS_OK ||
        lookup_task(&reading->run, reading->arena, node, map_index, &task, err) != STATUS_OK)
        return err->code;
    if (task.instance_base == 0 && reading->try_number > task.attempt)
        return err_set(err, STATUS_NOT_FOUND, "task '%s' has had %lld attempt%s, not %lld",
                       reading->run.dag->tasks[node].id, (long long)task.attempt,
                       task.attempt == 1 ? "" : "s", (long long)reading->try_number);
    from->next = (int64_t)reading->run.dag->tasks_count;
    log_cursor_keep(from, &(struct log_place){.task = task.id});
    return STATUS_OK;
}

static enum status begin(struct reading *reading, const json_t *request, struct log_cursor *from,
                         struct err *err)
{
    const char *cursor = json_get_string(request, "cursor", NULL);
    bool one_task = json_get_string(request, "task", NULL) != NULL;
    reading->grep = json_get_string(request, "grep", NULL);
    reading->try_number = json_get_int(request, "try_number", 0);
    if (log_part_bytes(request, &reading->part_bytes, err) != STATUS_OK ||
        log_part_tail(request, &reading->tail, err) != STATUS_OK)
        return err->code;
    if (cursor != NULL)
        reading->tail = -1;
    if (json_object_get(request, "try_number") != NULL && reading->try_number < 1)
        return err_set(err, STATUS_INVALID, "'try_number' counts from 1");
    if (!one_task && json_get_int(request, "map_index", -1) >= 0)
        return err_set(err, STATUS_INVALID, "'map_index' needs a task");
    if (cursor != NULL)
        return log_cursor_parse(cursor, from, err);
    return one_task ? begin_at_task(reading, request, from, err) : STATUS_OK;
}

struct owners {
    const struct service *service;
    bool one_lives;
};

static void note_owner(void *context, int64_t host)
{
    struct owners *owners = context;
    owners->one_lives = owners->one_lives || service_host_is_alive(owners->service, host);
}

/* When in doubt nobody does: a reader must not wait for ever. */
static bool is_worked_on(const struct reading *reading)
{
    struct service *service = reading->service;
    struct store *store = reading->run.store;
    struct err ignored = {0};
    bool has_worker = false;
    struct owners owners = {.service = service};
    if (service_run_is_held(service, reading->run.info.id))
        return !reading->is_orphaned;
    /* Of a dead host's tasks others take care. */
    if (reading->run.info.scope == 0)
        return store_has_worker(store, service->is_alive, service->is_alive_context, &has_worker,
                                &ignored) == STATUS_OK &&
               has_worker;
    return store_host_of_run(store, reading->run.info.id, note_owner, &owners, &ignored) ==
               STATUS_OK &&
           owners.one_lives;
}

/* Whether anything open can still grow: only if somebody works on the run. */
static bool is_live(const struct reading *reading)
{
    return reading->next.count > 0 && !run_state_is_final(reading->run.info.state) &&
           is_worked_on(reading);
}

enum status op_log_read(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *entries = json_build_array();
    CLEANUP(log_cursor_fini) struct log_cursor from = {0};
    struct reading reading = {.service = service, .arena = arena, .entries = entries};
    enum status status = lookup_run(service, DB_READ_ONLY, arena, request, &reading.run, err);
    if (status == STATUS_OK)
        status = service_blob_if_any(service, &reading.blob, err);
    if (status == STATUS_OK)
        status = begin(&reading, request, &from, err);
    if (status == STATUS_OK)
        status = read_all(&reading, &from, err);
    bool live = status == STATUS_OK && is_live(&reading);
    CLEANUP(mem_freep) char *cursor = log_cursor_format(&reading.next);
    log_cursor_fini(&reading.next);
    if (status != STATUS_OK)
        return status;
    *out = json_build_object();
    json_put(*out, "entries", TAKE(entries));
    json_put_string(*out, "cursor", cursor);
    json_put_bool(*out, "more", reading.has_more);
    json_put_bool(*out, "live", live);
    json_put_bool(*out, "arriving", reading.is_arriving);
    json_put_bool(*out, "removed", reading.is_removed);
    return STATUS_OK;
}
