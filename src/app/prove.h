#pragma once
/*
 * prove: promises, tried out on the user's store with hosts and a run of our own.
 */
#include "app/config.h"
#include "app/home.h"
#include "cli/prover.h"
#include "service/operation.h"
#include "service/service.h"

struct prove_world {
    const struct config *config;
    const struct home *home;
    const char *exe; /* this program, which is every host */
    struct service *service;
    struct operation_caller operations;
    /* Wait; false: interrupted, stop. */
    bool (*pause)(void *context, int64_t ms);
};

/* For struct prover: `context` is a struct prove_world. */
NODISCARD enum status prove_run(void *context, const struct prove_request *request,
                                json_t **out_report, struct err *err);
