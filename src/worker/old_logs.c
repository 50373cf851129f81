#include "worker/old_logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "blob/blob.h"
#include "model/limits.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store/run_store.h"

enum { ENTRIES_MAX = 4 << 20, COPY_BYTES = 1 << 20 };

struct moving {
    const struct old_logs *request;
    int from;
    int to;
    int64_t least_run; /* those before are the resident's, also when it has deleted them */
    bool is_running;   /* the task whose files are looked at */
    struct old_logs_result result;
};

/* --- one file -------------------------------------------------------------------------------- */

static enum status copy_rest(struct blob_handle *from, struct blob_handle *to, struct err *err)
{
    CLEANUP(mem_freep) char *bytes = mem_alloc(COPY_BYTES);
    uint64_t at = 0;
    size_t got = 0;
    if (blob_size(to, &at, err) != STATUS_OK)
        return err->code;
    do {
        if (blob_range(from, at, bytes, COPY_BYTES, &got, err) != STATUS_OK ||
            blob_append(to, bytes, got, err) != STATUS_OK)
            return err->code;
        at += got;
    } while (got > 0);
    return STATUS_OK;
}

/* A value is read as a whole, so it is there as a whole or not at all. */
static enum status copy_value(struct blob_handle *from, struct blob *to, const struct blob_key *key,
                              struct err *err)
{
    uint64_t size = 0;
    size_t got = 0;
    if (blob_size(from, &size, err) != STATUS_OK)
        return err->code;
    if (size > LIMIT_VALUE_BYTES)
        return err_set(err, STATUS_LIMIT, "a value has %llu bytes", (unsigned long long)size);
    CLEANUP(mem_freep) char *bytes = mem_alloc((size_t)size + 1);
    if (blob_range(from, 0, bytes, (size_t)size, &got, err) != STATUS_OK)
        return err->code;
    return blob_put(to, key, bytes, got, err);
}

/* After a crash it goes on where it ended: the original goes last. */
static enum status copy_log(struct blob_handle *from, struct blob *to, const struct blob_key *key,
                            struct err *err)
{
    CLEANUP(blob_handle_closep) struct blob_handle *writing = NULL;
    if (blob_open(to, key, BLOB_APPEND, &writing, err) != STATUS_OK)
        return err->code;
    return copy_rest(from, writing, err);
}

static enum status copy(const struct moving *moving, const struct blob_key *key, struct err *err)
{
    CLEANUP(blob_closep) struct blob *from = NULL;
    CLEANUP(blob_closep) struct blob *to = NULL;
    CLEANUP(blob_handle_closep) struct blob_handle *reading = NULL;
    if (blob_open_directory(moving->request->from, &from, err) != STATUS_OK ||
        blob_open_directory(moving->request->to, &to, err) != STATUS_OK ||
        blob_open(from, key, BLOB_READ, &reading, err) != STATUS_OK)
        return err->code;
    enum status status = key->kind == BLOB_VALUE ? copy_value(reading, to, key, err)
                                                 : copy_log(reading, to, key, err);
    return status == STATUS_OK ? blob_delete(from, key, err) : status;
}

static enum status move_file(struct moving *moving, const char *folder, const char *name,
                             struct err *err)
{
    char path[BLOB_KEY_TEXT_MAX];
    struct blob_key key;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length >= (int)sizeof path || !blob_key_parse(path, &key) ||
        (key.kind == BLOB_VALUE && !moving->request->has_values))
        return STATUS_OK;
    if (file_tree_make_beneath(moving->to, folder, 0700, err) != STATUS_OK)
        return err->code;
    if (renameat2(moving->from, path, moving->to, path, RENAME_NOREPLACE) != 0) {
        if (errno == EEXIST)
            return STATUS_OK;
        if (errno != EXDEV)
            return err_errno(err, errno, "move '%s'", path);
        if (moving->is_running) {
            moving->result.left++;
            return STATUS_OK;
        }
        if (copy(moving, &key, err) != STATUS_OK)
            return err->code;
    }
    moving->result.count++;
    return STATUS_OK;
}

/* --- folders --------------------------------------------------------------------------------- */

/* A folder that goes away meanwhile is empty. */
static void list(const struct moving *moving, const char *path, struct file_tree_list *out)
{
    CLEANUP(file_closep) int fd = -1;
    struct err ignored = {0};
    if (file_open_beneath(moving->from, path, O_RDONLY | O_DIRECTORY, 0, &fd, &ignored) ==
        STATUS_OK)
        (void)!file_tree_list(fd, ENTRIES_MAX, out, &ignored);
}

