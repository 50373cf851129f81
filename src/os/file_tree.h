#pragma once
/*
 * file_tree: making, listing and removing directories.
 */
#include <stddef.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "base/err.h"

/* Make `path` and what is missing above it, each with `mode`. One that exists is fine. */
NODISCARD enum status file_tree_make(const char *path, mode_t mode, struct err *err);
/* The same for the relative `path` beneath `dir_fd`, never through a symbolic link. */
NODISCARD enum status file_tree_make_beneath(int dir_fd, const char *path, mode_t mode,
                                             struct err *err);

struct file_tree_entry {
    char *name;
    unsigned char type; /* DT_REG, DT_DIR, DT_LNK, ... */
};

struct file_tree_list {
    struct file_tree_entry *entries; /* sorted by name, without "." and ".." */
    size_t count;
};

/*
 *   STATUS_LIMIT  there are more than `entries_max`.
 */
NODISCARD enum status file_tree_list(int dir_fd, size_t entries_max, struct file_tree_list *out,
                                     struct err *err);
void file_tree_list_fini(struct file_tree_list *list);

/*
 * Remove `name` in `dir_fd` with everything in it. Symbolic links are removed, never followed;
 * a missing `name` is fine. Deeper than 64 levels fails with STATUS_LIMIT.
 */
NODISCARD enum status file_tree_remove(int dir_fd, const char *name, struct err *err);
