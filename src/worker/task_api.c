#include "worker/task_api.h"

#include <string.h>

#include "os/secret_box.h"

void task_api_token(const struct task_api *api, const struct claim *claim, struct vault_seen *seen,
                    char out[static TASK_TOKEN_MAX])
{
    struct task_token token =
        task_token_make(&api->key, claim->task, claim->attempt, &claim->nonce);
    (void)task_token_format(&token, out);
    vault_seen_add(seen, token.proof, strlen(token.proof));
    secret_wipe(&token, sizeof token);
}
