#pragma once
/*
 * mailbox: the one way from thread to thread, a queue of pointers.
 *
 * Order is kept. The queue grows as needed: whoever fills it bounds it by bounding
 * the work it hands out.
 *
 * Ownership  A pushed pointer belongs to the mailbox until it is taken out again.
 * Threads    Any thread may push and close; one thread takes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"

struct mailbox;

struct mailbox_batch {
    void **items; /* heap, to be freed by the taker */
    size_t count;
};

NODISCARD struct mailbox *mailbox_new(void);
/* The mailbox must be empty of things that somebody still has to free. NULL is allowed. */
void mailbox_free(struct mailbox *mailbox);

/* False once the mailbox is closed; the item stays the caller's then. */
NODISCARD bool mailbox_push(struct mailbox *mailbox, void *item);

/* Wait for something, then everything that is there; a count of 0 means closed and empty. */
struct mailbox_batch mailbox_take(struct mailbox *mailbox);
/* The same, but after `timeout_ms` perhaps nothing. */
struct mailbox_batch mailbox_take_within(struct mailbox *mailbox, int64_t timeout_ms);
/* What is there now, perhaps nothing. */
struct mailbox_batch mailbox_take_now(struct mailbox *mailbox);

bool mailbox_is_closed(struct mailbox *mailbox);
/* No more pushes; the taker gets what is left and then a count of 0. */
void mailbox_close(struct mailbox *mailbox);
