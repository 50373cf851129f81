#pragma once
/*
 * transfer_options: how to get to a server, for whatever is sent there.
 */
#include <stdbool.h>
#include <stdint.h>

struct transfer_options {
    int64_t connect_timeout_ms; /* 0: 10 s */
    int64_t timeout_ms;         /* of all of it; 0: 30 s */
    const char *ca_file;        /* who vouches for certificates; NULL: the system's */
    bool trust_any;             /* certificates are not checked */
    bool direct;                /* through no proxy, whatever the environment says */
    bool public_only;           /* refuse addresses inside; of a proxy, when there is one */
};
