/*
 * Bytes of one log as they were written, from anywhere in it: for those who keep it or show a part.
 */
#include "base/base64.h"
#include "base/mem.h"
#include "base/str.h"
#include "blob/blob.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/job.h"

enum { BYTES_MAX = 1 << 20 };

struct piece {
    struct blob_key key;
    bool has_printed; /* so that a log that is missing was removed */
    int64_t offset;
    int64_t length;
};

static enum status read_piece(const json_t *request, struct piece *piece, struct err *err)
{
    piece->offset = json_get_int(request, "offset", 0);
    piece->length = json_get_int(request, "length", BYTES_MAX);
    if (piece->offset < 0)
        return err_set(err, STATUS_INVALID, "'offset' counts from 0");
    if (piece->length < 0 || piece->length > BYTES_MAX)
        return err_set(err, STATUS_INVALID, "'length' is a number from 0 to %d", BYTES_MAX);
    return STATUS_OK;
}

/* The attempt that is asked for, or the newest. */
static enum status choose_attempt(const json_t *request, int64_t newest, int64_t *out,
                                  struct err *err)
{
    *out = json_get_int(request, "try_number", newest);
    if (json_object_get(request, "try_number") != NULL && *out < 1)
        return err_set(err, STATUS_INVALID, "'try_number' counts from 1");
    if (*out > newest)
        return err_set(err, STATUS_NOT_FOUND, "there have been %lld attempts, not %lld",
                       (long long)newest, (long long)*out);
    return STATUS_OK;
}

static void put_bytes(json_t *object, const char *bytes, size_t length)
{
    struct strbuf text;
    strbuf_init(&text, 4 * (length / 3 + 1) + 1);
    base64_encode(&text, bytes, length);
    json_put(object, "base64", json_stringn(text.text, text.length));
    strbuf_fini(&text);
}

static enum status fill(struct blob_handle *log, const struct piece *piece, json_t *out,
                        struct err *err)
{
    uint64_t size = 0;
    size_t got = 0;
    CLEANUP(mem_freep) char *bytes = mem_alloc((size_t)piece->length + 1);
    if (blob_size(log, &size, err) != STATUS_OK ||
        (piece->length > 0 && blob_range(log, (uint64_t)piece->offset, bytes, (size_t)piece->length,
                                         &got, err) != STATUS_OK))
        return err->code;
    json_put_int(out, "size", (int64_t)size);
    put_bytes(out, bytes, got);
    return STATUS_OK;
}

/* What never printed anything has an empty log. */
static enum status fill_empty(const struct piece *piece, json_t *out, struct err *err)
{
    if (piece->has_printed)
        return err_set(err, STATUS_NOT_FOUND,
                       "what was printed is not kept any more; `keep_logs` says how long logs are");
    json_put_int(out, "size", 0);
    put_bytes(out, "", 0);
    return STATUS_OK;
}

static enum status answer(struct service *service, const struct piece *piece, json_t *taken,
                          json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(blob_handle_closep) struct blob_handle *log = NULL;
    struct blob *blob = NULL;
    struct err problem = {0};
    if (service_blob_if_any(service, &blob, err) != STATUS_OK)
        return err->code;
    enum status status = blob != NULL && piece->key.ids[2] > 0
                             ? blob_open(blob, &piece->key, BLOB_READ, &log, &problem)
                             : STATUS_NOT_FOUND;
    if (status == STATUS_OK)
        status = fill(log, piece, answer, &problem);
    else if (status == STATUS_NOT_FOUND)
        status = fill_empty(piece, answer, &problem);
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    *out = TAKE(answer);
    return STATUS_OK;
}

static enum status find_task(struct service *service, struct arena *arena, const json_t *request,
                             struct found_run *run, struct task_row *out, struct err *err)
{
    int64_t node = 0;
    int64_t map_index = json_get_int(request, "map_index", -1);
    if (lookup_run(service, DB_READ_ONLY, arena, request, run, err) != STATUS_OK ||
        lookup_node(run->dag, json_get_string(request, "task", ""), &node, err) != STATUS_OK ||
        lookup_task(run, arena, node, map_index, out, err) != STATUS_OK)
        return err->code;
    if (out->instance_base != 0)
        return err_set(err, STATUS_INVALID,
                       "task '%s' is mapped: each instance has a log, say which with `map_index`",
                       run->dag->tasks[node].id);
    return STATUS_OK;
}

enum status op_log_bytes(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct found_run run = {0};
    struct task_row task = {0};
    struct piece piece = {0};
    int64_t attempt = 0;
    if (read_piece(request, &piece, err) != STATUS_OK ||
        find_task(service, arena, request, &run, &task, err) != STATUS_OK ||
        choose_attempt(request, task.attempt, &attempt, err) != STATUS_OK)
        return err->code;
    piece.has_printed = attempt == task.attempt && task.log_bytes > 0;
    piece.key =
        (struct blob_key){.kind = BLOB_LOG, .ids = {run.info.id, task.id, attempt}, .id_count = 3};
    json_t *answered = json_build_object();
    json_put_string(answered, "dag_id", run.dag->id);
    json_put_string(answered, "dag_run_id", run.info.run_id);
    json_put_string(answered, "task_id", run.dag->tasks[task.node].id);
    json_put_int(answered, "map_index", task.map_index);
    json_put_int(answered, "try_number", attempt);
    return answer(service, &piece, answered, out, err);
}

enum status op_job_bytes(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct job_info job = {0};
    struct piece piece = {0};
    int64_t id = 0;
    int64_t attempt = 0;
    (void)!str_parse_i64(json_get_string(request, "job", ""), 0, INT64_MAX, &id);
    if (read_piece(request, &piece, err) != STATUS_OK ||
        service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_job_load(store, arena, id, &job, err) != STATUS_OK ||
        choose_attempt(request, job.attempt, &attempt, err) != STATUS_OK)
        return err->code;
    piece.has_printed = false;
    piece.key = (struct blob_key){.kind = BLOB_LOG, .ids = {0, job.id, attempt}, .id_count = 3};
    json_t *answered = json_build_object();
    json_put_id(answered, "job", job.id);
    json_put_int(answered, "try_number", attempt);
    return answer(service, &piece, answered, out, err);
}
