#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"

void file_closep(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

int file_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

char *file_path_join(const char *dir, const char *name)
{
    if (name[0] == '/' || dir[0] == '\0')
        return mem_strdup(name);
    size_t length = strlen(dir);
    return mem_format(dir[length - 1] == '/' ? "%s%s" : "%s/%s", dir, name);
}

enum status file_read_fd(int fd, const char *name, size_t bytes_max, char **out_bytes,
                         size_t *out_length, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_errno(err, errno, "read '%s'", name);
    if (S_ISDIR(info.st_mode))
        return err_errno(err, EISDIR, "read '%s'", name);
    if (!S_ISREG(info.st_mode))
        return err_set(err, STATUS_INVALID, "read '%s': not a regular file", name);

    /* A file may grow while it is read, and those of /proc have no size: the end decides. */
    size_t capacity = (size_t)MIN((uint64_t)info.st_size, (uint64_t)bytes_max) + 2;
    CLEANUP(mem_freep) char *bytes = mem_alloc(capacity);
    size_t length = 0;
    for (;;) {
        if (length + 1 >= capacity) {
            capacity *= 2;
            bytes = mem_resize(bytes, capacity, 1);
        }
        ssize_t got = pread(fd, bytes + length, capacity - length - 1, (off_t)length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "read '%s'", name);
        if (got == 0)
            break;
        length += (size_t)got;
        if (length > bytes_max)
            return err_set(err, STATUS_LIMIT, "read '%s': longer than %zu bytes", name, bytes_max);
    }
    bytes[length] = '\0';
    *out_bytes = TAKE(bytes);
    *out_length = length;
    return STATUS_OK;
}

enum status file_read(const char *path, size_t bytes_max, char **out_bytes, size_t *out_length,
                      struct err *err)
{
    /* Without O_NONBLOCK a FIFO in the place of the file would hold us up. */
    CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_errno(err, errno, "open '%s'", path);
    return file_read_fd(fd, path, bytes_max, out_bytes, out_length, err);
}

enum status file_write_fd(int fd, const char *name, const void *bytes, size_t length,
                          struct err *err)
{
    const char *rest = bytes;
    while (length > 0) {
        ssize_t put = write(fd, rest, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_errno(err, errno, "write '%s'", name);
        rest += put;
        length -= (size_t)put;
    }
    return STATUS_OK;
}

enum status file_open_directory(const char *path, int *out_fd, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "open directory '%s'", path);
    *out_fd = fd;
    return STATUS_OK;
}

enum status file_open_beneath(int dir_fd, const char *path, int flags, mode_t mode, int *out_fd,
                              struct err *err)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & (O_CREAT | O_TMPFILE) ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = -1;
    do
        fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    if (fd < 0 && (errno == ELOOP || errno == EXDEV))
        return err_set(err, STATUS_DENIED, "open '%s': leads out of its directory", path);
    if (fd < 0)
        return err_errno(err, errno, "open '%s'", path);
    *out_fd = (int)fd;
    return STATUS_OK;
}

/* Write, sync and rename inside one open directory. */
static enum status write_in(int dir_fd, const char *name, const void *bytes, size_t length,
                            mode_t mode, struct err *err)
{
    uint64_t chance = 0;
    rng_bytes(&chance, sizeof chance);
    char temporary[64];
    (void)snprintf(temporary, sizeof temporary, ".eider-%016llx", (unsigned long long)chance);

    CLEANUP(file_closep) int fd = -1;
    if (file_open_beneath(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL, mode, &fd, err) !=
        STATUS_OK)
        return err->code;
    enum status status = file_write_fd(fd, name, bytes, length, err);
    if (status == STATUS_OK && fsync(fd) != 0)
        status = err_errno(err, errno, "sync '%s'", name);
    if (status == STATUS_OK && renameat(dir_fd, temporary, dir_fd, name) != 0)
        status = err_errno(err, errno, "rename to '%s'", name);
    if (status != STATUS_OK) {
        (void)unlinkat(dir_fd, temporary, 0);
        return status;
    }
    if (fsync(dir_fd) != 0)
        return err_errno(err, errno, "sync directory of '%s'", name);
    return STATUS_OK;
}

enum status file_write_atomic(const char *path, const void *bytes, size_t length, mode_t mode,
                              struct err *err)
{
    const char *slash = strrchr(path, '/');
    CLEANUP(mem_freep) char *dir = NULL;
    if (slash == NULL)
        dir = mem_strdup(".");
    else
        dir = mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    CLEANUP(file_closep) int dir_fd = -1;
    if (file_open_directory(dir, &dir_fd, err) != STATUS_OK)
        return err_wrap(err, "write '%s'", path);
    if (write_in(dir_fd, slash == NULL ? path : slash + 1, bytes, length, mode, err) != STATUS_OK)
        return err_wrap(err, "write '%s'", path);
    return STATUS_OK;
}

enum status file_write_atomic_beneath(int dir_fd, const char *path, const void *bytes,
                                      size_t length, mode_t mode, struct err *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return write_in(dir_fd, path, bytes, length, mode, err);
    CLEANUP(mem_freep) char *dir = mem_strndup(path, (size_t)(slash - path));
    CLEANUP(file_closep) int inner = -1;
    if (file_open_beneath(dir_fd, dir, O_RDONLY | O_DIRECTORY, 0, &inner, err) != STATUS_OK)
        return err->code;
    return write_in(inner, slash + 1, bytes, length, mode, err);
}

enum status file_is_on_network_fs(const char *path, bool *out_network, struct err *err)
{
    static const unsigned long NETWORK[] = {
        NFS_SUPER_MAGIC,         SMB_SUPER_MAGIC,
        SMB2_SUPER_MAGIC,        0xFF534D42 /* CIFS */,
        CODA_SUPER_MAGIC,        AFS_SUPER_MAGIC,
        NCP_SUPER_MAGIC,         V9FS_MAGIC,
        CEPH_SUPER_MAGIC,        0x65735546 /* FUSE: sshfs, s3fs, gluster */,
        0x0BD00BD0 /* Lustre */, 0x47504653 /* GPFS */,
    };
    struct statfs info;
    if (statfs(path, &info) != 0)
        return err_errno(err, errno, "look at the file system of '%s'", path);
    *out_network = false;
    for (size_t i = 0; i < ARRAY_LEN(NETWORK); i++)
        if ((unsigned long)info.f_type == NETWORK[i])
            *out_network = true;
    return STATUS_OK;
}

enum status file_free_bytes(const char *path, uint64_t *out_bytes, struct err *err)
{
    struct statfs info;
    if (statfs(path, &info) != 0)
        return err_errno(err, errno, "look at the file system of '%s'", path);
    *out_bytes = (uint64_t)info.f_bavail * (uint64_t)info.f_bsize;
    return STATUS_OK;
}
