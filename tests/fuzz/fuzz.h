#pragma once
/*
 * fuzz: what every target implements. It must not crash, leak or hang, whatever the bytes.
 *
 * Run by libFuzzer (preset `fuzz`) or, over a corpus, by replay_main.c.
 */
#include <stddef.h>
#include <stdint.h>

/* Always 0: libFuzzer keeps other values for itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
