/*
 * A log that is followed is a shipment. Open ones may still grow:
 *
 *     found (lies in the directory, nobody said a word of it) --+
 *                                                               +--> ended --> sealed --> gone
 *     running (followed) ---------------------------------------+
 *
 * A pass sends some of the ended ones and those of the open ones that are due, in one transaction
 * each. Nothing of a log is held in memory between passes: what is not in the store is in its file.
 */
#include "worker/log_ship.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "blob/store_blob.h"
#include "model/task_state.h"
#include "os/mailbox.h"
#include "os/thread.h"
#include "store/run_store.h"
#include "worker/local_logs.h"

enum {
    INTERVAL_MS = 1000,
    SETTLE_MS = 5000,
    POLL_MS = 200,
    BACKOFF_MIN_MS = 100,
    BACKOFF_MAX_MS = 10000,
    BATCH_PIECES = 64,
    BATCH_BYTES = 1 << 20,
};

static const int64_t UNKNOWN = -1;
static const int64_t NEVER_US = INT64_MAX;

enum stage { STAGE_FOUND, STAGE_RUNNING, STAGE_ENDED };

struct shipment {
    struct blob_key key;
    struct shipment *sibling; /* another attempt of the task */
    enum stage stage;
    size_t place;         /* in its list */
    int64_t sent;         /* bytes in the store as far as we know, or UNKNOWN */
    int64_t sent_at_us;   /* steady clock */
    int64_t size;         /* of the file when it was looked at last */
    int64_t grown_at_us;  /* when it was seen to have grown */
    bool is_in_pieces;    /* in the store: to be compacted */
    bool is_sealed;       /* in the store */
    int64_t loaded;       /* `sent` after the batch, or UNKNOWN when it is not in it */
    bool is_loaded_whole; /* the batch has its end */
};

struct shipments {
    struct shipment **items;
    size_t count;
    size_t capacity;
};

enum message_kind { MESSAGE_FOLLOW, MESSAGE_ENDED, MESSAGE_STOP };

struct message {
    enum message_kind kind;
    struct blob_key key;
    int64_t deadline_us;
};

struct log_ship {
    struct mailbox *messages;
    struct thread *thread;
    struct spare *spare;
    char *directory;
    int64_t interval_us;
    int64_t settle_us;

    /* Of its thread. */
    struct store *store; /* during a pass */
    struct blob *local;
    struct idmap *by_task;
    struct shipments open;
    struct shipments ended;
    size_t next_open; /* where the next pass begins, so that all have their turn */
    char *buffer;     /* BATCH_BYTES */
    int64_t backoff_ms;
    int64_t retry_at_us;
    int64_t deadline_us; /* of stopping; NEVER_US: not asked for */
    bool is_idle;        /* the last pass found nothing to send */
    bool is_all_there;   /* answer to log_ship_stop */
};

/* --- what is followed ------------------------------------------------------------------------ */

static struct shipments *list_of(struct log_ship *self, enum stage stage)
{
    return stage == STAGE_ENDED ? &self->ended : &self->open;
}

static void list_add(struct shipments *list, struct shipment *shipment)
{
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof(struct shipment *));
    shipment->place = list->count;
    list->items[list->count++] = shipment;
}

static void list_remove(struct shipments *list, struct shipment *shipment)
{
    struct shipment *last = list->items[--list->count];
    list->items[shipment->place] = last;
    last->place = shipment->place;
}

static int64_t task_of(const struct blob_key *key)
{
    return key->ids[1];
}

static struct shipment *find(const struct log_ship *self, const struct blob_key *key)
{
    struct shipment *at = idmap_find(self->by_task, task_of(key));
    while (at != NULL && at->key.ids[2] != key->ids[2])
        at = at->sibling;
    return at;
}

static void set_stage(struct log_ship *self, struct shipment *shipment, enum stage stage)
{
    list_remove(list_of(self, shipment->stage), shipment);
    shipment->stage = stage;
    list_add(list_of(self, stage), shipment);
}

