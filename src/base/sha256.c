#include "base/sha256.h"

#include <string.h>

#include "base/attrs.h"

static const uint32_t START[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void sha256_init(struct sha256 *hash)
{
    *hash = (struct sha256){0};
    memcpy(hash->state, START, sizeof START);
}

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void expand(const uint8_t *block, uint32_t words[64])
{
    for (size_t i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = words[i - 15];
        uint32_t b = words[i - 2];
        words[i] = words[i - 16] + words[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void hash_block(struct sha256 *hash, const uint8_t *block)
{
    uint32_t words[64];
    expand(block, words);
    uint32_t s[8]; /* a to h of the standard */
    memcpy(s, hash->state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                       ROUND[i] + words[i];
        uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += one;
        s[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

void sha256_add(struct sha256 *hash, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    size_t held = hash->bytes % SHA256_BLOCK_BYTES;
    hash->bytes += length;
    while (length > 0) {
        size_t part = MIN(length, SHA256_BLOCK_BYTES - held);
        memcpy(hash->block + held, p, part);
        held += part;
        p += part;
        length -= part;
        if (held == SHA256_BLOCK_BYTES) {
            hash_block(hash, hash->block);
            held = 0;
        }
    }
}

void sha256_finish(struct sha256 *hash, uint8_t out[SHA256_BYTES])
{
    static const uint8_t PADDING[SHA256_BLOCK_BYTES] = {0x80};
    uint64_t bits = hash->bytes * 8;
    size_t held = hash->bytes % SHA256_BLOCK_BYTES;
    sha256_add(hash, PADDING, (held < 56 ? 56 : 120) - held);
    uint8_t size[8];
    for (size_t i = 0; i < 8; i++)
        size[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(hash, size, sizeof size);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        out[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

const char *sha256_finish_hex(struct sha256 *hash, char out[SHA256_HEX_MAX])
{
    static const char DIGITS[] = "0123456789abcdef";
    uint8_t digest[SHA256_BYTES];
    sha256_finish(hash, digest);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = DIGITS[digest[i] >> 4];
        out[2 * i + 1] = DIGITS[digest[i] & 15];
    }
    out[2 * (size_t)SHA256_BYTES] = '\0';
    return out;
}

const char *sha256_hex(const void *bytes, size_t length, char out[SHA256_HEX_MAX])
{
    struct sha256 hash;
    sha256_init(&hash);
    sha256_add(&hash, bytes, length);
    return sha256_finish_hex(&hash, out);
}
