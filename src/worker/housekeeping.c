#include "worker/housekeeping.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "os/mailbox.h"
#include "os/thread.h"
#include "store/vacuum.h"

enum { EVERY_MS = 10000 };

struct housekeeping {
    struct store_options options;
    struct mailbox *orders;
    struct thread *thread;
    struct store *store; /* of the thread; NULL while it has nothing to do */
    bool told;           /* the last order given, to give none twice */
};

/* What it is told; the last word counts. */
static char LEADS[] = "leads";
static char FOLLOWS[] = "follows";
static char STOPS[] = "stops";

static void clean(struct housekeeping *self)
{
    struct err err = {0};
    enum status status =
        self->store != NULL ? STATUS_OK : store_open(&self->options, &self->store, &err);
    if (status == STATUS_OK)
        status = store_vacuum(self->store, &err);
    if (status != STATUS_OK)
        log_debug("clean up the store", LOG_STR("error", err.text));
}

static void body(void *context)
{
    struct housekeeping *self = context;
    const char *order = FOLLOWS;
    while (order != STOPS) {
        struct mailbox_batch batch = order == LEADS ? mailbox_take_within(self->orders, EVERY_MS)
                                                    : mailbox_take(self->orders);
        if (batch.count > 0)
            order = batch.items[batch.count - 1];
        free(batch.items);
        if (order == LEADS) {
            clean(self);
        } else {
            store_close(self->store);
            self->store = NULL;
        }
    }
}

enum status housekeeping_start(const struct store_options *options, struct housekeeping **out,
                               struct err *err)
{
    struct housekeeping *self = mem_zalloc(1, sizeof *self);
    self->options = *options;
    self->orders = mailbox_new();
    if (thread_start("housekeeping", body, self, &self->thread, err) != STATUS_OK) {
        mailbox_free(self->orders);
        free(self);
        return err->code;
    }
    *out = self;
    return STATUS_OK;
}

void housekeeping_lead(struct housekeeping *self, bool leads)
{
    if (self == NULL || self->told == leads)
        return;
    self->told = leads;
    CHECK(mailbox_push(self->orders, leads ? LEADS : FOLLOWS));
}

void housekeeping_stop(struct housekeeping *self)
{
    if (self == NULL)
        return;
    CHECK(mailbox_push(self->orders, STOPS));
    thread_join(self->thread);
    mailbox_free(self->orders);
    free(self);
}
