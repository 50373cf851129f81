#include "worker/local_logs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "os/file_tree.h"

enum { IDS = 3, ENTRIES_MAX = 4 << 20 };

struct blob_key local_logs_key(int64_t run, int64_t task, int64_t attempt)
{
    return (struct blob_key){.kind = BLOB_LOG, .ids = {run, task, attempt}, .id_count = IDS};
}

struct walk {
    int root;
    void (*each)(void *context, const struct blob_key *key);
    void *context;
};

static enum status list(int root, const char *path, struct file_tree_list *out, struct err *err)
{
    CLEANUP(file_closep) int fd = -1;
    enum status status = file_open_beneath(root, path, O_RDONLY | O_DIRECTORY, 0, &fd, err);
    return status == STATUS_OK ? file_tree_list(fd, ENTRIES_MAX, out, err) : status;
}

/* A directory of a task; one that goes away meanwhile is empty. */
static void walk_task(const struct walk *walk, const char *path)
{
    CLEANUP(file_tree_list_fini) struct file_tree_list files = {0};
    struct err ignored = {0};
    if (list(walk->root, path, &files, &ignored) != STATUS_OK)
        return;
    for (size_t i = 0; i < files.count; i++) {
        char name[BLOB_KEY_TEXT_MAX];
        struct blob_key key;
        int length = snprintf(name, sizeof name, "%s/%s", path, files.entries[i].name);
        if (length < (int)sizeof name && blob_key_parse(name, &key) && key.kind == BLOB_LOG &&
            key.id_count == IDS)
            walk->each(walk->context, &key);
    }
}

static void walk_run(const struct walk *walk, const char *run)
{
    CLEANUP(file_tree_list_fini) struct file_tree_list tasks = {0};
    struct err ignored = {0};
    if (list(walk->root, run, &tasks, &ignored) != STATUS_OK)
        return;
    for (size_t i = 0; i < tasks.count; i++) {
        char path[BLOB_KEY_TEXT_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", run, tasks.entries[i].name);
        if (length < (int)sizeof path && tasks.entries[i].type == DT_DIR)
            walk_task(walk, path);
    }
}

enum status local_logs_each(const char *directory,
                            void (*each)(void *context, const struct blob_key *key), void *context,
                            struct err *err)
{
    CLEANUP(file_closep) int root = -1;
    CLEANUP(file_tree_list_fini) struct file_tree_list runs = {0};
    if (file_open_directory(directory, &root, err) != STATUS_OK ||
        file_tree_list(root, ENTRIES_MAX, &runs, err) != STATUS_OK)
        return err_wrap(err, "look for logs");
    struct walk walk = {.root = root, .each = each, .context = context};
    for (size_t i = 0; i < runs.count; i++)
        if (runs.entries[i].type == DT_DIR)
            walk_run(&walk, runs.entries[i].name);
    return STATUS_OK;
}

enum status local_logs_remove(struct blob *blob, const char *directory, const struct blob_key *key,
                              struct err *err)
{
    struct blob_key index = *key;
    index.kind = BLOB_LOG_INDEX;
    /* The log goes last: as long as it is there, it is found again after a crash. */
    if (blob_delete(blob, &index, err) != STATUS_OK || blob_delete(blob, key, err) != STATUS_OK)
        return err->code;
    CLEANUP(file_closep) int root = -1;
    if (file_open_directory(directory, &root, err) != STATUS_OK)
        return err->code;
    char path[BLOB_KEY_TEXT_MAX];
    (void)blob_key_format(key, path);
    for (char *slash; (slash = strrchr(path, '/')) != NULL;) {
        *slash = '\0';
        if (unlinkat(root, path, AT_REMOVEDIR) != 0)
            break; /* not empty: of use to others */
    }
    return STATUS_OK;
}
