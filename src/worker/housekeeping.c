#include "worker/housekeeping.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "os/mailbox.h"
#include "os/thread.h"
#include "store/vacuum.h"

struct housekeeping {
    struct spare *spare;
    struct mailbox *orders;
    struct thread *thread;
};

/* What it is told; several at once are one. */
static char CLEAN[] = "clean";
static char STOP[] = "stop";

static void clean(struct housekeeping *self)
{
    struct err err = {0};
    struct store *store = NULL;
    enum status status = spare_take(self->spare, &store, &err);
    if (status == STATUS_OK) {
        status = store_vacuum(store, &err);
        spare_give(self->spare);
    }
    if (status != STATUS_OK)
        log_debug("clean up the store", LOG_STR("error", err.text));
}

static void body(void *context)
{
    struct housekeeping *self = context;
    const char *order = CLEAN;
    while (order != STOP) {
        struct mailbox_batch batch = mailbox_take(self->orders);
        order = batch.items[batch.count - 1];
        free(batch.items);
        if (order == CLEAN)
            clean(self);
    }
}

enum status housekeeping_start(struct spare *spare, struct housekeeping **out, struct err *err)
{
    struct housekeeping *self = mem_zalloc(1, sizeof *self);
    *self = (struct housekeeping){.spare = spare, .orders = mailbox_new()};
    if (thread_start("housekeeping", body, self, &self->thread, err) != STATUS_OK) {
        mailbox_free(self->orders);
        free(self);
        return err->code;
    }
    *out = self;
    return STATUS_OK;
}

void housekeeping_clean(struct housekeeping *self)
{
    if (self != NULL)
        CHECK(mailbox_push(self->orders, CLEAN));
}

void housekeeping_stop(struct housekeeping *self)
{
    if (self == NULL)
        return;
    CHECK(mailbox_push(self->orders, STOP));
    thread_join(self->thread);
    mailbox_free(self->orders);
    free(self);
}
