#pragma once
/*
 * version: DAGs as the store knows them. Every change of meaning is a numbered version; runs are
 * pinned to theirs.
 */
#include "base/arena.h"
#include "model/dag.h"
#include "store/store.h"

struct version_source {
    const char *path; /* absolute path of the file, or "" */
    const char *text;
    bool is_foreground; /* of a file that is run at once: that alone does not make it scheduled */
    bool starts_paused; /* if it was not offered before */
};

struct version_ref {
    int64_t dag_key;
    int64_t version;
    int64_t number;
    bool is_new;
};

/* Keep `dag` as the newest version of its id, unless the newest means the same already. */
NODISCARD enum status store_version_save(struct store *store, const struct dag *dag,
                                         const struct version_source *source,
                                         struct version_ref *out, struct err *err);

struct version_info {
    int64_t dag_key;
    int64_t version;
    int64_t number;
    const char *dag_id;
    const char *namespace_;
    const char *title;
    const char *hash;
    const char *path;
    const char *source;
    int64_t created_at_us;
};

/* The newest version of a DAG; texts in `arena`. STATUS_NOT_FOUND names near ids. */
NODISCARD enum status store_version_newest(struct store *store, struct arena *arena,
                                           const char *dag_id, struct version_info *out,
                                           struct err *err);
NODISCARD enum status store_version_load(struct store *store, struct arena *arena, int64_t version,
                                         struct version_info *out, struct err *err);
/* Newest versions of all DAGs by id, without their sources. */
NODISCARD enum status store_version_each(struct store *store,
                                         enum status (*each)(void *context,
                                                             const struct version_info *info,
                                                             struct err *err),
                                         void *context, struct err *err);
/* The DAG itself, borrowed from the store for as long as it is open. */
NODISCARD enum status store_version_dag(struct store *store, int64_t version,
                                        const struct dag **out, struct err *err);

/*
 * Spare the store reading a version that the caller has at hand: `dag` must be what was saved, and
 * outlive the store. DAGs do not change, so several stores may be lent the same one.
 */
void store_version_lend(struct store *store, int64_t version, const struct dag *dag);
