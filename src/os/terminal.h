#pragma once
/*
 * terminal: what a person types without showing it.
 */
#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/secret_box.h"

/* Whether a person is at the other end; streams that are no files have none. */
bool terminal_is_one(FILE *stream);

/*
 * One line from `in`, a terminal, while it does not echo; the prompt and the line end go to `out`.
 * The terminal is as before afterwards.
 *
 *   STATUS_LIMIT    it is longer than `bytes_max`.
 *   STATUS_INVALID  the input ended.
 */
NODISCARD enum status terminal_read_hidden(FILE *in, FILE *out, const char *prompt,
                                           size_t bytes_max, struct secret_value *out_value,
                                           struct err *err);
