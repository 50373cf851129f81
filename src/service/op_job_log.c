/*
 * The log of a job, in parts. A cursor has one place: the attempt and how far it was read.
 */
#include "base/mem.h"
#include "base/str.h"
#include "service/json_build.h"
#include "service/log_arrival.h"
#include "service/log_cursor.h"
#include "service/log_part.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/job.h"
#include "store/run_store.h"

enum { TEXT_MAX = 64 << 20 };

struct reading {
    struct service *service;
    struct store *store;
    struct blob *blob; /* NULL: nothing was ever written */
    struct job_info job;
    size_t part_bytes;  /* most in a part */
    int64_t try_number; /* only this attempt; 0: the newest and those after it */
    int64_t tail;       /* of what is begun in this part; -1: all */
    bool is_begun;
    bool is_arriving; /* the attempt is over, its log is not all there yet */
    struct log_place place;
    json_t *entries;
};

static enum status begin(struct reading *reading, const json_t *request, struct err *err)
{
    const char *cursor = json_get_string(request, "cursor", NULL);
    const struct job_info *job = &reading->job;
    reading->try_number = json_get_int(request, "try_number", 0);
    if (log_part_bytes(request, &reading->part_bytes, err) != STATUS_OK ||
        log_part_tail(request, &reading->tail, err) != STATUS_OK)
        return err->code;
    if (json_object_get(request, "try_number") != NULL && reading->try_number < 1)
        return err_set(err, STATUS_INVALID, "'try_number' counts from 1");
    if (reading->try_number > job->attempt)
        return err_set(err, STATUS_NOT_FOUND, "job %lld has had %lld attempt%s, not %lld",
                       (long long)job->id, (long long)job->attempt, job->attempt == 1 ? "" : "s",
                       (long long)reading->try_number);
    reading->place = (struct log_place){
        .task = job->id, .attempt = reading->try_number > 0 ? reading->try_number : job->attempt};
    if (cursor == NULL)
        return STATUS_OK;
    CLEANUP(log_cursor_fini) struct log_cursor from = {0};
    if (log_cursor_parse(cursor, &from, err) != STATUS_OK)
        return err->code;
    if (from.count != 1 || from.open[0].task != job->id)
        return err_set(err, STATUS_INVALID, "'cursor' belongs to another log");
    if (from.open[0].attempt > 0) {
        reading->place = from.open[0];
        reading->is_begun = true;
    }
    return STATUS_OK;
}

static bool attempt_is_over(const struct reading *reading)
{
    return reading->place.attempt < reading->job.attempt || reading->job.state != TASK_RUNNING;
}

static enum status look_for_rest(struct reading *reading, const struct blob_key *key,
                                 struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct task_row task;
    if (!attempt_is_over(reading) || reading->place.attempt == 0)
        return STATUS_OK;
    if (store_task_load(reading->store, arena, reading->job.id, &task, err) != STATUS_OK)
        return err->code;
    return log_arrival_is_due(reading->service, reading->blob, key, &task, &reading->is_arriving,
                              err);
}

/* The next bytes of the attempt; then on to the one after it, if there is one. */
static enum status read_part(struct reading *reading, const json_t *request, bool *out_more,
                             struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, TEXT_MAX);
    struct log_part part = {.is_at_end = true};
    struct log_place *place = &reading->place;
    struct log_part_request wanted = {
        .key = {.kind = BLOB_LOG, .ids = {0, place->task, place->attempt}, .id_count = 3},
        .offset = place->offset,
        .tail = reading->is_begun ? -1 : reading->tail,
        .grep = json_get_string(request, "grep", NULL),
        .bytes_max = reading->part_bytes,
    };
    if (look_for_rest(reading, &wanted.key, err) != STATUS_OK)
        return err->code;
    wanted.is_over = attempt_is_over(reading) && !reading->is_arriving;
    if (place->attempt > 0 && log_part_read(reading->blob, &wanted, &text, &part, err) != STATUS_OK)
        return err_wrap(err, "log of job %lld", (long long)place->task);
    if (text.length > 0) {
        json_t *entry = log_part_json(&text);
        json_put_string(entry, "task_id", reading->job.handler);
        json_put_int(entry, "map_index", -1);
        json_put_int(entry, "try_number", place->attempt);
        json_build_append(reading->entries, entry);
    }
    if (place->attempt > 0)
        place->offset = part.offset;
    bool has_next = part.is_at_end && !reading->is_arriving && place->attempt > 0 &&
                    reading->try_number == 0 && place->attempt < reading->job.attempt;
    if (has_next)
        *place = (struct log_place){.task = place->task, .attempt = place->attempt + 1};
    *out_more = has_next || !part.is_at_end;
    return STATUS_OK;
}

enum status op_job_log(struct service *service, const json_t *request, json_t **out,
                       struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *entries = json_build_array();
    CLEANUP(log_cursor_fini) struct log_cursor next = {0};
    struct reading reading = {.service = service, .entries = entries};
    int64_t id = 0;
    bool more = false;
    (void)!str_parse_i64(json_get_string(request, "job", ""), 0, INT64_MAX, &id);
    if (service_store(service, DB_READ_ONLY, &reading.store, err) != STATUS_OK ||
        store_job_load(reading.store, arena, id, &reading.job, err) != STATUS_OK ||
        service_blob_if_any(service, &reading.blob, err) != STATUS_OK ||
        begin(&reading, request, err) != STATUS_OK ||
        read_part(&reading, request, &more, err) != STATUS_OK)
        return err->code;
    log_cursor_keep(&next, &reading.place);
    CLEANUP(mem_freep) char *cursor = log_cursor_format(&next);
    bool is_done = task_state_is_final(reading.job.state) ||
                   (reading.try_number > 0 && attempt_is_over(&reading));
    *out = json_build_object();
    json_put(*out, "entries", TAKE(entries));
    json_put_string(*out, "cursor", cursor);
    json_put_bool(*out, "more", more);
    json_put_bool(*out, "live", !is_done);
    json_put_bool(*out, "arriving", reading.is_arriving);
    return STATUS_OK;
}
