#pragma once
/*
 * move_stream: the lines of an export, with the hash over them. Private to the store layer.
 */
#include <stdbool.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "store/move.h"

enum { MOVE_FORMAT = 1 };

struct move_writer {
    int fd;
    struct strbuf waiting;
    struct sha256 hash;
    int64_t bytes;
};

void move_writer_init(struct move_writer *writer, int fd);
void move_writer_fini(struct move_writer *writer);
/* The last line: `end` with the hash of everything before; then nothing waits any more. */
NODISCARD enum status move_finish(struct move_writer *writer, json_t *taken_end, struct err *err);

enum { MOVE_BUFFER_BYTES = 64 << 10 };

struct move_reader {
    int fd;
    char *buffer;
    size_t start, end; /* of what was read and not taken */
    struct strbuf line;
    struct sha256 hash;
    int64_t lines;
    int64_t bytes;
    bool is_last; /* the line is the one with the hash, and the hash is right */
};

void move_reader_init(struct move_reader *reader, int fd);
void move_reader_fini(struct move_reader *reader);
/*
 * The next line, in reader->line. STATUS_CORRUPT: there is none, it is the last one and its hash is
 * wrong, or something follows it.
 */
NODISCARD enum status move_read(struct move_reader *reader, struct err *err);
/* The line as a value. */
NODISCARD enum status move_parse(const struct move_reader *reader, json_t **out, struct err *err);
