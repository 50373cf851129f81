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
#include "store/host.h"
#include "store/journal.h"
#include "worker/old_logs.h"
#include "worker/presence.h"

enum { FILE_BYTES_MAX = 64 << 10, OUTCOMES_AT_ONCE = 1000 };

/* --- who still works here -------------------------------------------------------------------- */

static enum status refuse_if_living(void *context, const struct host_info *info, struct err *err)
{
    const struct home *home = context;
    if (info->lease_ms > 0 || !presence_is_alive(home->path, info->id))
        return STATUS_OK;
    return err_set(err, STATUS_CONFLICT,
                   "an older eider still works on this store (process %lld, '%.100s'): stop it "
                   "first",
                   (long long)info->pid, info->name);
}

enum status old_home_refuse_living(const struct home *home, struct store *store, struct err *err)
{
    /* In its own folder the locks are where they always were. */
    if (!home_is_embedded(home) || str_equal(home->store_dir, home->path))
        return STATUS_OK;
    return store_host_each(store, false, refuse_if_living, (void *)(uintptr_t)home, err);
}

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
    struct old_logs_result result = {0};
    if (str_equal(from, place->blob_dir) || access(from, F_OK) != 0 ||
        (!again && access(mark, F_OK) == 0))
        return;
    if (open_resident(home, &resident, &err) != STATUS_OK) {
        log_debug("it is not known whose logs these are", LOG_STR("folder", from),
                  LOG_STR("error", err.text));
        return;
    }
    logs.resident = resident;
    if (old_logs_take(&logs, &result, &err) != STATUS_OK ||
        (result.left == 0 && file_write_atomic(mark, "", 0, 0600, &err) != STATUS_OK))
        log_warn("logs of before stay where they are", LOG_STR("folder", from),
                 LOG_STR("error", err.text));
    if (result.count > 0)
        log_info("took over logs of this store", LOG_STR("from", from),
                 LOG_STR("to", place->blob_dir), LOG_INT("files", result.count));
    if (result.left > 0)
        log_warn("logs of tasks that run stay where they are until the next start after their end",
                 LOG_STR("folder", from), LOG_INT("files", result.left));
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

/* What cannot be read by this program stays, and its file with it. */
static enum status empty_journal(struct journal *from, struct journal *to, int64_t *out_left,
                                 struct err *err)
{
    struct journal_batch batch = {0};
    struct journal_size size = {0};
    do {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        if (journal_load(from, arena, OUTCOMES_AT_ONCE, &batch, err) != STATUS_OK ||
            journal_add(to, batch.outcomes, batch.count, err) != STATUS_OK ||
            journal_remove(from, batch.outcomes, batch.count, err) != STATUS_OK)
            return err->code;
    } while (batch.count + batch.set_aside > 0);
    if (journal_count(from, &size, err) != STATUS_OK)
        return err->code;
    *out_left = size.waiting + size.set_aside;
    return STATUS_OK;
}

/* Each store has one journal; both have outcomes that nobody has delivered. */
static enum status merge_journal(const char *old_path, const char *new_path, struct err *err)
{
    CLEANUP(journal_closep) struct journal *from = NULL;
    CLEANUP(journal_closep) struct journal *to = NULL;
    CLEANUP(mem_freep) char *old_kept = NULL;
    CLEANUP(mem_freep) char *new_kept = NULL;
    int64_t left = 0;
    if (journal_open(old_path, &from, &old_kept, err) != STATUS_OK ||
        journal_open(new_path, &to, &new_kept, err) != STATUS_OK ||
        empty_journal(from, to, &left, err) != STATUS_OK)
        return err->code;
    if (new_kept != NULL)
        log_error("the journal of outcomes was damaged; a new one is begun",
                  LOG_STR("kept_as", new_kept));
    if (left > 0 || old_kept != NULL) {
        log_error("a journal of before has outcomes that this program cannot read; it stays",
                  LOG_STR("file", old_kept != NULL ? old_kept : old_path));
        return STATUS_OK;
    }
    journal_close(TAKE(from)); /* it takes its log along */
    return unlink(old_path) == 0 ? STATUS_OK : err_errno(err, errno, "remove '%s'", old_path);
}

/* The log of the database may hold the newest rows, so all of it goes or nothing. */
static enum status move_journal(const struct home *home, const char *to, struct err *err)
{
    static const char *const SUFFIXES[] = {"-wal", "-shm", ""};
    CLEANUP(mem_freep) char *old_path = file_path_join(home->hosts_dir, "outcomes.db");
    CLEANUP(mem_freep) char *new_path = file_path_join(to, "outcomes.db");
    if (access(old_path, F_OK) != 0)
        return STATUS_OK;
    if (access(new_path, F_OK) == 0)
        return merge_journal(old_path, new_path, err);
    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++) {
        CLEANUP(mem_freep) char *from = mem_format("%s%s", old_path, SUFFIXES[i]);
        CLEANUP(mem_freep) char *name = mem_format("%s%s", new_path, SUFFIXES[i]);
        if (rename(from, name) != 0 && errno != ENOENT)
            return err_errno(err, errno, "move '%s' to '%s'", from, to);
    }
    return STATUS_OK;
}

/* The socket is a file: whoever listens there is found under its new name. */
static enum status move_state(const struct home *home, const char *to, struct err *err)
{
    /* The last one tells whose the others are. */
    static const char *const NAMES[] = {"keeper.sock", "daemon.json"};
    CLEANUP(file_closep) int old_dir = -1;
    CLEANUP(file_closep) int new_dir = -1;
    if (file_tree_make(to, 0700, err) != STATUS_OK ||
        file_open_directory(home->hosts_dir, &old_dir, err) != STATUS_OK ||
        file_open_directory(to, &new_dir, err) != STATUS_OK ||
        move_journal(home, to, err) != STATUS_OK)
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
