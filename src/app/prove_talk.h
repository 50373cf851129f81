#pragma once
/*
 * prove_talk: what a proof says while it goes on, and how long it waits.
 */
#include "app/prove.h"
#include "base/attrs.h"

/* One line for people. */
void prove_say(const struct prove_request *request, const char *fmt, ...) PRINTF(2, 3);

struct prove_patience {
    const struct prove_world *world;
    int64_t patience_ms;
    const char *what;     /* is awaited, for people */
    bool *is_interrupted; /* set when they do not want to wait */
    int64_t deadline_us;  /* of prove_pause; begins as 0 */
};

/* A little while. STATUS_TIMEOUT: patience is over, or people do not want to wait. */
NODISCARD enum status prove_pause(struct prove_patience *patience, struct err *err);
