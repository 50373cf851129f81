#pragma once
/*
 * run_page: runs that a list asks for, in the order it asks for, a page at a time.
 *
 * There may be millions of runs. Each question is answered along an index: of the order, or of what
 * it asks for if that is the narrower of the two. What has no index is sorted only as long as few
 * rows match.
 *
 * Tests  tests/unit/store/test_run_page.c
 */
#include "store/run_store.h"

/*    name      as in requests */
#define RUN_ORDER_MAP(X)                                                                           \
    X(ID, "id")                                                                                    \
    X(LOGICAL, "logical_date")                                                                     \
    X(START, "start_date")                                                                         \
    X(END, "end_date")                                                                             \
    X(DURATION, "duration")

enum run_order {
#define X(name, text) RUN_BY_##name,
    RUN_ORDER_MAP(X)
#undef X
        RUN_ORDER_COUNT
};

enum { RUN_PAGE_SORT_MAX = 20000, RUN_PAGE_OFFSET_MAX = 100000 };

/* Both ends belong to it; 0: no such end. What never happened is in no range that has an end. */
struct run_range {
    int64_t from_us;
    int64_t to_us;
};

static inline int64_t run_range_first(const struct run_range *range)
{
    return range->from_us != 0 ? range->from_us : INT64_MIN;
}

static inline int64_t run_range_last(const struct run_range *range)
{
    return range->to_us != 0 ? range->to_us : INT64_MAX;
}

/* All zero: every run, the oldest first. */
struct run_page {
    const char *dag_id; /* only of this DAG; NULL: of any */
    const char *dags;   /* ",a,b,": only of these; NULL: of any */
    unsigned states;    /* a bit each (1 << state); 0: any */
    struct run_range logical;
    struct run_range started;
    struct run_range ended;
    struct run_range updated; /* the last of made, started and ended */
    int64_t below;            /* newest first, and counts: only ids below; 0: no bound */
    int64_t above;            /* oldest first: only ids above */
    enum run_order order;
    bool is_descending;
    int64_t limit;
    int64_t offset; /* at most RUN_PAGE_OFFSET_MAX */
};

NODISCARD bool run_order_parse(const char *text, enum run_order *out);
const char *run_order_name(enum run_order order);

/* STATUS_LIMIT: there are too many for an order that has no index. */
NODISCARD enum status store_run_page(struct store *store, const struct run_page *page,
                                     enum status (*each)(void *context, const struct run_info *info,
                                                         struct err *err),
                                     void *context, struct err *err);
/* Of the newest first no more than their ids and versions, for readers of very many. */
NODISCARD enum status store_run_page_ids(struct store *store, const struct run_page *page,
                                         void (*each)(void *context, int64_t id, int64_t version),
                                         void *context, struct err *err);
/* How many match on all pages, at most `most`. */
NODISCARD enum status store_run_page_count(struct store *store, const struct run_page *page,
                                           int64_t most, int64_t *out, struct err *err);

/*
 * How many tasks the runs of all pages have, of a mapped one its instances, those to come
 * included; no further than to `enough`, or a little more.
 */
NODISCARD enum status store_run_page_tasks(struct store *store, const struct run_page *page,
                                           int64_t enough, int64_t *out, struct err *err);
