#pragma once
/*
 * keeper_reach: getting hold of a keeper that stays: the one that lives, or a new one.
 *
 * A lock file beside the socket lets one process at a time look and start, so there are
 * never two keepers at a path. The socket file stays when its keeper ends and is replaced
 * by the next start.
 */
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct keeper_stay_options {
    const char *exe;         /* `exe __keeper` calls keeper_main(KEEPER_SOCKET_FD) */
    const char *socket_path; /* absolute */
    /* 0 is none, or the usual. These are for a keeper that is started here: */
    int keep_fd; /* held open as long as it lives, such as the lock of the host */
    int log_fd;  /* what it has to say goes there; a pipe would stay open with it */
    /* These are for any: */
    int64_t linger_ms;    /* how long it waits for a daemon with nothing to do */
    int64_t alone_ms_max; /* and how long at all */
    int64_t answer_ms;    /* how long we wait for its answer */
};

/* Where the keeper finds its socket, and what it is to hold open. */
enum { KEEPER_SOCKET_FD = 3, KEEPER_KEPT_FD = 4 };

struct keeper_reached {
    int socket_fd; /* greeted; the caller's */
    int pidfd;     /* of the keeper, which is no child of ours; the caller's */
};

/*
 * Waits for the answer of the keeper. One that serves a daemon answers the next when that is gone.
 *
 *   STATUS_CONFLICT  it is of another version; it ends when its tasks have ended.
 *   STATUS_BUSY      it serves another daemon.
 */
NODISCARD enum status keeper_reach(const struct keeper_stay_options *options,
                                   struct keeper_reached *out, struct err *err);
