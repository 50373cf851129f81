/*
 * Lines of one log by their numbers, and the numbers of those that hold a text: for those who look
 * at a part of a log that may be far too large to send.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "blob/log_find.h"
#include "blob/log_reader.h"
#include "service/json_build.h"
#include "service/log_arrival.h"
#include "service/log_target.h"
#include "service/op_handlers.h"

enum {
    LINES_MAX = 5000,
    LINES_USUAL = 500,
    TEXT_MAX = 1 << 20, /* of an answer */
    LINE_CUT = 8 << 10, /* of a line */
    HITS_MAX = 10000,
    HITS_USUAL = 1000,
    SEARCH_US = 200000, /* who searches holds up others: the rest is for the next request */
};

/* Beyond all logs, and yet files can be asked for it. */
static const int64_t OFFSET_MAX = INT64_MAX / 2;

/* --- lines ----------------------------------------------------------------------------------- */

struct lines {
    struct strbuf text;
    json_t *cut;
    int64_t count;
    uint64_t number; /* of the last one */
    size_t length;   /* of what was taken of it */
};

/* Not within a character. */
static size_t whole_characters(const char *bytes, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)bytes[most] & 0xC0u) == 0x80u)
        most--;
    return most;
}

static void note_cut(struct lines *lines, const struct log_line *line, size_t length)
{
    size_t last = json_array_size(lines->cut);
    json_t *known = last > 0 ? json_array_get(lines->cut, last - 1) : NULL;
    if (known == NULL || json_get_int(known, "line", 0) != (int64_t)line->number) {
        known = json_build_object();
        json_put_int(known, "line", (int64_t)line->number);
        json_build_append(lines->cut, known);
    }
    json_put_int(known, "bytes", json_get_int(known, "bytes", 0) + (int64_t)length);
}

static bool take_line(void *context, const struct log_line *line)
{
    struct lines *lines = context;
    if (!line->continues) {
        if (lines->count > 0 && lines->text.length + line->length > TEXT_MAX)
            return false;
        if (lines->count++ > 0)
            strbuf_add_char(&lines->text, '\n');
        lines->length = 0;
    }
    size_t room = LINE_CUT - MIN(lines->length, (size_t)LINE_CUT);
    size_t taken = whole_characters(line->bytes, line->length, room);
    strbuf_add_bytes(&lines->text, line->bytes, taken);
    lines->length += taken;
    lines->number = line->number;
    if (taken < line->length)
        note_cut(lines, line, line->length - taken);
    return true;
}

static enum status put_lines(struct log_reader *reader, const json_t *request, json_t *out,
                             struct err *err)
{
    struct log_totals totals;
    struct lines lines = {.cut = json_build_array()};
    int64_t count = json_get_int(request, "count", LINES_USUAL);
    if (log_reader_totals(reader, &totals, err) != STATUS_OK) {
        json_decref(lines.cut);
        return err->code;
    }
    int64_t last_ones = MAX((int64_t)totals.lines - count + 1, (int64_t)1);
    int64_t first = json_get_int(request, "line", last_ones);
    strbuf_init(&lines.text, TEXT_MAX + 2 * LOG_PIECE_MAX);
    enum status status =
        log_reader_lines(reader, (uint64_t)first, (uint64_t)count, take_line, &lines, err);
    json_put_int(out, "first", first);
    json_put_int(out, "count", lines.count);
    json_put_int(out, "lines", (int64_t)MAX(totals.lines, lines.number));
    json_put_int(out, "size", (int64_t)totals.bytes);
    json_put(out, "text", json_text(lines.text.text, lines.text.length));
    json_put(out, "cut", lines.cut);
    strbuf_fini(&lines.text);
    return status;
}

static void put_no_lines(json_t *out)
{
    json_put_int(out, "first", 1);
    json_put_int(out, "count", 0);
    json_put_int(out, "lines", 0);
    json_put_int(out, "size", 0);
    json_put_string(out, "text", "");
    json_put(out, "cut", json_build_array());
}

/* --- a search -------------------------------------------------------------------------------- */

struct hits {
    json_t *lines;
    int64_t most;
    uint64_t last;
};

static bool take_hit(void *context, const struct log_line *line)
{
    struct hits *hits = context;
    if (line->number != hits->last)
        json_build_append(hits->lines, json_integer((json_int_t)line->number));
    hits->last = line->number;
    return (int64_t)json_array_size(hits->lines) < hits->most;
}

