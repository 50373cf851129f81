#pragma once
/*
 * password: what people prove who they are with. Kept as argon2id hashes only.
 *
 * Threads  Any. Hashing takes about a tenth of a second and 64 MiB, on purpose.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

enum { PASSWORD_BYTES_MIN = 8, PASSWORD_BYTES_MAX = 1024, PASSWORD_HASH_MAX = 128 };

/* STATUS_INVALID: too short or too long. */
NODISCARD enum status password_check(const char *password, struct err *err);
/* With a salt of chance; STATUS_LIMIT: there is not enough memory. */
NODISCARD enum status password_hash(const char *password, char out[static PASSWORD_HASH_MAX],
                                    struct err *err);
/* `hash` NULL: as if it were one that no password has, in the same time. */
bool password_matches(const char *hash, const char *password);

/* Texts compared in a time that does not tell where they differ. */
bool secret_equal(const char *one, const char *other);
