#pragma once
/*
 * dag_file: the DAG files that hosts watch: what was seen of each, and which DAGs it offers.
 *
 * A DAG can be run by its name as long as the file of some living host offers it. A file with
 * problems goes on offering what it had before.
 */
#include "base/arena.h"
#include "model/dag.h"
#include "os/file_stamp.h"
#include "store/store.h"

struct dag_file {
    const char *host; /* name of the host that has it */
    const char *path;
    struct file_stamp stamp;
    const char *hash;     /* of its bytes; "": another file has a DAG of it, or it was forgotten */
    const char *parts;    /* JSON: [path, size, mtime_ns, ctime_ns, inode] of each file it names */
    const char *problems; /* JSON: [line, column, text] each; NULL: none */
    int64_t broken_at_us; /* since when it has problems */
};

/* What a host saw. */
struct dag_file_change {
    const char *path;
    struct file_stamp stamp;
    const char *hash;
    const char *parts;
    bool is_same;            /* only the stamps are others */
    const char *problems;    /* NULL: it is good */
    const char *text;        /* of a good one */
    struct dag *const *dags; /* the same */
    const int *lines;        /* where each of them begins */
    size_t dags_count;
};

enum { DAG_FILE_REFUSAL_MAX = 1000 };

struct dag_file_result {
    size_t changed;  /* DAGs that mean something else than before, or are new or back */
    bool is_refused; /* another file of this host offers one of its DAGs: told as its problem */
    int line;        /* of one that was refused: where, and the problem in words */
    char refusal[DAG_FILE_REFUSAL_MAX];
};

struct dag_file_batch {
    const char *host;
    const char *actor;
    bool starts_paused; /* DAGs that were not offered before */
    const struct dag_file_change *changes;
    size_t count;
};

/* Keep what was seen, and the versions of good files; all in one transaction. */
NODISCARD enum status store_dag_files_save(struct store *store, const struct dag_file_batch *batch,
                                           struct dag_file_result *out, struct err *err);
/* Files that are gone. What they offered is in doubt until store_dag_files_settle. */
NODISCARD enum status store_dag_files_remove(struct store *store, const char *host,
                                             const char *const *paths, size_t count,
                                             struct err *err);
/* DAGs in doubt that no living host offers become inactive; *out_gone tells how many. */
NODISCARD enum status store_dag_files_settle(struct store *store, const char *host,
                                             const char *actor, int64_t *out_gone, struct err *err);
/* Forget the files of hosts that left a day ago, except where nobody else offers the same DAG. */
NODISCARD enum status store_dag_files_forget(struct store *store, const char *host,
                                             struct err *err);

struct dag_file_filter {
    const char *host; /* NULL: of all */
    bool broken_only;
    const char *dag_id; /* only those that offer it; NULL: any */
};

typedef enum status (*dag_file_fn)(void *context, const struct dag_file *file, struct err *err);
/* By path, then host. Texts are borrowed during the call. */
NODISCARD enum status store_dag_file_each(struct store *store, const struct dag_file_filter *filter,
                                          dag_file_fn each, void *context, struct err *err);
/* Ids of DAGs that are offered by a file with problems. */
NODISCARD enum status store_dag_each_broken(struct store *store,
                                            enum status (*each)(void *context, const char *dag_id,
                                                                struct err *err),
                                            void *context, struct err *err);

struct dag_file_offer {
    const char *host;
    const char *path;
    const char *dag_id;
};
/* Active DAGs that files with problems go on offering; texts are borrowed during the call. */
NODISCARD enum status store_dag_file_each_kept(struct store *store,
                                               enum status (*each)(void *context,
                                                                   const struct dag_file_offer *o,
                                                                   struct err *err),
                                               void *context, struct err *err);
