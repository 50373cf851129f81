#include "worker/scratch.h"

#include "base/log.h"
#include "os/file.h"
#include "os/file_tree.h"

enum { ENTRIES_MAX = 1 << 20 };

void scratch_clean(const char *dir, bool (*is_kept)(void *context, const char *name), void *context)
{
    CLEANUP(file_closep) int fd = -1;
    struct file_tree_list list = {0};
    struct err err = {0};
    if (file_open_directory(dir, &fd, &err) != STATUS_OK ||
        file_tree_list(fd, ENTRIES_MAX, &list, &err) != STATUS_OK) {
        log_warn("look into the scratch folder", LOG_STR("error", err.text));
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        if (!is_kept(context, list.entries[i].name) &&
            file_tree_remove(fd, list.entries[i].name, &err) != STATUS_OK)
            log_warn("remove what an attempt left", LOG_STR("error", err.text));
    file_tree_list_fini(&list);
}