static void add(struct log_ship *self, const struct blob_key *key, enum stage stage)
{
    struct shipment *shipment = find(self, key);
    if (shipment != NULL) {
        if (shipment->stage < stage)
            set_stage(self, shipment, stage);
        return;
    }
    shipment = mem_zalloc(1, sizeof *shipment);
    *shipment = (struct shipment){
        .key = *key,
        .stage = stage,
        /* Nothing of an attempt that just began; if it is another one, the store objects. */
        .sent = stage == STAGE_FOUND ? UNKNOWN : 0,
        .sent_at_us = clock_mono_us(),
        .grown_at_us = clock_mono_us(),
        .sibling = idmap_find(self->by_task, task_of(key)),
    };
    idmap_set(self->by_task, task_of(key), shipment);
    list_add(list_of(self, stage), shipment);
}

static void add_found(void *context, const struct blob_key *key)
{
    if (task_of(key) > 0 && key->ids[2] > 0)
        add(context, key, STAGE_FOUND);
}

static void forget(struct log_ship *self, struct shipment *shipment)
{
    int64_t task = task_of(&shipment->key);
    struct shipment *first = idmap_find(self->by_task, task);
    if (first == shipment && shipment->sibling == NULL)
        (void)idmap_remove(self->by_task, task);
    else if (first == shipment)
        idmap_set(self->by_task, task, shipment->sibling);
    for (struct shipment *at = first; at != NULL; at = at->sibling)
        if (at->sibling == shipment)
            at->sibling = shipment->sibling;
    list_remove(list_of(self, shipment->stage), shipment);
    free(shipment);
}

/* The file stays, to be tried again by the next start. */
static void give_up(struct log_ship *self, struct shipment *shipment, const struct err *err)
{
    char text[BLOB_KEY_TEXT_MAX];
    log_warn("a log stays on this host", LOG_STR("log", blob_key_format(&shipment->key, text)),
             LOG_STR("error", err->text));
    forget(self, shipment);
}

static void remove_local(struct log_ship *self, struct shipment *shipment)
{
    struct err err = {0};
    if (local_logs_remove(self->local, self->directory, &shipment->key, &err) != STATUS_OK)
        give_up(self, shipment, &err);
    else
        forget(self, shipment);
}

/* --- a batch --------------------------------------------------------------------------------- */

struct batch {
    struct shipment *shipments[BATCH_PIECES];
    size_t shipments_count;
    struct store_blob_piece pieces[BATCH_PIECES];
    size_t count;
    size_t bytes;
};

static bool is_full(const struct batch *batch)
{
    return batch->count == BATCH_PIECES || batch->bytes == BATCH_BYTES;
}

/* How much of its log the store has, if that is not known. */
static enum status learn_sent(struct log_ship *self, struct shipment *shipment, struct err *err)
{
    if (shipment->sent != UNKNOWN)
        return STATUS_OK;
    struct store_blob_state state;
    if (store_blob_state(self->store, &shipment->key, &state, err) != STATUS_OK)
        return err->code;
    shipment->sent = (int64_t)state.size;
    shipment->is_sealed = state.is_sealed;
    shipment->is_in_pieces = state.exists;
    return STATUS_OK;
}

/* Pieces of the file from where the store ends, as far as there is room. */
static enum status load(struct log_ship *self, struct batch *batch, struct shipment *shipment,
                        struct blob_handle *file, struct err *err)
{
    shipment->loaded = shipment->sent;
    shipment->is_loaded_whole = false;
    while (!is_full(batch) && !shipment->is_loaded_whole) {
        char *bytes = self->buffer + batch->bytes;
        size_t room = MIN((size_t)STORE_BLOB_PIECE_MAX, BATCH_BYTES - batch->bytes);
        size_t got = 0;
        if (blob_range(file, (uint64_t)shipment->loaded, bytes, room, &got, err) != STATUS_OK)
            return err->code;
        int64_t offset = shipment->loaded;
        shipment->loaded += (int64_t)got;
        shipment->is_loaded_whole =
            shipment->stage == STAGE_ENDED && shipment->loaded >= shipment->size;
        if (got == 0 && !shipment->is_loaded_whole)
            break;
        batch->pieces[batch->count++] = (struct store_blob_piece){
            .key = shipment->key,
            .offset = (uint64_t)offset,
            .bytes = bytes,
            .length = got,
            .ends = shipment->is_loaded_whole,
        };
        batch->bytes += got;
        shipment->is_in_pieces |= offset > 0 || !shipment->is_loaded_whole;
    }
    return STATUS_OK;
}

