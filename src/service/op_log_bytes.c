/*
 * Bytes of one log as they were written, from anywhere in it: for those who keep it or show a part.
 */
#include "base/base64.h"
#include "base/mem.h"
#include "blob/blob.h"
#include "service/json_build.h"
#include "service/log_target.h"
#include "service/op_handlers.h"
#include "service/service.h"

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

enum status op_log_bytes(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct log_target log = {0};
    struct piece piece = {0};
    if (read_piece(request, &piece, err) != STATUS_OK ||
        log_target_task(service, arena, request, &log, err) != STATUS_OK)
        return err->code;
    piece.has_printed = log.attempt == log.task.attempt && log.task.log_bytes > 0;
    piece.key = log.key;
    json_t *answered = json_build_object();
    json_put_string(answered, "dag_id", log.run.dag->id);
    json_put_string(answered, "dag_run_id", log.run.info.run_id);
    json_put_string(answered, "task_id", log.run.dag->tasks[log.task.node].id);
    json_put_int(answered, "map_index", log.task.map_index);
    json_put_int(answered, "try_number", log.attempt);
    return answer(service, &piece, answered, out, err);
}

enum status op_job_bytes(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct log_target log = {0};
    struct piece piece = {0};
    if (read_piece(request, &piece, err) != STATUS_OK ||
        log_target_job(service, arena, request, &log, err) != STATUS_OK)
        return err->code;
    piece.key = log.key;
    json_t *answered = json_build_object();
    json_put_id(answered, "job", log.task.id);
    json_put_int(answered, "try_number", log.attempt);
    return answer(service, &piece, answered, out, err);
}
