#include "worker/store_thread.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/knock.h"
#include "os/mailbox.h"
#include "os/thread.h"
#include "store/listen.h"

/* A wait without end is made of such ones. */
enum { WAIT_MS = 60000 };

struct store_thread {
    struct loop *loop;
    struct mailbox *calls;
    struct mailbox *opened; /* one message: the store is open, or why not */
    struct thread *thread;
    struct store_options options;
    struct err err;
    bool can_listen; /* known once the store is open */
    int knock_fd;    /* something is in the mailbox: for waits that are not the mailbox's own */
    /* Of the thread itself. */
    struct store_call *standing;
};

static void report_done(void *context)
{
    struct store_call *call = context;
    call->done(call);
}

static void run_call(struct store_thread *self, struct store *store, struct store_call *call)
{
    call->run(store, call);
    call->was_run = true;
    loop_post(self->loop, report_done, call);
}

/* Another call came first: whoever stands by may have to say something else now. */
static void dismiss(struct store_thread *self)
{
    struct store_call *call = TAKE(self->standing);
    if (call != NULL)
        loop_post(self->loop, report_done, call);
}

/* What is said while a connection is broken is not heard, so the end of that counts too. */
static bool was_heard(struct store_thread *self, struct store *store)
{
    bool heard = false;
    struct err err = {0};
    if (store_listen_for_work(store, &err) != STATUS_OK ||
        store_wait(store, self->knock_fd, WAIT_MS, &heard, &err) != STATUS_OK)
        return true; /* the call finds out what is wrong */
    return heard;
}

/* What is in the mailbox; meanwhile the standing call, if there is one, may run. */
static struct mailbox_batch take_calls(struct store_thread *self, struct store *store)
{
    while (self->standing != NULL) {
        bool heard = was_heard(self, store);
        knock_clear(self->knock_fd);
        struct mailbox_batch batch = mailbox_take_now(self->calls);
        if (batch.count > 0)
            return batch;
        if (heard)
            run_call(self, store, TAKE(self->standing));
        else if (mailbox_is_closed(self->calls))
            return (struct mailbox_batch){0};
    }
    return mailbox_take(self->calls);
}

static void serve(struct store_thread *self, struct store *store)
{
    for (;;) {
        struct mailbox_batch batch = take_calls(self, store);
        for (size_t i = 0; i < batch.count; i++) {
            struct store_call *call = batch.items[i];
            dismiss(self);
            if (call->stands_by)
                self->standing = call;
            else
                run_call(self, store, call);
        }
        free(batch.items);
        if (batch.count == 0)
            return;
    }
}

static void body(void *context)
{
    struct store_thread *self = context;
    CLEANUP(store_closep) struct store *store = NULL;
    struct err err = {0};
    enum status status = store_open(&self->options, &store, &err);
    self->err = err;
    self->can_listen = status == STATUS_OK && store_can_listen(store);
    /* The mailbox orders the write of `err` before the starter's read. */
    CHECK(mailbox_push(self->opened, self));
    if (status == STATUS_OK)
        serve(self, store);
}

enum status store_thread_start(struct loop *loop, const struct store_options *options,
                               struct store_thread **out, struct err *err)
{
    struct store_thread *self = mem_zalloc(1, sizeof *self);
    self->loop = loop;
    self->options = *options;
    self->calls = mailbox_new();
    self->opened = mailbox_new();
    self->knock_fd = -1;
    if (knock_open(&self->knock_fd, err) != STATUS_OK ||
        thread_start("store", body, self, &self->thread, err) != STATUS_OK) {
        store_thread_stop(self);
        return err->code;
    }
    struct mailbox_batch answer = mailbox_take(self->opened);
    CHECK(answer.count == 1);
    free(answer.items);
    if (self->err.code != STATUS_OK) {
        *err = self->err;
        store_thread_stop(self);
        return err->code;
    }
    *out = self;
    return STATUS_OK;
}

static void hand_in(struct store_thread *thread, struct store_call *call)
{
    call->thread = thread;
    call->was_run = false;
    CHECK(mailbox_push(thread->calls, call));
    if (thread->can_listen)
        knock_send(thread->knock_fd);
}

void store_thread_call(struct store_thread *thread, struct store_call *call)
{
    call->stands_by = false;
    hand_in(thread, call);
}

bool store_thread_stand_by(struct store_thread *thread, struct store_call *call)
{
    if (!thread->can_listen)
        return false;
    call->stands_by = true;
    hand_in(thread, call);
    return true;
}

void store_thread_stop(struct store_thread *thread)
{
    if (thread == NULL)
        return;
    mailbox_close(thread->calls);
    if (thread->knock_fd >= 0)
        knock_send(thread->knock_fd);
    thread_join(thread->thread);
    mailbox_free(thread->calls);
    mailbox_free(thread->opened);
    file_closep(&thread->knock_fd);
    free(thread);
}
