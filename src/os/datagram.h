#pragma once
/*
 * datagram: short messages to a place in the network, sent and forgotten (UDP).
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

/*
 * "HOST:PORT", "[::1]:8125"; *out is to be closed. A name is looked up once.
 *
 *   STATUS_INVALID      it is no such address
 *   STATUS_UNREACHABLE  there is no such name now
 */
NODISCARD enum status datagram_open(const char *address, int *out, struct err *err);
/* Never waits; false: it is lost, which nobody hears of. */
bool datagram_send(int fd, const void *bytes, size_t length);