static enum status put_hits(struct log_reader *reader, const json_t *request, json_t *out,
                            struct err *err)
{
    struct hits hits = {.lines = json_build_array(),
                        .most = json_get_int(request, "limit", HITS_USUAL)};
    struct log_search_end end = {0};
    struct log_totals totals = {0};
    struct log_search search = {
        .text = json_get_string(request, "find", ""),
        .is_regex = json_get_bool(request, "regex", false),
        .ignore_case = json_get_bool(request, "ignore_case", false),
        .from = (uint64_t)MIN(json_get_int(request, "from", 0), OFFSET_MAX),
        .until_us = clock_mono_us() + SEARCH_US,
    };
    json_put(out, "hits", hits.lines);
    if (log_find(reader, &search, take_hit, &hits, &end, err) != STATUS_OK ||
        log_reader_totals(reader, &totals, err) != STATUS_OK)
        return err->code;
    json_put_int(out, "reached", (int64_t)end.reached);
    json_put_bool(out, "more", !end.is_at_end);
    json_put_int(out, "size", (int64_t)totals.bytes);
    return STATUS_OK;
}

static void put_no_hits(const json_t *request, json_t *out)
{
    json_put(out, "hits", json_build_array());
    json_put_int(out, "reached", json_get_int(request, "from", 0));
    json_put_bool(out, "more", false);
    json_put_int(out, "size", 0);
}

/* --- requests -------------------------------------------------------------------------------- */

static enum status check(const json_t *request, struct err *err)
{
    int64_t count = json_get_int(request, "count", LINES_USUAL);
    int64_t limit = json_get_int(request, "limit", HITS_USUAL);
    if (count < 0 || count > LINES_MAX)
        return err_set(err, STATUS_INVALID, "'count' is a number from 0 to %d", LINES_MAX);
    if (limit < 1 || limit > HITS_MAX)
        return err_set(err, STATUS_INVALID, "'limit' is a number from 1 to %d", HITS_MAX);
    if (json_get_int(request, "line", 1) < 1)
        return err_set(err, STATUS_INVALID, "'line' counts from 1");
    if (json_get_int(request, "from", 0) < 0)
        return err_set(err, STATUS_INVALID, "'from' counts from 0");
    const char *find = json_get_string(request, "find", NULL);
    if (find != NULL && find[0] == '\0')
        return err_set(err, STATUS_INVALID, "'find' is empty: there is nothing to look for");
    return STATUS_OK;
}

static enum status put_nothing(const json_t *request, bool is_search, json_t *out)
{
    if (is_search)
        put_no_hits(request, out);
    else
        put_no_lines(out);
    return STATUS_OK;
}

/* Lines, or hits if something is to be found; and whether more may come. */
static enum status answer(struct service *service, const json_t *request,
                          const struct log_target *log, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = json_build_object();
    CLEANUP(log_reader_closep) struct log_reader *reader = NULL;
    struct blob *blob = NULL;
    struct err problem = {0};
    bool is_search = json_object_get(request, "find") != NULL;
    bool is_live = log->attempt == log->task.attempt && !task_state_is_final(log->task.state);
    bool is_due = false;
    if (service_blob_if_any(service, &blob, err) != STATUS_OK ||
        (!is_live && log->attempt > 0 &&
         log_arrival_is_due(service, blob, &log->key, &log->task, &is_due, err) != STATUS_OK))
        return err->code;
    enum status status = blob != NULL && log->attempt > 0
                             ? log_reader_open(blob, &log->key, &reader, &problem)
                             : STATUS_NOT_FOUND;
    json_put_int(answer, "try_number", log->attempt);
    json_put_int(answer, "tries", log->task.attempt);
    json_put_bool(answer, "live", is_live || is_due);
    json_put_bool(answer, "removed",
                  status == STATUS_NOT_FOUND && !is_live && !is_due &&
                      log->attempt == log->task.attempt && log->task.log_bytes > 0);
    if (status == STATUS_OK)
        status = is_search ? put_hits(reader, request, answer, &problem)
                           : put_lines(reader, request, answer, &problem);
    else if (status == STATUS_NOT_FOUND)
        status = put_nothing(request, is_search, answer);
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    *out = TAKE(answer);
    return STATUS_OK;
}

enum status op_log_lines(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct log_target log = {0};
    if (check(request, err) != STATUS_OK ||
        log_target_task(service, arena, request, &log, err) != STATUS_OK)
        return err->code;
    return answer(service, request, &log, out, err);
}

enum status op_job_lines(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct log_target log = {0};
    if (check(request, err) != STATUS_OK ||
        log_target_job(service, arena, request, &log, err) != STATUS_OK)
        return err->code;
    return answer(service, request, &log, out, err);
}
