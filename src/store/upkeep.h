#pragma once
/*
 * upkeep: the store as a thing to look after. Check it, copy it, put a copy back.
 */
#include "store/store.h"

struct check_finding {
    const char *rule; /* what should hold */
    int64_t count;    /* rows that break it */
};

struct check_report {
    struct check_finding findings[40];
    size_t count;
    size_t rules; /* how many were checked */
};

/* The database's own check, then every rule between the tables. STATUS_CORRUPT only for the first.
 */
NODISCARD enum status store_check(struct store *store, struct check_report *out, struct err *err);

/* A consistent copy in one new file, made while others write. STATUS_CONFLICT: `path` exists. */
NODISCARD enum status store_backup(struct store *store, const char *path, struct err *err);

/*
 * Put the backup at `path` in the place of the store file `target`, which nobody may have open.
 * The old file is kept beside it; the store's epoch rises, so that what was claimed before the
 * backup is void.
 */
struct restore_request {
    const char *path;
    const char *target;
    const char *actor;
    const char *reason; /* JSON, as store_set_reason takes it; NULL: nobody said */
};
NODISCARD enum status store_restore(const struct restore_request *request, char **out_kept_as,
                                    struct err *err);
