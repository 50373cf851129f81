#pragma once
/*
 * task_api: what a task is told of the API, EIDER_API and EIDER_TOKEN.
 */
#include "model/task_token.h"
#include "store/advance.h"
#include "store/vault_scope.h"

struct task_api {
    char *url; /* as tasks reach it, without a slash at its end */
    struct task_token_key key;
};

/* The token of the attempt. What of it proves anything is noted in `seen`, so that no log has it.
 */
void task_api_token(const struct task_api *api, const struct claim *claim, struct vault_seen *seen,
                    char out[static TASK_TOKEN_MAX]);
