#pragma once
/*
 * spare: one store for the threads of a program that need it now and then: logs, messages, DAG
 * files, cleaning.
 *
 * A server has a bounded number of connections, and a fleet many hosts: what works rarely shares
 * one, which is there only while it is used. Whoever takes the spare has it alone until it gives it
 * back, and holds it for one short piece of work, since others wait.
 *
 * Ownership  Texts of the options must outlive it. The store stays the spare's; it is the same one
 *            each time, so what was made for it stays valid, and is used only between take and
 *            give.
 * Threads    Any.
 */
#include "store/store.h"

struct spare;

NODISCARD struct spare *spare_new(const struct store_options *options);
void spare_free(struct spare *spare); /* nobody has it any more; NULL is allowed */

/* Wait for one's turn. A failure is that of store_open, and then there is nothing to give back. */
NODISCARD enum status spare_take(struct spare *spare, struct store **out, struct err *err);
void spare_give(struct spare *spare);

/* Let go of the connection unless it was used within that time. Never waits. NULL is allowed. */
void spare_rest(struct spare *spare, int64_t idle_ms);
