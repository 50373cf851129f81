#pragma once
/*
 * dag_circle: DAGs of the store that start each other in a circle (model/trigger_circle.h).
 *
 * What they start and wait for is read a part at a time; looking for circles in it needs no store.
 *
 * Tests  tests/unit/service/test_dag_sync.c
 */
#include <stdbool.h>

#include "base/arena.h"
#include "store/store.h"

struct dag_circle {
    const char *text; /* "a -> b -> a" */
    const char *path; /* file of the first of them */
    const char **dag_ids;
    size_t dags_count;
};

struct dag_circles {
    struct dag_circle *items;
    size_t count;
};

struct dag_circle_reader;

NODISCARD struct dag_circle_reader *dag_circle_reader_new(void);
void dag_circle_reader_free(struct dag_circle_reader *reader); /* NULL is allowed */

/*
 * Read some of those that are offered now. *out_more: that was not all. After a failure the same
 * part may be read again.
 */
NODISCARD enum status dag_circle_read(struct dag_circle_reader *reader, struct store *store,
                                      bool *out_more, struct err *err);
/* Circles among all that was read; in the arena. */
void dag_circle_search(const struct dag_circle_reader *reader, struct arena *arena,
                       struct dag_circles *out);

/* All of it at once; in the arena. */
NODISCARD enum status dag_circles_find(struct store *store, struct arena *arena,
                                       struct dag_circles *out, struct err *err);
bool dag_circle_has(const struct dag_circle *circle, const char *dag_id);

static inline void dag_circle_reader_freep(struct dag_circle_reader **reader)
{
    dag_circle_reader_free(*reader);
}
