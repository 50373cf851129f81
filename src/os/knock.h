#pragma once
/*
 * knock: a descriptor that is readable after somebody knocked, to end a wait in another thread.
 */
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

NODISCARD enum status knock_open(int *out_fd, struct err *err);
void knock_send(int fd);  /* from any thread */
void knock_clear(int fd); /* what came so far is forgotten */
/* Until somebody knocks or the time is up. */
void knock_wait(int fd, int64_t timeout_ms);
