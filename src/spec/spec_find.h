#pragma once
/*
 * spec_find: the DAG files of a folder.
 *
 * Every *.yaml and *.yml below it, except names that start with '.' or '_' and what a
 * `.eiderignore` excludes. Its lines are as in .gitignore: `#` comments, `*`, `?`, `[..]`, `**`,
 * a leading `/` or a slash inside ties a pattern to the file's folder, a trailing `/` means
 * folders only, `!` takes back. The last line that matches decides; inner files come after
 * outer ones. Links to folders are not followed.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

struct spec_paths {
    char **items; /* sorted */
    size_t count;
    size_t capacity;
};

void spec_paths_fini(struct spec_paths *paths);

/* Adds to `out`, which starts zeroed. A path that is a file is added as it is. */
NODISCARD enum status spec_find_files(const char *path, struct spec_paths *out, struct err *err);
/* The same for a folder, and in `folders` every folder that was looked into, itself first. */
NODISCARD enum status spec_find_tree(const char *path, struct spec_paths *out,
                                     struct spec_paths *folders, struct err *err);
