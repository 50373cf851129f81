#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "model/limits.h"
#include "model/template_priv.h"

bool parser_advance(struct parser *parser)
{
    return lexer_next(&parser->lexer, &parser->token, parser->fault, parser->err);
}

bool parser_fail(struct parser *parser, enum status code, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CHECK(length >= 0);
    (void)err_set(parser->err, code, "%s", text);
    *parser->fault = parser->token.place;
    return false;
}

bool parser_is_sign(const struct parser *parser, const char *sign)
{
    return parser->token.kind == TOKEN_SIGN && strcmp(parser->token.text, sign) == 0;
}

bool parser_is_name(const struct parser *parser, const char *name)
{
    return parser->token.kind == TOKEN_NAME && strcmp(parser->token.text, name) == 0;
}

/* What stands where something else was expected. */
static const char *token_words(const struct token *token, char out[static 64])
{
    static const char *const WORDS[] = {
        [TOKEN_TEXT] = "text",       [TOKEN_OUTPUT] = "'{{'",
        [TOKEN_TAG] = "'{%'",        [TOKEN_CLOSE] = "the end of the tag",
        [TOKEN_STRING] = "a string", [TOKEN_END] = "the end of the text",
    };
    if (token->kind < ARRAY_LEN(WORDS) && WORDS[token->kind] != NULL)
        return WORDS[token->kind];
    int shown = (int)MIN(token->length, (size_t)40);
    CHECK(snprintf(out, 64, "'%.*s'", shown, token->text) > 0);
    return out;
}

static bool fail_expected(struct parser *parser, const char *wanted)
{
    char found[64];
    return parser_fail(parser, STATUS_INVALID, "expected %s, found %s", wanted,
                       token_words(&parser->token, found));
}

bool parser_expect_sign(struct parser *parser, const char *sign)
{
    if (parser_is_sign(parser, sign))
        return parser_advance(parser);
    char wanted[16];
    CHECK(snprintf(wanted, sizeof wanted, "'%s'", sign) > 0);
    return fail_expected(parser, wanted);
}

bool parser_expect_name(struct parser *parser, const char *name)
{
    if (parser_is_name(parser, name))
        return parser_advance(parser);
    char wanted[32];
    CHECK(snprintf(wanted, sizeof wanted, "'%s'", name) > 0);
    return fail_expected(parser, wanted);
}

static bool expect_close(struct parser *parser)
{
    if (parser->token.kind != TOKEN_CLOSE)
        return fail_expected(parser, "the end of the tag");
    return parser_advance(parser);
}

bool parser_deepen(struct parser *parser)
{
    if (parser->depth == LIMIT_TEMPLATE_DEPTH)
        return parser_fail(parser, STATUS_LIMIT, "nested deeper than %d", LIMIT_TEMPLATE_DEPTH);
    parser->depth++;
    return true;
}

static bool parse_body(struct parser *parser, struct stmt **out);

static struct stmt *stmt_new(struct parser *parser, enum stmt_kind kind)
{
    struct stmt *stmt = arena_alloc(parser->arena, sizeof *stmt);
    stmt->kind = kind;
    stmt->place = parser->token.place;
    return stmt;
}

/* `name, name` before `in` or `=`. */
static bool parse_targets(struct parser *parser, struct stmt *stmt)
{
    static const char *const TAKEN[] = {"true", "false", "none", "True", "False", "None", "loop",
                                        "in",   "not",   "and",  "or",   "if",    "else", "is"};
    for (;;) {
        if (parser->token.kind != TOKEN_NAME)
            return fail_expected(parser, "a name");
        for (size_t i = 0; i < ARRAY_LEN(TAKEN); i++)
            if (parser_is_name(parser, TAKEN[i]))
                return parser_fail(parser, STATUS_INVALID, "'%s' cannot be a variable", TAKEN[i]);
        if (stmt->names_count == FOR_TARGETS_MAX)
            return parser_fail(parser, STATUS_LIMIT, "more than %d variables", FOR_TARGETS_MAX);
        stmt->names[stmt->names_count++] = parser->token.text;
        if (!parser_advance(parser))
            return false;
        if (!parser_is_sign(parser, ","))
            return true;
        if (!parser_advance(parser))
            return false;
    }
}

/* A body, after which `{%` and the name of its end have been read. */
/* NOLINTNEXTLINE(misc-no-recursion) -- blocks nest; parser_deepen bounds it */
static bool parse_block(struct parser *parser, struct stmt **out)
{
    if (!parser_deepen(parser))
        return false;
    bool ok = parse_body(parser, out);
    parser->depth--;
    return ok;
}

/* The end of the block that `place` opened. */
static bool expect_end(struct parser *parser, const char *end, const struct stmt *opened)
{
    if (parser->token.kind == TOKEN_END) {
        parser->token.place = opened->place;
        return parser_fail(parser, STATUS_INVALID, "the block is never closed by {%% %s %%}", end);
    }
    return parser_expect_name(parser, end) && expect_close(parser);
}

