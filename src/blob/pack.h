#pragma once
/*
 * pack: pieces of blobs made smaller, and back.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

/* Heap. */
NODISCARD enum status pack(const void *bytes, size_t length, void **out_bytes, size_t *out_size,
                           struct err *err);
/* Into `out`, which has room for exactly the `length` bytes that were packed. */
NODISCARD enum status unpack(const void *bytes, size_t size, void *out, size_t length,
                             struct err *err);
