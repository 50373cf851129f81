#pragma once
/*
 * pull: an answer that is fetched piece by piece, by workers, while it is sent.
 *
 * There is never more of it in memory than one piece: the next is fetched when the one before was
 * taken. What has nothing more just now is asked again after a while.
 *
 * Threads    `fetch` is called by one worker at a time, not always the same one.
 * Tests      tests/e2e/test_api_logs.py
 */
#include <stdbool.h>
#include <stdint.h>

#include "serve/crew.h"
#include "serve/http.h"
#include "serve/route.h"

struct pull_next {
    bool is_over;    /* that was all */
    int64_t wait_ms; /* before it is worth asking again */
};

struct pull_source {
    void *context;
    /* Adds what comes next. A failure ends the answer, after what was added. */
    enum status (*fetch)(void *context, const struct operation_caller *operations,
                         struct strbuf *out, struct pull_next *next, struct err *err);
    void (*free)(void *context);
};

/*
 * The first piece is fetched at once, so that what is wrong can still be told. The source is taken;
 * operations are called in the name of whoever the call is of, for as long as that one would be let
 * in again.
 */
NODISCARD enum status pull_open(const struct route_call *call, const struct pull_source *source,
                                struct http_stream *out, struct err *err);
