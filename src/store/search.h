#pragma once
/*
 * search: things by a part of their name, over a bounded number of rows. Case does not count for
 * ASCII letters. Nothing is changed.
 *
 * Tests  tests/unit/store/test_grid.c
 */
#include "store/store.h"

/* Runs and jobs are looked through from the newest on, so many of each. */
enum { SEARCH_ROWS_MAX = 10000 };

struct search_hit {
    int64_t id;             /* of the version of a DAG, the run, the job */
    const char *name;       /* of the DAG; the run's id; the job's handler */
    const char *about;      /* a DAG's title; a run's DAG; a job's queue; may be NULL */
    const char *namespace_; /* whose it is */
    int64_t state;          /* of a run; of a DAG: whether it can be run */
};
/* Texts are borrowed during the call. */
typedef enum status (*search_fn)(void *context, const struct search_hit *hit, struct err *err);

/* DAGs whose id or title has the part, by id. */
NODISCARD enum status store_search_dags(struct store *store, const char *part, int64_t limit,
                                        search_fn each, void *context, struct err *err);
/* DAGs whose current version has the part anywhere in its canonical text, by id. */
NODISCARD enum status store_search_texts(struct store *store, const char *part, int64_t limit,
                                         search_fn each, void *context, struct err *err);
NODISCARD enum status store_search_runs(struct store *store, const char *part, int64_t limit,
                                        search_fn each, void *context, struct err *err);
NODISCARD enum status store_search_jobs(struct store *store, const char *part, int64_t limit,
                                        search_fn each, void *context, struct err *err);
