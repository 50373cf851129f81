#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "model/limits.h"
#include "model/pattern.h"
#include "model/template_filter_priv.h"

static char to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Bytes of characters outside of ASCII count as letters: they never end a word. */
static bool is_letter(char c)
{
    return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (unsigned char)c >= 0x80;
}

enum letter_case { CASE_UPPER, CASE_LOWER, CASE_CAPITAL, CASE_TITLE };

/* Jinja's title begins a word after space or one of -([{< */
static json_t *change_case(struct call *call, enum letter_case to)
{
    struct strbuf text;
    (void)call_self_text(call, &text);
    bool start = true;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        bool upper =
            to == CASE_UPPER || (to == CASE_CAPITAL && i == 0) || (to == CASE_TITLE && start);
        text.text[i] = upper ? to_upper(c) : to_lower(c);
        start = strchr("-([{< \t\n\r\f\v", c) != NULL;
    }
    return eval_take_text(call->eval, &text);
}

json_t *filter_upper(struct call *call)
{
    return change_case(call, CASE_UPPER);
}

json_t *filter_lower(struct call *call)
{
    return change_case(call, CASE_LOWER);
}

json_t *filter_capitalize(struct call *call)
{
    return change_case(call, CASE_CAPITAL);
}

json_t *filter_title(struct call *call)
{
    return change_case(call, CASE_TITLE);
}

json_t *filter_string(struct call *call)
{
    struct strbuf text;
    (void)call_self_text(call, &text);
    return eval_take_text(call->eval, &text);
}

static const char SPACES[] = " \t\n\r\f\v";

json_t *filter_trim(struct call *call)
{
    const char *chars = NULL;
    if (!call_text(call, 0, SPACES, &chars))
        return NULL;
    CLEANUP(strbuf_fini) struct strbuf text;
    const char *start = call_self_text(call, &text);
    const char *end = start + text.length;
    while (start < end && strchr(chars, *start) != NULL)
        start++;
    while (end > start && strchr(chars, end[-1]) != NULL)
        end--;
    return eval_text(call->eval, start, (size_t)(end - start));
}

/* With an empty `old`, Python puts `new` around every character. */
static void replace_between(struct strbuf *out, const struct strbuf *text, const char *new,
                            int64_t count)
{
    for (size_t i = 0; i <= text->length; i++) {
        bool boundary = i == text->length || ((unsigned char)text->text[i] & 0xC0) != 0x80;
        if (boundary && count-- > 0)
            strbuf_add(out, new);
        if (i < text->length)
            strbuf_add_char(out, text->text[i]);
    }
}

json_t *filter_replace(struct call *call)
{
    const char *old = NULL;
    const char *new = NULL;
    int64_t count = 0;
    if (!call_text(call, 0, "", &old) || !call_text(call, 1, "", &new) ||
        !call_integer(call, 2, INT64_MAX, &count))
        return NULL;
    if (count < 0)
        count = INT64_MAX;
    CLEANUP(strbuf_fini) struct strbuf text;
    const char *cursor = call_self_text(call, &text);
    struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    size_t length = strlen(old);
    if (length == 0) {
        replace_between(&out, &text, new, count);
        return eval_take_text(call->eval, &out);
    }
    for (; count > 0 && !out.overflow; count--) {
        const char *found = strstr(cursor, old);
        if (found == NULL)
            break;
        strbuf_add_bytes(&out, cursor, (size_t)(found - cursor));
        strbuf_add(&out, new);
        cursor = found + length;
    }
    strbuf_add(&out, cursor);
    return eval_take_text(call->eval, &out);
}

static void add_part(json_t *parts, const char *start, size_t length)
{
    CHECK(json_array_append_new(parts, json_text(start, length)) == 0);
}

static void split_at_spaces(json_t *parts, const char *cursor, int64_t most)
{
    for (;;) {
        cursor += strspn(cursor, SPACES);
        if (*cursor == '\0')
            return;
        size_t length = most-- > 0 ? strcspn(cursor, SPACES) : strlen(cursor);
        add_part(parts, cursor, length);
        cursor += length;
    }
}

json_t *filter_split(struct call *call)
{
    const char *separator = NULL;
    int64_t most = 0;
    if (!call_text(call, 0, NULL, &separator) || !call_integer(call, 1, -1, &most))
        return NULL;
    if (!json_is_string(call->self))
        return call_wrong_self(call, "a text");
    if (separator != NULL && separator[0] == '\0')
        return eval_fail(call->eval, STATUS_INVALID, "'split' needs a separator that is not empty");
    if (!eval_charge(call->eval, 1 + json_string_length(call->self)))
        return NULL;
    if (most < 0)
        most = INT64_MAX;
    json_t *parts = json_array();
    const char *cursor = json_string_value(call->self);
    if (separator == NULL) {
        split_at_spaces(parts, cursor, most);
        return eval_container(call->eval, parts);
    }
    for (const char *found = strstr(cursor, separator); found != NULL && most > 0; most--) {
        add_part(parts, cursor, (size_t)(found - cursor));
        cursor = found + strlen(separator);
        found = strstr(cursor, separator);
    }
    add_part(parts, cursor, strlen(cursor));
    return eval_container(call->eval, parts);
}

