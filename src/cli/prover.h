#pragma once
/*
 * prover: how the command line has the application prove a promise on the user's own store.
 *
 * The application hands `struct prover` to the command line; tests hand in another.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"

/*    name      text        what is proved */
#define PROOF_MAP(X)                                                                               \
    X(ADOPTION, "adoption",                                                                        \
      "hosts are killed in the middle of a run: nothing is lost or judged twice")                  \
    X(BACKFILL, "backfill", "a large backfill leaves production on time")                          \
    X(WAITING, "waiting", "thousands of tasks wait at once: no slot is held, little is used")

enum proof {
#define X(name, text, summary) PROOF_##name,
    PROOF_MAP(X)
#undef X
        PROOF_COUNT
};

struct prove_request {
    enum proof proof;
    int64_t kills; /* from PROVE_KILLS_LEAST */
    int64_t tasks; /* from PROVE_TASKS_LEAST */
    int64_t count; /* of waits, from PROVE_COUNT_LEAST */
    bool keeps;    /* the run and the folder stay, to be looked at */
    /* One line for people about what is being done. */
    void (*say)(void *context, const char *line);
    void *say_context;
};

enum {
    PROVE_KILLS_LEAST = 2,
    PROVE_KILLS = 2,
    PROVE_KILLS_MOST = 100,
    PROVE_TASKS_LEAST = 2,
    PROVE_TASKS = 8,
    PROVE_TASKS_MOST = 200,
    PROVE_COUNT_LEAST = 2,
    PROVE_COUNT = 10000,
    PROVE_COUNT_MOST = 100000,
};

struct prover {
    void *context;
    /*
     * A proof that failed is STATUS_OK with "ok": false. The report, a new reference, is
     * {"proof", "ok", "duration", "checks": [{"what", "expected", "seen", "ok"}], "notes": [text]}.
     */
    enum status (*run)(void *context, const struct prove_request *request, json_t **out_report,
                       struct err *err);
};
