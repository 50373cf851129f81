#include "base/log.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/strbuf.h"

enum { LINE_MAX_BYTES = 8192, LINE_END_BYTES = 16 };

static const char *const NAMES[] = {"error", "warn", "info", "debug"};
_Static_assert(ARRAY_LEN(NAMES) == LOG_LEVEL_COUNT, "every level has a name");

static _Atomic(enum log_level) most_verbose_level = LOG_WARN;
static atomic_bool as_json;

void log_configure(enum log_level most_verbose, bool json)
{
    CHECK(most_verbose < LOG_LEVEL_COUNT);
    most_verbose_level = most_verbose;
    as_json = json;
}

bool log_is_on(enum log_level level)
{
    return level <= most_verbose_level;
}

static void add_quoted(struct strbuf *line, const char *text)
{
    json_t *value = json_text(text, strlen(text));
    char *quoted = json_format(value);
    strbuf_add(line, quoted);
    free(quoted);
    json_decref(value);
}

static void add_value(struct strbuf *line, const struct log_field *field)
{
    if (field->text == NULL)
        strbuf_addf(line, "%" PRId64, field->number);
    else
        add_quoted(line, field->text);
}

/* The form of a line: what stands around its parts. */
struct form {
    const char *key_before;
    const char *key_after;
    const char *cut; /* instead of the first field that does not fit, and those after it */
    const char *end;
};

static const struct form TEXT_FORM = {" ", "=", " cut=true", "\n"};
static const struct form JSON_FORM = {",\"", "\":", ",\"cut\":true", "}\n"};

static void add_fields(struct strbuf *line, const struct form *form, const struct log_field *fields)
{
    for (; fields->key != NULL; fields++) {
        size_t before = line->length;
        strbuf_addf(line, "%s%s%s", form->key_before, fields->key, form->key_after);
        add_value(line, fields);
        if (line->length <= LINE_MAX_BYTES - LINE_END_BYTES)
            continue;
        strbuf_truncate(line, before);
        strbuf_add(line, form->cut);
        break;
    }
    strbuf_add(line, form->end);
}

static void add_json(struct strbuf *line, const char *at, const char *level, const char *event,
                     const struct log_field *fields)
{
    strbuf_addf(line, "{\"at\":\"%s\",\"level\":\"%s\",\"event\":", at, level);
    add_quoted(line, event);
    add_fields(line, &JSON_FORM, fields);
}

static void add_text(struct strbuf *line, const char *at, const char *level, const char *event,
                     const struct log_field *fields)
{
    strbuf_addf(line, "%s %-5s %s", at, level, event);
    add_fields(line, &TEXT_FORM, fields);
}

void log_write(enum log_level level, const char *event, const struct log_field *fields)
{
    CHECK(level < LOG_LEVEL_COUNT);
    if (!log_is_on(level))
        return;
    char at[INSTANT_TEXT_MAX];
    (void)instant_format(clock_wall_us(), at);
    struct strbuf line;
    strbuf_init(&line, LINE_MAX_BYTES);
    (as_json ? add_json : add_text)(&line, at, NAMES[level], event, fields);
    /* One write per line, so that lines of several threads and processes do not mix. */
    ssize_t ignored = write(STDERR_FILENO, line.text, line.length);
    (void)ignored;
    strbuf_fini(&line);
}
