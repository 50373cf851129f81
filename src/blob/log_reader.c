#include "blob/log_reader.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "blob/log_index.h"
#include "blob/log_pattern.h"

enum { STUCK_AFTER_US = 5000000, BYTES_PER_US_LEAST = 2 };

struct log_reader {
    struct blob *blob;
    struct blob_key key;
    struct blob_handle *log;
    struct blob_handle *index; /* NULL: none so far */
    char *buffer;              /* of LOG_PIECE_MAX bytes and a NUL, which regexec may look for */
};

enum status log_reader_open(struct blob *blob, const struct blob_key *key,
                            struct log_reader **out_reader, struct err *err)
{
    CHECK(key->kind == BLOB_LOG);
    struct blob_handle *log = NULL;
    if (blob_open(blob, key, BLOB_READ, &log, err) != STATUS_OK)
        return err->code;
    struct log_reader *reader = mem_zalloc(1, sizeof *reader);
    *reader = (struct log_reader){
        .blob = blob, .key = *key, .log = log, .buffer = mem_zalloc(LOG_PIECE_MAX + 1, 1)};
    *out_reader = reader;
    return STATUS_OK;
}

void log_reader_close(struct log_reader *reader)
{
    if (reader == NULL)
        return;
    blob_handle_close(reader->log);
    blob_handle_close(reader->index);
    free(reader->buffer);
    free(reader);
}

enum status log_reader_bytes(struct log_reader *reader, uint64_t offset, void *out, size_t length,
                             size_t *out_got, struct err *err)
{
    return blob_range(reader->log, offset, out, length, out_got, err);
}

static uint64_t index_count(struct log_reader *reader)
{
    struct err ignored = {0};
    struct blob_key key = reader->key;
    key.kind = BLOB_LOG_INDEX;
    uint64_t size = 0;
    if (reader->index == NULL &&
        blob_open(reader->blob, &key, BLOB_READ, &reader->index, &ignored) != STATUS_OK)
        return 0;
    if (blob_size(reader->index, &size, &ignored) != STATUS_OK)
        return 0;
    return size / sizeof(struct log_index_record);
}

static bool index_read(struct log_reader *reader, uint64_t i, struct log_index_record *out)
{
    struct err ignored = {0};
    size_t got = 0;
    return blob_range(reader->index, i * sizeof *out, out, sizeof *out, &got, &ignored) ==
               STATUS_OK &&
           got == sizeof *out;
}

/* A record is believed only if a line of this log really starts where it says. */
static bool record_fits(struct log_reader *reader, const struct log_index_record *record)
{
    struct err ignored = {0};
    char before = 0;
    size_t got = 0;
    return record->offset > 0 && record->line > 0 && record->line <= record->offset &&
           blob_range(reader->log, record->offset - 1, &before, 1, &got, &ignored) == STATUS_OK &&
           got == 1 && before == '\n';
}

/*
 * The nearest known start of a line at or before `line` (from 0) and `offset`; the start of the log
 * at worst.
 */
