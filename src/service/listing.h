#pragma once
/*
 * listing: the answer of an operation that lists rows in pages: the page, and how many rows there
 * are on all pages together.
 *
 * Counting costs another question, so it is done only when the request says `with_total` and the
 * page does not show the number already; and it ends at LISTING_TOTAL_MAX, since there may be
 * millions of runs and jobs.
 */
#include "base/err.h"
#include "base/json.h"
#include "store/store.h"

enum { LISTING_TOTAL_MAX = 10000 };

struct listing_page {
    const json_t *request;
    const char *name;    /* of the member with the rows */
    struct store *store; /* NULL: there is none yet, so that nothing matches */
    int64_t limit;
    bool is_later; /* rows of pages before it were left out */
    /* How many rows the filter lets through, at most `most`. */
    enum status (*count)(struct store *store, const void *filter, int64_t most, int64_t *out,
                         struct err *err);
    const void *filter;
};

/* Of lists by id: the last row of the page before; 0: this is the first. */
NODISCARD enum status listing_read_cursor(const json_t *request, int64_t *out, struct err *err);
/* Rows to ask for: one more than the page has tells whether another page follows. */
int64_t listing_ask(int64_t limit);
/* "cursor" of an answer: its last row, or null when no page follows. */
void listing_put_cursor(json_t *answer, bool has_more, int64_t last);

/* {NAME: rows, "total_entries": n}; "total_is_more" when there are more than were counted. */
NODISCARD enum status listing_answer(const struct listing_page *page, json_t *taken_rows,
                                     json_t **out, struct err *err);
