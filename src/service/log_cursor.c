#include "service/log_cursor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"

enum { PLACE_TEXT_MAX = 64 };

void log_cursor_fini(struct log_cursor *cursor)
{
    free(cursor->open);
    *cursor = (struct log_cursor){0};
}

void log_cursor_keep(struct log_cursor *cursor, const struct log_place *place)
{
    if (cursor->count >= LOG_CURSOR_OPEN_MAX)
        return;
    cursor->open = mem_grow(cursor->open, &cursor->capacity, cursor->count, sizeof *cursor->open);
    cursor->open[cursor->count++] = *place;
}

char *log_cursor_format(const struct log_cursor *cursor)
{
    struct strbuf text;
    strbuf_init(&text, (LOG_CURSOR_OPEN_MAX + 1) * (size_t)PLACE_TEXT_MAX);
    strbuf_addf(&text, "%lld", (long long)cursor->next);
    for (size_t i = 0; i < cursor->count; i++)
        strbuf_addf(&text, ";%lld:%lld:%lld", (long long)cursor->open[i].task,
                    (long long)cursor->open[i].attempt, (long long)cursor->open[i].offset);
    return strbuf_take(&text);
}

/* The number at *at, which must be followed by one of `ends`; moves on to that. */
static bool take_number(const char **at, const char *ends, int64_t *out)
{
    char number[32];
    size_t length = strcspn(*at, ends);
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, *at, length);
    number[length] = '\0';
    *at += length;
    return str_parse_i64(number, 0, INT64_MAX, out);
}

static bool take_place(const char **at, struct log_place *out)
{
    if (!take_number(at, ":;", &out->task) || *(*at)++ != ':')
        return false;
    if (!take_number(at, ":;", &out->attempt) || *(*at)++ != ':')
        return false;
    return take_number(at, ";", &out->offset);
}

static bool parse(const char *text, struct log_cursor *cursor)
{
    const char *at = text;
    if (!take_number(&at, ";", &cursor->next))
        return false;
    while (*at == ';') {
        struct log_place place;
        at++;
        if (cursor->count >= LOG_CURSOR_OPEN_MAX || !take_place(&at, &place))
            return false;
        log_cursor_keep(cursor, &place);
    }
    return *at == '\0';
}

enum status log_cursor_parse(const char *text, struct log_cursor *out, struct err *err)
{
    struct log_cursor cursor = {0};
    if (!parse(text, &cursor)) {
        log_cursor_fini(&cursor);
        return err_set(err, STATUS_INVALID, "'cursor' is not one that was given out");
    }
    *out = cursor;
    return STATUS_OK;
}
