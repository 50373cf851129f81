#pragma once
/*
 * dag_sync: brings the DAG files of a folder into the store, as far as they changed.
 *
 * What was seen of each file is kept in the store, so a file that was not touched is never read
 * again, also after a restart. dag_sync_look finds out what is to be done, by names and stamps
 * alone; dag_sync_turn does a bounded part of it, in one transaction.
 *
 * A file that is being written is left alone until it has been quiet for a while. A folder that is
 * gone as a whole takes nothing with it: more likely it was not mounted than emptied.
 *
 * Threads  One thread, with a store of its own.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "spec/spec_find.h"
#include "store/store.h"

struct dag_sync;

struct dag_sync_options {
    struct store *store;
    const char *folder; /* absolute */
    const char *host;   /* name of this host */
    int64_t settle_ms;  /* how long a file must be quiet */
    bool starts_paused; /* DAGs that were not offered before */
    /* A file turned out to have problems; the first of them. NULL: nobody wants to know. */
    void (*broken)(void *context, const char *path, int line, const char *problem);
    /* DAGs of the store start each other, "a -> b -> a"; once each. NULL: the same. */
    void (*circle)(void *context, const char *path, const char *circle);
    void *context;
};

/* What was done since the last look. */
struct dag_sync_counts {
    size_t read;    /* files */
    size_t changed; /* DAGs that are new, back, or mean something else */
    size_t gone;    /* DAGs that nobody offers any more */
};

struct dag_sync_state {
    bool has_more;     /* the next turn has something to do */
    bool is_unsettled; /* some files are to be looked at again in a moment */
    size_t files;      /* there are */
    size_t broken;     /* of them, with problems */
    struct dag_sync_counts done;
};

/* Reads what the store remembers. */
NODISCARD enum status dag_sync_new(const struct dag_sync_options *options, struct dag_sync **out,
                                   struct err *err);
void dag_sync_free(struct dag_sync *sync); /* NULL is allowed */

/* STATUS_NOT_FOUND: there is no folder; what was there before stays as it is. */
NODISCARD enum status dag_sync_look(struct dag_sync *sync, struct err *err);
/* Fails only when the store does; the same turn may be tried again. */
NODISCARD enum status dag_sync_turn(struct dag_sync *sync, struct err *err);
/* What is to be done without the store; after each turn, when others may have the store. */
void dag_sync_think(struct dag_sync *sync);
struct dag_sync_state dag_sync_get(const struct dag_sync *sync);

/* Folders that the last look went through; borrowed. */
const struct spec_paths *dag_sync_folders(const struct dag_sync *sync);
/* Folders with files that DAGs name, worked out anew; borrowed until the next look or turn. */
const struct spec_paths *dag_sync_part_folders(struct dag_sync *sync);
/* Whether a change of this name in one of the folders may mean something. */
bool dag_sync_cares(const struct dag_sync *sync, const char *name);
