#pragma once
/*
 * mask: secret values taken out of a stream of bytes. Pure.
 *
 * Every byte that belongs to an occurrence of a value, in any form of mask_forms, is hidden; each
 * run of such bytes becomes one "***", so that occurrences which overlap or touch leave nothing of
 * each other. Values shorter than MASK_VALUE_MIN bytes are not looked for. How the stream is cut
 * into pieces makes no difference.
 *
 * What is held back   The longest end of the stream that may be the beginning of an occurrence,
 *                     which in ordinary output is nothing or a byte or two. When the stream pauses,
 *                     mask_idle lets up to MASK_VALUE_MIN - 1 bytes of it out, no more than
 *                     anybody can guess, and should the rest of the value follow, that is hidden
 *                     still. A longer beginning waits for what follows or for the end.
 * At the end          A beginning of MASK_CUT_MIN bytes or more counts as an occurrence: whoever
 *                     wrote it was cut off.
 *
 * Ownership  Values are copied, in the form of an automaton, and wiped by mask_free.
 * Cost       One pass, and memory of about 500 bytes for each byte of the values.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"

enum { MASK_CUT_MIN = 8 };

struct mask;

/* STATUS_LIMIT: all of them together are longer than LIMIT_MASK_BYTES. */
NODISCARD enum status mask_check(const char *const *values, struct err *err);
/*
 * A mask for the values of a list that ends with NULL; empty ones are fine. It fails as mask_check
 * does.
 */
NODISCARD enum status mask_new(const char *const *values, struct mask **out_mask, struct err *err);
void mask_free(struct mask *mask); /* NULL is allowed */

/* Take `length` bytes of the stream, and add to `out` what is certain. */
void mask_feed(struct mask *mask, const void *bytes, size_t length, struct strbuf *out);
/* Whether mask_idle would let something out. */
bool mask_is_waiting(const struct mask *mask);
/* The stream pauses: add to `out` what may be shown. */
void mask_idle(struct mask *mask, struct strbuf *out);
/* The stream has ended: add the rest. The next byte begins another stream. */
void mask_flush(struct mask *mask, struct strbuf *out);

/* A text of its own, whole: feed and flush. */
void mask_text(struct mask *mask, const char *text, struct strbuf *out);

static inline void mask_freep(struct mask **mask)
{
    mask_free(*mask);
}
