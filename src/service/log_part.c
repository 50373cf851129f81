#include "service/log_part.h"

#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/mem.h"
#include "blob/log_reader.h"
#include "service/json_build.h"

enum { CHUNK_BYTES = 64 << 10, PART_BYTES = 1 << 20 };

enum status log_part_bytes(const json_t *request, size_t *out, struct err *err)
{
    int64_t bytes = json_get_int(request, "bytes", PART_BYTES);
    if (bytes < 1 || bytes > PART_BYTES)
        return err_set(err, STATUS_INVALID, "'bytes' is a number from 1 to %d", PART_BYTES);
    *out = (size_t)bytes;
    return STATUS_OK;
}

enum status log_part_tail(const json_t *request, int64_t *out, struct err *err)
{
    int64_t tail = json_get_int(request, "tail", -1);
    if (tail < 0 && json_is_integer(json_object_get(request, "tail")))
        return err_set(err, STATUS_INVALID, "'tail' is a number of lines, 0 or more, not %lld",
                       (long long)tail);
    *out = tail;
    return STATUS_OK;
}

/* --- bytes ----------------------------------------------------------------------------------- */

/* Bytes at the end that begin a character without ending it. */
static size_t open_character(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char c = (unsigned char)bytes[length - back];
        if (c < 0x80)
            return 0;
        if (c >= 0xC0) {
            size_t needs = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
            return needs > back ? back : 0;
        }
    }
    return 0;
}

static enum status read_bytes(struct log_reader *reader, const struct log_part_request *request,
                              struct strbuf *out, struct log_part *part, struct err *err)
{
    CLEANUP(mem_freep) char *chunk = mem_alloc(CHUNK_BYTES);
    size_t taken = 0;
    while (taken < request->bytes_max) {
        size_t got = 0;
        if (log_reader_bytes(reader, (uint64_t)part->offset, chunk, CHUNK_BYTES, &got, err) !=
            STATUS_OK)
            return err->code;
        bool is_last = got < CHUNK_BYTES;
        size_t use = got;
        if (!is_last || !request->is_over)
            use -= open_character(chunk, got);
        strbuf_add_bytes(out, chunk, use);
        part->offset += (int64_t)use;
        taken += use;
        if (is_last) {
            part->is_at_end = true;
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

static bool note_offset(void *context, const struct log_line *line)
{
    *(int64_t *)context = (int64_t)line->offset;
    return false;
}

static enum status start_of_tail(struct log_reader *reader, int64_t lines, int64_t *out,
                                 struct err *err)
{
    struct log_totals totals;
    if (log_reader_totals(reader, &totals, err) != STATUS_OK)
        return err->code;
    *out = (int64_t)totals.bytes;
    if (lines == 0)
        return STATUS_OK;
    return log_reader_tail(reader, (uint64_t)lines, note_offset, out, err);
}

/* --- lines that match ------------------------------------------------------------------------ */

struct matching {
    const struct log_part_request *request;
    struct strbuf *out;
    struct log_part *part;
    uint64_t end;  /* lines that start here or later are not complete */
    int64_t skip;  /* matches to leave out */
    int64_t count; /* matches seen */
    bool is_counting;
    bool is_full;
};

static bool take_match(void *context, const struct log_line *line)
{
    struct matching *matching = context;
    if (line->offset >= matching->end)
        return false;
    if (line->offset < (uint64_t)matching->request->offset)
        return true;
    matching->count++;
    if (matching->is_counting || matching->count <= matching->skip)
        return true;
    strbuf_add_bytes(matching->out, line->bytes, line->length);
    strbuf_add_char(matching->out, '\n');
    if (matching->out->length < matching->request->bytes_max)
        return true;
    matching->is_full = true;
    matching->part->offset = (int64_t)(line->offset + line->length + (line->ends ? 1 : 0));
    return false;
}

struct last_line {
    uint64_t start;
    uint64_t end;
    bool is_seen;
    bool ends;
};

static bool note_last(void *context, const struct log_line *line)
{
    struct last_line *last = context;
    if (!last->is_seen)
        last->start = line->offset;
    last->is_seen = true;
    last->ends = line->ends;
    last->end = line->offset + line->length + (line->ends ? 1 : 0);
    return true;
}

/* A line that is still being written could match later: it counts when it is complete. */
static enum status end_of_lines(struct log_reader *reader, bool is_over, uint64_t *out,
                                struct err *err)
{
    struct last_line last = {0};
    if (log_reader_tail(reader, 1, note_last, &last, err) != STATUS_OK)
        return err->code;
    *out = last.ends || is_over ? last.end : last.start;
    return STATUS_OK;
}

static enum status read_matches(struct log_reader *reader, const struct log_part_request *request,
                                struct strbuf *out, struct log_part *part, struct err *err)
{
    struct matching matching = {.request = request, .out = out, .part = part};
    if (end_of_lines(reader, request->is_over, &matching.end, err) != STATUS_OK)
        return err->code;
    if (request->tail >= 0) {
        matching.is_counting = true;
        if (log_reader_grep(reader, request->grep, false, take_match, &matching, err) != STATUS_OK)
            return err->code;
        matching.is_counting = false;
        matching.skip = MAX(matching.count - request->tail, (int64_t)0);
        matching.count = 0;
    }
    if (log_reader_grep(reader, request->grep, false, take_match, &matching, err) != STATUS_OK)
        return err->code;
    if (!matching.is_full) {
        part->offset = MAX(part->offset, (int64_t)matching.end);
        part->is_at_end = true;
    }
    return STATUS_OK;
}

enum status log_part_read(struct blob *blob, const struct log_part_request *request,
                          struct strbuf *out, struct log_part *out_part, struct err *err)
{
    CLEANUP(log_reader_closep) struct log_reader *reader = NULL;
    struct log_part part = {.offset = request->offset};
    struct err problem = {0};
    enum status status =
        blob != NULL ? log_reader_open(blob, &request->key, &reader, &problem) : STATUS_NOT_FOUND;
    if (status == STATUS_NOT_FOUND) {
        part.is_at_end = part.is_missing = true;
        *out_part = part;
        return STATUS_OK;
    }
    if (status == STATUS_OK && request->grep != NULL)
        status = read_matches(reader, request, out, &part, &problem);
    else if (status == STATUS_OK && request->tail >= 0)
        status = start_of_tail(reader, request->tail, &part.offset, &problem);
    if (status == STATUS_OK && request->grep == NULL)
        status = read_bytes(reader, request, out, &part, &problem);
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    *out_part = part;
    return STATUS_OK;
}

/* --- as JSON --------------------------------------------------------------------------------- */

static json_t *base64_text(const struct strbuf *bytes)
{
    struct strbuf text;
    strbuf_init(&text, 4 * (bytes->length / 3 + 1) + 1);
    base64_encode(&text, bytes->text, bytes->length);
    json_t *value = json_stringn(text.text, text.length);
    strbuf_fini(&text);
    return value;
}

json_t *log_part_json(const struct strbuf *bytes)
{
    json_t *object = json_build_object();
    json_t *text = json_text(bytes->text, bytes->length);
    CHECK(text != NULL);
    bool is_same = json_string_length(text) == bytes->length &&
                   memcmp(json_string_value(text), bytes->text, bytes->length) == 0;
    json_put(object, "text", text);
    if (!is_same)
        json_put(object, "base64", base64_text(bytes));
    return object;
}
