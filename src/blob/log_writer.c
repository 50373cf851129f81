#include "blob/log_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

void log_writer_init(struct log_writer *writer, struct blob *blob, const struct blob_key *key,
                     uint64_t bytes_max, const char *error)
{
    CHECK(key->kind == BLOB_LOG);
    *writer = (struct log_writer){.blob = blob, .key = *key, .bytes_max = bytes_max};
    if (blob == NULL)
        (void)snprintf(writer->result.error, sizeof writer->result.error, "%.*s",
                       LOG_WRITER_ERROR_MAX - 1, error);
}

static bool is_broken(const struct log_writer *writer)
{
    return writer->result.error[0] != '\0';
}

static void remember(struct log_writer *writer, const struct err *err)
{
    if (!is_broken(writer))
        (void)snprintf(writer->result.error, sizeof writer->result.error, "%.*s",
                       LOG_WRITER_ERROR_MAX - 1, err->text);
}

/* The index is a convenience: when it cannot be written the log goes on without it. */
static void store_records(struct log_writer *writer)
{
    struct err err = {0};
    struct blob_key key = writer->key;
    key.kind = BLOB_LOG_INDEX;
    size_t length = writer->record_count * sizeof writer->records[0];
    writer->record_count = 0;
    if (length == 0)
        return;
    if (writer->index == NULL &&
        blob_open(writer->blob, &key, BLOB_APPEND, &writer->index, &err) != STATUS_OK)
        return;
    (void)!blob_append(writer->index, writer->records, length, &err);
}

static void index_line(struct log_writer *writer, uint64_t line, uint64_t offset)
{
    writer->indexed =
        (struct log_index_record){.line = line, .offset = offset, .at_us = clock_wall_us()};
    writer->records[writer->record_count++] = writer->indexed;
    if (writer->record_count == LOG_WRITER_RECORDS)
        store_records(writer);
}

/* Count the lines of what was just stored at `offset`, with index records where they are due. */
static void count_lines(struct log_writer *writer, const char *bytes, size_t length,
                        uint64_t offset)
{
    const char *rest = bytes;
    const char *end = bytes + length;
    while (rest < end) {
        const char *newline = memchr(rest, '\n', (size_t)(end - rest));
        if (newline == NULL)
            break;
        rest = newline + 1;
        writer->newlines++;
        uint64_t next = offset + (uint64_t)(rest - bytes);
        if (writer->newlines - writer->indexed.line >= LOG_INDEX_LINES ||
            next - writer->indexed.offset >= LOG_INDEX_BYTES)
            index_line(writer, writer->newlines, next);
    }
    store_records(writer);
}

static bool store(struct log_writer *writer, const char *bytes, size_t length)
{
    struct err err = {0};
    if (writer->log == NULL &&
        blob_open(writer->blob, &writer->key, BLOB_APPEND, &writer->log, &err) != STATUS_OK) {
        remember(writer, &err);
        return false;
    }
    if (blob_append(writer->log, bytes, length, &err) != STATUS_OK) {
        remember(writer, &err);
        return false;
    }
    return true;
}

static void keep(struct log_writer *writer, const char *bytes, size_t length)
{
    if (length == 0)
        return;
    uint64_t room = writer->bytes_max - writer->result.bytes;
    /* Once something was dropped nothing is added, so that what is stored stays one piece. */
    if (writer->result.dropped_bytes > 0 || is_broken(writer))
        room = 0;
    size_t kept = (size_t)MIN((uint64_t)length, room);
    if (kept > 0 && !store(writer, bytes, kept))
        kept = 0;
    writer->result.dropped_bytes += length - kept;
    if (kept == 0)
        return;
    uint64_t offset = writer->result.bytes;
    writer->result.bytes += kept;
    writer->last = bytes[kept - 1];
    count_lines(writer, bytes, kept, offset);
}

static void keep_masked(struct log_writer *writer)
{
    CHECK(!writer->masked.overflow);
    keep(writer, writer->masked.text, writer->masked.length);
    strbuf_clear(&writer->masked);
}

void log_writer_hide(struct log_writer *writer, struct mask *mask)
{
    CHECK(writer->mask == NULL);
    writer->mask = mask;
    strbuf_init(&writer->masked, SIZE_MAX / 2);
}

void log_writer_write(struct log_writer *writer, const void *bytes, size_t length)
{
    if (writer->mask == NULL) {
        keep(writer, bytes, length);
        return;
    }
    mask_feed(writer->mask, bytes, length, &writer->masked);
    keep_masked(writer);
}

bool log_writer_is_waiting(const struct log_writer *writer)
{
    return writer->mask != NULL && mask_is_waiting(writer->mask);
}

void log_writer_idle(struct log_writer *writer)
{
    if (!log_writer_is_waiting(writer))
        return;
    mask_idle(writer->mask, &writer->masked);
    keep_masked(writer);
}

/* Everything has come: what was held back is decided. */
static void end_mask(struct log_writer *writer)
{
    if (writer->mask == NULL)
        return;
    mask_flush(writer->mask, &writer->masked);
    keep_masked(writer);
    mask_free(writer->mask);
    writer->mask = NULL;
    strbuf_fini(&writer->masked);
}

void log_writer_finish(struct log_writer *writer)
{
    if (writer->finished)
        return;
    writer->finished = true;
    end_mask(writer);
    struct err err = {0};
    writer->result.lines =
        writer->newlines + (writer->result.bytes > 0 && writer->last != '\n' ? 1 : 0);
    bool reachable = writer->blob != NULL && (writer->log != NULL || !is_broken(writer));
    if (writer->result.dropped_bytes > 0 && reachable) {
        char marker[96];
        int length =
            snprintf(marker, sizeof marker, "%s[eider: output cut here: %llu bytes dropped]\n",
                     writer->result.bytes > 0 && writer->last != '\n' ? "\n" : "",
                     (unsigned long long)writer->result.dropped_bytes);
        (void)store(writer, marker, (size_t)length);
    }
    if (writer->log != NULL && blob_seal(writer->log, &err) != STATUS_OK)
        remember(writer, &err);
    blob_handle_close(writer->log);
    blob_handle_close(writer->index);
    writer->log = NULL;
    writer->index = NULL;
}
