/*
 * Each packet starts with a header that tells whether the bytes follow or are in the
 * first descriptor.
 */
#include "os/seqpacket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"

enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL };
enum { FDS_MAX = SEQPACKET_FDS_MAX + 1, SOCKET_BUFFER_BYTES = 1 << 20, BACKLOG = 16 };

static const uint32_t MAGIC = 0x45494452;

struct header {
    uint32_t magic;
    uint32_t in_file;
    uint64_t length;
};

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
};

/* More than the default, so that a batch seldom has to wait; refusal changes nothing. */
static void enlarge_buffer(int fd)
{
    int size = SOCKET_BUFFER_BYTES;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

enum status seqpacket_pair(int out_fds[2], struct err *err)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
        return err_errno(err, errno, "make socket pair");
    for (int i = 0; i < 2; i++) {
        enlarge_buffer(fds[i]);
        out_fds[i] = fds[i];
    }
    return STATUS_OK;
}

/*
 * A socket and the address for `path`. An address has room for some hundred bytes only, so it
 * names the file through its directory, which *out_dir keeps open meanwhile.
 */
static enum status open_at(const char *path, int *out_fd, int *out_dir, struct sockaddr_un *out,
                           struct err *err)
{
    const char *slash = strrchr(path, '/');
    CHECK(slash != NULL);
    CLEANUP(mem_freep) char *parent = mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    CLEANUP(file_closep) int dir = -1;
    if (file_open_directory(parent, &dir, err) != STATUS_OK)
        return err->code;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length =
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", dir, slash + 1);
    if (length >= (int)sizeof address.sun_path)
        return err_set(err, STATUS_INVALID, "name of socket '%s' is too long", path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_errno(err, errno, "make socket");
    enlarge_buffer(fd);
    *out_fd = fd;
    *out_dir = file_take(&dir);
    *out = address;
    return STATUS_OK;
}

enum status seqpacket_listen(const char *path, int *out_listener, struct err *err)
{
    CLEANUP(file_closep) int fd = -1;
    CLEANUP(file_closep) int dir = -1;
    struct sockaddr_un address;
    if (open_at(path, &fd, &dir, &address, err) != STATUS_OK)
        return err->code;
    if (unlink(path) != 0 && errno != ENOENT)
        return err_errno(err, errno, "replace socket '%s'", path);
    /* The file takes its mode from the socket, so it is never open to others. */
    if (fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, BACKLOG) != 0)
        return err_errno(err, errno, "listen at '%s'", path);
    *out_listener = file_take(&fd);
    return STATUS_OK;
}

bool seqpacket_is_listener(int fd)
{
    int listens = 0;
    socklen_t length = sizeof listens;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0;
}

enum status seqpacket_accept(int listener, int *out_fd, struct err *err)
{
    int fd = -1;
    do
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return err_errno(err, errno, "accept connection");
    enlarge_buffer(fd);
    *out_fd = fd;
    return STATUS_OK;
}

enum status seqpacket_connect(const char *path, int *out_fd, struct err *err)
{
    CLEANUP(file_closep) int fd = -1;
    CLEANUP(file_closep) int dir = -1;
    struct sockaddr_un address;
    if (open_at(path, &fd, &dir, &address, err) != STATUS_OK)
        return err->code;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == ECONNREFUSED || errno == ENOENT)
            return err_set(err, STATUS_NOT_FOUND, "nobody listens at '%s'", path);
        return err_errno(err, errno, "connect to '%s'", path);
    }
    *out_fd = file_take(&fd);
    return STATUS_OK;
}

