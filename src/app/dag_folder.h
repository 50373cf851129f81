#pragma once
/*
 * dag_folder: the DAG files that a daemon offers, kept as versions in the store so that they can be
 * triggered by name.
 */
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"
#include "store/store.h"

struct dag_folder_result {
    size_t dags;    /* there are */
    size_t changed; /* of them, new or with another meaning than before */
    size_t broken;  /* files with problems; each was logged */
};

struct dag_folder {
    const char *path;
    bool starts_paused; /* DAGs that were not offered before */
};

/* A folder that does not exist has no DAGs. Fails only when the store does. */
NODISCARD enum status dag_folder_save(struct store *store, const struct dag_folder *folder,
                                      struct dag_folder_result *out, struct err *err);
