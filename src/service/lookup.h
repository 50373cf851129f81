#pragma once
/*
 * lookup: from what a request names to the run, task or DAG that is meant.
 *
 * What is not there is STATUS_NOT_FOUND with the nearest name that is.
 *
 * Ownership  Found things are borrowed from the arena given and from the store; a found DAG owns
 *            the file it was read from until lookup_dag_fini.
 */
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "service/service.h"
#include "spec/spec.h"
#include "store/run_store.h"

struct found_run {
    struct store *store;
    struct run_info info;
    const struct dag *dag;
};

/* The run that the member "run" names: a number, DAG/RUN_ID, or DAG for its latest run. */
NODISCARD enum status lookup_run(struct service *service, enum db_mode mode, struct arena *arena,
                                 const json_t *request, struct found_run *out, struct err *err);

NODISCARD enum status lookup_node(const struct dag *dag, const char *task_id, int64_t *out_node,
                                  struct err *err);

/* Row id of a node, or of one of its instances unless `map_index` is negative. */
NODISCARD enum status lookup_task(const struct found_run *run, struct arena *arena, int64_t node,
                                  int64_t map_index, struct task_row *out, struct err *err);

/* STATUS_NOT_FOUND unless there is such a queue; NULL, any queue, is fine. */
NODISCARD enum status lookup_queue(struct store *store, const char *name, struct err *err);

/* STATUS_BAD_DAG with the first problem of a file that has some. */
NODISCARD enum status lookup_check_file(const struct spec_file *file, struct err *err);

struct found_dag {
    const struct dag *dag;
    const char *path; /* of its file, or "" */
    const char *text; /* as its author wrote it */
    int64_t version;  /* number of the version in the store; 0: read from a file */
    int64_t key;      /* and its id */
    bool is_active;   /* its file is there */
    struct spec_file *file;
    bool is_sent; /* its file came with the request: nothing lies beside it */
};

/*
 * The DAG that the members "file" and "dag" name: of a file (which one, if it has several), or one
 * the store or the folder of DAG files knows. "version" is the number of one that the store has.
 * With "text", the file itself, "file" is only its name.
 *
 *   STATUS_BAD_DAG  the file has problems; the text is the first of them
 *   STATUS_INVALID  neither is given, or the file has several DAGs
 */
NODISCARD enum status lookup_dag(struct service *service, struct arena *arena,
                                 const json_t *request, struct found_dag *out, struct err *err);
/*
 * STATUS_NOT_FOUND unless the store or the folder of DAG files knows the DAG. For listings that
 * found nothing of it: an empty list would hide that the name is wrong. NULL is fine.
 */
NODISCARD enum status lookup_dag_name(struct service *service, const char *dag_id, struct err *err);
/*
 * Of a DAG that came with the request, STATUS_DENIED unless whoever asks may write DAGs of its
 * namespace: it is run, or filled in, with what the server knows.
 */
NODISCARD enum status lookup_check_author(const struct service *service,
                                          const struct found_dag *found, struct err *err);
void lookup_dag_fini(struct found_dag *found); /* twice is fine */
