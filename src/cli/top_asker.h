#pragma once
/*
 * top_asker: asks the monitor's questions in a thread of its own, one at a time, so that keys are
 * heard while an answer is on its way.
 *
 * Threads    Everything here is called by the thread of the screen.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "cli/top.h"

struct cli;
struct top_asker;

struct top_reply {
    struct top_question question; /* without its request */
    json_t *response;             /* a new reference; NULL: `err` says why there is none */
    struct err err;
};

/* Nobody else may call operations meanwhile. */
NODISCARD enum status top_asker_new(struct cli *cli, struct top_asker **out, struct err *err);
/*
 * False: an answer is still on its way, and nobody can call it off. What the call uses must not be
 * freed then; only the end of the process ends it. NULL is allowed.
 */
NODISCARD bool top_asker_free(struct top_asker *asker);

/* The question is taken; there must be none whose reply was not taken. */
void top_asker_ask(struct top_asker *asker, const struct top_question *taken);
bool top_asker_is_busy(const struct top_asker *asker);
/* The reply, if it is there; the caller's. */
NODISCARD bool top_asker_take(struct top_asker *asker, struct top_reply *out);
/* Readable once there is a reply. */
int top_asker_fd(const struct top_asker *asker);
