#pragma once
/*
 * event_scan: events along their ids, a part at a time, for readers that look for some of them.
 */
#include "store/event_page.h"

struct event_scan {
    int64_t run;   /* only of this run; 0: of any */
    int64_t after; /* ids above, and below the other bound; 0: no bound */
    int64_t before;
    bool is_descending;
    int64_t limit;
};

NODISCARD enum status
store_event_scan(struct store *store, const struct event_scan *scan,
                 enum status (*each)(void *context, const struct event_row *row, struct err *err),
                 void *context, struct err *err);

/*
 * An id such that what has smaller ones happened before that time: found by halving, since ids
 * grow with time. Slow transactions come a little out of order, for which there is some slack.
 */
NODISCARD enum status store_event_find(struct store *store, int64_t at_us, int64_t *out_id,
                                       struct err *err);
