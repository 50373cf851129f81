#include "store/move_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"

/* A row with a DAG and its source is the longest, each of at most LIMIT_FILE_BYTES. */
static const size_t LINE_BYTES_MAX = (size_t)512 << 20;
/* Keys are sorted, so this is how the last line begins. */
#define END_PREFIX "{\"end\":"

static void hash_hex(const struct sha256 *hash, char out[static SHA256_HEX_MAX])
{
    struct sha256 copy = *hash;
    uint8_t bytes[SHA256_BYTES];
    sha256_finish(&copy, bytes);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* --- writing --------------------------------------------------------------------------------- */

void move_writer_init(struct move_writer *writer, int fd)
{
    *writer = (struct move_writer){.fd = fd};
    strbuf_init(&writer->waiting, MOVE_BUFFER_BYTES);
    sha256_init(&writer->hash);
}

void move_writer_fini(struct move_writer *writer)
{
    strbuf_fini(&writer->waiting);
}

static enum status flush(struct move_writer *writer, struct err *err)
{
    if (file_write_fd(writer->fd, "export", writer->waiting.text, writer->waiting.length, err) !=
        STATUS_OK)
        return err->code;
    strbuf_clear(&writer->waiting);
    return STATUS_OK;
}

static enum status put(struct move_writer *writer, const char *bytes, size_t length,
                       struct err *err)
{
    writer->bytes += (int64_t)length;
    if (writer->waiting.length + length > MOVE_BUFFER_BYTES && flush(writer, err) != STATUS_OK)
        return err->code;
    if (length > MOVE_BUFFER_BYTES)
        return file_write_fd(writer->fd, "export", bytes, length, err);
    strbuf_add_bytes(&writer->waiting, bytes, length);
    CHECK(!writer->waiting.overflow);
    return STATUS_OK;
}

enum status move_write(struct move_writer *writer, const json_t *line, struct err *err)
{
    CLEANUP(mem_freep) char *text = json_format(line);
    size_t length = strlen(text);
    text[length] = '\n'; /* where the NUL was: nobody reads it as a text again */
    sha256_add(&writer->hash, text, length + 1);
    return put(writer, text, length + 1, err);
}

enum status move_finish(struct move_writer *writer, json_t *taken_end, struct err *err)
{
    CLEANUP(json_decrefp) json_t *line = json_object();
    char hex[SHA256_HEX_MAX];
    hash_hex(&writer->hash, hex);
    json_put(line, "end", taken_end);
    json_put_string(line, "sha256", hex);
    if (move_write(writer, line, err) != STATUS_OK)
        return err->code;
    return flush(writer, err);
}

/* --- reading --------------------------------------------------------------------------------- */

void move_reader_init(struct move_reader *reader, int fd)
{
    *reader = (struct move_reader){.fd = fd, .buffer = mem_alloc(MOVE_BUFFER_BYTES)};
    strbuf_init(&reader->line, LINE_BYTES_MAX);
    sha256_init(&reader->hash);
}

void move_reader_fini(struct move_reader *reader)
{
    strbuf_fini(&reader->line);
    free(reader->buffer);
    reader->buffer = NULL;
}

/* More bytes; none at the end. */
static enum status fill(struct move_reader *reader, struct err *err)
{
    ssize_t got = 0;
    do
        got = read(reader->fd, reader->buffer, MOVE_BUFFER_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_errno(err, errno, "read the export");
    reader->start = 0;
    reader->end = (size_t)got;
    return STATUS_OK;
}

static enum status cut(struct err *err)
{
    return err_set(err, STATUS_CORRUPT, "the export ends before its end: it was cut");
}

static enum status take_line(struct move_reader *reader, struct err *err)
{
    strbuf_clear(&reader->line);
    for (bool whole = false; !whole;) {
        if (reader->start == reader->end && fill(reader, err) != STATUS_OK)
            return err->code;
        if (reader->start == reader->end)
            return cut(err);
        const char *from = reader->buffer + reader->start;
        const char *newline = memchr(from, '\n', reader->end - reader->start);
        whole = newline != NULL;
        size_t length = whole ? (size_t)(newline - from) : reader->end - reader->start;
        strbuf_add_bytes(&reader->line, from, length);
        reader->start += length + whole;
    }
    reader->lines++;
    reader->bytes += (int64_t)reader->line.length + 1;
    if (reader->line.overflow)
        return err_set(err, STATUS_LIMIT, "line %lld of the export is longer than %zu bytes",
                       (long long)reader->lines, LINE_BYTES_MAX);
    return STATUS_OK;
}

static enum status check_last(struct move_reader *reader, struct err *err)
{
    CLEANUP(json_decrefp) json_t *line = NULL;
    char hex[SHA256_HEX_MAX];
    hash_hex(&reader->hash, hex);
    if (move_parse(reader, &line, err) != STATUS_OK)
        return err->code;
    if (!str_equal(json_get_string(line, "sha256", ""), hex))
        return err_set(err, STATUS_CORRUPT, "the export was altered: its hash is not what it says");
    if (reader->start == reader->end && fill(reader, err) != STATUS_OK)
        return err->code;
    if (reader->start != reader->end)
        return err_set(err, STATUS_CORRUPT, "something follows the end of the export");
    reader->is_last = true;
    return STATUS_OK;
}

enum status move_read(struct move_reader *reader, struct err *err)
{
    if (take_line(reader, err) != STATUS_OK)
        return err->code;
    if (str_starts_with(reader->line.text, END_PREFIX))
        return check_last(reader, err);
    sha256_add(&reader->hash, reader->line.text, reader->line.length);
    sha256_add(&reader->hash, "\n", 1);
    return STATUS_OK;
}

enum status move_parse(const struct move_reader *reader, json_t **out, struct err *err)
{
    if (json_parse(reader->line.text, reader->line.length, out, err) != STATUS_OK)
        return err_wrap(err, "line %lld of the export", (long long)reader->lines);
    return STATUS_OK;
}
