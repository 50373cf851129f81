#include "blob/log_find.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "blob/log_pattern.h"

/* Large enough that asking for it costs little, small enough to stay in the cache. */
enum { BLOCK = 256 << 10 };

/* --- a text as it is ------------------------------------------------------------------------- */

struct text_search {
    struct log_reader *reader;
    const struct log_search *search;
    log_line_fn fn;
    void *context;
    char *needle;
    size_t needle_length;
    char *block;
    uint64_t offset;                /* of the block */
    size_t length;                  /* of what is in it */
    struct log_place_of_line known; /* the line of the last match; 0: none so far */
    bool is_stopped;
};

/* Eight letters at once: byte by byte this would take longer than the search itself. */
static uint64_t fold_eight(uint64_t bytes)
{
    const uint64_t EACH = 0x0101010101010101u;
    uint64_t low = bytes & (0x7Fu * EACH);
    uint64_t from_a = low + (0x80u - 'A') * EACH;
    uint64_t beyond_z = low + (0x7Fu - 'Z') * EACH;
    uint64_t upper = ~bytes & (from_a ^ beyond_z) & (0x80u * EACH);
    return bytes | (upper >> 2); /* 0x20 tells 'a' from 'A' */
}

static void fold_case(char *bytes, size_t length)
{
    uint64_t eight = 0;
    size_t i = 0;
    for (; i + sizeof eight <= length; i += sizeof eight) {
        memcpy(&eight, bytes + i, sizeof eight);
        eight = fold_eight(eight);
        memcpy(bytes + i, &eight, sizeof eight);
    }
    memcpy(&eight, bytes + i, length - i);
    eight = fold_eight(eight);
    memcpy(bytes + i, &eight, length - i);
}

static uint64_t count_newlines(const char *from, const char *to)
{
    uint64_t count = 0;
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        count++;
        from++;
    }
    return count;
}

/* Where the line of a match begins, and its number. Near the match before it is counted on. */
static enum status place_match(struct text_search *text, const char *match,
                               struct log_place_of_line *out, struct err *err)
{
    const char *newline = memrchr(text->block, '\n', (size_t)(match - text->block));
    uint64_t start = newline == NULL ? 0 : text->offset + (uint64_t)(newline + 1 - text->block);
    if (newline == NULL || text->known.number == 0 || text->known.start < text->offset)
        return log_reader_line_at(text->reader, text->offset + (uint64_t)(match - text->block), out,
                                  err);
    const char *from = text->block + (text->known.start - text->offset);
    *out = (struct log_place_of_line){
        .number = text->known.number + count_newlines(from, newline + 1), .start = start};
    return STATUS_OK;
}

