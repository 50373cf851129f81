#pragma once
/*
 * dag_files: the files that the tasks of a DAG name, as a part of its meaning.
 *
 * A DAG is read without them; whoever has the folder of its file at hand adds them, and from then
 * on they belong to the canonical form, so that another content is another version. A name with a
 * template is known only when a task runs: such a file stays outside.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "model/dag.h"

struct file_name {
    const char *name;
    const char *place; /* path of the key, for dag_find_place */
};

/* The names that tasks give, sorted, each once; in the DAG's arena. Returns how many. */
size_t dag_file_names(const struct dag *dag, const struct file_name **out);

/* Give the DAG the content of a named file, copied. It must not have one of that name yet. */
void dag_add_file(struct dag *dag, const char *name, const char *bytes, size_t size);
/* NULL: there is none of that name. */
const struct named_file *dag_find_file(const struct dag *dag, const char *name);
