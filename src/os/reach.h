#pragma once
/*
 * reach: whether somebody listens at an address of the network.
 */
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

/*
 * Connect by TCP and hang up. Every address of the name is tried, within the time in all.
 *
 *   STATUS_UNREACHABLE  no such name, or nobody listens there.
 *   STATUS_TIMEOUT      no answer.
 */
NODISCARD enum status reach_tcp(const char *host, int64_t port, int64_t timeout_ms,
                                struct err *err);
