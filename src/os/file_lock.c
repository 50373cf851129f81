#include "os/file_lock.h"

#include <errno.h>
#include <fcntl.h>

#include "os/file.h"

static enum status lock(const char *path, int command, struct file_lock *out_lock, struct err *err)
{
    CLEANUP(file_closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "open lock '%s'", path);
    struct flock request = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int failure = 0;
    do
        failure = fcntl(fd, command, &request) == 0 ? 0 : errno;
    while (failure == EINTR);
    if (failure == EAGAIN || failure == EACCES)
        return err_set(err, STATUS_BUSY, "lock '%s' is held", path);
    if (failure != 0)
        return err_errno(err, failure, "lock '%s'", path);
    out_lock->fd = file_take(&fd);
    return STATUS_OK;
}

enum status file_lock_try(const char *path, struct file_lock *out_lock, struct err *err)
{
    return lock(path, F_OFD_SETLK, out_lock, err);
}

enum status file_lock_hold(const char *path, struct file_lock *out_lock, struct err *err)
{
    return lock(path, F_OFD_SETLKW, out_lock, err);
}

void file_lock_release(struct file_lock *lock_held)
{
    if (lock_held->fd > 0)
        file_closep(&lock_held->fd);
}

enum status file_lock_is_held(const char *path, bool *out_held, struct err *err)
{
    CLEANUP(file_closep) int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *out_held = false;
        return STATUS_OK;
    }
    if (fd < 0)
        return err_errno(err, errno, "open lock '%s'", path);
    struct flock request = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_GETLK, &request) != 0)
        return err_errno(err, errno, "ask lock '%s'", path);
    *out_held = request.l_type != F_UNLCK;
    return STATUS_OK;
}
