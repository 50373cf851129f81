#pragma once
/*
 * outcome_journal: the journal as the delivery of outcomes uses it. A disk that does not take them
 * is logged and changes nothing else: the outcomes are still in memory.
 *
 * Threads  Made and freed anywhere; in between one thread.
 */
#include "store/advance.h"

struct outcome_journal;

/* Opened when it is needed. */
NODISCARD struct outcome_journal *outcome_journal_new(const char *path);
void outcome_journal_free(struct outcome_journal *self); /* NULL is allowed */

/* True: they are on the disk. */
NODISCARD bool outcome_journal_keep(struct outcome_journal *self, const struct outcome *outcomes,
                                    size_t count);
void outcome_journal_forget(struct outcome_journal *self, const struct outcome *outcomes,
                            size_t count);
/* All that wait, oldest first; in the arena. */
void outcome_journal_load(struct outcome_journal *self, struct arena *arena, struct outcome **out,
                          size_t *out_count);
