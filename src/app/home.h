#pragma once
/*
 * home: the state folder and what lies in it.
 *
 *   eider.db      the store (unless a setting says otherwise)
 *   blob/         its logs and large values
 *   hosts/        one lock file per living process, one per run in the foreground
 *   wake          written to when something became claimable or a cancel was asked for
 *   api           where the daemon's API is, and the key of its user (api_place)
 *   stores/UUID/  what this home keeps for a store, whichever it is (home_place)
 *
 * The first four belong to a store in a file, and lie in its own folder if it is elsewhere or has
 * another name: whoever uses the file meets there (model/store_place).
 */
#include "base/attrs.h"
#include "base/err.h"
#include "model/settings.h"

struct home {
    char *path; /* absolute */
    char *store_url;
    char *store_dir; /* of a store in a file: its own folder; else NULL */
    char *hosts_dir; /* with the lock of this home's daemon */
    char *wake_file;
};

/* Work out the places; nothing is made. `path` NULL: as the settings say. */
NODISCARD enum status home_init(const struct settings *settings, const char *path, struct home *out,
                                struct err *err);
void home_fini(struct home *home); /* twice is fine */

/* The store is a file: everybody who uses it is on this machine. */
bool home_is_embedded(const struct home *home);

/*
 * Make the folders. STATUS_DENIED and others say which folder and what to do; a network file
 * system is refused, since its locks and its memory mapping cannot be relied on.
 */
NODISCARD enum status home_make(const struct home *home, struct err *err);

/* Tell whoever watches that the store changed in a way that matters to a worker. */
void home_wake(const struct home *home);

/* What belongs to one store, known by its uuid. */
struct home_place {
    char *dir;         /* what only this home's daemon needs */
    char *meeting_dir; /* where the processes of the store on this machine find each other */
    char *blob_dir;    /* logs and large values, or logs on their way to the store */
    char *scratch_dir; /* outputs and scripts of running attempts */
};

void home_place_init(const struct home *home, const char *uuid, struct home_place *out);
void home_place_fini(struct home_place *place); /* twice is fine */
NODISCARD enum status home_place_make(const struct home_place *place, struct err *err);
