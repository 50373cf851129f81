#include "worker/keeper_outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "os/file.h"
#include "os/file_tree.h"

enum { ALL_BYTES_MAX = 4 * LIMIT_VALUE_BYTES };

static json_t *to_value(const char *bytes, size_t length)
{
    struct err not_json = {0};
    json_t *value = NULL;
    if (json_parse(bytes, length, &value, &not_json) == STATUS_OK)
        return value;
    if (length > 0 && bytes[length - 1] == '\n')
        length--;
    return json_text(bytes, length);
}

static enum status read_one(int dir_fd, const struct file_tree_entry *entry, size_t *total,
                            json_t *values, struct err *err)
{
    if (entry->type != DT_REG)
        return err_set(err, STATUS_INVALID, "output '%s' is not a regular file", entry->name);
    if (strlen(entry->name) > LIMIT_ID_BYTES)
        return err_set(err, STATUS_INVALID, "output name '%.40s...' is too long", entry->name);
    CLEANUP(file_closep) int fd = -1;
    if (file_open_beneath(dir_fd, entry->name, O_RDONLY | O_NONBLOCK, 0, &fd, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *bytes = NULL;
    size_t length = 0;
    if (file_read_fd(fd, entry->name, LIMIT_VALUE_BYTES, &bytes, &length, err) != STATUS_OK)
        return err->code;
    *total += length;
    if (*total > ALL_BYTES_MAX)
        return err_set(err, STATUS_LIMIT, "outputs are larger than %d MB together",
                       ALL_BYTES_MAX >> 20);
    if (json_object_set_new(values, entry->name, to_value(bytes, length)) != 0)
        return err_set(err, STATUS_INVALID, "an output name is not UTF-8");
    return STATUS_OK;
}

static enum status read_all(int dir_fd, json_t *values, struct err *err)
{
    struct file_tree_list list = {0};
    if (file_tree_list(dir_fd, LIMIT_VALUES_PER_TASK, &list, err) != STATUS_OK)
        return err->code;
    size_t total = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++)
        status = read_one(dir_fd, &list.entries[i], &total, values, err);
    file_tree_list_fini(&list);
    return status;
}

static void remove_directory(const char *dir)
{
    const char *slash = strrchr(dir, '/');
    CHECK(slash != NULL);
    CLEANUP(mem_freep) char *parent = mem_strndup(dir, slash == dir ? 1 : (size_t)(slash - dir));
    struct err ignored = {0};
    CLEANUP(file_closep) int fd = -1;
    /* What cannot be removed now is left to the clearing of scratch directories. */
    if (file_open_directory(parent, &fd, &ignored) == STATUS_OK)
        (void)!file_tree_remove(fd, slash + 1, &ignored);
}

enum status keeper_outputs_take(const char *dir, json_t **out_values, struct err *err)
{
    CHECK(dir[0] == '/');
    json_t *values = json_object();
    CLEANUP(file_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *out_values = values;
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    if (fd < 0)
        status = err_errno(err, errno, "open outputs '%s'", dir);
    else
        status = read_all(fd, values, err);
    remove_directory(dir);
    if (status != STATUS_OK) {
        json_decref(values);
        return status;
    }
    *out_values = values;
    return STATUS_OK;
}
