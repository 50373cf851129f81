#pragma once
/*
 * store: the durable state of DAGs, runs and tasks.
 *
 * The only layer that knows a database exists. Its calls are named after what the
 * program means (create a run, finish and claim, cancel), not after tables, and each
 * one is a transaction: it happens entirely or not at all, crash included.
 *
 * Ownership  Whoever opens a store closes it. Texts passed in are borrowed for the call.
 * Threads    One thread per store; open another store for another thread.
 * Time       The store reads the clock it was opened with, so tests decide what time it is.
 *
 * The parts: version.h (DAG versions), run_store.h (create, find, list), advance.h (finish and
 * claim), control.h (cancel, clear, mark), host.h (who is alive), value.h, event.h, upkeep.h.
 */
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "store/db.h"

struct house_hooks;
struct meters;
struct span_sink;
struct store;

struct store_options {
    const char *url; /* "sqlite:PATH" */
    enum db_mode mode;
    int64_t busy_timeout_ms;         /* wait for a program that does not follow our lock; 0: 10 s */
    int64_t (*now_us)(void);         /* NULL: the wall clock */
    const struct house_hooks *hooks; /* of all DAGs, outliving the store; NULL: none */
    struct meters *meters;           /* that count what becomes durable; NULL: nobody does */
    const struct span_sink *spans;   /* who traces it; NULL: nobody does */
};

/* The schema this program writes. */
enum { STORE_SCHEMA = 26 };

/*
 * Open the store, create or migrate it in read-write mode.
 *
 *   STATUS_NOT_FOUND  read-only, and there is no store yet
 *   STATUS_CONFLICT   the store belongs to a newer program
 *   STATUS_CORRUPT    the file is not a store of ours, or damaged
 */
NODISCARD enum status store_open(const struct store_options *options, struct store **out,
                                 struct err *err);
void store_close(struct store *store); /* NULL is allowed */
/*
 * Let go of the connection to a server unless it was used within that time. What the store knows
 * stays; its next call connects again.
 */
void store_rest(struct store *store, int64_t idle_ms);

struct store_info {
    char uuid[37];
    int64_t epoch;
    int64_t schema;
    int64_t created_at_us;
    int64_t next_run; /* greater than every number that a run ever had */
};

NODISCARD enum status store_describe(struct store *store, struct store_info *out, struct err *err);
int64_t store_now_us(const struct store *store);
/* Now, or a little later: never the same twice, for what gets its name from its date. */
int64_t store_own_instant(struct store *store);

/*
 * Why things are changed from here on: kept with the events of changes that have an actor, unless
 * the change has a reason of its own. NULL or empty: nobody said. Copied.
 */
void store_set_reason(struct store *store, const char *reason);

/* Until it is closed nothing that is changed lasts; see db_rehearse. */
NODISCARD enum status store_rehearse(struct store *store, struct err *err);
/*
 * What is changed from here on becomes durable at store_together_commit, all of it or nothing; each
 * call is still all or nothing by itself. After a failure the store knows things that are not: it
 * must be closed.
 */
NODISCARD enum status store_together_begin(struct store *store, struct err *err);
NODISCARD enum status store_together_commit(struct store *store, struct err *err);
/* From here on store_together_commit can only fail, with STATUS_IO, and leave nothing. */
void store_together_spoil(struct store *store);
/* Instead: nothing of it happened. False: the store knows things that are not, and must be closed.
 */
NODISCARD bool store_together_undo(struct store *store);

static inline void store_closep(struct store **store)
{
    store_close(*store);
}
