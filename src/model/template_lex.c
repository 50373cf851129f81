#include <stdlib.h>
#include <string.h>

#include "model/template_priv.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Places are asked for in the order of the text, so each byte is counted once. */
static struct template_fault place_of(struct lexer *lexer, const char *at)
{
    for (; lexer->mark < at; lexer->mark++) {
        if (*lexer->mark == '\n') {
            lexer->mark_place.line++;
            lexer->mark_place.column = 1;
        } else if (((unsigned char)*lexer->mark & 0xC0) != 0x80) {
            lexer->mark_place.column++;
        }
    }
    return lexer->mark_place;
}

static bool fail_at(struct lexer *lexer, const char *at, struct template_fault *fault,
                    struct err *err, const char *why)
{
    *fault = place_of(lexer, at);
    (void)err_set(err, STATUS_INVALID, "%s", why);
    return false;
}

/* The next of `{{ {% {#` at or after `p`, or the end. */
static const char *find_open(const char *p)
{
    for (;; p++) {
        p = strchrnul(p, '{');
        if (*p == '\0' || p[1] == '{' || p[1] == '%' || p[1] == '#')
            return p;
    }
}

static const char *skip_spaces(const char *p)
{
    while (is_space(*p))
        p++;
    return p;
}

/* `{%- word -%}` at `p`: the end of it, or NULL. */
static const char *match_tag(const char *p, const char *word, bool *out_trim)
{
    if (p[0] != '{' || p[1] != '%')
        return NULL;
    p += 2;
    if (*p == '-' || *p == '+')
        p++;
    p = skip_spaces(p);
    size_t length = strlen(word);
    if (strncmp(p, word, length) != 0)
        return NULL;
    p = skip_spaces(p + length);
    bool trim = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (p[0] != '%' || p[1] != '}')
        return NULL;
    *out_trim = trim;
    return p + 2;
}

static void set_text(struct lexer *lexer, struct token *out, const char *start, const char *end,
                     bool trim_end)
{
    while (trim_end && end > start && is_space(end[-1]))
        end--;
    *out = (struct token){.kind = TOKEN_TEXT,
                          .place = place_of(lexer, start),
                          .text = start,
                          .length = (size_t)(end - start)};
}

/* The text between {% raw %} and {% endraw %}; `body` is what follows the first. */
static bool lex_raw(struct lexer *lexer, const char *body, bool trim, struct token *out,
                    struct template_fault *fault, struct err *err)
{
    const char *start = trim ? skip_spaces(body) : body;
    for (const char *p = start;; p++) {
        p = strchrnul(p, '{');
        if (*p == '\0')
            return fail_at(lexer, lexer->cursor, fault, err,
                           "{% raw %} is never closed by {% endraw %}");
        const char *end = match_tag(p, "endraw", &lexer->trim);
        if (end == NULL)
            continue;
        set_text(lexer, out, start, p, p[2] == '-');
        lexer->cursor = end;
        return true;
    }
}

/* Past the comment that opens at `open`. */
static bool skip_comment(struct lexer *lexer, const char *open, struct template_fault *fault,
                         struct err *err)
{
    const char *end = strstr(open + 2, "#}");
    if (end == NULL)
        return fail_at(lexer, open, fault, err, "{# is never closed by #}");
    lexer->trim = end > open + 2 && end[-1] == '-';
    lexer->cursor = end + 2;
    return true;
}

/* `{{` or `{%` at `open`, with the sign after it. */
static bool lex_open(struct lexer *lexer, const char *open, struct token *out)
{
    bool tag = open[1] == '%';
    *out = (struct token){.kind = tag ? TOKEN_TAG : TOKEN_OUTPUT,
                          .place = place_of(lexer, open),
                          .text = open,
                          .length = 2};
    lexer->closes = tag ? '%' : '}';
    lexer->cursor = open + 2;
    if (*lexer->cursor == '-' || (tag && *lexer->cursor == '+'))
        lexer->cursor++;
    return true;
}

