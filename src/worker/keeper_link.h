#pragma once
/*
 * keeper_link: one end of the socket between daemon and keeper, with a buffer for what
 * is to be sent.
 *
 * Frames collect in `out` and leave together when the owner flushes, so that a busy
 * turn costs one system call. Storage is the caller's; the descriptor is the link's.
 */
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "os/seqpacket.h"

struct keeper_link {
    int fd;
    struct strbuf out; /* whole frames */
    bool broken;       /* the other side is gone: frames are dropped */
};

void keeper_link_init(struct keeper_link *link, int fd);
void keeper_link_fini(struct keeper_link *link); /* twice is fine */

/* Send what there is. False: something is left until the socket is writable again. */
NODISCARD bool keeper_link_flush(struct keeper_link *link);

/* The next packet; contract of seqpacket_receive. */
NODISCARD enum status keeper_link_receive(struct keeper_link *link, struct seqpacket_message *out,
                                          struct err *err);
