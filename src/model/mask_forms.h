#pragma once
/*
 * mask_forms: the texts by which a secret value may show itself in output. Pure.
 *
 * As it is; in base64 (both alphabets, wherever in the encoded bytes it begins); in hexadecimal;
 * percent-encoded; as inside a JSON string, and such a string in another; in HTML and XML; as a
 * shell or Python quotes it. Characters of base64 that also
 * hold bits of a neighbour of the value are left out, unless the value is the end of what was
 * encoded.
 *
 * Values beyond MASK_LONG_BYTES are given as they are, in base64 and in JSON only: what would
 * search for all of it would be too large.
 */
#include <stddef.h>

enum {
    MASK_VALUE_MIN = 4, /* shorter ones would hide ordinary words */
    MASK_LINE_MIN = 8,  /* the same for a single line of a value */
    MASK_LONG_BYTES = 4096,
};

/* `form` is valid during the call, at least MASK_VALUE_MIN long, and may come more than once. */
typedef void mask_form_fn(void *context, const char *form, size_t length);

/*
 * Calls `each` for every form of the value, line ends after it left out, and of each of its lines
 * of MASK_LINE_MIN bytes or more if there are several. For a shorter value nothing.
 */
void mask_forms_each(const char *value, size_t length, mask_form_fn *each, void *context);