static bool lex_outside(struct lexer *lexer, struct token *out, struct template_fault *fault,
                        struct err *err)
{
    for (;;) {
        if (lexer->trim)
            lexer->cursor = skip_spaces(lexer->cursor);
        lexer->trim = false;
        const char *start = lexer->cursor;
        const char *open = find_open(start);
        if (open > start) {
            set_text(lexer, out, start, open, *open != '\0' && open[2] == '-');
            lexer->cursor = open;
            if (out->length > 0)
                return true;
        }
        if (*open == '\0') {
            *out = (struct token){.kind = TOKEN_END, .place = place_of(lexer, open)};
            return true;
        }
        if (open[1] != '#') {
            bool trim = false;
            const char *raw = match_tag(open, "raw", &trim);
            return raw != NULL ? lex_raw(lexer, raw, trim, out, fault, err)
                               : lex_open(lexer, open, out);
        }
        if (!skip_comment(lexer, open, fault, err))
            return false;
    }
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static char *put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (code & 0x3F));
    return to;
}

/* \xNN or \uNNNN after its letter: the code point, or -1. */
static int take_code(const char **cursor, int digits)
{
    int code = 0;
    for (int i = 0; i < digits; i++) {
        int value = hex_value((*cursor)[i]);
        if (value < 0)
            return -1;
        code = code * 16 + value;
    }
    *cursor += digits;
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code == 0 || surrogate ? -1 : code;
}

/* One escape after its backslash. Unknown ones stay as they are, as in Python. */
static bool take_escape(const char **cursor, char **to)
{
    static const char FROM[] = "ntr\\'\"abfv";
    static const char INTO[] = "\n\t\r\\'\"\a\b\f\v";
    char c = *(*cursor)++;
    if (c == 'x' || c == 'u') {
        int code = take_code(cursor, c == 'x' ? 2 : 4);
        if (code < 0)
            return false;
        *to = put_utf8(*to, (unsigned)code);
        return true;
    }
    const char *known = c != '\0' ? strchr(FROM, c) : NULL;
    if (known != NULL) {
        *(*to)++ = INTO[known - FROM];
    } else if (c != '\n') {
        *(*to)++ = '\\';
        *(*to)++ = c;
    }
    return true;
}

static bool lex_string(struct lexer *lexer, struct token *out, struct template_fault *fault,
                       struct err *err)
{
    const char *start = lexer->cursor;
    char quote = *start;
    const char *end = start + 1;
    while (*end != quote && *end != '\0')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    if (*end == '\0')
        return fail_at(lexer, start, fault, err, "the string is never closed");
    char *text = arena_alloc(lexer->arena, (size_t)(end - start));
    char *to = text;
    for (const char *p = start + 1; p < end;) {
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        const char *escape = p++;
        if (!take_escape(&p, &to))
            return fail_at(lexer, escape, fault, err, "bad escape in the string");
    }
    out->kind = TOKEN_STRING;
    out->text = text;
    out->length = (size_t)(to - text);
    lexer->cursor = end + 1;
    return true;
}

/* Digits with single underscores between them. */
static const char *skip_digits(const char *p)
{
    while (is_digit(*p) || (*p == '_' && is_digit(p[1])))
        p++;
    return p;
}

/* The end of the number at `p`; a fraction or an exponent makes it real. */
static const char *number_end(const char *p, bool *out_real)
{
    p = skip_digits(p);
    if (p[0] == '.' && is_digit(p[1])) {
        *out_real = true;
        p = skip_digits(p + 1);
    }
    const char *power = p + 1 + (p[0] != '\0' && (p[1] == '+' || p[1] == '-'));
    if ((*p == 'e' || *p == 'E') && is_digit(*power)) {
        *out_real = true;
        p = skip_digits(power);
    }
    return p;
}

static bool parse_integer(const char *digits, int64_t *out)
{
    for (const char *p = digits; *p != '\0'; p++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *p - '0', out))
            return false;
    return true;
}

