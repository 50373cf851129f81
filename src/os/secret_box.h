#pragma once
/*
 * secret_box: texts sealed so that only who has the key can read or change them.
 *
 * XChaCha20-Poly1305 with a nonce of chance. What is sealed carries a version and the id of its
 * key, and is bound to a context, the place it belongs to ("secret/NAMESPACE/NAME"): moved to
 * another one it does not open. Its text is base64 of version (1 byte), key id (4), nonce (24), the
 * value encrypted, tag (16)
 *
 * Threads  Any.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "os/secret_keys.h"

enum { SECRET_BOX_BYTES_MAX = 1 << 20 };

/* A value in memory that is wiped when it is freed and left out of core dumps. */
struct secret_value {
    char *bytes; /* with a NUL behind it that `length` does not count */
    size_t length;
};

/* What a context may be made of; a part never runs into the next. */
struct secret_context {
    const char *kind; /* "secret", "variable", "connection" */
    const char *space;
    const char *name;
};

/*
 * Add the sealed text to `out`, with the first of the keys.
 *
 *   STATUS_LIMIT  the value is longer than SECRET_BOX_BYTES_MAX.
 */
NODISCARD enum status secret_box_seal(const struct secret_keys *keys,
                                      const struct secret_context *context,
                                      const struct secret_value *plain, struct strbuf *out,
                                      struct err *err);

/*
 * The value of a sealed text. Errors name the context, never anything of the value.
 *
 *   STATUS_DENIED   sealed with a key that we do not have; the text names the ids.
 *   STATUS_CORRUPT  damaged, or sealed for another context.
 *   STATUS_INVALID  this is no sealed text, or one of a later version.
 */
NODISCARD enum status secret_box_open(const struct secret_keys *keys,
                                      const struct secret_context *context, const char *sealed,
                                      struct secret_value *out_plain, struct err *err);

/* Whether another key than the first sealed it, so that it is to be sealed anew. */
NODISCARD bool secret_box_is_outdated(const struct secret_keys *keys, const char *sealed);

/* The id of the key that sealed it; false: this is no sealed text. */
NODISCARD bool secret_box_key_id(const char *sealed, char out[SECRET_KEY_ID_MAX]);

/* A copy of `length` bytes. */
NODISCARD struct secret_value secret_value_new(const char *bytes, size_t length);
void secret_value_fini(struct secret_value *value); /* twice is fine */
/* Make bytes of the caller's unreadable, however clever the compiler is. */
void secret_wipe(void *bytes, size_t length);
