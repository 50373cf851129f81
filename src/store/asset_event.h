#pragma once
/*
 * asset_event: updates of datasets, whichever they are of, a page at a time.
 *
 * Looked at are at most ASSET_EVENT_SCAN_MAX of them, along the key.
 *
 * Tests  tests/unit/store/test_asset_event.c
 */
#include "store/asset.h"

enum { ASSET_EVENT_SCAN_MAX = 100000 };

struct asset_event_page {
    int64_t asset;       /* only of this dataset; 0: of any */
    int64_t id;          /* only this one; 0: any */
    const char *dag_id;  /* whose task wrote it; NULL: any, or none */
    const char *run_id;  /* the same */
    const char *task_id; /* the same */
    int64_t map_index;   /* the same; below -1: any */
    bool is_descending;
    int64_t limit;
    int64_t offset;
};

struct asset_event_row {
    struct asset_update update;
    int64_t asset;
    const char *uri;
};

/* Texts are borrowed for the call. */
NODISCARD enum status store_asset_event_page(
    struct store *store, const struct asset_event_page *page,
    enum status (*each)(void *context, const struct asset_event_row *row, struct err *err),
    void *context, struct err *err);
/* How many match on all pages, at most `most`. */
NODISCARD enum status store_asset_event_count(struct store *store,
                                              const struct asset_event_page *page, int64_t most,
                                              int64_t *out, struct err *err);

/* Ids of the runs that an update was part of, at most `most`. */
NODISCARD enum status store_asset_event_runs(struct store *store, int64_t event, int64_t *out,
                                             size_t most, size_t *out_count, struct err *err);