static bool lex_number(struct lexer *lexer, struct token *out, struct template_fault *fault,
                       struct err *err)
{
    const char *start = lexer->cursor;
    bool real = false;
    const char *end = lexer->after_dot ? skip_digits(start) : number_end(start, &real);
    if (is_name_start(*end))
        return fail_at(lexer, start, fault, err, "bad number");
    char digits[64];
    size_t length = 0;
    for (const char *p = start; p < end; p++) {
        if (length + 1 == sizeof digits)
            return fail_at(lexer, start, fault, err, "the number is too long");
        if (*p != '_')
            digits[length++] = *p;
    }
    digits[length] = '\0';
    lexer->cursor = end;
    out->text = start;
    out->length = (size_t)(end - start);
    out->kind = real ? TOKEN_REAL : TOKEN_INTEGER;
    if (real) {
        out->real = strtod(digits, NULL);
        return __builtin_isfinite(out->real) ||
               fail_at(lexer, start, fault, err, "the number is too large");
    }
    if (length > 1 && digits[0] == '0')
        return fail_at(lexer, start, fault, err, "a number does not begin with 0");
    return parse_integer(digits, &out->integer) ||
           fail_at(lexer, start, fault, err, "the number does not fit into 64 bits");
}

/* `}}`, `-}}`, `%}`, `-%}` or `+%}` at the cursor, when it closes this tag. */
static bool lex_close(struct lexer *lexer, struct token *out)
{
    const char *p = lexer->cursor;
    bool trim = *p == '-';
    if (trim || (*p == '+' && lexer->closes == '%'))
        p++;
    if (lexer->brackets > 0 || p[0] != lexer->closes || p[1] != '}')
        return false;
    out->kind = TOKEN_CLOSE;
    out->text = p;
    out->length = 2;
    lexer->trim = trim;
    lexer->closes = 0;
    lexer->cursor = p + 2;
    return true;
}

static bool lex_sign(struct lexer *lexer, struct token *out, struct template_fault *fault,
                     struct err *err)
{
    static const char *const SIGNS[] = {
        "==", "!=", "<=", ">=", "//", "**", "<", ">", "=", "+", "-", "*", "/",
        "%",  "~",  "|",  "(",  ")",  "[",  "]", "{", "}", ".", ",", ":",
    };
    for (size_t i = 0; i < ARRAY_LEN(SIGNS); i++) {
        size_t length = strlen(SIGNS[i]);
        if (strncmp(lexer->cursor, SIGNS[i], length) != 0)
            continue;
        out->kind = TOKEN_SIGN;
        out->text = SIGNS[i];
        out->length = length;
        lexer->cursor += length;
        char c = SIGNS[i][0];
        if (c == '(' || c == '[' || c == '{')
            lexer->brackets++;
        else if ((c == ')' || c == ']' || c == '}') && lexer->brackets > 0)
            lexer->brackets--;
        return true;
    }
    return fail_at(lexer, lexer->cursor, fault, err, "unexpected character in an expression");
}

static bool lex_inside(struct lexer *lexer, struct token *out, struct template_fault *fault,
                       struct err *err)
{
    lexer->cursor = skip_spaces(lexer->cursor);
    const char *p = lexer->cursor;
    *out = (struct token){.place = place_of(lexer, p)};
    if (*p == '\0')
        return fail_at(lexer, p, fault, err,
                       lexer->closes == '}' ? "the text ends inside of {{ ..: }} is missing"
                                            : "the text ends inside of {% ..: %} is missing");
    if (lex_close(lexer, out))
        return true;
    if (*p == '\'' || *p == '"')
        return lex_string(lexer, out, fault, err);
    if (is_digit(*p))
        return lex_number(lexer, out, fault, err);
    if (!is_name_start(*p))
        return lex_sign(lexer, out, fault, err);
    while (is_name_start(*p) || is_digit(*p))
        p++;
    out->kind = TOKEN_NAME;
    out->length = (size_t)(p - lexer->cursor);
    out->text = arena_strndup(lexer->arena, lexer->cursor, out->length);
    lexer->cursor = p;
    return true;
}

bool lexer_next(struct lexer *lexer, struct token *out, struct template_fault *fault,
                struct err *err)
{
    if (lexer->closes == 0) {
        lexer->brackets = 0;
        return lex_outside(lexer, out, fault, err);
    }
    if (!lex_inside(lexer, out, fault, err))
        return false;
    lexer->after_dot = out->kind == TOKEN_SIGN && out->text[0] == '.';
    return true;
}
