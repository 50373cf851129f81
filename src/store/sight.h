#pragma once
/*
 * sight: which namespaces whoever asks may see.
 *
 * Lists of rows of several namespaces show only those that are seen; a store that nobody limited
 * shows all. What is named by an id is looked up here, so that somebody above can decide whether it
 * is shown; loading, changing and working off know nothing of it.
 */
#include "base/arena.h"
#include "store/store.h"

/* "": all; else each name with a blank before and after it. Borrowed until the next call. */
void store_set_sight(struct store *store, const char *spaces);
bool store_sees_all(const struct store *store);
bool store_sees(const struct store *store, const char *space);
/* Whether a DAG is in a namespace that is seen; one that is gone, only by who sees all. */
NODISCARD enum status store_sees_dag(struct store *store, const char *dag_id, bool *out,
                                     struct err *err);

enum sight_kind {
    SIGHT_RUN,      /* by its number */
    SIGHT_JOB,      /* by its id */
    SIGHT_LETTER,   /* by the id of its job or task */
    SIGHT_BACKFILL, /* by its number */
    SIGHT_NOTICE,   /* by its number */
    SIGHT_WEBHOOK,  /* by its number */
    SIGHT_KIND_COUNT
};

/* The namespace that a thing is in, in the arena. STATUS_NOT_FOUND: there is no such thing. */
NODISCARD enum status store_space_of(struct store *store, struct arena *arena, enum sight_kind kind,
                                     int64_t id, const char **out, struct err *err);
/* The same of a DAG. */
NODISCARD enum status store_space_of_dag(struct store *store, struct arena *arena,
                                         const char *dag_id, const char **out, struct err *err);