/* elif chains are walked, not recursed into: they may be long. */
/* NOLINTNEXTLINE(misc-no-recursion) -- blocks nest; parser_deepen bounds it */
static bool parse_if(struct parser *parser, struct stmt *stmt)
{
    for (struct stmt *part = stmt;;) {
        part->value = expr_parse(parser);
        if (part->value == NULL || !expect_close(parser) || !parse_block(parser, &part->body))
            return false;
        if (!parser_is_name(parser, "elif")) {
            if (!parser_is_name(parser, "else"))
                return expect_end(parser, "endif", stmt);
            return parser_advance(parser) && expect_close(parser) &&
                   parse_block(parser, &part->otherwise) && expect_end(parser, "endif", stmt);
        }
        part->otherwise = stmt_new(parser, STMT_IF);
        part->otherwise->is_elif = true;
        part = part->otherwise;
        if (!parser_advance(parser))
            return false;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) -- blocks nest; parser_deepen bounds it */
static bool parse_for(struct parser *parser, struct stmt *stmt)
{
    if (!parse_targets(parser, stmt) || !parser_expect_name(parser, "in"))
        return false;
    stmt->value = expr_parse_tuple(parser, false);
    if (stmt->value == NULL)
        return false;
    if (parser_is_name(parser, "if")) {
        if (!parser_advance(parser))
            return false;
        stmt->filter = expr_parse(parser);
        if (stmt->filter == NULL)
            return false;
    }
    if (!expect_close(parser) || !parse_block(parser, &stmt->body))
        return false;
    if (parser_is_name(parser, "else") && (!parser_advance(parser) || !expect_close(parser) ||
                                           !parse_block(parser, &stmt->otherwise)))
        return false;
    return expect_end(parser, "endfor", stmt);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- blocks nest; parser_deepen bounds it */
static bool parse_set(struct parser *parser, struct stmt *stmt)
{
    if (!parse_targets(parser, stmt))
        return false;
    if (parser_is_sign(parser, "=")) {
        if (!parser_advance(parser))
            return false;
        stmt->value = expr_parse_tuple(parser, true);
        return stmt->value != NULL && expect_close(parser);
    }
    if (stmt->names_count != 1)
        return fail_expected(parser, "'='");
    return expect_close(parser) && parse_block(parser, &stmt->body) &&
           expect_end(parser, "endset", stmt);
}

/* Is the tag one that ends or divides the enclosing block? */
static bool is_end_tag(const struct parser *parser)
{
    static const char *const ENDS[] = {"elif", "else", "endif", "endfor", "endset"};
    for (size_t i = 0; i < ARRAY_LEN(ENDS); i++)
        if (parser_is_name(parser, ENDS[i]))
            return true;
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- blocks nest; parser_deepen bounds it */
static struct stmt *parse_tag(struct parser *parser)
{
    static const struct {
        const char *name;
        enum stmt_kind kind;
        bool (*parse)(struct parser *parser, struct stmt *stmt);
    } TAGS[] = {
        {"if", STMT_IF, parse_if},
        {"for", STMT_FOR, parse_for},
        {"set", STMT_SET, parse_set},
    };
    for (size_t i = 0; i < ARRAY_LEN(TAGS); i++) {
        if (!parser_is_name(parser, TAGS[i].name))
            continue;
        struct stmt *stmt = stmt_new(parser, TAGS[i].kind);
        return parser_advance(parser) && TAGS[i].parse(parser, stmt) ? stmt : NULL;
    }
    if (parser->token.kind != TOKEN_NAME)
        (void)fail_expected(parser, "the name of a tag");
    else
        (void)parser_fail(parser, STATUS_INVALID,
                          "unknown tag '%.40s'; the tags are if, for, set and raw",
                          parser->token.text);
    return NULL;
}

static struct stmt *parse_output(struct parser *parser)
{
    struct stmt *stmt = stmt_new(parser, STMT_OUTPUT);
    if (!parser_advance(parser))
        return NULL;
    stmt->value = expr_parse_tuple(parser, true);
    return stmt->value != NULL && expect_close(parser) ? stmt : NULL;
}

/* Statements up to the end of the text or a tag that is not ours, whose name is then current. */
/* NOLINTNEXTLINE(misc-no-recursion) -- blocks nest; parser_deepen bounds it */
static bool parse_body(struct parser *parser, struct stmt **out)
{
    struct stmt **tail = out;
    while (parser->token.kind != TOKEN_END) {
        struct stmt *stmt = NULL;
        if (parser->token.kind == TOKEN_TEXT) {
            stmt = stmt_new(parser, STMT_TEXT);
            stmt->text = parser->token.text;
            stmt->length = parser->token.length;
            if (!parser_advance(parser))
                return false;
        } else if (parser->token.kind == TOKEN_OUTPUT) {
            stmt = parse_output(parser);
        } else {
            CHECK(parser->token.kind == TOKEN_TAG);
            if (!parser_advance(parser))
                return false;
            if (is_end_tag(parser))
                return true;
            stmt = parse_tag(parser);
        }
        if (stmt == NULL)
            return false;
        *tail = stmt;
        tail = &stmt->next;
    }
    return true;
}

enum status template_parse(struct arena *arena, const char *text, const struct template **out,
                           struct template_fault *fault, struct err *err)
{
    *fault = (struct template_fault){1, 1};
    size_t length = strlen(text);
    if (length > LIMIT_TEMPLATE_BYTES)
        return err_set(err, STATUS_LIMIT, "a template is at most %d bytes long",
                       LIMIT_TEMPLATE_BYTES);
    struct template *template = arena_alloc(arena, sizeof *template);
    template->text = arena_strndup(arena, text, length);
    struct parser parser = {
        .arena = arena,
        .lexer = {.arena = arena,
                  .text = template->text,
                  .cursor = template->text,
                  .mark = template->text,
                  .mark_place = {1, 1}},
        .fault = fault,
        .err = err,
    };
    if (!parser_advance(&parser) || !parse_body(&parser, &template->body))
        return err->code;
    if (parser.token.kind != TOKEN_END) {
        (void)parser_fail(&parser, STATUS_INVALID, "{%% %.40s %%} without its beginning",
                          parser.token.text);
        return err->code;
    }
    *out = template;
    return STATUS_OK;
}
