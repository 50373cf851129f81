#pragma once
/*
 * process_path: which file a command names, and why it could not be run.
 *
 * Part of process: what has to be known before the child exists, since a child that
 * shares our memory may not allocate.
 */
#include <stddef.h>

#include "base/err.h"
#include "os/process.h"

struct process_path {
    char **items; /* in the order in which they are tried */
    size_t count;
};

/* With a slash the command itself; otherwise one path for each directory of the child's PATH. */
void process_path_init(struct process_path *path, const struct process_request *request);
void process_path_fini(struct process_path *path);

/* Describe a failed exec: names a missing interpreter, and a directory as such. */
enum status process_path_explain(const struct process_request *request,
                                 const struct process_path *path, int failure, struct err *err);
