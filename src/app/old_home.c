#include "app/old_home.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/store_place.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "worker/old_logs.h"

enum { FILE_BYTES_MAX = 64 << 10 };

/* --- logs ------------------------------------------------------------------------------------ */

/* The store of the home itself, if there is one: what lies in blob/ is its own. */
static enum status open_resident(const struct home *home, struct store **out, struct err *err)
{
    CLEANUP(mem_freep) char *url = store_place_url("", home->path);
    struct store_options options = {.url = url, .mode = DB_READ_ONLY};
    return access(store_place_path(url), F_OK) == 0 ? store_open(&options, out, err) : STATUS_OK;
}

void old_home_take_logs(const struct home *home, struct store *store,
                        const struct home_place *place, bool again)
{
    CLEANUP(mem_freep) char *from = file_path_join(home->path, "blob");
    CLEANUP(mem_freep) char *mark = file_path_join(place->dir, "old-logs-taken");
    CLEANUP(store_closep) struct store *resident = NULL;
    struct old_logs logs = {
        .store = store,
        .from = from,
        .to = place->blob_dir,
        .has_values = home_is_embedded(home),
    };
    struct err err = {0};
    int64_t count = 0;
    if (str_equal(from, place->blob_dir) || access(from, F_OK) != 0 ||
        (!again && access(mark, F_OK) == 0))
        return;
    if (open_resident(home, &resident, &err) != STATUS_OK) {
        log_debug("it is not known whose logs these are", LOG_STR("folder", from),
                  LOG_STR("error", err.text));
        return;
    }
    logs.resident = resident;
    if (old_logs_take(&logs, &count, &err) != STATUS_OK ||
        file_write_atomic(mark, "", 0, 0600, &err) != STATUS_OK)
        log_warn("logs of before stay where they are", LOG_STR("folder", from),
                 LOG_STR("error", err.text));
    else if (count > 0)
        log_info("took over logs of this store", LOG_STR("from", from),
                 LOG_STR("to", place->blob_dir), LOG_INT("files", count));
}

/* --- a daemon -------------------------------------------------------------------------------- */

static enum status load_store(const struct home *home, char **out_uuid, struct err *err)
{
    CLEANUP(mem_freep) char *path = file_path_join(home->hosts_dir, "daemon.json");
    CLEANUP(mem_freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *known = NULL;
    size_t length = 0;
    if (file_read(path, FILE_BYTES_MAX, &text, &length, err) != STATUS_OK ||
        json_parse(text, length, &known, err) != STATUS_OK)
        return err->code;
    const char *uuid = json_get_string(known, "store", "");
    if (!store_place_is_uuid(uuid))
        return err_set(err, STATUS_CORRUPT, "'%s' names no store", path);
    *out_uuid = mem_strdup(uuid);
    return STATUS_OK;
}

/* The socket is a file: whoever listens there is found under its new name. */
static enum status move_state(const struct home *home, const char *to, struct err *err)
{
    /* The last one tells whose the others are. */
    static const char *const NAMES[] = {"keeper.sock", "outcomes.db", "outcomes.db-wal",
                                        "outcomes.db-shm", "daemon.json"};
    CLEANUP(file_closep) int old_dir = -1;
    CLEANUP(file_closep) int new_dir = -1;
    if (file_tree_make(to, 0700, err) != STATUS_OK ||
        file_open_directory(home->hosts_dir, &old_dir, err) != STATUS_OK ||
        file_open_directory(to, &new_dir, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
        if (renameat2(old_dir, NAMES[i], new_dir, NAMES[i], RENAME_NOREPLACE) != 0 &&
            errno != ENOENT)
            return err_errno(err, errno, "move '%s' to '%s'", NAMES[i], to);
    return STATUS_OK;
}

void old_home_take_daemon(const struct home *home)
{
    CLEANUP(mem_freep) char *uuid = NULL;
    struct err err = {0};
    enum status status = load_store(home, &uuid, &err);
    if (status == STATUS_OK) {
        CLEANUP(mem_freep) char *to = store_place_kept(home->path, uuid);
        status = move_state(home, to, &err);
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        log_warn("what a daemon of before left stays where it is", LOG_STR("error", err.text));
}
