#pragma once
/*
 * doorway: a socket that listens at an address as people write it.
 */
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"

struct doorway {
    int fd;
    char name[80]; /* "127.0.0.1:4337", with the port that it really has */
    char near[80]; /* the same as this machine reaches it: never "0.0.0.0" or "[::]" */
};

/*
 * "HOST:PORT" or "[IPV6]:PORT"; port 0 is any free one.
 *
 *   STATUS_INVALID   no such address
 *   STATUS_CONFLICT  somebody else listens there
 */
NODISCARD enum status doorway_open(const char *address, int pending, struct doorway *out,
                                   struct err *err);

/* Whether it is written as an address; STATUS_INVALID otherwise. Nobody is asked for its host. */
NODISCARD enum status doorway_check(const char *address, struct err *err);

/* Whether only this machine reaches the address. An address that is none is not. */
bool doorway_is_loopback(const char *address);