enum status seqpacket_sealed_file(const void *bytes, size_t length, int *out_fd, struct err *err)
{
    CLEANUP(file_closep) int fd = memfd_create("eider", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_errno(err, errno, "make memory file");
    if (file_write_fd(fd, "memory file", bytes, length, err) != STATUS_OK)
        return err->code;
    if (fcntl(fd, F_ADD_SEALS, SEALS) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(err, errno, "seal memory file");
    *out_fd = file_take(&fd);
    return STATUS_OK;
}

static enum status send_packet(int fd, const struct msghdr *packet, struct err *err)
{
    ssize_t sent = 0;
    do
        sent = sendmsg(fd, packet, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return STATUS_OK;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
        return err_set(err, STATUS_NOT_FOUND, "send: the other side is gone");
    if (errno == ENOBUFS)
        return err_set(err, STATUS_BUSY, "send: %s", strerror(errno));
    return err_errno(err, errno, "send");
}

enum status seqpacket_send(int fd, const void *bytes, size_t length, const int *fds,
                           size_t fd_count, struct err *err)
{
    CHECK(fd_count <= SEQPACKET_FDS_MAX);
    CLEANUP(file_closep) int file = -1;
    bool in_file = length > SEQPACKET_INLINE_MAX;
    if (in_file && seqpacket_sealed_file(bytes, length, &file, err) != STATUS_OK)
        return err->code;

    int all[FDS_MAX];
    size_t count = 0;
    if (in_file)
        all[count++] = file;
    for (size_t i = 0; i < fd_count; i++)
        all[count++] = fds[i];

    struct header header = {.magic = MAGIC, .in_file = in_file, .length = length};
    struct iovec parts[2] = {{.iov_base = &header, .iov_len = sizeof header}};
    memcpy(&parts[1].iov_base, &bytes, sizeof bytes); /* sendmsg does not write to it */
    parts[1].iov_len = in_file ? 0 : length;
    union control control = {0};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
    if (count > 0) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *item = CMSG_FIRSTHDR(&packet);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(item), all, count * sizeof(int));
    }
    return send_packet(fd, &packet, err);
}

static void collect_fds(struct msghdr *packet, struct seqpacket_message *message, int *out_file,
                        bool in_file)
{
    for (struct cmsghdr *item = CMSG_FIRSTHDR(packet); item != NULL;
         item = CMSG_NXTHDR(packet, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd = -1;
            memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof fd);
            if (in_file && *out_file < 0)
                *out_file = fd;
            else if (message->fd_count < SEQPACKET_FDS_MAX)
                message->fds[message->fd_count++] = fd;
            else
                (void)close(fd);
        }
    }
}

/* The bytes of a large message; a file that could change under us is refused. */
static enum status read_sealed(int file, const struct header *header, size_t bytes_max,
                               struct seqpacket_message *message, struct err *err)
{
    if (file < 0 || (fcntl(file, F_GET_SEALS) & SEALS) != SEALS)
        return err_set(err, STATUS_CORRUPT, "receive: message is not sealed");
    if (file_read_fd(file, "message", bytes_max, &message->bytes, &message->length, err) !=
        STATUS_OK)
        return err->code;
    if (message->length != header->length)
        return err_set(err, STATUS_CORRUPT, "receive: message is cut");
    return STATUS_OK;
}

static enum status unpack(const struct header *header, size_t inline_length, int file,
                          size_t bytes_max, struct seqpacket_message *message, struct err *err)
{
    if (header->length > bytes_max)
        return err_set(err, STATUS_LIMIT, "receive: message longer than %zu bytes", bytes_max);
    if (header->in_file)
        return read_sealed(file, header, bytes_max, message, err);
    if (inline_length != header->length)
        return err_set(err, STATUS_CORRUPT, "receive: message is cut");
    message->length = inline_length;
    return STATUS_OK;
}

enum status seqpacket_receive(int fd, size_t bytes_max, struct seqpacket_message *out,
                              struct err *err)
{
    struct header header = {0};
    CLEANUP(mem_freep) char *bytes = mem_alloc(SEQPACKET_INLINE_MAX + 1);
    struct iovec parts[2] = {{.iov_base = &header, .iov_len = sizeof header},
                             {.iov_base = bytes, .iov_len = SEQPACKET_INLINE_MAX}};
    union control control;
    struct msghdr packet = {.msg_iov = parts,
                            .msg_iovlen = 2,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got = 0;
    do
        got = recvmsg(fd, &packet, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno != ECONNRESET)
        return err_errno(err, errno, "receive");
    if (got <= 0) {
        *out = (struct seqpacket_message){.ended = true};
        return STATUS_OK;
    }

    struct seqpacket_message message = {0};
    CLEANUP(file_closep) int file = -1;
    collect_fds(&packet, &message, &file, header.in_file == 1);
    enum status status = STATUS_OK;
    if ((size_t)got < sizeof header || header.magic != MAGIC || packet.msg_flags & MSG_TRUNC)
        status = err_set(err, STATUS_CORRUPT, "receive: not a message of ours");
    else
        status = unpack(&header, (size_t)got - sizeof header, file, bytes_max, &message, err);
    if (status != STATUS_OK) {
        seqpacket_message_fini(&message);
        return status;
    }
    if (message.bytes == NULL) {
        message.bytes = TAKE(bytes);
        message.bytes[message.length] = '\0';
    }
    *out = message;
    return STATUS_OK;
}

void seqpacket_message_fini(struct seqpacket_message *message)
{
    for (size_t i = 0; i < message->fd_count; i++)
        (void)close(message->fds[i]);
    free(message->bytes);
    *message = (struct seqpacket_message){0};
}
