#include "sched/file_watcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/file_stamp.h"
#include "os/folder_watch.h"
#include "os/knock.h"
#include "os/mailbox.h"
#include "os/thread.h"
#include "sched/settling.h"

enum { SCAN_MS = 30000, MISSING_SCAN_MS = 5000 };

/* One thing that is waited for, as the thread knows it. */
struct spot {
    struct file_watch watch; /* its path is owned */
    char *folder;
    const char *pattern; /* in the path */
    struct settling *settling;
    int tag; /* of the folder's news; -1: it is not there */
};

struct order {
    struct file_watch *watches; /* paths are owned */
    size_t count;
};

struct file_watcher {
    /* Of both threads. */
    struct file_watcher_options options;
    struct mailbox *orders; /* struct order; closed: it is over */
    struct mailbox *found;  /* struct file_arrival, heap with its path */
    int knock_fd;
    /* Of the owner's. */
    struct thread *thread;
    struct mailbox_batch taken; /* of `found` */
    size_t dropped;             /* of those taken */
    char *asked;                /* the watches that were asked for last, as text */
    /* Of the watcher's. */
    struct folder_watch *folders;
    struct spot *spots;
    size_t spots_count;
    int64_t scan_us; /* when to scan next */
};

static struct settling_now now(void)
{
    return (struct settling_now){.wall_us = clock_wall_us(), .mono_us = clock_wait_us()};
}

/* --- looking --------------------------------------------------------------------------------- */

static void note(struct spot *spot, const char *name)
{
    CLEANUP(mem_freep) char *path = file_path_join(spot->folder, name);
    struct file_stamp look;
    settling_note(spot->settling, name, file_stamp_read(path, &look) ? &look : NULL, now());
}

static void note_each(void *context, const char *name)
{
    note(context, name);
}

/* Some may be in one folder: all of them hear of it by the tag of the first. */
static void listen(struct file_watcher *self)
{
    bool is_new = false;
    folder_watch_begin(self->folders);
    for (size_t i = 0; i < self->spots_count; i++) {
        struct spot *spot = &self->spots[i];
        struct err err = {0};
        if (folder_watch_add(self->folders, spot->folder, (int)i, &spot->tag, &err) != STATUS_OK)
            spot->tag = -1;
    }
    folder_watch_end(self->folders, &is_new);
}

static void scan(struct spot *spot)
{
    settling_begin_scan(spot->settling);
    /* A folder that cannot be read now says nothing about its files. */
    if (folder_each(spot->folder, spot->pattern, note_each, spot))
        settling_end_scan(spot->settling);
}

static void scan_all(struct file_watcher *self)
{
    int64_t wait_ms = self->options.scan_ms;
    /* First listen, then look: what comes in between is heard. */
    listen(self);
    for (size_t i = 0; i < self->spots_count; i++) {
        scan(&self->spots[i]);
        if (self->spots[i].tag < 0)
            wait_ms = MIN(wait_ms, (int64_t)MISSING_SCAN_MS);
    }
    self->scan_us = clock_wait_us() + wait_ms * 1000;
}

static void on_heard(void *context, const struct folder_news *news)
{
    struct file_watcher *self = context;
    if (news->name == NULL) {
        self->scan_us = 0;
        return;
    }
    for (size_t i = 0; i < self->spots_count && !news->is_folder; i++) {
        struct spot *spot = &self->spots[i];
        if (spot->tag == news->tag && folder_name_matches(spot->pattern, news->name))
            note(spot, news->name);
    }
}

/* A store cannot keep other names. */
static bool is_text(const char *path)
{
    CLEANUP(json_decrefp) json_t *text = json_text(path, strlen(path));
    return str_equal(json_string_value(text), path);
}

static void report(struct file_watcher *self, const struct spot *spot, const char *path,
                   const struct file_stamp *look)
{
    if (!is_text(path)) {
        log_warn("a file's name is not UTF-8: it starts nothing", LOG_STR("folder", spot->folder));
        return;
    }
    struct file_arrival *arrival = mem_zalloc(1, sizeof *arrival);
    *arrival = (struct file_arrival){
        .dag_key = spot->watch.dag_key,
        .path = mem_strdup(path),
        .mtime_us = look->mtime_ns / 1000,
        .bytes = look->size,
        .inode = look->inode,
    };
    CHECK(mailbox_push(self->found, arrival));
}

