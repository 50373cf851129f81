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
    const char *actor;  /* who saves it; NULL: nobody is named */
    bool is_offer;      /* from a folder that a host watches */
    bool is_foreground; /* of a file that is run at once: that alone does not make it scheduled */
    bool starts_paused; /* if it was not offered before */
};

struct version_ref {
    int64_t dag_key;
    int64_t version;
    int64_t number;
    bool is_new;
    bool is_changed; /* what the DAG means by default is another, or it is offered again */
};

/*
 * Keep `dag` as a version of its id, and as the current one when its file says something else than
 * before: a file that was not changed does not undo a rollback. Of a DAG that hosts offer only they
 * and the same file have a say; the version of another file is kept beside.
 */
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
    const char *source; /* NULL in lists */
    const char *actor;  /* who made it */
    int64_t created_at_us;
    bool is_current;
    bool is_filed;  /* what the DAG's file means */
    bool is_active; /* of the DAG: it can be run by its name */
};

/* The current version of a DAG; texts in `arena`. STATUS_NOT_FOUND names near ids. */
NODISCARD enum status store_version_newest(struct store *store, struct arena *arena,
                                           const char *dag_id, struct version_info *out,
                                           struct err *err);
NODISCARD enum status store_version_load(struct store *store, struct arena *arena, int64_t version,
                                         struct version_info *out, struct err *err);
/* The one with the highest number, which a rollback leaves behind the current one. */
NODISCARD enum status store_version_last(struct store *store, int64_t dag_key, int64_t *out_version,
                                         struct err *err);
/* The version of a DAG with this number. */
NODISCARD enum status store_version_numbered(struct store *store, struct arena *arena,
                                             const char *dag_id, int64_t number,
                                             struct version_info *out, struct err *err);
/* All versions of a DAG, the highest number first, without their sources. */
NODISCARD enum status store_version_each_of(struct store *store, const char *dag_id,
                                            enum status (*each)(void *context,
                                                                const struct version_info *info,
                                                                struct err *err),
                                            void *context, struct err *err);
/* Current versions of all DAGs by id, without their sources. */
NODISCARD enum status store_version_each(struct store *store,
                                         enum status (*each)(void *context,
                                                             const struct version_info *info,
                                                             struct err *err),
                                         void *context, struct err *err);

struct rollback_request {
    const char *dag_id;
    int64_t number; /* of the version that becomes the current one */
    const char *actor;
    const char *reason; /* or NULL */
};

/*
 * Make another version the current one, until the DAG's file is changed.
 *
 *   STATUS_NOT_FOUND  there is no such DAG or version
 *   STATUS_CONFLICT   it is the current one already
 */
NODISCARD enum status store_version_rollback(struct store *store,
                                             const struct rollback_request *request,
                                             struct err *err);

/* The DAG itself, borrowed from the store for as long as it is open. */
NODISCARD enum status store_version_dag(struct store *store, int64_t version,
                                        const struct dag **out, struct err *err);
/* Read those that are not read yet at once, where that is cheaper than store_version_dag of each.
 */
NODISCARD enum status store_version_fetch(struct store *store, const int64_t *versions,
                                          size_t count, struct err *err);

/*
 * Spare the store reading a version that the caller has at hand: `dag` must be what was saved, and
 * outlive the store. DAGs do not change, so several stores may be lent the same one.
 */
void store_version_lend(struct store *store, int64_t version, const struct dag *dag);
