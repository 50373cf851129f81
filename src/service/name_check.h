#pragma once
/*
 * name_check: variables, connections and secrets that a DAG names, in templates and hooks, and that
 * look misspelt.
 *
 * A name may be set later, or on other hosts, so that it is missing here is no mistake. But one
 * that is nowhere while a nearly equal one is there, is worth a warning.
 */
#include "base/json.h"
#include "model/dag.h"

struct vault;

/* What there is: names by kind. Zero is nothing. */
struct name_check {
    json_t *names[3]; /* by enum vault_kind: lists of texts */
};

NODISCARD enum status name_check_init(struct name_check *check, struct vault *vault,
                                      struct err *err);
void name_check_fini(struct name_check *check); /* twice is fine */

/* Add a problem, as diag_render_json writes them, for each; returns how many. */
size_t name_check_dag(const struct name_check *check, const struct dag *dag, const char *path,
                      json_t *problems);
