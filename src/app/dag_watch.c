#include "app/dag_watch.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/folder_watch.h"
#include "os/knock.h"
#include "os/thread.h"
#include "service/dag_sync.h"

enum {
    SETTLE_MS = 100,
    SETTLE_MOST_MS = 500, /* while changes go on: then what is quiet is looked at */
    FIRST_WAIT_MS = 100,  /* after a failure, doubled each time */
    LONGEST_WAIT_MS = 5000,
    DEAF_RESCAN_MS = 2000, /* when folders cannot be watched */
};

/* What is watched a folder for. */
enum { TAG_TREE, TAG_ABOVE, TAG_PARTS };

struct dag_watch {
    /* Of both threads. */
    struct loop *loop;
    struct dag_watch_options options;
    char *folder; /* absolute */
    int knock_fd;
    struct thread *thread;
    atomic_bool is_over;
    atomic_bool is_asked; /* for a look that is told of */
    /* Of the watcher's thread. */
    struct dag_sync *sync;     /* of the spare store: turns only while it is ours */
    struct folder_watch *ears; /* NULL: deaf */
    bool is_deaf;              /* some folder is not watched */
    bool was_complete;         /* everything was read once */
    bool is_complaining;
    bool has_news;
    int64_t wait_ms;        /* after a failure; 0: the last look went well */
    int64_t first_until_us; /* so long a file that was just written holds up the first report */
};

static void tell(void *context)
{
    struct dag_watch *self = context;
    self->options.changed(self->options.context);
}

static void complain(struct dag_watch *self, const struct err *err)
{
    if (!self->is_complaining)
        log_warn("read the DAG files", LOG_STR("folder", self->folder),
                 LOG_STR("error", err->text));
    self->is_complaining = true;
    self->wait_ms = MIN(MAX(2 * self->wait_ms, (int64_t)FIRST_WAIT_MS), (int64_t)LONGEST_WAIT_MS);
}

/* --- what to hear ---------------------------------------------------------------------------- */

static void add_folder(struct dag_watch *self, const char *path, int tag)
{
    struct err err = {0};
    if (folder_watch_add(self->ears, path, tag, NULL, &err) == STATUS_OK ||
        err.code == STATUS_NOT_FOUND || err.code == STATUS_INVALID)
        return;
    if (!self->is_deaf)
        log_warn("not every change of DAG files is heard; looking from time to time",
                 LOG_STR("error", err.text));
    self->is_deaf = true;
}

/* The folder itself may come, go, or be a link that is turned, and so may those above it. */
static void add_above(struct dag_watch *self)
{
    CLEANUP(mem_freep) char *path = mem_strdup(self->folder);
    bool is_last = true;
    for (char *slash = strrchr(path, '/'); slash != NULL; slash = strrchr(path, '/')) {
        struct stat status;
        bool is_there = lstat(path, &status) == 0;
        bool is_wanted = is_last || !is_there || S_ISLNK(status.st_mode);
        *slash = '\0';
        if (is_wanted)
            add_folder(self, path[0] != '\0' ? path : "/", TAG_ABOVE);
        is_last = false;
    }
}

/* True when some folder is new: what happened in it before is still to be looked at. */
static bool listen(struct dag_watch *self)
{
    bool is_new = false;
    if (self->ears == NULL)
        return false;
    self->is_deaf = false;
    folder_watch_begin(self->ears);
    const struct spec_paths *tree = dag_sync_folders(self->sync);
    const struct spec_paths *parts = dag_sync_part_folders(self->sync);
    for (size_t i = 0; i < tree->count; i++)
        add_folder(self, tree->items[i], TAG_TREE);
    add_above(self);
    for (size_t i = 0; i < parts->count; i++)
        add_folder(self, parts->items[i], TAG_PARTS);
    folder_watch_end(self->ears, &is_new);
    return is_new;
}

/* One of the names on the way to the folder. */
static bool is_on_the_way(const struct dag_watch *self, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = self->folder; (at = strstr(at, name)) != NULL; at++)
        if (at > self->folder && at[-1] == '/' && (at[length] == '/' || at[length] == '\0'))
            return true;
    return false;
}

