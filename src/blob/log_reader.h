#pragma once
/*
 * log_reader: lines and bytes of one log, also while it is written.
 *
 * Lines are counted from 1. The index beside the log makes them quick to find; without
 * it, or where it does not fit the log, the log itself is read. A line longer than
 * LOG_PIECE_MAX comes in pieces of the same number.
 *
 * Ownership  The blob is borrowed and outlives the reader. What a callback gets is valid
 *            during that call.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blob/blob.h"

enum { LOG_PIECE_MAX = 64 << 10 };

struct log_reader;

struct log_line {
    uint64_t number;
    uint64_t offset;   /* of the bytes below, in the log */
    const char *bytes; /* any bytes, without the newline */
    size_t length;
    bool continues; /* an earlier piece of the same line came before */
    bool ends;      /* with a newline; otherwise more of it may follow, now or later */
};

struct log_totals {
    uint64_t bytes;
    uint64_t lines; /* a last one without its end included */
};

/* Return false to stop. */
typedef bool (*log_line_fn)(void *context, const struct log_line *line);

/* STATUS_NOT_FOUND: nothing was written so far. */
NODISCARD enum status log_reader_open(struct blob *blob, const struct blob_key *key,
                                      struct log_reader **out_reader, struct err *err);
void log_reader_close(struct log_reader *reader);

/* What there is at the moment. */
NODISCARD enum status log_reader_totals(struct log_reader *reader, struct log_totals *out,
                                        struct err *err);

/* Up to `length` bytes from `offset`: also the way to follow, with the offset where one stopped. */
NODISCARD enum status log_reader_bytes(struct log_reader *reader, uint64_t offset, void *out,
                                       size_t length, size_t *out_got, struct err *err);

/* `count` lines from line `first` on, as far as there are any. */
NODISCARD enum status log_reader_lines(struct log_reader *reader, uint64_t first, uint64_t count,
                                       log_line_fn fn, void *context, struct err *err);
/* The last `count` lines. */
NODISCARD enum status log_reader_tail(struct log_reader *reader, uint64_t count, log_line_fn fn,
                                      void *context, struct err *err);

/* The number of the line that has the byte at `offset`, and where that line begins. */
struct log_place_of_line {
    uint64_t number;
    uint64_t start;
};
NODISCARD enum status log_reader_line_at(struct log_reader *reader, uint64_t offset,
                                         struct log_place_of_line *out, struct err *err);
/* All lines from there on. */
NODISCARD enum status log_reader_from(struct log_reader *reader,
                                      const struct log_place_of_line *from, log_line_fn fn,
                                      void *context, struct err *err);

/*
 * Those lines, or pieces of long ones, that match a POSIX extended regular expression.
 *
 *   STATUS_INVALID  it is none.
 *   STATUS_LIMIT    it is too long, or too much to be run safely; see log_pattern.h.
 */
NODISCARD enum status log_reader_grep(struct log_reader *reader, const char *pattern,
                                      bool ignore_case, log_line_fn fn, void *context,
                                      struct err *err);

static inline void log_reader_closep(struct log_reader **reader)
{
    log_reader_close(*reader);
}