json_t *filter_indent(struct call *call)
{
    int64_t width = 0;
    const char *prefix = NULL;
    if (json_is_string(call->args[0]))
        prefix = json_string_value(call->args[0]);
    else if (!call_integer(call, 0, 4, &width))
        return NULL;
    if (width < 0 || width > 1000)
        return eval_fail(call->eval, STATUS_INVALID, "'indent' needs a width of 0 to 1000");
    bool first = call_flag(call, 1, false);
    bool blank = call_flag(call, 2, false);
    CLEANUP(strbuf_fini) struct strbuf text;
    (void)call_self_text(call, &text);
    struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    bool line_start = true;
    bool indent = first;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (line_start && indent && (c != '\n' || blank)) {
            strbuf_add(&out, prefix != NULL ? prefix : "");
            strbuf_add_repeat(&out, ' ', (size_t)width);
        }
        line_start = c == '\n';
        indent = indent || line_start;
        strbuf_add_char(&out, c);
    }
    return eval_take_text(call->eval, &out);
}

json_t *filter_truncate(struct call *call)
{
    int64_t length = 0;
    int64_t leeway = 0;
    const char *end = NULL;
    if (!call_integer(call, 0, 255, &length) || !call_text(call, 2, "...", &end) ||
        !call_integer(call, 3, 5, &leeway))
        return NULL;
    int64_t tail = (int64_t)utf8_count(end, strlen(end));
    if (length < tail || leeway < 0 || leeway > LIMIT_RENDERED_BYTES)
        return eval_fail(call->eval, STATUS_INVALID,
                         "'truncate' needs a length of at least %d and a leeway that is not "
                         "negative",
                         (int)tail);
    struct strbuf text;
    (void)call_self_text(call, &text);
    if ((int64_t)utf8_count(text.text, text.length) <= MIN(length, (int64_t)INT32_MAX) + leeway)
        return eval_take_text(call->eval, &text);
    size_t cut = utf8_offset(text.text, text.length, (size_t)(length - tail));
    strbuf_truncate(&text, cut);
    if (!call_flag(call, 1, false)) {
        const char *space = strrchr(text.text, ' ');
        if (space != NULL)
            strbuf_truncate(&text, (size_t)(space - text.text));
    }
    strbuf_add(&text, end);
    return eval_take_text(call->eval, &text);
}

/* ---- Shell, paths, URLs ---- */

/* Inside single quotes nothing is special but the quote itself. */
static void add_shell_word(struct strbuf *out, const json_t *value)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, LIMIT_RENDERED_BYTES);
    value_add_text(&text, value);
    static const char SAFE[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
    if (text.length > 0 && strspn(text.text, SAFE) == text.length) {
        strbuf_add(out, text.text);
        return;
    }
    strbuf_add_char(out, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_add_char(out, text.text[i]);
    }
    strbuf_add_char(out, '\'');
}

json_t *filter_sh(struct call *call)
{
    struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    if (!json_is_array(call->self)) {
        add_shell_word(&out, call->self);
        return eval_take_text(call->eval, &out);
    }
    for (size_t i = 0; i < json_array_size(call->self) && !out.overflow; i++) {
        strbuf_add(&out, i > 0 ? " " : "");
        add_shell_word(&out, json_array_get(call->self, i));
    }
    return eval_take_text(call->eval, &out);
}

/* A path as POSIX basename and dirname see it: trailing slashes do not count. */
struct path_parts {
    size_t dir_length; /* 0: none */
    const char *base;
    size_t base_length;
};

static struct path_parts split_path(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    size_t dir = start;
    while (dir > 1 && path[dir - 1] == '/')
        dir--;
    if (length == 1 && path[0] == '/')
        return (struct path_parts){1, path, 1};
    return (struct path_parts){dir, path + start, length - start};
}

json_t *filter_basename(struct call *call)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    (void)call_self_text(call, &text);
    struct path_parts parts = split_path(text.text, text.length);
    return eval_text(call->eval, parts.base, parts.base_length);
}

json_t *filter_dirname(struct call *call)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    (void)call_self_text(call, &text);
    struct path_parts parts = split_path(text.text, text.length);
    return parts.dir_length > 0 ? eval_text(call->eval, text.text, parts.dir_length)
                                : eval_text(call->eval, ".", 1);
}

