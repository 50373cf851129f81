#include "blob/value_key.h"

#include <string.h>

#include "base/sha256.h"

struct blob_key value_key(int64_t run, int64_t task, int64_t attempt, const char *key)
{
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;
    sha256_init(&hash);
    sha256_add(&hash, key, strlen(key));
    sha256_finish(&hash, digest);
    int64_t number = 0;
    memcpy(&number, digest, sizeof number);
    return (struct blob_key){
        .kind = BLOB_VALUE, .ids = {run, task, attempt, number & INT64_MAX}, .id_count = 4};
}