static bool settle(struct file_watcher *self, struct spot *spot)
{
    bool is_any = false;
    for (const char *name; (name = settling_due(spot->settling, clock_wait_us())) != NULL;) {
        CLEANUP(mem_freep) char *path = file_path_join(spot->folder, name);
        struct file_stamp look;
        bool is_there = file_stamp_read(path, &look);
        if (!settling_arrives(spot->settling, name, is_there ? &look : NULL, now()))
            continue;
        report(self, spot, path, &look);
        is_any = true;
    }
    return is_any;
}

/* --- what is asked for ----------------------------------------------------------------------- */

static void order_free(struct order *order)
{
    for (size_t i = 0; i < order->count; i++)
        free((char *)(uintptr_t)order->watches[i].path);
    free(order->watches);
    free(order);
}

static void spot_fini(struct spot *spot)
{
    free((char *)(uintptr_t)spot->watch.path);
    free(spot->folder);
    settling_free(spot->settling);
}

static bool is_same_watch(const struct file_watch *a, const struct file_watch *b)
{
    return a->dag_key == b->dag_key && a->settle_ms == b->settle_ms && a->since_us == b->since_us &&
           str_equal(a->path, b->path);
}

/* Takes the path of the watch. */
static struct spot make_spot(const struct file_watch *watch)
{
    const struct settling_rules rules = {watch->settle_ms, watch->since_us};
    const char *last = strrchr(watch->path, '/');
    size_t length = last != NULL ? (size_t)(last - watch->path) : 0;
    return (struct spot){
        .watch = *watch,
        .folder = length > 0 ? mem_format("%.*s", (int)length, watch->path) : mem_strdup("/"),
        .pattern = last != NULL ? last + 1 : watch->path,
        .settling = settling_new(&rules),
        .tag = -1,
    };
}

/* Those that were there before go on where they are. */
static void obey(struct file_watcher *self, struct order *order)
{
    struct spot *spots = mem_zalloc(order->count + 1, sizeof *spots);
    for (size_t i = 0; i < order->count; i++) {
        for (size_t j = 0; j < self->spots_count && spots[i].settling == NULL; j++)
            if (self->spots[j].settling != NULL &&
                is_same_watch(&self->spots[j].watch, &order->watches[i])) {
                spots[i] = self->spots[j];
                self->spots[j] = (struct spot){.tag = -1};
            }
        if (spots[i].settling == NULL)
            spots[i] = make_spot(&(struct file_watch){
                .dag_key = order->watches[i].dag_key,
                .path = mem_strdup(order->watches[i].path),
                .settle_ms = order->watches[i].settle_ms,
                .since_us = order->watches[i].since_us,
            });
    }
    for (size_t j = 0; j < self->spots_count; j++)
        spot_fini(&self->spots[j]);
    free(self->spots);
    self->spots = spots;
    self->spots_count = order->count;
    self->scan_us = 0;
}

static void take_orders(struct file_watcher *self)
{
    struct mailbox_batch batch = mailbox_take_now(self->orders);
    for (size_t i = 0; i < batch.count; i++) {
        if (i + 1 == batch.count)
            obey(self, batch.items[i]);
        order_free(batch.items[i]);
    }
    free(batch.items);
}

static void body(void *context)
{
    struct file_watcher *self = context;
    while (!mailbox_is_closed(self->orders)) {
        knock_clear(self->knock_fd);
        take_orders(self);
        if (clock_wait_us() >= self->scan_us)
            scan_all(self);
        bool is_any = false;
        int64_t next_us = self->scan_us;
        for (size_t i = 0; i < self->spots_count; i++) {
            is_any |= settle(self, &self->spots[i]);
            next_us = MIN(next_us, settling_next_us(self->spots[i].settling));
        }
        if (is_any)
            self->options.wake(self->options.context);
        folder_watch_wait(self->folders, self->knock_fd, (next_us - clock_wait_us() + 999) / 1000);
        folder_watch_read(self->folders, on_heard, self);
    }
}