json_t *filter_stem(struct call *call)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    (void)call_self_text(call, &text);
    struct path_parts parts = split_path(text.text, text.length);
    size_t length = parts.base_length;
    for (size_t i = parts.base_length; i > 1; i--) {
        if (parts.base[i - 1] == '.') {
            length = i - 1;
            break;
        }
    }
    return eval_text(call->eval, parts.base, length);
}

/* In a query a space is '+' and a slash is escaped; in a path it is the other way round. */
static void add_url(struct strbuf *out, const json_t *value, bool query)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, LIMIT_RENDERED_BYTES);
    value_add_text(&text, value);
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        bool plain = (is_letter(c) && (unsigned char)c < 0x80) || (c >= '0' && c <= '9') ||
                     strchr(query ? "_.-~" : "_.-~/", c) != NULL;
        if (plain || (query && c == ' '))
            strbuf_add_char(out, plain ? c : '+');
        else
            strbuf_addf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

json_t *filter_urlencode(struct call *call)
{
    struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    if (!json_is_object(call->self)) {
        add_url(&out, call->self, false);
        return eval_take_text(call->eval, &out);
    }
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(call->self, key, value)
    {
        strbuf_add(&out, out.length > 0 ? "&" : "");
        CLEANUP(json_decrefp) json_t *name = json_string(key);
        add_url(&out, name, true);
        strbuf_add_char(&out, '=');
        add_url(&out, value, true);
    }
    return eval_take_text(call->eval, &out);
}

/* ---- base64 ---- */

json_t *filter_b64encode(struct call *call)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    const char *bytes = call_self_text(call, &text);
    struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    base64_encode(&out, bytes, text.length);
    return eval_take_text(call->eval, &out);
}

json_t *filter_b64decode(struct call *call)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    (void)call_self_text(call, &text);
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    if (!base64_decode(&out, text.text, text.length))
        return eval_fail(call->eval, STATUS_INVALID, "'b64decode': this is not base64");
    return eval_take_text(call->eval, &out);
}

/* ---- Regular expressions ---- */

json_t *filter_regex_match(struct call *call)
{
    CLEANUP(pattern_fini) struct pattern pattern = {0};
    CLEANUP(strbuf_fini) struct strbuf text;
    const char *expression = NULL;
    bool found = false;
    const char *subject = call_self_text(call, &text);
    if (!call_text(call, 0, "", &expression) || !eval_charge(call->eval, 1000 + text.length))
        return NULL;
    struct err err = {0};
    if (pattern_init(&pattern, expression, &err) != STATUS_OK ||
        pattern_find(&pattern, subject, NULL, 0, &found, &err) != STATUS_OK)
        return eval_fail(call->eval, err.code, "'regex_match': %s", err.text);
    return json_boolean(found);
}

/* `with`, where \0 to \9 stand for groups of the match. */
static void add_replacement(struct strbuf *out, const char *with, const char *subject,
                            const regmatch_t *groups)
{
    for (const char *p = with; *p != '\0'; p++) {
        if (*p == '\\' && p[1] >= '0' && p[1] <= '9') {
            const regmatch_t *group = &groups[*++p - '0'];
            if (group->rm_so >= 0)
                strbuf_add_bytes(out, subject + group->rm_so,
                                 (size_t)(group->rm_eo - group->rm_so));
        } else {
            p += *p == '\\' && p[1] == '\\';
            strbuf_add_char(out, *p);
        }
    }
}

json_t *filter_regex_replace(struct call *call)
{
    CLEANUP(pattern_fini) struct pattern pattern = {0};
    CLEANUP(strbuf_fini) struct strbuf text;
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    const char *expression = NULL;
    const char *with = NULL;
    const char *cursor = call_self_text(call, &text);
    if (!call_text(call, 0, "", &expression) || !call_text(call, 1, "", &with))
        return NULL;
    struct err err = {0};
    if (pattern_init(&pattern, expression, &err) != STATUS_OK)
        return eval_fail(call->eval, err.code, "'regex_replace': %s", err.text);
    bool anchored = expression[0] == '^';
    for (;;) {
        regmatch_t groups[10];
        bool found = false;
        if (!eval_charge(call->eval, 1000 + strlen(cursor)))
            return NULL;
        if (pattern_find(&pattern, cursor, groups, ARRAY_LEN(groups), &found, &err) != STATUS_OK)
            return eval_fail(call->eval, err.code, "'regex_replace': %s", err.text);
        if (!found)
            break;
        strbuf_add_bytes(&out, cursor, (size_t)groups[0].rm_so);
        add_replacement(&out, with, cursor, groups);
        bool empty = groups[0].rm_so == groups[0].rm_eo;
        cursor += groups[0].rm_eo;
        if (*cursor == '\0' || anchored)
            break;
        if (empty)
            strbuf_add_char(&out, *cursor++);
    }
    strbuf_add(&out, cursor);
    return eval_take_text(call->eval, &out);
}
