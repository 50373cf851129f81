#pragma once
/*
 * file: whole files, safe opening beneath a directory, and what lies under a path.
 *
 * Trees of directories are in file_tree, locks in file_lock.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "base/err.h"

/* "dir/name", heap; an absolute `name` stands for itself. */
NODISCARD char *file_path_join(const char *dir, const char *name);

/*
 * The whole of a regular file, with a NUL after it that is not counted. Heap.
 *
 *   STATUS_LIMIT  it is longer than `bytes_max`.
 */
NODISCARD enum status file_read(const char *path, size_t bytes_max, char **out_bytes,
                                size_t *out_length, struct err *err);
/* The same from an open descriptor, from its beginning; `name` is for the error text. */
NODISCARD enum status file_read_fd(int fd, const char *name, size_t bytes_max, char **out_bytes,
                                   size_t *out_length, struct err *err);

/* All of it, however many calls that takes. */
NODISCARD enum status file_write_fd(int fd, const char *name, const void *bytes, size_t length,
                                    struct err *err);

/*
 * Make `path` hold exactly these bytes, or leave it as it was: written beside, synced,
 * renamed, and the directory synced.
 */
NODISCARD enum status file_write_atomic(const char *path, const void *bytes, size_t length,
                                        mode_t mode, struct err *err);
/* The same for `path` beneath `dir_fd`; see file_open_beneath. */
NODISCARD enum status file_write_atomic_beneath(int dir_fd, const char *path, const void *bytes,
                                                size_t length, mode_t mode, struct err *err);

NODISCARD enum status file_open_directory(const char *path, int *out_fd, struct err *err);

/*
 * Open `path` inside the directory `dir_fd`: the kernel refuses to leave it and to follow any
 * symbolic link (STATUS_DENIED). Without openat2 everything is refused. Close-on-exec always.
 */
NODISCARD enum status file_open_beneath(int dir_fd, const char *path, int flags, mode_t mode,
                                        int *out_fd, struct err *err);

/* Whether locks and renames there are another machine's affair (NFS, SMB, ...). */
NODISCARD enum status file_is_on_network_fs(const char *path, bool *out_network, struct err *err);
/* Bytes that an ordinary user may still write there. */
NODISCARD enum status file_free_bytes(const char *path, uint64_t *out_bytes, struct err *err);

/* Close if open (>= 0) and leave -1 behind; also for CLEANUP. */
void file_closep(int *fd);
/* Hand over what a CLEANUP(file_closep) variable holds: yields it and leaves -1 behind. */
NODISCARD int file_take(int *fd);
