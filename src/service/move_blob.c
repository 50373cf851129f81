#include "service/move_blob.h"

#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "blob/value_key.h"
#include "service/json_build.h"

enum { PIECE_BYTES = 192 << 10 };

/* --- out ------------------------------------------------------------------------------------- */

static enum status write_bytes(struct move_writer *writer, const char *bytes, size_t length,
                               struct err *err)
{
    struct strbuf text;
    CLEANUP(json_decrefp) json_t *line = json_build_object();
    strbuf_init(&text, 2 * length + 8);
    base64_encode(&text, bytes, length);
    json_put_string(line, "bytes", text.text);
    strbuf_fini(&text);
    return move_write(writer, line, err);
}

/* What is being written while we read moves as far as it is. */
static enum status write_blob(struct move_blob *move, const struct blob_key *key,
                              struct move_writer *writer, struct err *err)
{
    char name[BLOB_KEY_TEXT_MAX];
    struct err problem = {0};
    CLEANUP(blob_handle_closep) struct blob_handle *handle = NULL;
    CLEANUP(json_decrefp) json_t *line = json_build_object();
    CLEANUP(mem_freep) char *piece = mem_alloc(PIECE_BYTES);
    enum status status = blob_open(move->blob, key, BLOB_READ, &handle, &problem);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    json_put_string(line, "file", blob_key_format(key, name));
    if (move_write(writer, line, err) != STATUS_OK)
        return err->code;
    move->files++;
    size_t got = PIECE_BYTES;
    for (uint64_t offset = 0; got == PIECE_BYTES; offset += got)
        if (blob_range(handle, offset, piece, PIECE_BYTES, &got, err) != STATUS_OK ||
            (got > 0 && write_bytes(writer, piece, got, err) != STATUS_OK))
            return err_wrap(err, "'%s'", name);
    return STATUS_OK;
}

enum status move_blob_write(void *context, const struct move_file *file, struct move_writer *writer,
                            struct err *err)
{
    struct move_blob *move = context;
    if (move->blob == NULL)
        return STATUS_OK;
    if (file->value != NULL) {
        struct blob_key key = value_key(file->run, file->task, file->attempt, file->value);
        return write_blob(move, &key, writer, err);
    }
    struct blob_key log = {
        .kind = BLOB_LOG, .ids = {file->run, file->task, file->attempt}, .id_count = 3};
    struct blob_key index = log;
    index.kind = BLOB_LOG_INDEX;
    if (move->with_logs && (write_blob(move, &log, writer, err) != STATUS_OK ||
                            write_blob(move, &index, writer, err) != STATUS_OK))
        return err->code;
    return STATUS_OK;
}

/* --- in -------------------------------------------------------------------------------------- */

void move_blob_fini(struct move_blob *move)
{
    blob_handle_close(move->open);
    move->open = NULL;
}

enum status move_blob_finish(struct move_blob *move, struct err *err)
{
    enum status status = move->open != NULL ? blob_seal(move->open, err) : STATUS_OK;
    move_blob_fini(move);
    return status;
}

/* One from an import that failed is begun again. */
static enum status begin_file(struct move_blob *move, const char *name, struct err *err)
{
    struct blob_key key;
    if (move_blob_finish(move, err) != STATUS_OK)
        return err->code;
    if (!blob_key_parse(name, &key))
        return err_set(err, STATUS_INVALID, "'%s' is not the name of a log or value", name);
    if (blob_delete(move->blob, &key, err) != STATUS_OK ||
        blob_open(move->blob, &key, BLOB_APPEND, &move->open, err) != STATUS_OK)
        return err_wrap(err, "'%s'", name);
    move->files++;
    return STATUS_OK;
}

static enum status add_bytes(struct move_blob *move, const char *text, struct err *err)
{
    size_t length = strlen(text);
    struct strbuf bytes;
    if (move->open == NULL)
        return err_set(err, STATUS_INVALID, "bytes without a file");
    strbuf_init(&bytes, length + 1);
    enum status status = base64_decode(&bytes, text, length)
                             ? blob_append(move->open, bytes.text, bytes.length, err)
                             : err_set(err, STATUS_INVALID, "bytes that are not base64");
    strbuf_fini(&bytes);
    return status;
}

enum status move_blob_read(void *context, const json_t *line, struct err *err)
{
    struct move_blob *move = context;
    const char *file = json_get_string(line, "file", NULL);
    const char *bytes = json_get_string(line, "bytes", NULL);
    if (file != NULL)
        return begin_file(move, file, err);
    if (bytes != NULL)
        return add_bytes(move, bytes, err);
    return err_set(err, STATUS_INVALID, "neither a row nor a part of a file");
}
