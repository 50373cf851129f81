#pragma once
/*
 * secret_keys: the keys that secrets are sealed with, which lie outside of the store.
 *
 * A key is 256 bits of chance, as text 64 hexadecimal digits or 44 of base64. There may be several:
 * the first one seals, all of them open, so that a key can be replaced while values sealed with
 * the old one are still there. A key is told from others by its id, eight digits of a hash of it,
 * which may be shown.
 *
 * Ownership  Memory of keys is locked, wiped when it is freed, and left out of core dumps.
 * Threads    Any, once loaded.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

enum {
    SECRET_KEY_BYTES = 32,
    SECRET_KEY_ID_BYTES = 4,
    SECRET_KEY_ID_MAX = 9,
    SECRET_KEYS_MAX = 16
};

struct secret_key {
    uint8_t bytes[SECRET_KEY_BYTES];
    uint8_t id[SECRET_KEY_ID_BYTES];
};

struct secret_keys {
    size_t count; /* one at least; the first one seals */
    struct secret_key keys[SECRET_KEYS_MAX];
};

/* Where to look for them. */
struct secret_keys_place {
    const char *text; /* what EIDER_SECRET_KEY holds; NULL or empty: look into the file */
    const char
        *file; /* of a line for each key; blank lines and those with # in front are skipped */
    bool make; /* the file with a new key if there is none */
};

/*
 * Keys separated by blanks, commas or line ends.
 *
 *   STATUS_INVALID  one of them is no key, there is none, or there are too many. The text of the
 *                   error never shows any part of them.
 */
NODISCARD enum status secret_keys_parse(const char *text, struct secret_keys **out_keys,
                                        struct err *err);

/*
 * Read the keys. A file is made readable for its owner alone, at once and whole, and never written
 * again; of two processes that make it at once, both use the same.
 *
 *   STATUS_NOT_FOUND  there is no key, and none was to be made.
 *   STATUS_DENIED     the file belongs to somebody else than us or root, or others may read it.
 *   STATUS_INVALID    what is there is no key.
 */
NODISCARD enum status secret_keys_load(const struct secret_keys_place *place,
                                       struct secret_keys **out_keys, struct err *err);

void secret_keys_free(struct secret_keys *keys); /* NULL is allowed */

/* The id as text. Returns `out`. */
const char *secret_key_id_format(const uint8_t id[SECRET_KEY_ID_BYTES],
                                 char out[SECRET_KEY_ID_MAX]);

static inline void secret_keys_freep(struct secret_keys **keys)
{
    secret_keys_free(*keys);
}
