#include "os/file_stamp.h"

#include <sys/stat.h>

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool file_stamp_read(const char *path, struct file_stamp *out)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    *out = (struct file_stamp){
        .size = status.st_size,
        .mtime_ns = nanoseconds(status.st_mtim),
        .ctime_ns = nanoseconds(status.st_ctim),
        .inode = (int64_t)status.st_ino,
    };
    return true;
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
           a->inode == b->inode;
}
