#pragma once
/*
 * hmac: HMAC-SHA256 of RFC 2104, by which a receiver knows that a message is ours.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"

struct hmac {
    struct sha256 inner;
    uint8_t outer_key[SHA256_BLOCK_BYTES];
};

void hmac_init(struct hmac *hmac, const void *key, size_t key_length);
void hmac_add(struct hmac *hmac, const void *bytes, size_t length);
/* The code of everything added; `hmac` holds nothing of the key afterwards. */
void hmac_finish(struct hmac *hmac, uint8_t out[SHA256_BYTES]);
/* The same as lower-case hexadecimal. Returns `out`. */
const char *hmac_finish_hex(struct hmac *hmac, char out[SHA256_HEX_MAX]);
