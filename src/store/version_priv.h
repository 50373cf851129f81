#pragma once
/*
 * version_priv: what the modules about DAGs and their versions share. Everything here happens
 * inside a write transaction of the caller.
 */
#include "model/event_kind.h"
#include "store/version.h"

/* `active` of a DAG. */
enum dag_activity {
    DAG_INACTIVE, /* nobody offers it any more */
    DAG_ACTIVE,
    DAG_DOUBTFUL, /* an offer went; whether there are others is looked up in a moment */
};

/* What a DAG is from now on. */
struct current_version {
    int64_t dag_key;
    const char *dag_id;
    int64_t version;       /* 0: the DAG is deleted */
    const struct dag *dag; /* what that version means; NULL when it is deleted */
    const char *path;      /* of its file, where relative paths begin */
    bool is_new;           /* there was no DAG of this id */
    bool is_offered;       /* it may run by itself: a host watches its file, or it was triggered */
    bool starts_paused;    /* if it is offered for the first time */
    enum event_kind event; /* what happened to it */
    const char *actor;
    const char *reason; /* of who did it, or NULL */
};

/*
 * Called wherever a DAG gets another current version, is offered, is no longer offered or is
 * deleted, after its rows were changed: what else follows from the current version is done here.
 */
NODISCARD enum status version_current_changed(struct store *store,
                                              const struct current_version *current,
                                              struct err *err);

/* store_version_save without a transaction of its own. */
NODISCARD enum status version_save_within(struct store *store, const struct dag *dag,
                                          const struct version_source *source,
                                          struct version_ref *out, struct err *err);

/* Keep the files that a new version names. STATUS_INVALID: the bytes of one are not known. */
NODISCARD enum status named_files_save(struct store *store, int64_t version, const struct dag *dag,
                                       struct err *err);
/* Forget bytes that no version names. */
NODISCARD enum status named_files_sweep(struct store *store, struct err *err);
