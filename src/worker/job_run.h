#pragma once
/*
 * job_run: from a claimed job to what must be done.
 *
 * Handlers are built in (noop, sleep; nobody else has these names), named in the settings, or "$
 * COMMAND" for a shell. The payload is in the file $EIDER_PAYLOAD_FILE and, unless it is large, in
 * EIDER_PAYLOAD; the file `result` in $EIDER_OUTPUTS becomes the job's result. The `env` of a
 * handler may be templates of variables, connections and secrets.
 */
#include "base/json.h"
#include "worker/prepare.h"

struct job_options {
    struct prepare_options prepare;
    const json_t *handlers; /* name to a map with `run`, `env`, `timeout_ms`; NULL: none */
    struct vault *vault;    /* what templates of `env` may ask; NULL: nothing */
    const char *store_uuid;
};

/* Needs no slot: it is over at once. */
bool job_run_is_inline(const struct claim *claim);

/* Everything of *out lives in `arena`. It cannot fail: what goes wrong is the outcome. */
void job_run_prepare(const struct claim *claim, const struct job_options *options,
                     struct arena *arena, struct prepared *out);
