#include "service/hook_call.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/settings.h"
#include "os/password.h"
#include "store/run_store.h"
#include "store/webhook.h"

static const char SCHEME[] = "sha256=";

static void secrets_fini(struct webhook_secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++)
        secret_value_fini(&secrets->items[i].token);
}

static enum status deny(struct err *err)
{
    return err_set(err, STATUS_DENIED,
                   "the call is not signed as it must be: X-Eider-Signature is HMAC-SHA256, by the "
                   "token of a webhook of this DAG, of X-Eider-Timestamp (seconds, now), a dot and "
                   "the body");
}

/* The digits of a signature, lower case as we write them. NULL: this is none. */
static const char *digits_of(struct arena *arena, const char *signature)
{
    if (signature == NULL)
        return NULL;
    if (str_starts_with(signature, SCHEME))
        signature += sizeof SCHEME - 1;
    if (strlen(signature) != (size_t)2 * SHA256_BYTES)
        return NULL;
    char *digits = arena_strndup(arena, signature, (size_t)2 * SHA256_BYTES);
    for (char *at = digits; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'F')
            *at = (char)(*at - 'A' + 'a');
    return digits;
}

static bool is_recent(const char *timestamp, int64_t now_us)
{
    int64_t sent_s = 0;
    if (timestamp == NULL || !str_parse_i64(timestamp, 0, INT64_MAX / 1000000, &sent_s))
        return false;
    int64_t age_s = now_us / 1000000 - sent_s;
    return age_s <= HOOK_CALL_TOLERANCE_S && age_s >= -HOOK_CALL_TOLERANCE_S;
}

/* `timestamp` NULL: of the body alone. */
static bool is_signed_by(const struct webhook_secret *secret, const struct hook_call *call,
                         const char *timestamp, const char *digits)
{
    char expected[SHA256_HEX_MAX];
    struct hmac hmac;
    hmac_init(&hmac, secret->token.bytes, secret->token.length);
    if (timestamp != NULL) {
        hmac_add(&hmac, timestamp, strlen(timestamp));
        hmac_add(&hmac, ".", 1);
    }
    hmac_add(&hmac, call->body, call->body_bytes);
    return secret_equal(hmac_finish_hex(&hmac, expected), digits);
}

/* Which token signed it; NULL: none. *out_digits is the signature that counted. */
static const struct webhook_secret *find_signer(const struct webhook_secrets *secrets,
                                                struct arena *arena, const struct hook_call *call,
                                                int64_t now_us, const char **out_digits)
{
    const char *own = is_recent(call->timestamp, now_us) ? digits_of(arena, call->signature) : NULL;
    const char *hub = digits_of(arena, call->hub_signature);
    for (size_t i = 0; i < secrets->count; i++) {
        const struct webhook_secret *secret = &secrets->items[i];
        if (own != NULL && is_signed_by(secret, call, call->timestamp, own)) {
            *out_digits = own;
            return secret;
        }
        if (hub != NULL && secret->takes_github && is_signed_by(secret, call, NULL, hub)) {
            *out_digits = hub;
            return secret;
        }
    }
    return NULL;
}

static enum status load_secrets(struct service *service, struct arena *arena, const char *dag_id,
                                struct webhook_secrets *out, struct err *err)
{
    CLEANUP(vault_freep) struct vault *vault = NULL;
    struct err problem = {0};
    struct store *store = NULL;
    enum status status = service_store(service, DB_READ_WRITE, &store, &problem);
    if (status == STATUS_OK)
        status = service_vault(service, &vault, &problem);
    if (status == STATUS_OK)
        status = store_webhook_secrets(store, vault, arena, dag_id, out, &problem);
    if (status == STATUS_NOT_FOUND)
        return deny(err);
    /* That the server lacks its key is no fault of who calls. */
    if (status == STATUS_DENIED)
        return err_set(err, STATUS_UNREACHABLE,
                       "the server cannot open the tokens of this DAG's webhooks: it lacks the key "
                       "that sealed them");
    if (status != STATUS_OK)
        *err = problem;
    return status;
}

static enum status fire(struct service *service, const struct hook_call *call,
                        const struct webhook_secret *secret, const char *digits,
                        struct webhook_answer *out, struct err *err)
{
    CLEANUP(mem_freep) char *key = mem_format("signature %s", digits);
    const struct webhook_call wanted = {
        .token = secret->token.bytes,
        .body = call->body,
        .body_bytes = call->body_bytes,
        .key = key,
        .rate = settings_number(service->settings, SETTING_WEBHOOK_RATE),
    };
    if (store_webhook_fire(service->store, &wanted, out, err) != STATUS_OK)
        return err->code;
    if (!out->is_new)
        return err_set(err, STATUS_CONFLICT,
                       "this call came before, and made run %lld; a new call has a new time",
                       (long long)out->run);
    service_wake(service);
    return STATUS_OK;
}

enum status hook_call(struct service *service, struct arena *arena, const struct hook_call *call,
                      struct hook_answer *out, struct err *err)
{
    CLEANUP(secrets_fini) struct webhook_secrets secrets = {0};
    struct webhook_answer answer = {0};
    struct run_info run;
    const char *digits = NULL;
    *out = (struct hook_answer){0};
    if (call->body_bytes > LIMIT_WEBHOOK_BYTES)
        return err_set(err, STATUS_LIMIT, "the body has %zu bytes, at most %d", call->body_bytes,
                       LIMIT_WEBHOOK_BYTES);
    if (load_secrets(service, arena, call->dag_id, &secrets, err) != STATUS_OK)
        return err->code;
    const struct webhook_secret *secret =
        find_signer(&secrets, arena, call, store_now_us(service->store), &digits);
    if (secret == NULL)
        return deny(err);
    enum status status = fire(service, call, secret, digits, &answer, err);
    if (answer.wait_ms > 0)
        out->wait_s = (answer.wait_ms + 999) / 1000;
    if (status != STATUS_OK ||
        store_run_load(service->store, arena, answer.run, &run, err) != STATUS_OK)
        return err->code;
    out->run = answer.run;
    out->dag_id = run.dag_id;
    out->run_id = run.run_id;
    return STATUS_OK;
}