/* Tells of every line of the block that matches, once. */
static enum status search_block(struct text_search *text, struct err *err)
{
    const char *end = text->block + text->length;
    const char *from = text->block;
    while (from < end) {
        struct log_place_of_line place;
        const char *match = memmem(from, (size_t)(end - from), text->needle, text->needle_length);
        if (match == NULL)
            break;
        if (place_match(text, match, &place, err) != STATUS_OK)
            return err->code;
        bool is_known = text->known.number == place.number;
        text->known = place;
        const char *newline = memchr(match, '\n', (size_t)(end - match));
        from = newline == NULL ? end : newline + 1;
        struct log_line line = {.number = place.number, .offset = place.start};
        if (!is_known && !text->fn(text->context, &line)) {
            text->is_stopped = true;
            text->length = (size_t)(from - text->block);
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

/* The next block begins with the last line of this one that is not whole, unless that fills it. */
static uint64_t next_block(const struct text_search *text)
{
    const char *newline = memrchr(text->block, '\n', text->length);
    if (newline != NULL)
        return text->offset + (uint64_t)(newline + 1 - text->block);
    return text->offset + text->length - MIN(text->length, text->needle_length - 1);
}

static enum status search_text(struct text_search *text, struct log_search_end *out,
                               struct err *err)
{
    for (;;) {
        if (log_reader_bytes(text->reader, text->offset, text->block, BLOCK, &text->length, err) !=
            STATUS_OK)
            return err->code;
        bool is_last = text->length < BLOCK;
        if (text->search->ignore_case)
            fold_case(text->block, text->length);
        if (search_block(text, err) != STATUS_OK)
            return err->code;
        out->is_at_end = is_last && !text->is_stopped;
        /* A last line that still grows is looked at again. */
        out->reached = text->length == 0 ? text->offset : next_block(text);
        if (text->is_stopped || is_last || clock_mono_us() >= text->search->until_us)
            return STATUS_OK;
        text->offset = out->reached;
    }
}

static enum status find_text(struct log_reader *reader, const struct log_search *search,
                             log_line_fn fn, void *context, struct log_search_end *out,
                             struct err *err)
{
    CLEANUP(mem_freep) char *needle = mem_strdup(search->text);
    CLEANUP(mem_freep) char *block = mem_alloc(BLOCK);
    struct text_search text = {.reader = reader,
                               .search = search,
                               .fn = fn,
                               .context = context,
                               .needle = needle,
                               .needle_length = strlen(needle),
                               .block = block,
                               .offset = search->from};
    if (search->ignore_case)
        fold_case(needle, text.needle_length);
    return search_text(&text, out, err);
}

/* --- a regular expression -------------------------------------------------------------------- */

struct regex_search {
    const struct log_search *search;
    const regex_t *regex;
    log_line_fn fn;
    void *context;
    struct log_search_end *end;
};

/*
 * Some patterns take long over a single line: the clock is looked at after each. A last line that
 * still grows is looked at again, unless it was told already.
 */
static bool try_line(void *context, const struct log_line *line)
{
    struct regex_search *regex = context;
    regmatch_t where = {.rm_so = 0, .rm_eo = (regoff_t)line->length};
    struct log_line found = {.number = line->number, .offset = line->offset};
    bool is_hit = regexec(regex->regex, line->bytes, 1, &where, REG_STARTEND) == 0;
    bool is_stopped = is_hit && !regex->fn(regex->context, &found);
    bool is_late = clock_mono_us() >= regex->search->until_us;
    bool is_growing = !line->ends && line->length < LOG_PIECE_MAX && !is_hit;
    regex->end->reached =
        is_growing ? line->offset : line->offset + line->length + (line->ends ? 1 : 0);
    regex->end->is_at_end = !is_stopped && (!is_late || is_growing);
    return regex->end->is_at_end;
}

static enum status find_regex(struct log_reader *reader, const struct log_search *search,
                              log_line_fn fn, void *context, struct log_search_end *out,
                              struct err *err)
{
    regex_t compiled;
    struct log_place_of_line from;
    struct regex_search regex = {
        .search = search, .regex = &compiled, .fn = fn, .context = context, .end = out};
    if (log_pattern_check(search->text, err) != STATUS_OK ||
        log_reader_line_at(reader, search->from, &from, err) != STATUS_OK)
        return err->code;
    /* Within a very long line it goes on with the next piece: from its start it might never end. */
    from.start = search->from;
    int failure = regcomp(&compiled, search->text,
                          REG_EXTENDED | REG_NOSUB | (search->ignore_case ? REG_ICASE : 0));
    if (failure != 0) {
        char reason[128];
        (void)regerror(failure, &compiled, reason, sizeof reason);
        return err_set(err, STATUS_INVALID, "pattern '%s': %s", search->text, reason);
    }
    out->is_at_end = true;
    enum status status = log_reader_from(reader, &from, try_line, &regex, err);
    regfree(&compiled);
    return status;
}

enum status log_find(struct log_reader *reader, const struct log_search *search, log_line_fn fn,
                     void *context, struct log_search_end *out, struct err *err)
{
    CHECK(search->text[0] != '\0');
    if (strlen(search->text) > LOG_PATTERN_MAX)
        return err_set(err, STATUS_LIMIT, "the text is longer than %d bytes", LOG_PATTERN_MAX);
    *out = (struct log_search_end){.reached = search->from};
    return search->is_regex ? find_regex(reader, search, fn, context, out, err)
                            : find_text(reader, search, fn, context, out, err);
}
