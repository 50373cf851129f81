#pragma once
/*
 * sha256: the hash of FIPS 180-4, for names that follow from content.
 */
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX_MAX = 65, SHA256_BLOCK_BYTES = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t bytes; /* hashed so far */
    uint8_t block[SHA256_BLOCK_BYTES];
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *bytes, size_t length);
/* The hash of everything added; `hash` must be initialised before it is used again. */
void sha256_finish(struct sha256 *hash, uint8_t out[SHA256_BYTES]);
/* The same as lower-case hexadecimal. Returns `out`. */
const char *sha256_finish_hex(struct sha256 *hash, char out[SHA256_HEX_MAX]);

/* Lower-case hexadecimal hash of one piece. Returns `out`. */
const char *sha256_hex(const void *bytes, size_t length, char out[SHA256_HEX_MAX]);
