#include "app/home.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/file_tree.h"

static enum status absolute(const char *path, char **out, struct err *err)
{
    if (path[0] == '/') {
        *out = mem_strdup(path);
        return STATUS_OK;
    }
    CLEANUP(mem_freep) char *here = get_current_dir_name();
    if (here == NULL)
        return err_set(err, STATUS_NOT_FOUND, "the current folder is gone");
    *out = file_path_join(here, path);
    return STATUS_OK;
}

/* A relative SQLite path means inside the state folder. */
static char *store_url(const char *setting, const char *home)
{
    static const char SCHEME[] = "sqlite:";
    if (setting[0] == '\0')
        return mem_format("%s%s/eider.db", SCHEME, home);
    if (!str_starts_with(setting, SCHEME) || setting[sizeof SCHEME - 1] == '/')
        return mem_strdup(setting);
    return mem_format("%s%s/%s", SCHEME, home, setting + sizeof SCHEME - 1);
}

/* The folder of the store's file; the state folder when it is none. */
static char *meeting_dir(const char *url, const char *home)
{
    const char *slash = strrchr(url, '/');
    if (!str_starts_with(url, "sqlite:/"))
        return mem_strdup(home);
    const char *path = url + sizeof "sqlite:" - 1;
    return mem_strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

enum status home_init(const struct settings *settings, const char *path, struct home *out,
                      struct err *err)
{
    struct home home = {0};
    if (absolute(path != NULL ? path : settings_text(settings, SETTING_HOME), &home.path, err) !=
        STATUS_OK)
        return err->code;
    home.store_url =
        store_url(path != NULL ? "" : settings_text(settings, SETTING_STORE), home.path);
    home.blob_dir = file_path_join(home.path, "blob");
    home.meeting_dir = meeting_dir(home.store_url, home.path);
    home.local_dir = file_path_join(home.path, "hosts");
    home.scratch_dir = file_path_join(home.path, "scratch");
    home.wake_file = file_path_join(home.meeting_dir, "wake");
    *out = home;
    return STATUS_OK;
}

void home_fini(struct home *home)
{
    free(home->path);
    free(home->store_url);
    free(home->blob_dir);
    free(home->meeting_dir);
    free(home->local_dir);
    free(home->scratch_dir);
    free(home->wake_file);
    *home = (struct home){0};
}

enum status home_make(const struct home *home, struct err *err)
{
    CLEANUP(mem_freep) char *hosts_dir = file_path_join(home->meeting_dir, "hosts");
    const char *const dirs[] = {home->path, home->blob_dir, home->local_dir, home->scratch_dir,
                                hosts_dir};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (file_tree_make(dirs[i], 0700, err) != STATUS_OK) {
            /* To the user the store is out of reach, unless it is a matter of rights. */
            if (err->code != STATUS_DENIED && err->code != STATUS_FULL)
                err->code = STATUS_IO;
            return err_wrap(err, "the state folder cannot be used (set EIDER_HOME or --home)");
        }
    bool is_network = false;
    if (file_is_on_network_fs(home->path, &is_network, err) != STATUS_OK)
        return err->code;
    if (is_network)
        return err_set(err, STATUS_INVALID,
                       "the state folder '%s' is on a network file system; use a local disk",
                       home->path);
    return STATUS_OK;
}

void home_wake(const struct home *home)
{
    int fd = open(home->wake_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return; /* a lost wake-up costs time, never work */
    ssize_t ignored = pwrite(fd, "!", 1, 0);
    (void)ignored;
    (void)close(fd);
}
