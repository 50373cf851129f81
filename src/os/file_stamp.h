#pragma once
/*
 * file_stamp: what tells that a file was touched, without reading it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

struct file_stamp {
    int64_t size;
    int64_t mtime_ns;
    int64_t ctime_ns; /* nobody can set it back */
    int64_t inode;
};

/* Of the file that `path` leads to; false: there is none that is a regular file. */
NODISCARD bool file_stamp_read(const char *path, struct file_stamp *out);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);
