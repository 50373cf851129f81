#pragma once
/*
 * log_part: the next bytes of one attempt's log, as they are or only the lines that match.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "blob/blob.h"

struct log_part_request {
    struct blob_key key;
    int64_t offset;   /* where the part before ended */
    int64_t tail;     /* begin with the last so many lines; -1: at `offset` */
    const char *grep; /* only lines that match, or NULL */
    bool is_over;     /* nothing more is written */
    size_t bytes_max; /* stop when there are so many */
};

struct log_part {
    int64_t offset;  /* where the next one begins */
    bool is_at_end;  /* there is nothing more at the moment */
    bool is_missing; /* there is no such log */
};

/*
 * Append the text. Ends between characters and, when filtering, between lines, unless the log
 * itself ends elsewhere.
 *
 *   STATUS_INVALID, STATUS_LIMIT  `grep` is no expression that can be used
 */
NODISCARD enum status log_part_read(struct blob *blob, const struct log_part_request *request,
                                    struct strbuf *out, struct log_part *out_part, struct err *err);

/* How much a part may hold, as the member "bytes" says; STATUS_INVALID: that is no such number. */
NODISCARD enum status log_part_bytes(const json_t *request, size_t *out, struct err *err);

/* How many lines at the end, as the member "tail" says; -1: all. STATUS_INVALID: below 0. */
NODISCARD enum status log_part_tail(const json_t *request, int64_t *out, struct err *err);

/* {"text"}, and "base64" when the bytes are no text; a new reference. */
NODISCARD json_t *log_part_json(const struct strbuf *bytes);
