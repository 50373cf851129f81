#pragma once
/*
 * hook_call: a call from outside that starts a DAG, and proves by a signature who sent it.
 *
 * The key is the token of a webhook of the DAG, the code HMAC-SHA256. Signed are the time in
 * seconds since 1970, a dot, and the body; a call counts for five minutes. Where the DAG says so, a
 * signature of the body alone, as GitHub sends it, will do. Each signature counts once: it is kept
 * with the run.
 */
#include <stddef.h>

#include "base/arena.h"
#include "service/service.h"

enum { HOOK_CALL_TOLERANCE_S = 300 };

struct hook_call {
    const char *dag_id;
    const char *timestamp; /* NULL: none was sent; the same below */
    const char *signature;
    const char *hub_signature; /* as GitHub signs */
    const char *body;
    size_t body_bytes;
};

struct hook_answer {
    int64_t run;
    const char *dag_id; /* in the arena */
    const char *run_id;
    int64_t wait_s; /* with STATUS_LIMIT: until the next one may come; 0: the body is too long */
};

/*
 *   STATUS_DENIED    not signed, signed wrongly or too long ago, or there is no such DAG: nothing
 *                    tells which
 *   STATUS_CONFLICT  it came before; or the DAG is paused
 *   STATUS_LIMIT     the body is too long, or there are too many
 *   STATUS_INVALID   the body is not JSON, or the DAG's params do not take it
 */
NODISCARD enum status hook_call(struct service *service, struct arena *arena,
                                const struct hook_call *call, struct hook_answer *out,
                                struct err *err);
