#pragma once
/*
 * expander_list: mapped tasks that have instances to come, as they are before their runs are
 * locked.
 */
#include "store/work.h"

struct expander {
    int64_t task;
    int64_t run;
    int64_t node;
    int64_t uninserted;
    int64_t open; /* instances with rows that have not ended */
};

struct expander_list {
    struct expander *items;
    size_t count;
    size_t capacity;
};

void expander_list_fini(struct expander_list *list);

enum { EXPANDERS_MAX = 100 };

/* Adds up to so many of a scope, those after this task; their runs are in the set then. */
NODISCARD enum status expander_list_read(struct work *work, int64_t scope, int64_t after,
                                         struct expander_list *out, struct err *err);
