#pragma once
/*
 * value: what tasks left for others. Small values live in the store, large ones are spilled and
 * only known here by their size.
 */
#include "base/arena.h"
#include "store/store.h"

struct value_info {
    const char *key;
    const char *json; /* NULL: spilled */
    int64_t bytes;
};

/* STATUS_NOT_FOUND when the task has no such value. */
NODISCARD enum status store_value_load(struct store *store, struct arena *arena, int64_t task,
                                       const char *key, struct value_info *out, struct err *err);
/* All values of a task by key; texts are borrowed during the call. */
NODISCARD enum status store_value_each(struct store *store, int64_t task,
                                       enum status (*each)(void *context,
                                                           const struct value_info *value,
                                                           struct err *err),
                                       void *context, struct err *err);

struct instance_value {
    int64_t task;
    int64_t map_index;
    int64_t attempt;
    bool succeeded;
    struct value_info value; /* key is NULL when the instance has no such value */
};

struct instance_range {
    int64_t base; /* id of the first instance */
    int64_t count;
};

/* One value of each instance that has a row, in order. */
NODISCARD enum status store_value_of_instances(
    struct store *store, struct instance_range range, const char *key,
    enum status (*each)(void *context, const struct instance_value *value, struct err *err),
    void *context, struct err *err);
