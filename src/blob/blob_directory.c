/*
 * Blobs as files: "12/345/1.log" is that path beneath the root. Everything is opened
 * through the root's descriptor, so moving the root or planting links changes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "blob/backend.h"
#include "os/file.h"
#include "os/file_tree.h"

enum { DIRECTORY_MODE = 0700, FILE_MODE = 0600, TRIES_MAX = 16 };

struct directory {
    struct blob blob;
    int root;
};

struct directory_handle {
    struct blob_handle handle;
    int fd;
};

static int root_of(const struct blob *blob)
{
    return ((const struct directory *)blob)->root;
}

static int fd_of(const struct blob_handle *handle)
{
    return ((const struct directory_handle *)handle)->fd;
}

static void directory_close(struct blob *blob)
{
    (void)close(root_of(blob));
    free(blob);
}

static enum status make_parents(int root, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return STATUS_OK;
    CLEANUP(mem_freep) char *parents = mem_strndup(path, (size_t)(slash - path));
    return file_tree_make_beneath(root, parents, DIRECTORY_MODE, err);
}

static enum status directory_put(struct blob *blob, const struct blob_key *key, const void *bytes,
                                 size_t length, struct err *err)
{
    char path[BLOB_KEY_TEXT_MAX];
    (void)blob_key_format(key, path);
    if (make_parents(root_of(blob), path, err) != STATUS_OK)
        return err->code;
    return file_write_atomic_beneath(root_of(blob), path, bytes, length, FILE_MODE, err);
}

static enum status directory_open(struct blob *blob, const struct blob_key *key,
                                  enum blob_mode mode, struct blob_handle **out_handle,
                                  struct err *err)
{
    char path[BLOB_KEY_TEXT_MAX];
    (void)blob_key_format(key, path);
    int root = root_of(blob);
    int flags = mode == BLOB_READ ? O_RDONLY | O_NONBLOCK : O_WRONLY | O_CREAT | O_APPEND;
    int fd = -1;
    /* The directory is nearly always there already: look only when it is not. */
    enum status status = file_open_beneath(root, path, flags, FILE_MODE, &fd, err);
    /* Whoever removes the last blob of a directory removes it too, perhaps at this moment. */
    for (int tries = 0; status == STATUS_NOT_FOUND && mode == BLOB_APPEND && tries < TRIES_MAX;
         tries++) {
        status = make_parents(root, path, err);
        if (status == STATUS_OK)
            status = file_open_beneath(root, path, flags, FILE_MODE, &fd, err);
    }
    if (status != STATUS_OK)
        return status;
    struct directory_handle *handle = mem_zalloc(1, sizeof *handle);
    handle->handle = (struct blob_handle){.backend = blob->backend, .mode = mode};
    handle->fd = fd;
    *out_handle = &handle->handle;
    return STATUS_OK;
}

static enum status directory_remove(struct blob *blob, const struct blob_key *key, struct err *err)
{
    char path[BLOB_KEY_TEXT_MAX];
    (void)blob_key_format(key, path);
    char *slash = strrchr(path, '/');
    CLEANUP(file_closep) int parent = -1;
    if (slash != NULL) {
        *slash = '\0';
        enum status status =
            file_open_beneath(root_of(blob), path, O_RDONLY | O_DIRECTORY, 0, &parent, err);
        if (status != STATUS_OK)
            return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    const char *name = slash == NULL ? path : slash + 1;
    if (unlinkat(slash == NULL ? root_of(blob) : parent, name, 0) != 0 && errno != ENOENT)
        return err_errno(err, errno, "remove blob '%s'", name);
    return STATUS_OK;
}

/* The ids name a directory and the stem of files beside it. */
static enum status directory_remove_all(struct blob *blob, const int64_t *ids, size_t id_count,
                                        struct err *err)
{
    struct blob_key key = {.id_count = id_count};
    memcpy(key.ids, ids, id_count * sizeof *ids);
    for (enum blob_kind kind = 0; kind < BLOB_KIND_COUNT; kind++) {
        key.kind = kind;
        if (directory_remove(blob, &key, err) != STATUS_OK)
            return err->code;
    }
    char path[BLOB_KEY_TEXT_MAX];
    (void)blob_key_format(&key, path);
    *strrchr(path, '.') = '\0';
    char *slash = strrchr(path, '/');
    CLEANUP(file_closep) int parent = -1;
    if (slash == NULL)
        return file_tree_remove(root_of(blob), path, err);
    *slash = '\0';
    enum status status =
        file_open_beneath(root_of(blob), path, O_RDONLY | O_DIRECTORY, 0, &parent, err);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    return file_tree_remove(parent, slash + 1, err);
}

static void directory_handle_close(struct blob_handle *handle)
{
    (void)close(fd_of(handle));
    free(handle);
}

static enum status directory_append(struct blob_handle *handle, const void *bytes, size_t length,
                                    struct err *err)
{
    return file_write_fd(fd_of(handle), "blob", bytes, length, err);
}

static enum status directory_seal(struct blob_handle *handle, struct err *err)
{
    (void)handle;
    (void)err;
    return STATUS_OK;
}

static enum status directory_is_sealed(struct blob_handle *handle, bool *out_sealed,
                                       struct err *err)
{
    (void)handle;
    (void)err;
    *out_sealed = false;
    return STATUS_OK;
}

static enum status directory_size(struct blob_handle *handle, uint64_t *out_size, struct err *err)
{
    struct stat info;
    if (fstat(fd_of(handle), &info) != 0)
        return err_errno(err, errno, "look at blob");
    *out_size = (uint64_t)info.st_size;
    return STATUS_OK;
}

static enum status directory_range(struct blob_handle *handle, uint64_t offset, void *out,
                                   size_t length, size_t *out_got, struct err *err)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got =
            pread(fd_of(handle), (char *)out + done, length - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "read blob");
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *out_got = done;
    return STATUS_OK;
}

static const struct blob_backend DIRECTORY = {
    .close = directory_close,
    .put = directory_put,
    .open = directory_open,
    .remove = directory_remove,
    .remove_all = directory_remove_all,
    .handle_close = directory_handle_close,
    .append = directory_append,
    .seal = directory_seal,
    .is_sealed = directory_is_sealed,
    .size = directory_size,
    .range = directory_range,
};

enum status blob_open_directory(const char *path, struct blob **out_blob, struct err *err)
{
    int root = -1;
    if (file_open_directory(path, &root, err) != STATUS_OK)
        return err_wrap(err, "open blobs");
    struct directory *directory = mem_zalloc(1, sizeof *directory);
    directory->blob.backend = &DIRECTORY;
    directory->root = root;
    *out_blob = &directory->blob;
    return STATUS_OK;
}
