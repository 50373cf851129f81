#include "worker/store_thread.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/mailbox.h"
#include "os/thread.h"

struct store_thread {
    struct loop *loop;
    struct mailbox *calls;
    struct mailbox *opened; /* one message: the store is open, or why not */
    struct thread *thread;
    struct store_options options;
    struct err err;
};

static void report_done(void *context)
{
    struct store_call *call = context;
    call->done(call);
}

static void serve(struct store_thread *self, struct store *store)
{
    for (;;) {
        struct mailbox_batch batch = mailbox_take(self->calls);
        for (size_t i = 0; i < batch.count; i++) {
            struct store_call *call = batch.items[i];
            call->run(store, call);
            loop_post(self->loop, report_done, call);
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
    if (thread_start("store", body, self, &self->thread, err) != STATUS_OK) {
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

void store_thread_call(struct store_thread *thread, struct store_call *call)
{
    call->thread = thread;
    CHECK(mailbox_push(thread->calls, call));
}

void store_thread_stop(struct store_thread *thread)
{
    if (thread == NULL)
        return;
    mailbox_close(thread->calls);
    thread_join(thread->thread);
    mailbox_free(thread->calls);
    mailbox_free(thread->opened);
    free(thread);
}
