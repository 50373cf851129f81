/*
 * The two text forms that need care: YAML, where a plain scalar may mean something else, and
 * CSV (RFC 4180).
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "cli/output.h"

void output_csv_field(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL && text[0] != ' ') {
        (void)fputs(text, stream);
        return;
    }
    (void)fputc('"', stream);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"')
            (void)fputc('"', stream);
        (void)fputc(*p, stream);
    }
    (void)fputc('"', stream);
}

/*
 * A text is plain only if no reader can take it for anything else: words of letters, digits and
 * a few signs that start with a letter and are not one of the words of YAML 1.1 or 1.2.
 */
static bool is_plain(const char *text)
{
    static const char *const WORDS[] = {"y",  "n",   "yes", "no",    "true",
                                        "on", "off", "nan", "false", "null"};
    if (!isalpha((unsigned char)text[0]))
        return false;
    for (const char *p = text; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("_-./+", *p) == NULL)
            return false;
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (strcasecmp(WORDS[i], text) == 0)
            return false;
    return true;
}

/* JSON's quoted form is valid YAML. */
static void print_quoted(FILE *stream, const json_t *scalar)
{
    CLEANUP(mem_freep) char *text = json_format(scalar);
    (void)fputs(text, stream);
}

static void print_key(FILE *stream, const char *key)
{
    if (is_plain(key)) {
        (void)fputs(key, stream);
        return;
    }
    json_t *text = json_text(key, strlen(key));
    print_quoted(stream, text);
    json_decref(text);
}

static void print_scalar(FILE *stream, const json_t *value)
{
    if (json_is_object(value))
        (void)fputs("{}", stream);
    else if (json_is_array(value))
        (void)fputs("[]", stream);
    else if (json_is_string(value) && is_plain(json_string_value(value)))
        (void)fputs(json_string_value(value), stream);
    else
        print_quoted(stream, value);
}

static bool is_filled(const json_t *value)
{
    return json_object_size(value) > 0 || json_array_size(value) > 0;
}

/* One container being printed; a level is deeper than its parent by one step of indentation. */
struct level {
    json_t *container;
    void *member;      /* iterator of an object, NULL at its end */
    size_t index;      /* of an array */
    bool inline_first; /* the first entry stands on the line of a dash */
};

static void start_entry(FILE *stream, struct level *level, size_t depth)
{
    if (level->inline_first)
        level->inline_first = false;
    else
        (void)fprintf(stream, "%*s", (int)(2 * depth), "");
}

/* Takes the next entry: prints its key or dash and gives its value; NULL after the last. */
static json_t *next_entry(FILE *stream, struct level *level, size_t depth)
{
    if (json_is_array(level->container)) {
        json_t *value = json_array_get(level->container, level->index);
        if (value == NULL)
            return NULL;
        level->index++;
        start_entry(stream, level, depth);
        (void)fputs("-", stream);
        return value;
    }
    if (level->member == NULL)
        return NULL;
    json_t *value = json_object_iter_value(level->member);
    start_entry(stream, level, depth);
    print_key(stream, json_object_iter_key(level->member));
    (void)fputs(":", stream);
    level->member = json_object_iter_next(level->container, level->member);
    return value;
}

void output_yaml(FILE *stream, const json_t *value)
{
    if (!is_filled(value)) {
        print_scalar(stream, value);
        (void)fputc('\n', stream);
        return;
    }
    /* jansson has no iterator over const objects; nothing is changed. */
    json_t *root = (json_t *)(uintptr_t)value;
    CLEANUP(mem_freep) struct level *levels = mem_zalloc(JSON_DEPTH_MAX + 2, sizeof *levels);
    size_t depth = 0;
    levels[0] = (struct level){.container = root, .member = json_object_iter(root)};
    for (;;) {
        struct level *level = &levels[depth];
        json_t *item = next_entry(stream, level, depth);
        if (item == NULL) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        if (!is_filled(item) || depth >= JSON_DEPTH_MAX) {
            (void)fputc(' ', stream);
            is_filled(item) ? print_quoted(stream, item) : print_scalar(stream, item);
            (void)fputc('\n', stream);
            continue;
        }
        bool dash = json_is_array(level->container);
        (void)fputs(dash ? " " : "\n", stream);
        levels[++depth] = (struct level){
            .container = item, .member = json_object_iter(item), .inline_first = dash};
    }
}
