#pragma once
/*
 * sender: the threads that bring messages from the outbox to their receivers.
 *
 * One takes what is due from the store, makes the message, and writes down what became of it; it
 * has the spare store only for that. Each message is sent by a thread of its own, since a receiver
 * may take half a minute to answer, or a command longer; a few at a time to each receiver, so that
 * others do not wait for one that hangs.
 *
 * Any number of hosts may do it at the same time: a notice is taken by one of them, and by another
 * after its time is up. Killed between an answer and its note, the message is sent again, under
 * the same id.
 *
 * Threads    sender_* are to be called by one thread.
 */
#include "store/spare.h"
#include "store/vault.h"

struct sender;

struct sender_options {
    struct spare *spare;
    const struct vault_sources *vault;
    bool public_only; /* refuse receivers inside */
    int64_t poll_ms;  /* the longest time between two looks; 0: somebody else looks, and wakes it */
};

/* What the options point to must outlive it. */
NODISCARD enum status sender_start(const struct sender_options *options, struct sender **out,
                                   struct err *err);
/* There may be something to send. NULL is allowed. */
void sender_wake(struct sender *sender);
/*
 * Take nothing more, wait for what is on its way, `wait_ms` at most, and end. What is left is sent
 * again later. NULL is allowed.
 */
void sender_stop(struct sender *sender, int64_t wait_ms);
/* The same after sending what is due now: for who would leave it to nobody. */
void sender_finish(struct sender *sender, int64_t wait_ms);
