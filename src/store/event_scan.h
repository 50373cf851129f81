#pragma once
/*
 * event_scan: events along their ids, a stretch at a time, for readers that look for some of them.
 *
 * There is no index of what people ask for, except of runs, so the rows of a stretch are looked at;
 * the database does so, and gives only those that may be meant, with their names.
 *
 * Tests  tests/unit/store/test_event_scan.c
 */
#include "store/event_page.h"

/* Which events are meant, as far as their rows and those of their runs tell. */
struct event_wish {
    const char *kinds;  /* a letter for each kind, '1': it is; NULL: all that this program knows */
    int64_t from_us;    /* when it happened */
    int64_t to_us;      /* 0: no bound */
    const char *actor;  /* NULL: anybody */
    int64_t attempt;    /* 0: any */
    const char *dag_id; /* of its runs, or whose data may name it; NULL: any */
    const char *run_id; /* NULL: any */
    bool is_of_task;    /* only of tasks of runs; counts leave it out */
};

struct event_scan {
    int64_t run;   /* only of this run; 0: of any */
    int64_t after; /* ids above, and below the other bound; 0: no bound */
    int64_t before;
    bool is_descending;
    int64_t most; /* rows that one call gives */
    struct event_wish wish;
};

/* Events that follow one another, whether they are meant or not. */
struct event_stretch {
    int64_t count;
    int64_t lowest; /* ids; 0: there are none */
    int64_t highest;
};

/* The next so many of the scan. */
NODISCARD enum status store_event_stretch(struct store *store, const struct event_scan *scan,
                                          int64_t count, struct event_stretch *out,
                                          struct err *err);

/*
 * Those of a stretch that may be meant, as many as one call gives, in the order of the scan.
 * Whoever sees only some namespaces also gets those of which the rows do not tell whose they are.
 */
NODISCARD enum status
store_event_scan(struct store *store, const struct event_scan *scan,
                 const struct event_stretch *stretch,
                 enum status (*each)(void *context, const struct event_row *row, struct err *err),
                 void *context, struct err *err);

/* How many these are, for who sees everything and asks for no DAG, run or task. */
NODISCARD enum status store_event_count(struct store *store, const struct event_scan *scan,
                                        const struct event_stretch *stretch, int64_t *out,
                                        struct err *err);

/*
 * An id such that what has smaller ones happened before that time: found by halving, since ids
 * grow with time. Slow transactions come a little out of order, for which there is some slack.
 */
enum { EVENT_FIND_SLACK = 10000 };
NODISCARD enum status store_event_find(struct store *store, int64_t at_us, int64_t *out_id,
                                       struct err *err);
