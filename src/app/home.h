#pragma once
/*
 * home: the state folder and what lies in it.
 *
 *   eider.db     the store (unless a setting says otherwise)
 *   blob/        logs and large values
 *   hosts/       one lock file per living process, one per run in the foreground; what a daemon
 *                must remember
 *   scratch/     outputs and scripts of running attempts
 *   wake         written to when something became claimable or a cancel was asked for
 *
 * Processes that share a store in a file elsewhere meet beside that file: the locks and `wake` are
 * there.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "model/settings.h"

struct home {
    char *path; /* absolute */
    char *store_url;
    char *blob_dir;
    char *meeting_dir; /* where the processes of the store find each other */
    char *local_dir;   /* what only this home's daemon needs */
    char *scratch_dir;
    char *wake_file;
};

/* Work out the places; nothing is made. `path` NULL: as the settings say. */
NODISCARD enum status home_init(const struct settings *settings, const char *path, struct home *out,
                                struct err *err);
void home_fini(struct home *home); /* twice is fine */

/*
 * Make the folders. STATUS_DENIED and others say which folder and what to do; a network file
 * system is refused, since its locks and its memory mapping cannot be relied on.
 */
NODISCARD enum status home_make(const struct home *home, struct err *err);

/* Tell whoever watches that the store changed in a way that matters to a worker. */
void home_wake(const struct home *home);
