#pragma once
/*
 * journal: outcomes that the store has not taken yet, kept on the host's own disk.
 *
 * While the database is away a host goes on, puts here how its attempts ended, and delivers it
 * later, oldest first. Nothing here decides anything: the guard in the store (attempt number and
 * nonce) tells whether an outcome still counts, so delivering one twice is harmless.
 *
 * An SQLite file of its own, one outcome per row, as JSON with the number of its format. A row that
 * cannot be read stays in the file, for a program that knows more.
 *
 * Ownership  One host per file.
 * Threads    One thread per journal.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "store/advance.h"

struct journal;

/*
 * Open or make the file at `path`. A damaged one is renamed, a new one is begun, and
 * *out_kept_as tells the name of the old (heap; else NULL).
 *
 *   STATUS_CONFLICT  the file belongs to a newer program
 */
NODISCARD enum status journal_open(const char *path, struct journal **out, char **out_kept_as,
                                   struct err *err);
void journal_close(struct journal *journal); /* NULL is allowed */

/*
 * All or none, durable when it returns. One that is there already (task, attempt and nonce) stays
 * as it is. STATUS_FULL: no space, and what was there is still there. STATUS_CORRUPT: close and
 * open again to begin a new file.
 */
NODISCARD enum status journal_add(struct journal *journal, const struct outcome *outcomes,
                                  size_t count, struct err *err);

struct journal_batch {
    struct outcome *outcomes; /* oldest first, in the arena */
    size_t count;
    size_t set_aside; /* rows that cannot be read: passed over from now on, and told only now */
    const char *why;  /* of the first of these; else NULL */
};

/* The oldest outcomes, at most `max` rows. They stay until they are removed. */
NODISCARD enum status journal_load(struct journal *journal, struct arena *arena, size_t max,
                                   struct journal_batch *out, struct err *err);

/*
 * Forget these, by task, attempt and nonce, in one commit; one that is not there is no failure.
 * STATUS_FULL: they stay, and are delivered once more.
 */
NODISCARD enum status journal_remove(struct journal *journal, const struct outcome *outcomes,
                                     size_t count, struct err *err);

struct journal_size {
    int64_t waiting;   /* to be delivered */
    int64_t set_aside; /* cannot be read by this program */
};

NODISCARD enum status journal_count(struct journal *journal, struct journal_size *out,
                                    struct err *err);

static inline void journal_closep(struct journal **journal)
{
    journal_close(*journal);
}
