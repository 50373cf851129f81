/*
 * Which place the logs of a store have, and the one of a fleet: the store, which every host
 * reaches, and behind it the directory of this host with what is not in the store yet. A log is
 * read from the store as far as it is there, the rest from the directory; a file that goes away
 * because all of it is in the store stays readable through the open handle.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "blob/backend.h"
#include "store/chunk.h"

struct layered {
    struct blob blob;
    struct blob *shared;
    struct blob *local; /* or NULL */
};

struct layered_handle {
    struct blob_handle handle;
    struct blob_handle *shared; /* or NULL, not both */
    struct blob_handle *local;
};

static struct layered *layered_of(struct blob *blob)
{
    return (struct layered *)blob;
}

static struct layered_handle *handle_of(struct blob_handle *handle)
{
    return (struct layered_handle *)handle;
}

static void layered_close(struct blob *blob)
{
    blob_close(layered_of(blob)->shared);
    blob_close(layered_of(blob)->local);
    free(blob);
}

static enum status layered_put(struct blob *blob, const struct blob_key *key, const void *bytes,
                               size_t length, struct err *err)
{
    return blob_put(layered_of(blob)->shared, key, bytes, length, err);
}

/* A missing one is no failure. */
static enum status open_if_any(struct blob *blob, const struct blob_key *key,
                               struct blob_handle **out_handle, struct err *err)
{
    struct err problem = {0};
    enum status status =
        blob != NULL ? blob_open(blob, key, BLOB_READ, out_handle, &problem) : STATUS_NOT_FOUND;
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        return STATUS_OK;
    *err = problem;
    return status;
}

static enum status layered_open(struct blob *blob, const struct blob_key *key, enum blob_mode mode,
                                struct blob_handle **out_handle, struct err *err)
{
    struct layered *layered = layered_of(blob);
    if (mode == BLOB_APPEND)
        return blob_open(layered->shared, key, mode, out_handle, err);
    CLEANUP(blob_handle_closep) struct blob_handle *local = NULL;
    CLEANUP(blob_handle_closep) struct blob_handle *shared = NULL;
    /* In this order: a file that is gone by now is in the store already. */
    if (open_if_any(layered->local, key, &local, err) != STATUS_OK ||
        open_if_any(layered->shared, key, &shared, err) != STATUS_OK)
        return err->code;
    char text[BLOB_KEY_TEXT_MAX];
    if (local == NULL && shared == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no blob '%s'", blob_key_format(key, text));
    struct layered_handle *handle = mem_zalloc(1, sizeof *handle);
    *handle = (struct layered_handle){.handle = {.backend = blob->backend, .mode = mode},
                                      .shared = TAKE(shared),
                                      .local = TAKE(local)};
    *out_handle = &handle->handle;
    return STATUS_OK;
}

/* First the directory: what is still there could be brought to the store again. */
static enum status layered_remove(struct blob *blob, const struct blob_key *key, struct err *err)
{
    struct layered *layered = layered_of(blob);
    if (layered->local != NULL && blob_delete(layered->local, key, err) != STATUS_OK)
        return err->code;
    return blob_delete(layered->shared, key, err);
}

static enum status layered_remove_all(struct blob *blob, const int64_t *ids, size_t id_count,
                                      struct err *err)
{
    struct layered *layered = layered_of(blob);
    if (layered->local != NULL && blob_delete_all(layered->local, ids, id_count, err) != STATUS_OK)
        return err->code;
    return blob_delete_all(layered->shared, ids, id_count, err);
}

static void layered_handle_close(struct blob_handle *handle)
{
    blob_handle_close(handle_of(handle)->shared);
    blob_handle_close(handle_of(handle)->local);
    free(handle);
}

/* Nothing is known of the end of what is in the directory only. */
static enum status layered_is_sealed(struct blob_handle *base, bool *out_sealed, struct err *err)
{
    struct layered_handle *handle = handle_of(base);
    return blob_is_sealed(handle->shared != NULL ? handle->shared : handle->local, out_sealed, err);
}

static enum status layered_size(struct blob_handle *base, uint64_t *out_size, struct err *err)
{
    struct layered_handle *handle = handle_of(base);
    uint64_t shared = 0;
    uint64_t local = 0;
    if ((handle->shared != NULL && blob_size(handle->shared, &shared, err) != STATUS_OK) ||
        (handle->local != NULL && blob_size(handle->local, &local, err) != STATUS_OK))
        return err->code;
    *out_size = MAX(shared, local);
    return STATUS_OK;
}

static enum status layered_range(struct blob_handle *base, uint64_t offset, void *out,
                                 size_t length, size_t *out_got, struct err *err)
{
    struct layered_handle *handle = handle_of(base);
    size_t shared = 0;
    size_t local = 0;
    if (handle->shared != NULL &&
        blob_range(handle->shared, offset, out, length, &shared, err) != STATUS_OK)
        return err->code;
    if (shared < length && handle->local != NULL &&
        blob_range(handle->local, offset + shared, (char *)out + shared, length - shared, &local,
                   err) != STATUS_OK)
        return err->code;
    *out_got = shared + local;
    return STATUS_OK;
}

/* Handles for appending are those of the store itself: no append and no seal here. */
static const struct blob_backend LAYERED = {
    .close = layered_close,
    .put = layered_put,
    .open = layered_open,
    .remove = layered_remove,
    .remove_all = layered_remove_all,
    .handle_close = layered_handle_close,
    .is_sealed = layered_is_sealed,
    .size = layered_size,
    .range = layered_range,
};

enum status blob_open_layered(struct store *store, const char *directory, struct blob **out_blob,
                              struct err *err)
{
    struct blob *local = NULL;
    struct err problem = {0};
    if (directory != NULL) {
        enum status status = blob_open_directory(directory, &local, &problem);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            *err = problem;
            return status;
        }
    }
    struct layered *layered = mem_zalloc(1, sizeof *layered);
    *layered = (struct layered){.blob = {.backend = &LAYERED}, .local = local};
    blob_open_store(store, &layered->shared);
    *out_blob = &layered->blob;
    return STATUS_OK;
}

enum status blob_open_for(struct store *store, const char *directory, struct blob **out_blob,
                          struct err *err)
{
    if (chunk_is_place_of_logs(store))
        return blob_open_layered(store, directory, out_blob, err);
    return blob_open_directory(directory, out_blob, err);
}
