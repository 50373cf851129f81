#include "os/file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"

enum { REMOVE_DEPTH_MAX = 64 };

enum status file_tree_make(const char *path, mode_t mode, struct err *err)
{
    if (mkdir(path, mode) == 0)
        return STATUS_OK;
    if (errno == ENOENT) {
        CLEANUP(mem_freep) char *prefix = mem_strdup(path);
        for (char *slash = strchr(prefix + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
            *slash = '\0';
            if (mkdir(prefix, mode) != 0 && errno != EEXIST)
                return err_errno(err, errno, "make directory '%s'", prefix);
            *slash = '/';
        }
        if (mkdir(path, mode) == 0)
            return STATUS_OK;
    }
    struct stat info;
    if (errno == EEXIST && stat(path, &info) == 0)
        errno = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
    if (errno == 0)
        return STATUS_OK;
    return err_errno(err, errno, "make directory '%s'", path);
}

enum status file_tree_make_beneath(int dir_fd, const char *path, mode_t mode, struct err *err)
{
    CLEANUP(file_closep) int at = -1;
    CLEANUP(mem_freep) char *rest_storage = mem_strdup(path);
    char *rest = rest_storage;
    while (*rest != '\0') {
        char *end = strchr(rest, '/');
        char *next = end == NULL ? rest + strlen(rest) : end + 1;
        if (end != NULL)
            *end = '\0';
        int parent = at >= 0 ? at : dir_fd;
        if (mkdirat(parent, rest, mode) != 0 && errno != EEXIST)
            return err_errno(err, errno, "make directory '%s'", path);
        int inner = -1;
        if (file_open_beneath(parent, rest, O_RDONLY | O_DIRECTORY, 0, &inner, err) != STATUS_OK)
            return err_wrap(err, "make directory '%s'", path);
        file_closep(&at);
        at = inner;
        rest = next;
    }
    return STATUS_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct file_tree_entry *)a)->name,
                  ((const struct file_tree_entry *)b)->name);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static unsigned char entry_type(int dir_fd, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_type != DT_UNKNOWN ||
        fstatat(dir_fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return entry->d_type;
    return (unsigned char)IFTODT(info.st_mode);
}

enum status file_tree_list(int dir_fd, size_t entries_max, struct file_tree_list *out,
                           struct err *err)
{
    /* A descriptor of its own: closedir closes it, and the caller's position stays. */
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        enum status status = err_errno(err, errno, "list directory");
        file_closep(&fd);
        return status;
    }
    struct file_tree_list list = {0};
    size_t capacity = 0;
    enum status status = STATUS_OK;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL)
            break;
        if (is_dots(entry->d_name))
            continue;
        if (list.count == entries_max) {
            status =
                err_set(err, STATUS_LIMIT, "list directory: more than %zu entries", entries_max);
            break;
        }
        list.entries = mem_grow(list.entries, &capacity, list.count, sizeof *list.entries);
        list.entries[list.count++] = (struct file_tree_entry){.name = mem_strdup(entry->d_name),
                                                              .type = entry_type(fd, entry)};
    }
    if (status == STATUS_OK && errno != 0)
        status = err_errno(err, errno, "list directory");
    (void)closedir(dir);
    if (status != STATUS_OK) {
        file_tree_list_fini(&list);
        return status;
    }
    if (list.count > 1)
        qsort(list.entries, list.count, sizeof *list.entries, by_name);
    *out = list;
    return STATUS_OK;
}

void file_tree_list_fini(struct file_tree_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].name);
    free(list->entries);
    *list = (struct file_tree_list){0};
}

/* The open directories from the one to be removed down to where we are. */
struct descent {
    DIR *dirs[REMOVE_DEPTH_MAX];
    char *names[REMOVE_DEPTH_MAX];
    size_t depth;
};

static void descent_leave(struct descent *descent)
{
    descent->depth--;
    (void)closedir(descent->dirs[descent->depth]);
    free(descent->names[descent->depth]);
}

/* A task may have locked itself out; what is ours can be opened again. */
static bool unlock(int parent, const char *name)
{
    CLEANUP(file_closep)
    int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd >= 0 && chmod(path, 0700) == 0;
}

static enum status descent_enter(struct descent *descent, int parent, const char *name,
                                 struct err *err)
{
    if (descent->depth == REMOVE_DEPTH_MAX)
        return err_set(err, STATUS_LIMIT, "remove '%s': deeper than %d directories", name,
                       REMOVE_DEPTH_MAX);
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && unlock(parent, name))
        fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        enum status status = err_errno(err, errno, "remove '%s'", name);
        file_closep(&fd);
        return status;
    }
    descent->dirs[descent->depth] = dir;
    descent->names[descent->depth] = mem_strdup(name);
    descent->depth++;
    return STATUS_OK;
}

/* One entry of the innermost directory, or the directory itself when it has none left. */
static enum status descent_step(struct descent *descent, int base, struct err *err)
{
    DIR *dir = descent->dirs[descent->depth - 1];
    const struct dirent *entry = readdir(dir);
    if (entry == NULL) {
        int parent = descent->depth > 1 ? dirfd(descent->dirs[descent->depth - 2]) : base;
        const char *name = descent->names[descent->depth - 1];
        enum status status = STATUS_OK;
        if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
            status = err_errno(err, errno, "remove '%s'", name);
        descent_leave(descent);
        return status;
    }
    if (is_dots(entry->d_name) || unlinkat(dirfd(dir), entry->d_name, 0) == 0 || errno == ENOENT)
        return STATUS_OK;
    if (errno != EISDIR && errno != EPERM)
        return err_errno(err, errno, "remove '%s'", entry->d_name);
    return descent_enter(descent, dirfd(dir), entry->d_name, err);
}

enum status file_tree_remove(int dir_fd, const char *name, struct err *err)
{
    CHECK(strchr(name, '/') == NULL);
    CHECK(!is_dots(name));
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return STATUS_OK;
    if (errno != EISDIR && errno != EPERM)
        return err_errno(err, errno, "remove '%s'", name);

    struct descent descent = {.depth = 0};
    enum status status = descent_enter(&descent, dir_fd, name, err);
    while (status == STATUS_OK && descent.depth > 0)
        status = descent_step(&descent, dir_fd, err);
    while (descent.depth > 0)
        descent_leave(&descent);
    return status;
}
