#include "os/process_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"

static const char DEFAULT_PATH[] = "/usr/local/bin:/usr/bin:/bin";

static const char *search_path(const char *const *env)
{
    for (size_t i = 0; env[i] != NULL; i++)
        if (str_starts_with(env[i], "PATH="))
            return env[i] + strlen("PATH=");
    return DEFAULT_PATH;
}

void process_path_init(struct process_path *path, const struct process_request *request)
{
    const char *command = request->argv[0];
    size_t capacity = 0;
    *path = (struct process_path){0};
    if (strchr(command, '/') != NULL) {
        path->items = mem_grow(path->items, &capacity, 0, sizeof *path->items);
        path->items[path->count++] = mem_strdup(command);
        return;
    }
    for (const char *rest = search_path(request->env); rest != NULL;) {
        size_t length = strcspn(rest, ":");
        path->items = mem_grow(path->items, &capacity, path->count, sizeof *path->items);
        if (length == 0) /* an empty entry is the working directory, as everywhere */
            path->items[path->count++] = mem_format("./%s", command);
        else
            path->items[path->count++] = mem_format("%.*s/%s", (int)length, rest, command);
        rest = rest[length] == ':' ? rest + length + 1 : NULL;
    }
}

void process_path_fini(struct process_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        free(path->items[i]);
    free(path->items);
    *path = (struct process_path){0};
}

/* The path after "#!" of a script, heap; NULL if the file is none. */
static char *interpreter_of(const char *file)
{
    CLEANUP(file_closep) int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    char line[256] = {0};
    ssize_t got = read(fd, line, sizeof line - 1);
    if (got < 3 || line[0] != '#' || line[1] != '!')
        return NULL;
    char *start = line + 2 + strspn(line + 2, " \t");
    return mem_strndup(start, strcspn(start, " \t\r\n"));
}

enum status process_path_explain(const struct process_request *request,
                                 const struct process_path *path, int failure, struct err *err)
{
    for (size_t i = 0; i < path->count; i++) {
        CLEANUP(mem_freep)
        char *file =
            file_path_join(request->workdir == NULL ? "" : request->workdir, path->items[i]);
        struct stat info;
        if (stat(file, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode))
            failure = failure == EACCES ? EISDIR : failure;
        CLEANUP(mem_freep) char *interpreter = failure == ENOENT ? interpreter_of(file) : NULL;
        if (interpreter != NULL)
            return err_errno(err, failure, "exec '%s': interpreter '%s'", path->items[i],
                             interpreter);
        if (failure != ENOENT)
            return err_errno(err, failure, "exec '%s'", path->items[i]);
    }
    return err_errno(err, failure, "exec '%s'", request->argv[0]);
}
