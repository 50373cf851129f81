#include "service/worker_hand.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "service/principal.h"

_Static_assert(WORKER_NONCE_TEXT_MAX == 2 * sizeof(struct nonce) + 1, "two digits for a byte");

const char *worker_hand_owner(const struct service *service)
{
    return service->principal->name;
}

const char *worker_hand_nonce(const struct nonce *nonce, char out[static WORKER_NONCE_TEXT_MAX])
{
    for (size_t i = 0; i < sizeof nonce->bytes; i++)
        CHECK(snprintf(out + 2 * i, 3, "%02x", nonce->bytes[i]) == 2);
    return out;
}

static int digit_of(char letter)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *found = letter != '\0' ? strchr(DIGITS, letter) : NULL;
    return found != NULL ? (int)(found - DIGITS) : -1;
}

static bool parse_nonce(const char *text, struct nonce *out)
{
    if (strlen(text) != 2 * sizeof out->bytes)
        return false;
    for (size_t i = 0; i < sizeof out->bytes; i++) {
        int high = digit_of(text[2 * i]);
        int low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out->bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

enum status worker_hand_attempt(struct service *service, const json_t *request, struct arena *arena,
                                struct worker_held *out_held, struct worker_attempt *out_attempt,
                                struct err *err)
{
    struct store *store = NULL;
    struct worker_held held = {.attempt = json_get_int(request, "attempt", 0)};
    /* The table has checked that it is a number. */
    CHECK(str_parse_i64(json_get_string(request, "job", ""), 0, INT64_MAX, &held.task));
    if (!parse_nonce(json_get_string(request, "nonce", ""), &held.nonce))
        return err_set(err, STATUS_INVALID, "'nonce' must be the one that came with the claim");
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_worker_attempt(store, &held, worker_hand_owner(service), arena, out_attempt, err) !=
            STATUS_OK)
        return err->code;
    *out_held = held;
    return STATUS_OK;
}
