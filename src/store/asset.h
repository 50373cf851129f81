#pragma once
/*
 * asset: datasets and their updates.
 *
 * A dataset is known from its first update on, whether a task wrote it (`outputs`) or somebody said
 * so. Who waits for it is in trigger_store.h. URIs are everybody's; updates and DAGs that wait are
 * told and counted where they are seen (sight.h).
 */
#include "base/arena.h"
#include "store/store.h"

struct asset_info {
    int64_t id;
    const char *uri;
    int64_t created_at_us;
    int64_t updates;
    int64_t last_us; /* 0: never */
    int64_t waiters; /* DAGs that wait for it */
};

struct asset_filter {
    const char *contains; /* part of the URI; NULL: any */
    const char *dags;     /* ",a,b,": that one of these waits for or lately wrote; NULL: any */
    bool is_awaited;      /* with `dags`: what they wrote does not count */
    bool is_descending;
    int64_t limit;
    int64_t offset;
};

/* By URI; also those that are only waited for, with an id of 0. Texts are in the arena. */
NODISCARD enum status store_asset_list(struct store *store, struct arena *arena,
                                       const struct asset_filter *filter, struct asset_info **out,
                                       size_t *out_count, struct err *err);
/* How many there are, at most `most`; `limit` does not count. */
NODISCARD enum status store_asset_count(struct store *store, const struct asset_filter *filter,
                                        int64_t most, int64_t *out, struct err *err);
/* STATUS_NOT_FOUND: nobody ever updated it, and nobody waits for it. */
NODISCARD enum status store_asset_load(struct store *store, struct arena *arena, const char *uri,
                                       struct asset_info *out, struct err *err);

struct asset_update {
    int64_t id;
    int64_t at_us;
    int64_t run; /* 0: no task did it */
    const char *dag_id;
    const char *run_id;
    const char *task_id;
    int64_t map_index;
    const char *actor;
    const char *extra; /* JSON */
};

struct asset_updates {
    const struct asset_update *items;
    size_t count;
};

/* Newest first. */
NODISCARD enum status store_asset_updates(struct store *store, struct arena *arena, int64_t asset,
                                          int64_t limit, struct asset_updates *out,
                                          struct err *err);

struct asset_emission {
    const char *uri;
    const char *extra; /* JSON object; NULL: empty */
    const char *actor;
};

/*
 * Say that the dataset was updated. STATUS_INVALID: no such URI can be; STATUS_LIMIT: too much is
 * told with it; STATUS_UNKNOWN: it may have been told.
 */
NODISCARD enum status store_asset_emit(struct store *store, const struct asset_emission *emission,
                                       struct err *err);
