#pragma once
/*
 * old_logs: logs and large values in a folder that several stores once used.
 *
 * They are named by the numbers of run and task alone, which other stores have too. What a store
 * knows, and the store that the folder belongs to never knew, is its own and is moved to where it
 * looks for it; everything else stays, whosever it is.
 */
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct old_logs {
    struct store *store;
    struct store *resident; /* whom the folder belongs to; NULL: nobody */
    const char *from;
    const char *to;  /* existing; may be on another disk */
    bool has_values; /* the store has large values in files too */
};

struct old_logs_result {
    int64_t count; /* files that were moved */
    int64_t left;  /* files of tasks that run, on another disk */
};

/*
 * What is there already stays on both sides. What somebody may still write to is moved under his
 * hands, but never copied: what he writes afterwards would be lost.
 */
NODISCARD enum status old_logs_take(const struct old_logs *self, struct old_logs_result *out,
                                    struct err *err);
