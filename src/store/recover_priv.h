#pragma once
/*
 * recover_priv: tasks whose owner is gone, taken back inside a transaction.
 */
#include "store/work.h"

struct held {
    int64_t host;
    int64_t task;
    int64_t run;
};

struct held_list {
    struct held *items;
    size_t count;
    size_t capacity;
};

void held_list_fini(struct held_list *list);
void held_list_add(struct held_list *list, const struct held *held);

/* Those still held as the list says; what follows from that is settled and saved. */
NODISCARD enum status recover_held(struct work *work, const struct held *items, size_t count,
                                   struct err *err);
