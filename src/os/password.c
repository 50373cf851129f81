#include "os/password.h"

#include <sodium.h>
#include <string.h>

#include "base/check.h"

_Static_assert(PASSWORD_HASH_MAX >= crypto_pwhash_argon2id_STRBYTES, "a hash fits");

enum {
    OPERATIONS = crypto_pwhash_argon2id_OPSLIMIT_INTERACTIVE,
    MEMORY_BYTES = crypto_pwhash_argon2id_MEMLIMIT_INTERACTIVE,
};

enum status password_check(const char *password, struct err *err)
{
    size_t length = strlen(password);
    if (length < PASSWORD_BYTES_MIN || length > PASSWORD_BYTES_MAX)
        return err_set(err, STATUS_INVALID, "a password has %d to %d bytes, this one %zu",
                       PASSWORD_BYTES_MIN, PASSWORD_BYTES_MAX, length);
    return STATUS_OK;
}

enum status password_hash(const char *password, char out[static PASSWORD_HASH_MAX], struct err *err)
{
    CHECK(sodium_init() >= 0);
    if (crypto_pwhash_argon2id_str(out, password, strlen(password), OPERATIONS, MEMORY_BYTES) != 0)
        return err_set(err, STATUS_LIMIT, "there is not enough memory to hash a password (%d MiB)",
                       MEMORY_BYTES >> 20);
    return STATUS_OK;
}

/* Of a password that nobody was told, with the same cost as those that are made above. */
static const char NOBODY[] = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$"
                             "9tmVRZOVdEkLHzsNNC46HGgCsqHhrFBYvOLZBlqK0mU";

bool password_matches(const char *hash, const char *password)
{
    CHECK(sodium_init() >= 0);
    const char *against = hash != NULL ? hash : NOBODY;
    bool is_right = strlen(password) <= PASSWORD_BYTES_MAX &&
                    crypto_pwhash_argon2id_str_verify(against, password, strlen(password)) == 0;
    return is_right && hash != NULL;
}

bool secret_equal(const char *one, const char *other)
{
    CHECK(sodium_init() >= 0);
    size_t length = strlen(one);
    return length == strlen(other) && sodium_memcmp(one, other, length) == 0;
}