static void on_news(void *context, const struct folder_news *news)
{
    struct dag_watch *self = context;
    if (news->name == NULL)
        self->has_news = true;
    else if (news->tag == TAG_ABOVE)
        self->has_news |= is_on_the_way(self, news->name);
    else
        self->has_news |=
            (news->tag == TAG_TREE && news->is_folder) || dag_sync_cares(self->sync, news->name);
}

/* Whether there is news within the time. */
static bool hear(struct dag_watch *self, int64_t timeout_ms)
{
    self->has_news = false;
    folder_watch_wait(self->ears, self->knock_fd, timeout_ms);
    knock_clear(self->knock_fd);
    if (self->ears != NULL)
        folder_watch_read(self->ears, on_news, self);
    return self->has_news;
}

static bool is_called(const struct dag_watch *self)
{
    return atomic_load(&self->is_over) || atomic_load(&self->is_asked);
}

/* Until something happened and it is quiet again, or it is time to look anyway. */
static void await(struct dag_watch *self, int64_t wait_ms)
{
    int64_t until_us = clock_mono_us() + wait_ms * 1000;
    while (!is_called(self) && !hear(self, (until_us - clock_mono_us() + 999) / 1000))
        if (clock_mono_us() >= until_us)
            return;
    until_us = clock_mono_us() + (int64_t)SETTLE_MOST_MS * 1000;
    while (!is_called(self) && clock_mono_us() < until_us && hear(self, SETTLE_MS))
        continue;
}

static void on_broken(void *context, const char *path, int line, const char *problem)
{
    (void)context;
    log_warn("a DAG file has problems", LOG_STR("file", path), LOG_INT("line", line),
             LOG_STR("problem", problem));
}

static void on_circle(void *context, const char *path, const char *circle)
{
    (void)context;
    log_warn("DAGs start each other in a circle", LOG_STR("circle", circle), LOG_STR("file", path));
}

/* --- one look -------------------------------------------------------------------------------- */

/* Whoever waits for the first look need not wait for a folder. */
static void tell_first(struct dag_watch *self)
{
    if (!self->was_complete)
        loop_post(self->loop, tell, self);
    self->was_complete = true;
}

static void report(struct dag_watch *self, const struct dag_sync_state *state, bool is_asked)
{
    bool is_waiting =
        !self->was_complete && state->is_unsettled && clock_mono_us() < self->first_until_us;
    bool is_news = state->done.changed > 0 || state->done.gone > 0 || state->done.read > 0;
    if (is_news || is_asked || !self->was_complete)
        log_info(
            "DAG files", LOG_STR("folder", self->folder), LOG_INT("files", (int64_t)state->files),
            LOG_INT("read", (int64_t)state->done.read),
            LOG_INT("changed", (int64_t)state->done.changed),
            LOG_INT("gone", (int64_t)state->done.gone), LOG_INT("broken", (int64_t)state->broken));
    if (is_news && self->was_complete)
        loop_post(self->loop, tell, self);
    if (!is_waiting)
        tell_first(self);
}

static enum status work_off(struct dag_watch *self, struct err *err)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && dag_sync_get(self->sync).has_more &&
           !atomic_load(&self->is_over)) {
        struct store *ours = NULL;
        if (spare_take(self->options.spare, &ours, err) != STATUS_OK)
            return err->code;
        status = dag_sync_turn(self->sync, err);
        spare_give(self->options.spare);
        dag_sync_think(self->sync);
    }
    return status;
}

