#pragma once
/*
 * host: the processes that run tasks, as the store knows them.
 *
 * Whether one is alive is not written here: on an embedded store each holds a lock on a file of
 * its own, and a free lock means dead (worker/presence.h).
 */
#include "store/store.h"

struct host_request {
    const char *name;
    const char *kind; /* "foreground" */
    int64_t pid;
    const char *boot;
    int64_t slots;
};

NODISCARD enum status store_host_add(struct store *store, const struct host_request *request,
                                     int64_t *out_id, struct err *err);
NODISCARD enum status store_host_end(struct store *store, int64_t id, struct err *err);

struct host_info {
    int64_t id;
    const char *name;
    const char *kind;
    int64_t pid;
    int64_t slots;
    int64_t started_at_us;
    int64_t ended_at_us;
    int64_t holds; /* tasks */
};

/* Newest first; texts are borrowed during the call. */
NODISCARD enum status
store_host_each(struct store *store, bool with_ended,
                enum status (*each)(void *context, const struct host_info *info, struct err *err),
                void *context, struct err *err);
/* Hosts that hold tasks of a run: is there a living one? Calls `each` with their ids. */
NODISCARD enum status store_host_of_run(struct store *store, int64_t run,
                                        void (*each)(void *context, int64_t host), void *context,
                                        struct err *err);
