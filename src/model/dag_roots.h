#pragma once
/*
 * dag_roots: the names that a template of a DAG can start with.
 *
 * Checked when a file is read; whoever renders provides exactly these.
 */
#include <stdbool.h>
#include <stddef.h>

struct dag_root {
    const char *name;
    const char *doc;
};

extern const struct dag_root DAG_ROOTS[];
extern const size_t DAG_ROOTS_COUNT;

/* The i-th name, in the form that str_nearest and template_scope take; context is not used. */
const char *dag_root_name(const void *context, size_t i);
/*
 * Whether a field of a task, "env.TOKEN", may hold secrets: those that do not end up in a command
 * line, a file or the store.
 */
bool dag_field_takes_secrets(const char *field);
/* Whether a path names something that is secret: secrets.NAME, conn.NAME.password, conn.NAME.uri.
 */
bool dag_path_is_secret(const char *const *path, size_t count);
/* NULL when there is none. */
const struct dag_root *dag_root_find(const char *name);
