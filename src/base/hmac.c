#include "base/hmac.h"

#include <string.h>

void hmac_init(struct hmac *hmac, const void *key, size_t key_length)
{
    uint8_t block[SHA256_BLOCK_BYTES] = {0};
    if (key_length > SHA256_BLOCK_BYTES) {
        struct sha256 hash;
        sha256_init(&hash);
        sha256_add(&hash, key, key_length);
        sha256_finish(&hash, block);
    } else if (key_length > 0) {
        memcpy(block, key, key_length);
    }
    for (size_t i = 0; i < SHA256_BLOCK_BYTES; i++) {
        hmac->outer_key[i] = block[i] ^ 0x5c;
        block[i] ^= 0x36;
    }
    sha256_init(&hmac->inner);
    sha256_add(&hmac->inner, block, sizeof block);
    explicit_bzero(block, sizeof block);
}

void hmac_add(struct hmac *hmac, const void *bytes, size_t length)
{
    sha256_add(&hmac->inner, bytes, length);
}

void hmac_finish(struct hmac *hmac, uint8_t out[SHA256_BYTES])
{
    uint8_t inner[SHA256_BYTES];
    sha256_finish(&hmac->inner, inner);
    struct sha256 outer;
    sha256_init(&outer);
    sha256_add(&outer, hmac->outer_key, sizeof hmac->outer_key);
    sha256_add(&outer, inner, sizeof inner);
    sha256_finish(&outer, out);
    explicit_bzero(&outer, sizeof outer);
    explicit_bzero(hmac, sizeof *hmac);
}

const char *hmac_finish_hex(struct hmac *hmac, char out[SHA256_HEX_MAX])
{
    static const char DIGITS[] = "0123456789abcdef";
    uint8_t code[SHA256_BYTES];
    hmac_finish(hmac, code);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = DIGITS[code[i] >> 4];
        out[2 * i + 1] = DIGITS[code[i] & 15];
    }
    out[2 * (size_t)SHA256_BYTES] = '\0';
    return out;
}