/* Those of its files that are blobs; then the folder, unless it is of use to others. */
static enum status move_files(struct moving *moving, const char *folder, struct err *err)
{
    CLEANUP(file_tree_list_fini) struct file_tree_list entries = {0};
    enum status status = STATUS_OK;
    list(moving, folder, &entries);
    for (size_t i = 0; i < entries.count && status == STATUS_OK; i++)
        if (entries.entries[i].type == DT_REG)
            status = move_file(moving, folder, entries.entries[i].name, err);
    (void)unlinkat(moving->from, folder, AT_REMOVEDIR);
    return status;
}

/* An attempt with values has a folder of its own in it. */
static enum status move_task_folder(struct moving *moving, const char *folder, struct err *err)
{
    CLEANUP(file_tree_list_fini) struct file_tree_list entries = {0};
    enum status status = STATUS_OK;
    list(moving, folder, &entries);
    for (size_t i = 0; i < entries.count && status == STATUS_OK; i++) {
        CLEANUP(mem_freep) char *inner = mem_format("%s/%s", folder, entries.entries[i].name);
        if (entries.entries[i].type == DT_DIR)
            status = move_files(moving, inner, err);
    }
    return status == STATUS_OK ? move_files(moving, folder, err) : status;
}

struct known {
    bool is_found;
    bool is_running;
};

static enum status look(struct store *store, int64_t run, int64_t task, struct known *out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct task_row row = {0};
    struct err problem = {0};
    enum status status = store_task_load(store, arena, task, &row, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    out->is_found = status == STATUS_OK && row.run == run;
    out->is_running = out->is_found && row.state == TASK_RUNNING;
    return STATUS_OK;
}

static enum status move_task(struct moving *moving, int64_t run, int64_t task, struct err *err)
{
    const struct old_logs *request = moving->request;
    struct known ours = {0};
    struct known theirs = {0};
    /* First the one that is at hand. */
    if (request->resident != NULL && look(request->resident, run, task, &theirs, err) != STATUS_OK)
        return err->code;
    if (theirs.is_found)
        return STATUS_OK;
    if (look(request->store, run, task, &ours, err) != STATUS_OK)
        return err->code;
    if (!ours.is_found)
        return STATUS_OK;
    moving->is_running = ours.is_running;
    CLEANUP(mem_freep) char *folder = mem_format("%lld/%lld", (long long)run, (long long)task);
    return move_task_folder(moving, folder, err);
}

static enum status move_run(struct moving *moving, const char *name, struct err *err)
{
    CLEANUP(file_tree_list_fini) struct file_tree_list tasks = {0};
    int64_t run = 0;
    int64_t task = 0;
    enum status status = STATUS_OK;
    if (!str_parse_i64(name, 0, INT64_MAX, &run) || (run > 0 && run < moving->least_run))
        return STATUS_OK;
    list(moving, name, &tasks);
    for (size_t i = 0; i < tasks.count && status == STATUS_OK; i++)
        if (str_parse_i64(tasks.entries[i].name, 1, INT64_MAX, &task))
            status = move_task(moving, run, task, err);
    (void)unlinkat(moving->from, name, AT_REMOVEDIR);
    return status;
}

enum status old_logs_take(const struct old_logs *self, struct old_logs_result *out, struct err *err)
{
    CLEANUP(file_closep) int from = -1;
    CLEANUP(file_closep) int to = -1;
    CLEANUP(file_tree_list_fini) struct file_tree_list runs = {0};
    if (file_open_directory(self->from, &from, err) != STATUS_OK ||
        file_open_directory(self->to, &to, err) != STATUS_OK ||
        file_tree_list(from, ENTRIES_MAX, &runs, err) != STATUS_OK)
        return err->code;
    struct store_info resident = {0};
    if (self->resident != NULL && store_describe(self->resident, &resident, err) != STATUS_OK)
        return err->code;
    struct moving moving = {
        .request = self, .from = from, .to = to, .least_run = resident.next_run};
    for (size_t i = 0; i < runs.count; i++)
        if (runs.entries[i].type == DT_DIR &&
            move_run(&moving, runs.entries[i].name, err) != STATUS_OK)
            return err->code;
    *out = moving.result;
    return STATUS_OK;
}
