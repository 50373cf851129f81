#include "worker/keeper_hide.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/limits.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/secret_box.h"

static void mask_bytes(struct mask *mask, const char *bytes, size_t length, struct strbuf *out)
{
    strbuf_init(out, SIZE_MAX / 2);
    mask_feed(mask, bytes, length, out);
    mask_flush(mask, out);
}

void keeper_hide_text(struct mask *mask, struct strbuf *text)
{
    CLEANUP(strbuf_fini) struct strbuf hidden;
    mask_bytes(mask, text->text, text->length, &hidden);
    secret_wipe(text->text, text->length);
    strbuf_clear(text);
    strbuf_add_bytes(text, hidden.text, hidden.length);
}

void keeper_hide_in_place(struct mask *mask, char *text, size_t size)
{
    CLEANUP(strbuf_fini) struct strbuf hidden;
    mask_bytes(mask, text, strlen(text), &hidden);
    (void)snprintf(text, size, "%s", hidden.text);
}

/* False: what is in it may not stay. */
static bool hide_in_file(struct mask *mask, int dir_fd, const char *name)
{
    struct err err = {0};
    CLEANUP(file_closep) int fd = -1;
    char *bytes = NULL;
    size_t length = 0;
    if (file_open_beneath(dir_fd, name, O_RDWR | O_NONBLOCK, 0, &fd, &err) != STATUS_OK ||
        file_read_fd(fd, name, LIMIT_VALUE_BYTES, &bytes, &length, &err) != STATUS_OK)
        /* Longer than any value may be: whoever takes the outputs says so, and reads nothing. */
        return err.code == STATUS_LIMIT;
    CLEANUP(strbuf_fini) struct strbuf hidden;
    mask_bytes(mask, bytes, length, &hidden);
    bool is_same = hidden.length == length && memcmp(hidden.text, bytes, length) == 0;
    secret_wipe(bytes, is_same ? 0 : length);
    free(bytes);
    if (is_same)
        return true;
    return ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
           file_write_fd(fd, name, hidden.text, hidden.length, &err) == STATUS_OK;
}

void keeper_hide_outputs(struct mask *mask, const char *dir)
{
    struct err ignored = {0};
    CLEANUP(file_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct file_tree_list files = {0};
    if (fd < 0 || file_tree_list(fd, LIMIT_VALUES_PER_TASK, &files, &ignored) != STATUS_OK)
        return;
    for (size_t i = 0; i < files.count; i++)
        if (files.entries[i].type == DT_REG && !hide_in_file(mask, fd, files.entries[i].name))
            (void)unlinkat(fd, files.entries[i].name, 0);
    file_tree_list_fini(&files);
}