static struct log_index_record nearest_record(struct log_reader *reader, uint64_t line,
                                              uint64_t offset)
{
    struct log_index_record best = {0};
    uint64_t low = 0;
    uint64_t high = index_count(reader);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct log_index_record record;
        if (!index_read(reader, middle, &record))
            return (struct log_index_record){0};
        if (record.line <= line && record.offset <= offset) {
            best = record;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return record_fits(reader, &best) ? best : (struct log_index_record){0};
}

/* Where a scan stands: the pieces of lines from here on come one by one. */
struct scan {
    struct log_reader *reader;
    uint64_t offset; /* of buffer[start] in the log */
    uint64_t line;   /* from 0 */
    size_t start;
    size_t filled;
    bool continues;
    bool at_end;
};

/* Move what is left to the front and read on behind it. */
static enum status scan_refill(struct scan *scan, struct err *err)
{
    char *buffer = scan->reader->buffer;
    size_t left = scan->filled - scan->start;
    memmove(buffer, buffer + scan->start, left);
    scan->start = 0;
    size_t got = 0;
    if (blob_range(scan->reader->log, scan->offset + left, buffer + left, LOG_PIECE_MAX - left,
                   &got, err) != STATUS_OK)
        return err->code;
    scan->filled = left + got;
    scan->at_end = got == 0;
    return STATUS_OK;
}

/* The next piece; false in *out_more when there is none. */
static enum status scan_next(struct scan *scan, struct log_line *out, bool *out_more,
                             struct err *err)
{
    const char *newline = NULL;
    for (;;) {
        const char *from = scan->reader->buffer + scan->start;
        size_t left = scan->filled - scan->start;
        newline = left == 0 ? NULL : memchr(from, '\n', left);
        if (newline != NULL || scan->at_end || left == LOG_PIECE_MAX)
            break;
        if (scan_refill(scan, err) != STATUS_OK)
            return err->code;
    }
    const char *from = scan->reader->buffer + scan->start;
    size_t left = scan->filled - scan->start;
    size_t length = newline == NULL ? left : (size_t)(newline - from);
    *out_more = left > 0;
    *out = (struct log_line){.number = scan->line + 1,
                             .offset = scan->offset,
                             .bytes = from,
                             .length = length,
                             .continues = scan->continues,
                             .ends = newline != NULL};
    size_t used = length + (newline != NULL ? 1 : 0);
    scan->start += used;
    scan->offset += used;
    scan->line += newline != NULL ? 1 : 0;
    scan->continues = newline == NULL;
    return STATUS_OK;
}

enum status log_reader_lines(struct log_reader *reader, uint64_t first, uint64_t count,
                             log_line_fn fn, void *context, struct err *err)
{
    CHECK(first >= 1);
    struct log_index_record from = nearest_record(reader, first - 1, UINT64_MAX);
    struct scan scan = {.reader = reader, .offset = from.offset, .line = from.line};
    for (;;) {
        struct log_line line;
        bool more = false;
        if (scan_next(&scan, &line, &more, err) != STATUS_OK)
            return err->code;
        if (!more || line.number - MIN(line.number, first) >= count)
            return STATUS_OK;
        if (line.number >= first && !fn(context, &line))
            return STATUS_OK;
    }
}

enum status log_reader_totals(struct log_reader *reader, struct log_totals *out, struct err *err)
{
    struct log_index_record from = nearest_record(reader, UINT64_MAX, UINT64_MAX);
    struct log_totals totals = {.bytes = from.offset, .lines = from.line};
    bool open_line = false;
    for (;;) {
        size_t got = 0;
        if (blob_range(reader->log, totals.bytes, reader->buffer, LOG_PIECE_MAX, &got, err) !=
            STATUS_OK)
            return err->code;
        if (got == 0)
            break;
        const char *end = reader->buffer + got;
        for (const char *rest = reader->buffer; rest < end; totals.lines++) {
            const char *newline = memchr(rest, '\n', (size_t)(end - rest));
            if (newline == NULL)
                break;
            rest = newline + 1;
        }
        open_line = end[-1] != '\n';
        totals.bytes += got;
    }
    totals.lines += open_line ? 1 : 0;
    *out = totals;
    return STATUS_OK;
}

enum status log_reader_tail(struct log_reader *reader, uint64_t count, log_line_fn fn,
                            void *context, struct err *err)
{
    struct log_totals totals = {0};
    if (log_reader_totals(reader, &totals, err) != STATUS_OK)
        return err->code;
    uint64_t first = totals.lines > count ? totals.lines - count + 1 : 1;
    return log_reader_lines(reader, first, count, fn, context, err);
}

enum status log_reader_line_at(struct log_reader *reader, uint64_t offset,
                               struct log_place_of_line *out, struct err *err)
{
    struct log_index_record from = nearest_record(reader, UINT64_MAX, offset);
    struct log_place_of_line place = {.number = from.line + 1, .start = from.offset};
    for (uint64_t at = from.offset; at < offset;) {
        size_t got = 0;
        size_t wanted = (size_t)MIN(offset - at, (uint64_t)LOG_PIECE_MAX);
        if (blob_range(reader->log, at, reader->buffer, wanted, &got, err) != STATUS_OK)
            return err->code;
        if (got == 0)
            break;
        const char *rest = reader->buffer;
        const char *end = rest + got;
        for (const char *newline; rest < end; rest = newline + 1, place.number++) {
            newline = memchr(rest, '\n', (size_t)(end - rest));
            if (newline == NULL)
                break;
            place.start = at + (uint64_t)(newline + 1 - reader->buffer);
        }
        at += got;
    }
    *out = place;
    return STATUS_OK;
}

enum status log_reader_from(struct log_reader *reader, const struct log_place_of_line *from,
                            log_line_fn fn, void *context, struct err *err)
{
    struct scan scan = {.reader = reader, .offset = from->start, .line = from->number - 1};
    for (;;) {
        struct log_line line;
        bool more = false;
        if (scan_next(&scan, &line, &more, err) != STATUS_OK)
            return err->code;
        if (!more || !fn(context, &line))
            return STATUS_OK;
    }
}

/*
 * Some patterns take ages over some lines, and no look at the pattern tells. Who searches holds up
 * others, so that a search that hardly moves is given up.
 */
static bool is_stuck(int64_t began_us, uint64_t bytes)
{
    int64_t allowed_us = STUCK_AFTER_US + (int64_t)(bytes / BYTES_PER_US_LEAST);
    return clock_mono_us() - began_us > allowed_us;
}

static enum status grep_with(struct log_reader *reader, const regex_t *regex, log_line_fn fn,
                             void *context, struct err *err)
{
    struct scan scan = {.reader = reader};
    int64_t began_us = clock_mono_us();
    for (;;) {
        struct log_line line;
        bool more = false;
        if (scan_next(&scan, &line, &more, err) != STATUS_OK)
            return err->code;
        if (!more)
            return STATUS_OK;
        regmatch_t where = {.rm_so = 0, .rm_eo = (regoff_t)line.length};
        if (regexec(regex, line.bytes, 1, &where, REG_STARTEND) == 0 && !fn(context, &line))
            return STATUS_OK;
        if (is_stuck(began_us, line.offset))
            return err_set(err, STATUS_LIMIT,
                           "the pattern takes too long over this log: make it simpler");
    }
}

enum status log_reader_grep(struct log_reader *reader, const char *pattern, bool ignore_case,
                            log_line_fn fn, void *context, struct err *err)
{
    if (log_pattern_check(pattern, err) != STATUS_OK)
        return err->code;
    regex_t regex;
    int failure =
        regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
    if (failure != 0) {
        char text[128];
        (void)regerror(failure, &regex, text, sizeof text);
        return err_set(err, STATUS_INVALID, "pattern '%s': %s", pattern, text);
    }
    enum status status = grep_with(reader, &regex, fn, context, err);
    regfree(&regex);
    return status;
}
