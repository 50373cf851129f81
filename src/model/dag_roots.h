#pragma once
/*
 * dag_roots: the names that a template of a DAG can start with.
 *
 * Checked when a file is read; whoever renders provides exactly these.
 */
#include <stddef.h>

struct dag_root {
    const char *name;
    const char *doc;
};

extern const struct dag_root DAG_ROOTS[];
extern const size_t DAG_ROOTS_COUNT;

/* The i-th name, in the form that str_nearest and template_scope take; context is not used. */
const char *dag_root_name(const void *context, size_t i);
/* NULL when there is none. */
const struct dag_root *dag_root_find(const char *name);
