#pragma once
/*
 * value_key: where a value that is too large for the store is kept.
 */
#include "blob/blob.h"

/* Keys of blobs are numbers; a user's text is only ever hashed. */
struct blob_key value_key(int64_t run, int64_t task, int64_t attempt, const char *key);
