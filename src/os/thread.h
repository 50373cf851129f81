#pragma once
/*
 * thread: one thread per role, with a name, deaf to signals.
 *
 * Signals belong to the loop of the main thread, so every thread started here blocks
 * all of them.
 */
#include "base/attrs.h"
#include "base/err.h"

struct thread;

/* Run `body(context)` in a thread named `name` (15 characters count). */
NODISCARD enum status thread_start(const char *name, void (*body)(void *context), void *context,
                                   struct thread **out_thread, struct err *err);

/* Wait for its end and forget it. NULL is allowed. */
void thread_join(struct thread *thread);

/* The calling thread hears no signals from now on: it ends already. */
void thread_deafen(void);
