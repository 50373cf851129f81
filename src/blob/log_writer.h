#pragma once
/*
 * log_writer: the output of one attempt, stored as it comes.
 *
 * Bytes are stored as they are, but for the values that a mask hides; what is counted and capped
 * is what is stored then. Up to the cap everything is kept; what comes later is
 * counted, and the log then ends with the line
 *     [eider: output cut here: N bytes dropped]
 * Nothing exists before the first byte. A failure to store never reaches the task: the
 * first one is remembered, and what could not be stored counts as dropped.
 *
 * Ownership  The blob is borrowed and outlives the writer. Storage is the caller's.
 */
#include <stddef.h>
#include <stdint.h>

#include "blob/blob.h"
#include "blob/log_index.h"
#include "model/mask.h"

enum { LOG_WRITER_ERROR_MAX = 200, LOG_WRITER_RECORDS = 16 };

struct log_result {
    uint64_t bytes; /* stored, without a marker */
    uint64_t lines; /* stored, a last one without its end included */
    uint64_t dropped_bytes;
    char error[LOG_WRITER_ERROR_MAX]; /* empty: none */
};

struct log_writer {
    struct blob *blob; /* NULL: everything is dropped, with `result.error` saying why */
    struct blob_key key;
    uint64_t bytes_max;
    struct blob_handle *log;
    struct blob_handle *index;
    uint64_t newlines;
    char last;                                           /* byte stored last */
    struct log_index_record indexed;                     /* the last record */
    struct log_index_record records[LOG_WRITER_RECORDS]; /* not stored yet */
    size_t record_count;
    bool finished;
    struct mask *mask;    /* NULL: nothing is hidden */
    struct strbuf masked; /* with a mask: what it let out just now */
    struct log_result result;
};

/* `blob` may be NULL when it could not be opened; `error` says why then. */
void log_writer_init(struct log_writer *writer, struct blob *blob, const struct blob_key *key,
                     uint64_t bytes_max, const char *error);
/* Hide what that mask hides, which is the writer's from here on. Before the first byte. */
void log_writer_hide(struct log_writer *writer, struct mask *mask);
void log_writer_write(struct log_writer *writer, const void *bytes, size_t length);
/* Whether bytes are held back that log_writer_idle would store. */
bool log_writer_is_waiting(const struct log_writer *writer);
/* No output for a while: store what the mask held back and may let out, so that it is seen. */
void log_writer_idle(struct log_writer *writer);
/* Store the marker if one is due, seal, close; the result is final. Twice is fine. */
void log_writer_finish(struct log_writer *writer);
