#pragma once
/*
 * throttle: whoever gave wrong passwords waits, longer each time.
 *
 * Failures are counted by account and address together, by address (of IPv6: its network of 64
 * bits), and by account. The first is
 * strict; the others let more through before they wait, since many people may come from one
 * address, and since nobody shall be able to lock somebody else out for long. Counts are kept in
 * memory of a fixed size, and forgotten after an hour without a failure.
 *
 * Threads  Any.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

struct throttle;

NODISCARD struct throttle *throttle_new(void);
void throttle_free(struct throttle *throttle); /* NULL is allowed */

/* How long this one has to wait until the next try, in milliseconds; 0: not at all. */
int64_t throttle_wait_ms(struct throttle *throttle, const char *account, const char *address,
                         int64_t now_ms);
/* It failed. True when waiting begins with it. */
bool throttle_fail(struct throttle *throttle, const char *account, const char *address,
                   int64_t now_ms);
/* It was right: account and address together begin anew. */
void throttle_forgive(struct throttle *throttle, const char *account, const char *address);

/* How long to wait after so many failures, of which the first `free` cost nothing. Pure. */
int64_t throttle_delay_ms(int64_t failures, int64_t free, int64_t most_ms);