static enum status look(struct dag_watch *self, struct err *err)
{
    bool is_asked = atomic_exchange(&self->is_asked, false);
    enum status missing = STATUS_OK;
    struct err away = {0};
    do {
        missing = dag_sync_look(self->sync, &away);
        if (missing != STATUS_OK && missing != STATUS_NOT_FOUND)
            break;
    } while (listen(self));
    bool is_empty = missing == STATUS_NOT_FOUND && dag_sync_get(self->sync).files == 0;
    if (missing != STATUS_OK && !is_empty) {
        tell_first(self);
        *err = away;
        return err_wrap(err, "its DAGs stay as they are");
    }
    if (work_off(self, err) != STATUS_OK)
        return err->code;
    (void)listen(self); /* files that DAGs name */
    struct dag_sync_state state = dag_sync_get(self->sync);
    report(self, &state, is_asked);
    return STATUS_OK;
}

/* The loop's thread opened the same store a moment ago, so this is a matter of time. */
static bool prepare(struct dag_watch *self)
{
    struct err err = {0};
    struct dag_sync_options options = {.folder = self->folder,
                                       .host = self->options.host,
                                       .settle_ms = SETTLE_MS,
                                       .starts_paused = self->options.starts_paused,
                                       .broken = on_broken,
                                       .circle = on_circle};
    if (self->sync != NULL)
        return true;
    if (spare_take(self->options.spare, &options.store, &err) != STATUS_OK) {
        complain(self, &err);
        return false;
    }
    if (dag_sync_new(&options, &self->sync, &err) != STATUS_OK)
        complain(self, &err);
    spare_give(self->options.spare);
    return self->sync != NULL;
}

static int64_t next_ms(const struct dag_watch *self)
{
    bool is_deaf = self->ears == NULL || self->is_deaf;
    if (self->wait_ms > 0)
        return self->wait_ms;
    if (self->sync != NULL && dag_sync_get(self->sync).is_unsettled)
        return SETTLE_MS;
    return is_deaf ? MIN(self->options.rescan_ms, (int64_t)DEAF_RESCAN_MS)
                   : self->options.rescan_ms;
}

static void body(void *context)
{
    struct dag_watch *self = context;
    struct err err = {0};
    self->first_until_us = clock_mono_us() + (int64_t)SETTLE_MOST_MS * 1000;
    if (folder_watch_open(&self->ears, &err) != STATUS_OK)
        log_warn("changes of DAG files are not heard", LOG_STR("error", err.text));
    while (!atomic_load(&self->is_over)) {
        err = (struct err){0};
        if (prepare(self)) {
            if (look(self, &err) != STATUS_OK) {
                complain(self, &err);
            } else {
                self->wait_ms = 0;
                self->is_complaining = false;
            }
        }
        if (self->sync != NULL)
            await(self, next_ms(self));
        else
            knock_wait(self->knock_fd, next_ms(self));
    }
    dag_sync_free(self->sync);
    folder_watch_close(self->ears);
}

/* --- from outside ---------------------------------------------------------------------------- */

static char *absolute_path(const char *folder)
{
    char *here = folder[0] != '/' ? realpath(".", NULL) : NULL;
    char *path = file_path_join(here != NULL ? here : "/", folder);
    free(here);
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    return path;
}

enum status dag_watch_start(struct loop *loop, const struct dag_watch_options *options,
                            struct dag_watch **out, struct err *err)
{
    struct dag_watch *self = mem_zalloc(1, sizeof *self);
    *self = (struct dag_watch){
        .loop = loop,
        .options = *options,
        .folder = absolute_path(options->folder),
        .knock_fd = -1,
    };
    if (knock_open(&self->knock_fd, err) != STATUS_OK ||
        thread_start("dag files", body, self, &self->thread, err) != STATUS_OK) {
        dag_watch_stop(self);
        return err->code;
    }
    *out = self;
    return STATUS_OK;
}

void dag_watch_look(struct dag_watch *watch)
{
    if (watch == NULL)
        return;
    atomic_store(&watch->is_asked, true);
    knock_send(watch->knock_fd);
}

void dag_watch_stop(struct dag_watch *watch)
{
    if (watch == NULL)
        return;
    atomic_store(&watch->is_over, true);
    if (watch->knock_fd >= 0)
        knock_send(watch->knock_fd);
    thread_join(watch->thread);
    file_closep(&watch->knock_fd);
    free(watch->folder);
    free(watch);
}
