#pragma once
/*
 * old_rows: what grows without belonging to a run, and how it goes.
 *
 * A kind is a table, or a few that go together, with a statement that finds what is old enough.
 * Finding, counting and removing go by the same statement, so what a look promises is what goes.
 */
#include "store/store.h"

/*    name          text */
#define OLD_ROWS_MAP(X)                                                                            \
    X(EVENTS, "changes that concern no run")                                                       \
    X(ASSET_EVENTS, "updates of datasets")                                                         \
    X(WEBHOOK_CALLS, "calls of webhooks")                                                          \
    X(MISSED, "ticks that became no run")                                                          \
    X(NOTICES, "messages")                                                                         \
    X(ARRIVALS, "arrivals of files")                                                               \
    X(BACKFILLS, "backfills")                                                                      \
    X(VERSIONS, "versions of DAGs")                                                                \
    X(HOSTS, "hosts that left")                                                                    \
    X(RATES, "rates of hooks")                                                                     \
    X(TOKENS, "tokens that have expired")                                                          \
    X(SESSIONS, "sessions that are over")                                                          \
    X(LINKS, "links that nobody used")                                                             \
    X(ANSWERS, "answers that were kept for a key")

enum old_rows {
#define X(name, text) OLD_##name,
    OLD_ROWS_MAP(X)
#undef X
        OLD_ROWS_COUNT
};

/* How many are older than an instant. */
NODISCARD enum status store_old_rows_count(struct store *store, enum old_rows kind,
                                           int64_t before_us, int64_t *out, struct err *err);
/* Remove them, oldest first, at most `limit`; *out of them went. */
NODISCARD enum status store_old_rows_remove(struct store *store, enum old_rows kind,
                                            int64_t before_us, int64_t limit, int64_t *out,
                                            struct err *err);

/* The instant since when files count for a DAG that takes all that are there; 0: always did. */
NODISCARD enum status store_files_since(struct store *store, int64_t dag_key, int64_t *out_us,
                                        struct err *err);
