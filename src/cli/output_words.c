/*
 * Values that consist of others, in words: what a table shows where JSON has an object or a list of
 * them. What is absent, empty or false is left out.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/humanize.h"
#include "cli/output.h"

enum { WORDS_BYTES_MAX = 64 << 10, WORDS_DEPTH_MAX = 6 };

static bool is_said(const json_t *value)
{
    if (json_is_string(value))
        return json_string_length(value) > 0;
    if (json_is_object(value))
        return json_object_size(value) > 0;
    if (json_is_array(value))
        return json_array_size(value) > 0;
    return !json_is_null(value) && !json_is_false(value);
}

static void add_scalar(struct strbuf *out, const json_t *value)
{
    char text[HUMAN_MAX];
    int64_t at_us = 0;
    if (json_is_string(value)) {
        bool is_instant = strchr(json_string_value(value), 'T') != NULL &&
                          instant_parse(json_string_value(value), &at_us);
        strbuf_add(out, is_instant ? humanize_instant(at_us, text) : json_string_value(value));
        return;
    }
    CLEANUP(mem_freep) char *raw = json_format(value);
    strbuf_add(out, raw);
}

static void add_value(struct strbuf *out, const json_t *value, int depth);

/* "source dag id": members are named for programs. */
static void add_key(struct strbuf *out, const char *key)
{
    for (; *key != '\0'; key++)
        strbuf_add_char(out, *key == '_' ? ' ' : *key);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void add_object(struct strbuf *out, const json_t *object, int depth)
{
    const char *separator = "";
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)object, key, member)
    {
        bool is_unmapped = json_is_integer(member) && json_integer_value(member) < 0 &&
                           strstr(key, "map_index") != NULL;
        if (!is_said(member) || is_unmapped)
            continue;
        strbuf_add(out, separator);
        separator = ", ";
        add_key(out, key);
        if (json_is_true(member))
            continue;
        strbuf_add(out, json_is_object(member) || json_is_array(member) ? ": " : " ");
        add_value(out, member, depth);
    }
}

/* No deeper than a value can be nested usefully: the rest is shown as it is. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void add_value(struct strbuf *out, const json_t *value, int depth)
{
    if (depth >= WORDS_DEPTH_MAX || (!json_is_object(value) && !json_is_array(value))) {
        add_scalar(out, value);
        return;
    }
    if (json_is_object(value)) {
        strbuf_add(out, depth > 0 ? "(" : "");
        add_object(out, value, depth + 1);
        strbuf_add(out, depth > 0 ? ")" : "");
        return;
    }
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item)
    {
        strbuf_add(out, i == 0 ? "" : json_is_object(item) ? "; " : ", ");
        add_value(out, item, depth + 1);
    }
}

char *output_words(const json_t *value)
{
    struct strbuf out;
    strbuf_init(&out, WORDS_BYTES_MAX);
    add_value(&out, value, 0);
    return strbuf_take(&out);
}

char *output_counts(const json_t *counts)
{
    struct strbuf out;
    strbuf_init(&out, WORDS_BYTES_MAX);
    const char *separator = "";
    const char *key;
    json_t *count;
    json_object_foreach((json_t *)(uintptr_t)counts, key, count)
    {
        strbuf_add(&out, separator);
        add_scalar(&out, count);
        strbuf_addf(&out, " %s", key);
        separator = ", ";
    }
    return strbuf_take(&out);
}
