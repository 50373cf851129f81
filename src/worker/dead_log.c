#include "worker/dead_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/file.h"

/* JSON as what it is; what is not, as a text. */
static void put_payload(json_t *object, const char *payload)
{
    struct err ignored = {0};
    json_t *value = NULL;
    if (payload != NULL && json_parse(payload, strlen(payload), &value, &ignored) == STATUS_OK)
        json_put(object, "payload", value);
    else
        json_put_string(object, "payload", payload);
}

static char *format_line(const struct dead_info *letter)
{
    CLEANUP(json_decrefp) json_t *object = json_object();
    json_put_id(object, "id", letter->task);
    if (letter->run != 0)
        json_put_id(object, "run", letter->run);
    else
        json_put(object, "run", json_null());
    json_put_string(object, "queue", letter->queue);
    json_put_string(object, "name", letter->name);
    json_put_string(object, "reason", reason_name(letter->reason));
    json_put_int(object, "attempt", letter->attempt);
    json_put_string(object, "detail", letter->detail);
    json_put_instant(object, "at", letter->at_us);
    put_payload(object, letter->payload);
    CLEANUP(mem_freep) char *json = json_format(object);
    return mem_format("%s\n", json);
}

/* A line that was cut gets its end first, so that it spoils only itself. */
static enum status close_cut_line(int fd, const char *path, off_t end, struct err *err)
{
    char last = '\n';
    if (end > 0 && pread(fd, &last, 1, end - 1) != 1)
        return err_errno(err, errno, "read '%s'", path);
    return last == '\n' ? STATUS_OK : file_write_fd(fd, path, "\n", 1, err);
}

static enum status append(int fd, const char *path, const char *line, struct err *err)
{
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < 0)
        return err_errno(err, errno, "look at '%s'", path);
    enum status status = close_cut_line(fd, path, end, err);
    if (status == STATUS_OK)
        status = file_write_fd(fd, path, line, strlen(line), err);
    if (status == STATUS_OK && fsync(fd) != 0)
        status = err_errno(err, errno, "sync '%s'", path);
    if (status != STATUS_OK)
        (void)(ftruncate(fd, end) == 0); /* the next one closes what cannot be taken back */
    return status;
}

static enum status sync_directory_of(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    CLEANUP(mem_freep)
    char *dir = slash == NULL ? mem_strdup(".") : mem_strndup(path, (size_t)(slash - path) + 1);
    CLEANUP(file_closep) int fd = -1;
    if (file_open_directory(dir, &fd, err) != STATUS_OK)
        return err->code;
    return fsync(fd) == 0 ? STATUS_OK : err_errno(err, errno, "sync '%s'", dir);
}

enum status dead_log_append(const char *path, const struct dead_info *letter, struct err *err)
{
    CLEANUP(mem_freep) char *line = format_line(letter);
    CLEANUP(file_closep) int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    bool is_new = fd < 0 && errno == ENOENT;
    if (is_new)
        fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "note a dead letter: open '%s'", path);
    if (append(fd, path, line, err) != STATUS_OK ||
        (is_new && sync_directory_of(path, err) != STATUS_OK))
        return err_wrap(err, "note a dead letter");
    return STATUS_OK;
}
