#include "app/home.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/store_place.h"
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

enum status home_init(const struct settings *settings, const char *path, struct home *out,
                      struct err *err)
{
    struct home home = {0};
    if (absolute(path != NULL ? path : settings_text(settings, SETTING_HOME), &home.path, err) !=
        STATUS_OK)
        return err->code;
    home.store_url =
        store_place_url(path != NULL ? "" : settings_text(settings, SETTING_STORE), home.path);
    const char *file = store_place_path(home.store_url);
    home.store_dir = file != NULL ? store_place_folder(file) : NULL;
    home.hosts_dir = file_path_join(home.path, "hosts");
    home.wake_file = file_path_join(file != NULL ? home.store_dir : home.path, "wake");
    *out = home;
    return STATUS_OK;
}

void home_fini(struct home *home)
{
    free(home->path);
    free(home->store_url);
    free(home->store_dir);
    free(home->hosts_dir);
    free(home->wake_file);
    *home = (struct home){0};
}

bool home_is_embedded(const struct home *home)
{
    return home->store_dir != NULL;
}

static enum status make_dir(const char *path, struct err *err)
{
    if (file_tree_make(path, 0700, err) == STATUS_OK)
        return STATUS_OK;
    /* To the user the store is out of reach, unless it is a matter of rights. */
    if (err->code != STATUS_DENIED && err->code != STATUS_FULL)
        err->code = STATUS_IO;
    return err_wrap(err, "the state folder cannot be used (set EIDER_HOME or --home)");
}

/*
 * A store that is made now has its logs in its own folder from the start: those that others left in
 * the home are not its own (service.c).
 */
static enum status make_blob_of_new(const struct home *home, struct err *err)
{
    if (!home_is_embedded(home) || access(store_place_path(home->store_url), F_OK) == 0)
        return STATUS_OK;
    CLEANUP(mem_freep) char *blob = file_path_join(home->store_dir, "blob");
    return make_dir(blob, err);
}

enum status home_make(const struct home *home, struct err *err)
{
    CLEANUP(mem_freep)
    char *meeting = file_path_join(home_is_embedded(home) ? home->store_dir : home->path, "hosts");
    const char *const dirs[] = {home->path, home->hosts_dir, meeting};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (make_dir(dirs[i], err) != STATUS_OK)
            return err->code;
    if (make_blob_of_new(home, err) != STATUS_OK)
        return err->code;
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

/* --- of one store ---------------------------------------------------------------------------- */

void home_place_init(const struct home *home, const char *uuid, struct home_place *out)
{
    char *dir = store_place_kept(home->path, uuid);
    const char *meeting_dir = home_is_embedded(home) ? home->store_dir : dir;
    *out = (struct home_place){
        .dir = dir,
        .meeting_dir = mem_strdup(meeting_dir),
        .blob_dir = file_path_join(meeting_dir, "blob"),
        .scratch_dir = file_path_join(dir, "scratch"),
    };
}

void home_place_fini(struct home_place *place)
{
    free(place->dir);
    free(place->meeting_dir);
    free(place->blob_dir);
    free(place->scratch_dir);
    *place = (struct home_place){0};
}

enum status home_place_make(const struct home_place *place, struct err *err)
{
    CLEANUP(mem_freep) char *hosts_dir = file_path_join(place->meeting_dir, "hosts");
    const char *const dirs[] = {place->scratch_dir, place->blob_dir, hosts_dir};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (make_dir(dirs[i], err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}
