#pragma once
/*
 * rng: the only source of chance.
 */
#include <stddef.h>
#include <stdint.h>

/* Bytes nobody can guess, from the kernel: nonces, seeds, ids. */
void rng_bytes(void *out, size_t count);

/* A uniform number in [0, bound), bound > 0: for jitter. */
uint64_t rng_below(uint64_t bound);
