#pragma once
/*
 * seqpacket: whole messages between two processes, with descriptors if need be.
 *
 * A message arrives entirely or not at all and in order. One above 100 KB travels in a
 * sealed memory file, which the receiver does not notice. Sockets are non-blocking and
 * close-on-exec. The path of one that listens may be as long as paths can be.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

enum { SEQPACKET_FDS_MAX = 4, SEQPACKET_INLINE_MAX = 100 * 1024 };

struct seqpacket_message {
    char *bytes; /* heap; NULL at the end */
    size_t length;
    int fds[SEQPACKET_FDS_MAX]; /* close-on-exec, the receiver's */
    size_t fd_count;
    bool ended; /* the other side is gone and nothing is left to read */
};

/* Two connected, non-blocking, close-on-exec sockets. */
NODISCARD enum status seqpacket_pair(int out_fds[2], struct err *err);

/*
 * Listen at `path`, which is made for our user alone and replaces whatever has that name. Make
 * sure before that nobody listens there.
 */
NODISCARD enum status seqpacket_listen(const char *path, int *out_listener, struct err *err);
/* Whether the descriptor was made by seqpacket_listen, here or in another process. */
bool seqpacket_is_listener(int fd);
/* STATUS_BUSY: nobody waits to be accepted. */
NODISCARD enum status seqpacket_accept(int listener, int *out_fd, struct err *err);
/*
 * Connect to whoever listens at `path`; it may not have accepted us yet.
 *
 *   STATUS_NOT_FOUND  nobody does.
 *   STATUS_BUSY       too many wait there already.
 */
NODISCARD enum status seqpacket_connect(const char *path, int *out_fd, struct err *err);

/*
 *   STATUS_BUSY       the other side has to read first.
 *   STATUS_NOT_FOUND  the other side is gone.
 */
NODISCARD enum status seqpacket_send(int fd, const void *bytes, size_t length, const int *fds,
                                     size_t fd_count, struct err *err);

/*
 *   STATUS_BUSY     nothing there yet.
 *   STATUS_LIMIT    longer than `bytes_max`; the message is lost.
 *   STATUS_CORRUPT  not made by seqpacket_send.
 */
NODISCARD enum status seqpacket_receive(int fd, size_t bytes_max, struct seqpacket_message *out,
                                        struct err *err);
/* Free the bytes and close the descriptors. Twice is fine. */
void seqpacket_message_fini(struct seqpacket_message *message);

/*
 * A memory file that holds these bytes and can no longer be changed by anyone, read from its
 * beginning.
 */
NODISCARD enum status seqpacket_sealed_file(const void *bytes, size_t length, int *out_fd,
                                            struct err *err);
