#pragma once
/*
 * poller: waiting on many descriptors in a process that needs no more than that.
 *
 * The daemon uses loop; this is for the small single-threaded processes beside it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct poller_event {
    void *context;
    bool readable; /* or at its end, or broken */
    bool writable;
};

NODISCARD enum status poller_open(int *out_poller, struct err *err);

/*
 * Remove `fd` before closing it: a child that is about to run its program holds a copy for a
 * moment longer than process_spawn takes, and the kernel reports on it as long as there is one.
 */
NODISCARD enum status poller_add(int poller, int fd, void *context, struct err *err);
void poller_remove(int poller, int fd);
/* Remove and close it if it is open (>= 0), and leave -1 behind. */
void poller_closep(int poller, int *fd);
void poller_want_write(int poller, int fd, void *context, bool want);

/* Wait at most `timeout_ms` (negative: for ever); the number of events. EINTR counts as none. */
size_t poller_wait(int poller, struct poller_event *events, size_t events_max, int64_t timeout_ms);
