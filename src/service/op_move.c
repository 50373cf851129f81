/*
 * The store as a file that another store reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "blob/blob.h"
#include "os/file.h"
#include "service/json_build.h"
#include "service/move_blob.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/move.h"

static json_t *describe(const char *path, const struct move_result *result, int64_t files)
{
    json_t *object = json_build_object();
    json_put_string(object, "path", path);
    json_put_int(object, "bytes", result->bytes);
    json_put_int(object, "rows", result->rows);
    json_put_int(object, "files", files);
    json_put_int(object, "schema", result->schema);
    json_put_string(object, "uuid", result->uuid);
    json_put_int(object, "epoch", result->epoch);
    return object;
}

/* What the callbacks of a move work on. */
struct moving {
    struct move_blob blob;
    const struct service *service;
};

static enum status write_file(void *context, const struct move_file *file,
                              struct move_writer *writer, struct err *err)
{
    return move_blob_write(&((struct moving *)context)->blob, file, writer, err);
}

static enum status read_line(void *context, const json_t *line, struct err *err)
{
    return move_blob_read(&((struct moving *)context)->blob, line, err);
}

static enum status finish(void *context, struct err *err)
{
    return move_blob_finish(&((struct moving *)context)->blob, err);
}

static void tell(void *context, const char *table, int64_t rows)
{
    const struct service *service = ((struct moving *)context)->service;
    if (service->progress != NULL)
        service->progress(service->progress_context, table, rows);
}

static struct move_files files_of(struct moving *moving)
{
    return (struct move_files){.context = moving,
                               .write = write_file,
                               .read = read_line,
                               .finish = finish,
                               .progress = tell};
}

/* --- export ---------------------------------------------------------------------------------- */

/* Streams and devices are written to as they are; a file appears when it is whole. */
static bool is_device(const char *path)
{
    struct stat status;
    return str_equal(path, "/dev/stdout") || str_starts_with(path, "/dev/fd/") ||
           (stat(path, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)));
}

static enum status write_export(struct service *service, int fd, bool with_logs,
                                struct move_result *result, int64_t *out_files, struct err *err)
{
    CLEANUP(mem_freep) char *url = NULL;
    struct store_options options = service_store_options(service, DB_READ_ONLY, &url);
    struct moving moving = {.blob = {.with_logs = with_logs}, .service = service};
    struct move_files files = files_of(&moving);
    if (service_blob_if_any(service, &moving.blob.blob, err) != STATUS_OK ||
        store_export(&options, fd, &files, result, err) != STATUS_OK)
        return err->code;
    *out_files = moving.blob.files;
    return STATUS_OK;
}

static enum status put_in_place(int fd, const char *partial, const char *path, struct err *err)
{
    if (fsync(fd) != 0)
        return err_errno(err, errno, "sync '%s'", partial);
    if (renameat2(AT_FDCWD, partial, AT_FDCWD, path, RENAME_NOREPLACE) != 0)
        return err_errno(err, errno, "create '%s'", path);
    return STATUS_OK;
}

enum status op_store_export(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    const char *path = json_get_string(request, "path", "");
    bool to_device = is_device(path);
    CLEANUP(mem_freep)
    char *target = to_device ? mem_strdup(path) : mem_format("%s.partial", path);
    struct store *store = NULL;
    struct move_result result = {0};
    int64_t files = 0;
    if (path[0] == '\0')
        return err_set(err, STATUS_INVALID, "'path' is empty");
    if (!to_device && access(path, F_OK) == 0)
        return err_errno(err, EEXIST, "create '%s'", path);
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err->code;
    int flags = to_device ? O_APPEND : O_CREAT | O_TRUNC;
    CLEANUP(file_closep) int fd = open(target, O_WRONLY | O_CLOEXEC | flags, 0600);
    if (fd < 0)
        return err_errno(err, errno, "create '%s'", target);
    enum status status =
        write_export(service, fd, json_get_bool(request, "logs", false), &result, &files, err);
    if (status == STATUS_OK && !to_device)
        status = put_in_place(fd, target, path, err);
    if (status != STATUS_OK) {
        if (!to_device)
            (void)unlink(target);
        return status;
    }
    *out = describe(path, &result, files);
    return STATUS_OK;
}

/* --- import ---------------------------------------------------------------------------------- */

enum status op_store_import(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    const char *path = json_get_string(request, "path", "");
    CLEANUP(mem_freep) char *url = NULL;
    struct store_options options = service_store_options(service, DB_READ_WRITE, &url);
    struct moving moving = {.service = service};
    struct move_files files = files_of(&moving);
    struct move_result result = {0};
    if (path[0] == '\0')
        return err_set(err, STATUS_INVALID, "'path' is empty");
    CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "read '%s'", path);
    service_close_store(service);
    if (service_blob_new(service, &moving.blob.blob, err) != STATUS_OK)
        return err->code;
    enum status status = store_import(&options, fd, service->actor, &files, &result, err);
    move_blob_fini(&moving.blob);
    blob_close(moving.blob.blob);
    if (status != STATUS_OK)
        return status;
    *out = describe(path, &result, moving.blob.files);
    service_wake(service);
    return STATUS_OK;
}
