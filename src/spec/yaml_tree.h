#pragma once
/*
 * yaml_tree: a YAML text as JSON values, each with its place in the text.
 *
 * Refuses what cannot be meant in a DAG file: duplicate keys, tags beyond the core ones, keys
 * that are not scalars, aliases that contain themselves, and anything past LIMIT_YAML_DEPTH and
 * LIMIT_YAML_NODES, counted as if aliases were written out. Aliases share one value, so a
 * small file stays small in memory.
 *
 * Ownership  The tree borrows the text, which must outlive it. Documents belong to the tree.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/json.h"
#include "model/dag_read.h"
#include "model/diag.h"

struct yaml_tree;

/*
 * Parse as far as possible; problems go to `diags`. After a syntax error the documents before
 * it are still there. Never NULL.
 */
NODISCARD struct yaml_tree *yaml_tree_parse(const char *text, size_t length,
                                            struct diag_list *diags);
void yaml_tree_free(struct yaml_tree *tree);

/* The documents, as an array. */
const json_t *yaml_tree_documents(const struct yaml_tree *tree);

/*
 * Where a child of a container of the tree stands; line 0 when the container is not of this tree.
 * Children are addressed by their place in the container: true, false and null have no identity.
 */
struct source_span yaml_tree_find_place(const struct yaml_tree *tree, const json_t *container,
                                        size_t index, bool of_key);

/* Where byte `offset` of a text value stands, as exactly as its YAML form allows. */
struct source_span yaml_tree_find_inside(const struct yaml_tree *tree, const json_t *container,
                                         size_t index, size_t offset);

/* The two above, in the form that dag_read takes. */
struct dag_locator yaml_tree_locator(const struct yaml_tree *tree);

static inline void yaml_tree_freep(struct yaml_tree **tree)
{
    yaml_tree_free(*tree);
}