/* Open its file and note how long it is; NULL in *out_file when there is none (any more). */
static enum status look_at(struct log_ship *self, struct shipment *shipment,
                           struct blob_handle **out_file, struct err *err)
{
    struct err problem = {0};
    uint64_t size = 0;
    CLEANUP(blob_handle_closep) struct blob_handle *file = NULL;
    enum status status = blob_open(self->local, &shipment->key, BLOB_READ, &file, &problem);
    if (status == STATUS_OK)
        status = blob_size(file, &size, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    if ((int64_t)size != shipment->size)
        shipment->grown_at_us = clock_mono_us();
    shipment->size = (int64_t)size;
    *out_file = TAKE(file);
    return STATUS_OK;
}

/* Put what there is of a shipment into the batch. Fails only because of the store. */
static enum status put_in(struct log_ship *self, struct batch *batch, struct shipment *shipment,
                          struct err *err)
{
    CLEANUP(blob_handle_closep) struct blob_handle *file = NULL;
    struct err problem = {0};
    if (learn_sent(self, shipment, err) != STATUS_OK)
        return err->code;
    size_t pieces = batch->count;
    size_t bytes = batch->bytes;
    enum status status = look_at(self, shipment, &file, &problem);
    if (status == STATUS_OK && file == NULL && shipment->stage == STAGE_ENDED &&
        !shipment->is_sealed) {
        forget(self, shipment); /* it never wrote anything, or its run was deleted */
        return STATUS_OK;
    }
    if (status == STATUS_OK && shipment->is_sealed && shipment->size > shipment->sent)
        status = err_set(&problem, STATUS_CONFLICT, "the store has its end at %lld, here are %lld",
                         (long long)shipment->sent, (long long)shipment->size);
    if (status == STATUS_OK && file != NULL && !shipment->is_sealed)
        status = load(self, batch, shipment, file, &problem);
    if (status != STATUS_OK) {
        batch->count = pieces;
        batch->bytes = bytes;
        give_up(self, shipment, &problem);
    } else if (batch->count > pieces) {
        batch->shipments[batch->shipments_count++] = shipment;
    }
    return STATUS_OK;
}

static enum status send_pieces(struct log_ship *self, struct batch *batch, struct err *err)
{
    if (batch->count == 0)
        return STATUS_OK;
    enum status status = store_blob_append(self->store, batch->pieces, batch->count, err);
    for (size_t i = 0; i < batch->shipments_count; i++) {
        struct shipment *shipment = batch->shipments[i];
        if (status == STATUS_OK) {
            shipment->sent = shipment->loaded;
            shipment->sent_at_us = clock_mono_us();
            shipment->is_sealed = shipment->is_loaded_whole;
        } else if (status != STATUS_CONFLICT) {
            shipment->sent = UNKNOWN; /* perhaps only the answer was lost */
        }
    }
    return status;
}

/*
 * The store has something else than we believe. Look what it has and try once more; a log that had
 * been there and is not was deleted with its run.
 */
static enum status send_alone(struct log_ship *self, struct shipment *shipment, struct err *err)
{
    struct batch batch = {0};
    struct err problem = {0};
    bool was_there = shipment->sent > 0;
    shipment->sent = UNKNOWN;
    if (learn_sent(self, shipment, err) != STATUS_OK)
        return err->code;
    if (was_there && shipment->sent == 0 && !shipment->is_sealed) {
        remove_local(self, shipment);
        return STATUS_OK;
    }
    if (put_in(self, &batch, shipment, err) != STATUS_OK)
        return err->code;
    enum status status = send_pieces(self, &batch, &problem);
    if (status == STATUS_CONFLICT || status == STATUS_INVALID) {
        give_up(self, shipment, &problem);
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        *err = problem;
    return status;
}

static enum status send_batch(struct log_ship *self, struct batch *batch, struct err *err)
{
    struct err problem = {0};
    enum status status = send_pieces(self, batch, &problem);
    if (status == STATUS_OK)
        return STATUS_OK;
    if (status != STATUS_CONFLICT && status != STATUS_INVALID) {
        *err = problem;
        return status;
    }
    for (size_t i = 0; i < batch->shipments_count; i++)
        if (send_alone(self, batch->shipments[i], err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* --- a pass ---------------------------------------------------------------------------------- */

static bool is_stopping(const struct log_ship *self)
{
    return self->deadline_us != NEVER_US;
}

/* All of it is in the store: make it small there and remove it here. */
static enum status finish(struct log_ship *self, struct shipment *shipment, struct err *err)
{
    if (shipment->is_in_pieces && store_blob_compact(self->store, &shipment->key, err) != STATUS_OK)
        return err->code;
    remove_local(self, shipment);
    return STATUS_OK;
}

static enum status send_ended(struct log_ship *self, struct err *err)
{
    struct batch batch = {0};
    /* Backwards: what is forgotten on the way is replaced by the last one, which had its turn. */
    for (size_t i = self->ended.count; i-- > 0 && !is_full(&batch);)
        if (put_in(self, &batch, self->ended.items[i], err) != STATUS_OK)
            return err->code;
    if (batch.count > 0)
        self->is_idle = false;
    if (send_batch(self, &batch, err) != STATUS_OK)
        return err->code;
    for (size_t i = self->ended.count; i-- > 0;)
        if (self->ended.items[i]->is_sealed && finish(self, self->ended.items[i], err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum fate { FATE_OPEN, FATE_OVER, FATE_GONE };

static enum status fate_of(struct log_ship *self, const struct blob_key *key, enum fate *out,
                           struct err *err)
{
    struct err problem = {0};
    struct task_row task;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    enum status status = store_task_load(self->store, arena, task_of(key), &task, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    *out = FATE_OPEN;
    if (status == STATUS_NOT_FOUND)
        *out = FATE_GONE;
    else if (task.attempt > key->ids[2] ||
             (task.attempt == key->ids[2] && task.state != TASK_RUNNING))
        *out = FATE_OVER;
    return STATUS_OK;
}

/* One that was found has ended when its attempt is over and its file is at rest. */
static enum status settle_found(struct log_ship *self, struct shipment *shipment, int64_t now_us,
                                struct err *err)
{
    if (now_us - shipment->grown_at_us < self->settle_us)
        return STATUS_OK;
    shipment->grown_at_us = now_us; /* ask again only after a while */
    enum fate fate = FATE_OPEN;
    if (fate_of(self, &shipment->key, &fate, err) != STATUS_OK)
        return err->code;
    if (fate == FATE_GONE)
        remove_local(self, shipment);
    else if (fate == FATE_OVER)
        set_stage(self, shipment, STAGE_ENDED);
    return STATUS_OK;
}

/* A found one whose run was deleted meanwhile is not brought anywhere. */
static enum status drop_if_gone(struct log_ship *self, struct shipment **shipment, struct err *err)
{
    enum fate fate = FATE_OPEN;
    if ((*shipment)->stage != STAGE_FOUND || (*shipment)->sent != UNKNOWN)
        return STATUS_OK;
    if (fate_of(self, &(*shipment)->key, &fate, err) != STATUS_OK)
        return err->code;
    if (fate == FATE_GONE)
        remove_local(self, TAKE(*shipment));
    return STATUS_OK;
}

static bool is_due(const struct log_ship *self, const struct shipment *shipment, int64_t now_us)
{
    int64_t fresh = shipment->size - MAX(shipment->sent, (int64_t)0);
    return fresh >= STORE_BLOB_PIECE_MAX ||
           (fresh > 0 && (is_stopping(self) || now_us - shipment->sent_at_us >= self->interval_us));
}

static enum status visit_open(struct log_ship *self, struct batch *batch, struct shipment *shipment,
                              struct err *err)
{
    CLEANUP(blob_handle_closep) struct blob_handle *file = NULL;
    struct err problem = {0};
    int64_t now_us = clock_mono_us();
    if (look_at(self, shipment, &file, &problem) != STATUS_OK) {
        give_up(self, shipment, &problem);
        return STATUS_OK;
    }
    if (shipment->stage == STAGE_FOUND && file == NULL) {
        forget(self, shipment);
        return STATUS_OK;
    }
    if (!is_due(self, shipment, now_us))
        return STATUS_OK;
    if (drop_if_gone(self, &shipment, err) != STATUS_OK)
        return err->code;
    return shipment != NULL ? put_in(self, batch, shipment, err) : STATUS_OK;
}

static enum status send_open(struct log_ship *self, struct err *err)
{
    struct batch batch = {0};
    size_t count = self->open.count;
    for (size_t i = 0; i < count && self->open.count > 0 && !is_full(&batch); i++) {
        self->next_open = (self->next_open + 1) % self->open.count;
        if (visit_open(self, &batch, self->open.items[self->next_open], err) != STATUS_OK)
            return err->code;
    }
    if (batch.count > 0)
        self->is_idle = false;
    if (send_batch(self, &batch, err) != STATUS_OK)
        return err->code;
    int64_t now_us = clock_mono_us();
    for (size_t i = self->open.count; i-- > 0;) {
        struct shipment *shipment = self->open.items[i];
        if (shipment->stage == STAGE_FOUND &&
            settle_found(self, shipment, now_us, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status pass(struct log_ship *self, struct err *err)
{
    self->is_idle = true;
    if (self->ended.count == 0 && self->open.count == 0)
        return STATUS_OK;
    if (spare_take(self->spare, &self->store, err) != STATUS_OK)
        return err->code;
    enum status status = send_ended(self, err);
    if (status == STATUS_OK)
        status = send_open(self, err);
    self->store = NULL;
    spare_give(self->spare);
    return status;
}

/* --- the thread ------------------------------------------------------------------------------ */

static void note_failure(struct log_ship *self, const struct err *err)
{
    if (self->backoff_ms == 0)
        log_warn("logs wait on this host", LOG_STR("error", err->text));
    self->backoff_ms =
        self->backoff_ms == 0 ? BACKOFF_MIN_MS : MIN(self->backoff_ms * 2, (int64_t)BACKOFF_MAX_MS);
    self->retry_at_us = clock_mono_us() + self->backoff_ms * 1000;
    self->is_idle = true;
}

static void note_success(struct log_ship *self)
{
    if (self->backoff_ms > 0)
        log_info("logs reach the store again", LOG_INT("ended", (int64_t)self->ended.count));
    self->backoff_ms = 0;
    self->retry_at_us = 0;
}

/* When there is something to do again. */
static int64_t next_at_us(const struct log_ship *self, int64_t now_us)
{
    int64_t at_us = NEVER_US;
    if (self->open.count > 0)
        at_us = now_us + (int64_t)POLL_MS * 1000;
    if (self->ended.count > 0 || !self->is_idle)
        at_us = now_us;
    if (self->backoff_ms > 0)
        at_us = self->retry_at_us;
    return MIN(at_us, self->deadline_us);
}

static struct mailbox_batch wait_for_messages(struct log_ship *self)
{
    int64_t now_us = clock_mono_us();
    int64_t at_us = next_at_us(self, now_us);
    if (at_us == NEVER_US)
        return mailbox_take(self->messages);
    if (at_us <= now_us)
        return mailbox_take_now(self->messages);
    return mailbox_take_within(self->messages, (at_us - now_us + 999) / 1000);
}

static void take_message(struct log_ship *self, const struct message *message)
{
    if (message->kind == MESSAGE_STOP)
        self->deadline_us = message->deadline_us;
    else
        add(self, &message->key, message->kind == MESSAGE_ENDED ? STAGE_ENDED : STAGE_RUNNING);
}

static void serve(struct log_ship *self)
{
    for (;;) {
        struct mailbox_batch batch = wait_for_messages(self);
        for (size_t i = 0; i < batch.count; i++) {
            take_message(self, batch.items[i]);
            free(batch.items[i]);
        }
        free(batch.items);
        int64_t now_us = clock_mono_us();
        if (now_us >= self->deadline_us)
            return;
        if (now_us < self->retry_at_us)
            continue;
        struct err err = {0};
        if (pass(self, &err) != STATUS_OK) {
            note_failure(self, &err);
            continue;
        }
        note_success(self);
        self->is_all_there = is_stopping(self) && self->is_idle && self->ended.count == 0;
        if (self->is_all_there)
            return;
    }
}

static void body(void *context)
{
    struct log_ship *self = context;
    struct err err = {0};
    if (local_logs_each(self->directory, add_found, self, &err) != STATUS_OK)
        log_warn("logs of before are not looked for", LOG_STR("error", err.text));
    serve(self);
}

/* --- from outside ---------------------------------------------------------------------------- */

static void list_fini(struct shipments *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
}

static void log_ship_free(struct log_ship *self)
{
    list_fini(&self->open);
    list_fini(&self->ended);
    idmap_free(self->by_task);
    blob_close(self->local);
    mailbox_free(self->messages);
    free(self->buffer);
    free(self->directory);
    free(self);
}

enum status log_ship_start(const struct log_ship_options *options, struct log_ship **out,
                           struct err *err)
{
    struct log_ship *self = mem_zalloc(1, sizeof *self);
    *self = (struct log_ship){
        .messages = mailbox_new(),
        .spare = options->spare,
        .directory = mem_strdup(options->directory),
        .interval_us = (options->interval_ms > 0 ? options->interval_ms : INTERVAL_MS) * 1000,
        .settle_us = (options->settle_ms > 0 ? options->settle_ms : SETTLE_MS) * 1000,
        .by_task = idmap_new(),
        .buffer = mem_alloc(BATCH_BYTES),
        .deadline_us = NEVER_US,
        .is_idle = true,
    };
    if (blob_open_directory(self->directory, &self->local, err) != STATUS_OK ||
        thread_start("logs", body, self, &self->thread, err) != STATUS_OK) {
        log_ship_free(self);
        return err_wrap(err, "bring logs to the store");
    }
    *out = self;
    return STATUS_OK;
}

static void tell(struct log_ship *self, const struct message *message)
{
    struct message *copy = mem_alloc(sizeof *copy);
    *copy = *message;
    CHECK(mailbox_push(self->messages, copy));
}

void log_ship_follow(struct log_ship *ship, int64_t run, int64_t task, int64_t attempt)
{
    tell(ship,
         &(struct message){.kind = MESSAGE_FOLLOW, .key = local_logs_key(run, task, attempt)});
}

void log_ship_ended(struct log_ship *ship, int64_t run, int64_t task, int64_t attempt)
{
    tell(ship, &(struct message){.kind = MESSAGE_ENDED, .key = local_logs_key(run, task, attempt)});
}

bool log_ship_stop(struct log_ship *ship, int64_t wait_ms)
{
    if (ship == NULL)
        return true;
    tell(ship,
         &(struct message){.kind = MESSAGE_STOP, .deadline_us = clock_mono_us() + wait_ms * 1000});
    thread_join(ship->thread);
    bool is_all_there = ship->is_all_there;
    log_ship_free(ship);
    return is_all_there;
}
