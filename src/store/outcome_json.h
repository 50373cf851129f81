#pragma once
/*
 * outcome_json: an outcome as JSON and back, without its key (task, attempt and nonce).
 */
#include "base/json.h"
#include "store/advance.h"

/* Rises when a program of before would misread the text; members may be added without. */
enum { OUTCOME_FORMAT = 1 };

/* Texts that are not UTF-8 are mended. Heap, caller frees. */
NODISCARD char *outcome_format(const struct outcome *outcome);

/* The members of `text` into *out, allocated in `arena`. STATUS_CORRUPT: not such a text. */
NODISCARD enum status outcome_parse(const char *text, struct arena *arena, struct outcome *out,
                                    struct err *err);