/* --- the owner's side ------------------------------------------------------------------------ */

struct file_watcher *file_watcher_new(const struct file_watcher_options *options)
{
    struct file_watcher *self = mem_zalloc(1, sizeof *self);
    self->options = *options;
    if (self->options.scan_ms == 0)
        self->options.scan_ms = SCAN_MS;
    self->orders = mailbox_new();
    self->found = mailbox_new();
    self->knock_fd = -1;
    return self;
}

static enum status begin(struct file_watcher *self, struct err *err)
{
    if (self->thread != NULL)
        return STATUS_OK;
    if ((self->folders == NULL && folder_watch_open(&self->folders, err) != STATUS_OK) ||
        (self->knock_fd < 0 && knock_open(&self->knock_fd, err) != STATUS_OK))
        return err->code;
    return thread_start("files", body, self, &self->thread, err);
}

static char *as_text(const struct file_watch *watches, size_t count)
{
    CLEANUP(json_decrefp) json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        CHECK(json_array_append_new(list,
                                    json_pack("[I, o, I, I]", (json_int_t)watches[i].dag_key,
                                              json_text(watches[i].path, strlen(watches[i].path)),
                                              (json_int_t)watches[i].settle_ms,
                                              (json_int_t)watches[i].since_us)) == 0);
    return json_format(list);
}

bool file_watcher_is_unused(const struct file_watcher *watcher)
{
    return watcher->thread == NULL;
}

enum status file_watcher_set(struct file_watcher *watcher, const struct file_watch *watches,
                             size_t count, struct err *err)
{
    CLEANUP(mem_freep) char *asked = as_text(watches, count);
    bool is_idle = file_watcher_is_unused(watcher) && count == 0;
    if (is_idle || str_equal(asked, watcher->asked))
        return STATUS_OK;
    if (begin(watcher, err) != STATUS_OK)
        return err->code;
    struct order *order = mem_zalloc(1, sizeof *order);
    order->watches = mem_zalloc(count + 1, sizeof *order->watches);
    for (order->count = 0; order->count < count; order->count++) {
        order->watches[order->count] = watches[order->count];
        order->watches[order->count].path = mem_strdup(watches[order->count].path);
    }
    CHECK(mailbox_push(watcher->orders, order));
    knock_send(watcher->knock_fd);
    free(watcher->asked);
    watcher->asked = TAKE(asked);
    return STATUS_OK;
}

static void arrival_free(struct file_arrival *arrival)
{
    free((char *)(uintptr_t)arrival->path);
    free(arrival);
}

const struct file_arrival *file_watcher_first(struct file_watcher *watcher)
{
    if (watcher->dropped == watcher->taken.count) {
        free(watcher->taken.items);
        watcher->taken = mailbox_take_now(watcher->found);
        watcher->dropped = 0;
    }
    return watcher->dropped < watcher->taken.count ? watcher->taken.items[watcher->dropped] : NULL;
}

void file_watcher_drop(struct file_watcher *watcher)
{
    CHECK(watcher->dropped < watcher->taken.count);
    arrival_free(watcher->taken.items[watcher->dropped++]);
}

void file_watcher_free(struct file_watcher *watcher)
{
    if (watcher == NULL)
        return;
    mailbox_close(watcher->orders);
    if (watcher->knock_fd >= 0)
        knock_send(watcher->knock_fd);
    thread_join(watcher->thread);
    take_orders(watcher);
    while (file_watcher_first(watcher) != NULL)
        file_watcher_drop(watcher);
    free(watcher->taken.items);
    for (size_t i = 0; i < watcher->spots_count; i++)
        spot_fini(&watcher->spots[i]);
    free(watcher->spots);
    mailbox_free(watcher->orders);
    mailbox_free(watcher->found);
    folder_watch_close(watcher->folders);
    file_closep(&watcher->knock_fd);
    free(watcher->asked);
    free(watcher);
}
