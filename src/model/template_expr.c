/*
 * template_expr: expressions, by recursive descent in Jinja's order of operators:
 *
 *     a if c else b < or < and < not < comparisons, in < + - < ~ < * / // % < ** < unary - +
 *     < attributes, subscripts, calls < filters and tests
 *
 * so that `-1 | abs` is 1 and `2 ** 3 ** 2` is 64.
 */
#include <string.h>

#include "base/check.h"
#include "model/limits.h"
#include "model/template_priv.h"

enum level {
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_ADD,
    LEVEL_CONCAT,
    LEVEL_MULTIPLY,
    LEVEL_POWER,
    LEVEL_UNARY
};

static const struct {
    const char *sign;
    enum level level;
    enum op op;
} OPERATORS[] = {
    {"==", LEVEL_COMPARE, OP_EQUAL},  {"!=", LEVEL_COMPARE, OP_NOT_EQUAL},
    {"<", LEVEL_COMPARE, OP_LESS},    {"<=", LEVEL_COMPARE, OP_LESS_EQUAL},
    {">", LEVEL_COMPARE, OP_GREATER}, {">=", LEVEL_COMPARE, OP_GREATER_EQUAL},
    {"+", LEVEL_ADD, OP_ADD},         {"-", LEVEL_ADD, OP_SUBTRACT},
    {"~", LEVEL_CONCAT, OP_CONCAT},   {"*", LEVEL_MULTIPLY, OP_MULTIPLY},
    {"/", LEVEL_MULTIPLY, OP_DIVIDE}, {"//", LEVEL_MULTIPLY, OP_FLOOR_DIVIDE},
    {"%", LEVEL_MULTIPLY, OP_MODULO}, {"**", LEVEL_POWER, OP_POWER},
};

static struct expr *parse_level(struct parser *parser, enum level level);
static struct expr *parse_unary(struct parser *parser, bool filters);

static struct expr *expr_new(struct parser *parser, enum expr_kind kind)
{
    struct expr *expr = arena_alloc(parser->arena, sizeof *expr);
    expr->kind = kind;
    expr->place = parser->token.place;
    return expr;
}

/* Note that `child` hangs below `expr`. False when the tree becomes too high. */
static bool adopt(struct parser *parser, struct expr *expr, const struct expr *child)
{
    if (child == NULL)
        return false;
    expr->height = MAX(expr->height, child->height + 1);
    if (expr->height > EXPR_HEIGHT_MAX)
        return parser_fail(parser, STATUS_LIMIT, "more than %d operators in a row",
                           EXPR_HEIGHT_MAX);
    return true;
}

static bool add_item(struct parser *parser, struct expr *expr, struct expr ***tail,
                     struct expr *item)
{
    if (!adopt(parser, expr, item))
        return false;
    CHECK(item->next == NULL);
    **tail = item;
    *tail = &item->next;
    expr->count++;
    return true;
}

/* What may be undefined under `default` or `defined`: the value itself, down its spine. */
/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static void guard(struct expr *expr)
{
    while (expr != NULL) {
        expr->guarded = true;
        if (expr->kind == EXPR_CHOICE) {
            guard(expr->b);
            expr = expr->c;
        } else if (expr->kind == EXPR_INDEX || expr->kind == EXPR_SLICE ||
                   expr->kind == EXPR_CALL) {
            expr = expr->a;
        } else {
            return;
        }
    }
}

/* Items up to `close`, separated by commas, a trailing one allowed. */
/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static bool parse_items(struct parser *parser, struct expr *into, const char *close,
                        struct expr *(*parse)(struct parser *))
{
    struct expr **tail = &into->items;
    while (!parser_is_sign(parser, close)) {
        if (!add_item(parser, into, &tail, parse(parser)))
            return false;
        if (parser_is_sign(parser, ",")) {
            if (!parser_advance(parser))
                return false;
        } else if (!parser_is_sign(parser, close)) {
            return parser_expect_sign(parser, close);
        }
    }
    return parser_advance(parser);
}

/* An argument: expression or name=expression. */
/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_argument(struct parser *parser)
{
    struct expr *value = expr_parse(parser);
    if (value == NULL || !parser_is_sign(parser, "="))
        return value;
    if (value->kind != EXPR_CHAIN || value->count != 0) {
        (void)parser_fail(parser, STATUS_INVALID, "only a name can stand before '='");
        return NULL;
    }
    struct expr *named = expr_new(parser, EXPR_NAMED);
    named->name = value->name;
    if (!parser_advance(parser))
        return NULL;
    named->a = expr_parse(parser);
    return adopt(parser, named, named->a) ? named : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_parenthesis(struct parser *parser)
{
    struct expr *list = expr_new(parser, EXPR_LIST);
    if (!parser_advance(parser))
        return NULL;
    if (parser_is_sign(parser, ")"))
        return parser_advance(parser) ? list : NULL;
    struct expr *inner = expr_parse_tuple(parser, true);
    return inner != NULL && parser_expect_sign(parser, ")") ? inner : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_dict(struct parser *parser)
{
    struct expr *dict = expr_new(parser, EXPR_DICT);
    struct expr **tail = &dict->items;
    if (!parser_advance(parser))
        return NULL;
    while (!parser_is_sign(parser, "}")) {
        if (!add_item(parser, dict, &tail, expr_parse(parser)) ||
            !parser_expect_sign(parser, ":") || !add_item(parser, dict, &tail, expr_parse(parser)))
            return NULL;
        if (parser_is_sign(parser, ",")) {
            if (!parser_advance(parser))
                return NULL;
        } else if (!parser_is_sign(parser, "}")) {
            (void)parser_expect_sign(parser, "}");
            return NULL;
        }
    }
    return parser_advance(parser) ? dict : NULL;
}

static struct expr *parse_name(struct parser *parser)
{
    static const struct {
        const char *name;
        enum expr_kind kind;
    } CONSTANTS[] = {
        {"true", EXPR_TRUE},   {"True", EXPR_TRUE}, {"false", EXPR_FALSE},
        {"False", EXPR_FALSE}, {"none", EXPR_NULL}, {"None", EXPR_NULL},
    };
    static const char *const WORDS[] = {"and", "or", "not", "in", "is", "if", "else", "elif"};
    struct expr *expr = expr_new(parser, EXPR_CHAIN);
    expr->name = parser->token.text;
    for (size_t i = 0; i < ARRAY_LEN(CONSTANTS); i++)
        if (parser_is_name(parser, CONSTANTS[i].name))
            expr->kind = CONSTANTS[i].kind;
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
        if (parser_is_name(parser, WORDS[i])) {
            (void)parser_fail(parser, STATUS_INVALID, "expected a value before '%s'", WORDS[i]);
            return NULL;
        }
    }
    return parser_advance(parser) ? expr : NULL;
}

/* Strings side by side are one. */
static struct expr *parse_string(struct parser *parser)
{
    struct expr *expr = expr_new(parser, EXPR_TEXT);
    const char *text = parser->token.text;
    size_t length = parser->token.length;
    if (!parser_advance(parser))
        return NULL;
    if (parser->token.kind == TOKEN_STRING) {
        CLEANUP(strbuf_fini) struct strbuf joined;
        strbuf_init(&joined, LIMIT_TEMPLATE_BYTES);
        strbuf_add_bytes(&joined, text, length);
        while (parser->token.kind == TOKEN_STRING) {
            strbuf_add_bytes(&joined, parser->token.text, parser->token.length);
            if (!parser_advance(parser))
                return NULL;
        }
        length = joined.length;
        text = arena_strndup(parser->arena, joined.text, length);
    }
    expr->name = text;
    expr->count = length;
    return expr;
}

static struct expr *parse_number(struct parser *parser)
{
    bool real = parser->token.kind == TOKEN_REAL;
    struct expr *expr = expr_new(parser, real ? EXPR_REAL : EXPR_INTEGER);
    if (real)
        expr->real = parser->token.real;
    else
        expr->integer = parser->token.integer;
    return parser_advance(parser) ? expr : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_primary(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_NAME:
        return parse_name(parser);
    case TOKEN_STRING:
        return parse_string(parser);
    case TOKEN_INTEGER:
    case TOKEN_REAL:
        return parse_number(parser);
    case TOKEN_TEXT:
    case TOKEN_OUTPUT:
    case TOKEN_TAG:
    case TOKEN_CLOSE:
    case TOKEN_SIGN:
    case TOKEN_END:
        break;
    }
    if (parser_is_sign(parser, "("))
        return parse_parenthesis(parser);
    if (parser_is_sign(parser, "{"))
        return parse_dict(parser);
    if (parser_is_sign(parser, "[")) {
        struct expr *list = expr_new(parser, EXPR_LIST);
        bool ok = parser_advance(parser) && parse_items(parser, list, "]", expr_parse);
        return ok ? list : NULL;
    }
    if (parser->token.kind == TOKEN_SIGN)
        (void)parser_fail(parser, STATUS_INVALID, "expected a value, found '%s'",
                          parser->token.text);
    else
        (void)parser_fail(parser, STATUS_INVALID, "expected a value");
    return NULL;
}

/* base[key] or base.key: a further part of a chain, or a node of its own. */
static struct expr *attach(struct parser *parser, struct expr *base, struct expr *key,
                           struct expr ***tail)
{
    if (key == NULL)
        return NULL;
    if (base->kind == EXPR_CHAIN) {
        if (base->count == LIMIT_TEMPLATE_DEPTH - 1) {
            (void)parser_fail(parser, STATUS_LIMIT, "more than %d attributes in a row",
                              LIMIT_TEMPLATE_DEPTH - 1);
            return NULL;
        }
        return add_item(parser, base, tail, key) ? base : NULL;
    }
    struct expr *index = expr_new(parser, EXPR_INDEX);
    index->place = key->place;
    index->a = base;
    index->b = key;
    return adopt(parser, index, base) && adopt(parser, index, key) ? index : NULL;
}

static struct expr *parse_attribute(struct parser *parser)
{
    if (!parser_advance(parser))
        return NULL;
    if (parser->token.kind == TOKEN_INTEGER)
        return parse_number(parser);
    if (parser->token.kind != TOKEN_NAME) {
        (void)parser_fail(parser, STATUS_INVALID, "expected a name after '.'");
        return NULL;
    }
    struct expr *key = expr_new(parser, EXPR_TEXT);
    key->name = parser->token.text;
    key->count = parser->token.length;
    return parser_advance(parser) ? key : NULL;
}

/* The bounds of a slice from its first ':' on; absent ones are null. */
/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_slice(struct parser *parser, struct expr *base, struct expr *first)
{
    struct expr *slice = expr_new(parser, EXPR_SLICE);
    struct expr **tail = &slice->items;
    slice->a = base;
    if (!adopt(parser, slice, base) ||
        !add_item(parser, slice, &tail, first != NULL ? first : expr_new(parser, EXPR_NULL)))
        return NULL;
    while (slice->count < 3) {
        if (parser_is_sign(parser, ":") && !parser_advance(parser))
            return NULL;
        bool absent = parser_is_sign(parser, ":") || parser_is_sign(parser, "]");
        struct expr *bound = absent ? expr_new(parser, EXPR_NULL) : expr_parse(parser);
        if (!add_item(parser, slice, &tail, bound))
            return NULL;
    }
    return slice;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_subscript(struct parser *parser, struct expr *base, struct expr ***tail)
{
    struct expr *key = NULL;
    if (!parser_advance(parser))
        return NULL;
    if (!parser_is_sign(parser, ":")) {
        key = expr_parse(parser);
        if (key == NULL)
            return NULL;
    }
    struct expr *expr = parser_is_sign(parser, ":") ? parse_slice(parser, base, key)
                                                    : attach(parser, base, key, tail);
    return expr != NULL && parser_expect_sign(parser, "]") ? expr : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_call(struct parser *parser, struct expr *callee)
{
    bool method = callee->kind == EXPR_INDEX && callee->b->kind == EXPR_TEXT;
    if (callee->kind != EXPR_CHAIN && !method) {
        (void)parser_fail(parser, STATUS_INVALID, "this cannot be called");
        return NULL;
    }
    struct expr *call = expr_new(parser, EXPR_CALL);
    call->place = callee->place;
    call->a = callee;
    if (!adopt(parser, call, callee) || !parser_advance(parser))
        return NULL;
    return parse_items(parser, call, ")", parse_argument) ? call : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_postfix(struct parser *parser, struct expr *expr)
{
    struct expr **tail = &expr->items;
    while (expr != NULL && parser->token.kind == TOKEN_SIGN) {
        if (parser_is_sign(parser, ".")) {
            struct expr *key = parse_attribute(parser);
            expr = key != NULL ? attach(parser, expr, key, &tail) : NULL;
        } else if (parser_is_sign(parser, "[")) {
            expr = parse_subscript(parser, expr, &tail);
        } else if (parser_is_sign(parser, "(")) {
            expr = parse_call(parser, expr);
        } else {
            break;
        }
    }
    return expr;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_filter(struct parser *parser, struct expr *value)
{
    if (!parser_advance(parser))
        return NULL;
    if (parser->token.kind != TOKEN_NAME) {
        (void)parser_fail(parser, STATUS_INVALID, "expected the name of a filter after '|'");
        return NULL;
    }
    struct expr *filter = expr_new(parser, EXPR_FILTER);
    filter->a = value;
    filter->name = parser->token.text;
    filter->callable = filter_find(filter->name);
    if (filter->callable == NULL) {
        const char *near = filter_nearest(filter->name);
        (void)parser_fail(parser, STATUS_INVALID, "unknown filter '%.40s'%s%s%s", filter->name,
                          near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                          near != NULL ? "'?)" : "");
        return NULL;
    }
    if (!adopt(parser, filter, value) || !parser_advance(parser))
        return NULL;
    if (strcmp(filter->name, "default") == 0 || strcmp(filter->name, "d") == 0)
        guard(value);
    if (parser_is_sign(parser, "(") &&
        (!parser_advance(parser) || !parse_items(parser, filter, ")", parse_argument)))
        return NULL;
    return filter;
}

/* `x is divisibleby 3` and `x is divisibleby(3)` mean the same. */
/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static bool parse_test_argument(struct parser *parser, struct expr *test)
{
    if (test_args(test->test) == 0) {
        if (!parser_is_sign(parser, "("))
            return true;
        return parser_fail(parser, STATUS_INVALID, "the test '%s' takes no argument", test->name);
    }
    struct expr *value = parse_primary(parser);
    if (value != NULL)
        value = parse_postfix(parser, value);
    struct expr **tail = &test->items;
    return add_item(parser, test, &tail, value);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_test(struct parser *parser, struct expr *value)
{
    if (!parser_advance(parser))
        return NULL;
    struct expr *negation = expr_new(parser, EXPR_NOT);
    bool negated = parser_is_name(parser, "not");
    if (negated && !parser_advance(parser))
        return NULL;
    if (parser->token.kind != TOKEN_NAME) {
        (void)parser_fail(parser, STATUS_INVALID, "expected the name of a test after 'is'");
        return NULL;
    }
    struct expr *test = expr_new(parser, EXPR_TEST);
    test->a = value;
    test->name = parser->token.text;
    test->test = test_find(test->name);
    if (test->test == NULL) {
        const char *near = test_nearest(test->name);
        (void)parser_fail(parser, STATUS_INVALID, "unknown test '%.40s'%s%s%s", test->name,
                          near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                          near != NULL ? "'?)" : "");
        return NULL;
    }
    if (!adopt(parser, test, value) || !parser_advance(parser))
        return NULL;
    if (test_takes_undefined(test->test))
        guard(value);
    if (!parse_test_argument(parser, test))
        return NULL;
    if (!negated)
        return test;
    negation->a = test;
    return adopt(parser, negation, test) ? negation : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- signs and brackets nest; parser_deepen bounds it */
static struct expr *parse_operand(struct parser *parser)
{
    bool minus = parser_is_sign(parser, "-");
    if (minus || parser_is_sign(parser, "+")) {
        struct expr *expr = expr_new(parser, minus ? EXPR_MINUS : EXPR_PLUS);
        if (!parser_advance(parser))
            return NULL;
        expr->a = parse_unary(parser, false);
        return adopt(parser, expr, expr->a) ? expr : NULL;
    }
    struct expr *expr = parse_primary(parser);
    return expr != NULL ? parse_postfix(parser, expr) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- signs and brackets nest; parser_deepen bounds it */
static struct expr *parse_unary(struct parser *parser, bool filters)
{
    if (!parser_deepen(parser))
        return NULL;
    struct expr *expr = parse_operand(parser);
    while (expr != NULL && filters) {
        if (parser_is_sign(parser, "|"))
            expr = parse_filter(parser, expr);
        else if (parser_is_name(parser, "is"))
            expr = parse_test(parser, expr);
        else
            break;
    }
    parser->depth--;
    return expr;
}

/* The operator of `level` at the current token, or OP_NONE. */
static enum op operator_at(const struct parser *parser, enum level level)
{
    for (size_t i = 0; i < ARRAY_LEN(OPERATORS); i++)
        if (OPERATORS[i].level == level && parser_is_sign(parser, OPERATORS[i].sign))
            return OPERATORS[i].op;
    if (level == LEVEL_COMPARE && parser_is_name(parser, "in"))
        return OP_IN;
    if (level == LEVEL_COMPARE && parser_is_name(parser, "not"))
        return OP_NOT_IN;
    return OP_NONE;
}

/* a < b <= c: one node, each operand with the operator before it. */
/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_compare(struct parser *parser)
{
    struct expr *first = parse_level(parser, LEVEL_ADD);
    if (first == NULL || operator_at(parser, LEVEL_COMPARE) == OP_NONE)
        return first;
    struct expr *compare = expr_new(parser, EXPR_COMPARE);
    struct expr **tail = &compare->items;
    compare->a = first;
    if (!adopt(parser, compare, first))
        return NULL;
    for (;;) {
        enum op op = operator_at(parser, LEVEL_COMPARE);
        if (op == OP_NONE)
            return compare;
        if (!parser_advance(parser) || (op == OP_NOT_IN && !parser_expect_name(parser, "in")))
            return NULL;
        struct expr *operand = parse_level(parser, LEVEL_ADD);
        if (operand == NULL)
            return NULL;
        /* A wrapper carries the operator, for the operand may have one of its own. */
        struct expr *step = expr_new(parser, EXPR_NAMED);
        step->place = compare->place;
        step->op = op;
        step->a = operand;
        if (!adopt(parser, step, operand) || !add_item(parser, compare, &tail, step))
            return NULL;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_not(struct parser *parser)
{
    if (!parser_is_name(parser, "not"))
        return parse_compare(parser);
    struct expr *expr = expr_new(parser, EXPR_NOT);
    if (!parser_deepen(parser) || !parser_advance(parser))
        return NULL;
    expr->a = parse_not(parser);
    parser->depth--;
    return adopt(parser, expr, expr->a) ? expr : NULL;
}

/* The node for an operator of `level` at the current token, or NULL. */
static struct expr *infix_at(struct parser *parser, enum level level)
{
    if (level == LEVEL_OR)
        return parser_is_name(parser, "or") ? expr_new(parser, EXPR_OR) : NULL;
    if (level == LEVEL_AND)
        return parser_is_name(parser, "and") ? expr_new(parser, EXPR_AND) : NULL;
    enum op op = operator_at(parser, level);
    if (op == OP_NONE)
        return NULL;
    struct expr *expr = expr_new(parser, EXPR_BINARY);
    expr->op = op;
    return expr;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_level(struct parser *parser, enum level level)
{
    if (level == LEVEL_NOT)
        return parse_not(parser);
    if (level == LEVEL_UNARY)
        return parse_unary(parser, true);
    struct expr *left = parse_level(parser, level + 1);
    while (left != NULL) {
        struct expr *expr = infix_at(parser, level);
        if (expr == NULL)
            break;
        if (!parser_advance(parser))
            return NULL;
        expr->a = left;
        expr->b = parse_level(parser, level + 1);
        left = adopt(parser, expr, expr->a) && adopt(parser, expr, expr->b) ? expr : NULL;
    }
    return left;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_choices(struct parser *parser)
{
    struct expr *value = parse_level(parser, LEVEL_OR);
    while (value != NULL && parser_is_name(parser, "if")) {
        struct expr *choice = expr_new(parser, EXPR_CHOICE);
        if (!parser_advance(parser))
            return NULL;
        choice->b = value;
        choice->a = parse_level(parser, LEVEL_OR);
        if (!adopt(parser, choice, choice->b) || !adopt(parser, choice, choice->a))
            return NULL;
        if (parser_is_name(parser, "else")) {
            if (!parser_advance(parser))
                return NULL;
            choice->c = expr_parse(parser);
            if (!adopt(parser, choice, choice->c))
                return NULL;
        }
        value = choice;
    }
    return value;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
struct expr *expr_parse(struct parser *parser)
{
    if (!parser_deepen(parser))
        return NULL;
    struct expr *expr = parse_choices(parser);
    parser->depth--;
    return expr;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
static struct expr *parse_tuple_item(struct parser *parser, bool choices)
{
    return choices ? expr_parse(parser) : parse_level(parser, LEVEL_OR);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- brackets nest; parser_deepen bounds it */
struct expr *expr_parse_tuple(struct parser *parser, bool choices)
{
    struct expr *first = parse_tuple_item(parser, choices);
    if (first == NULL || !parser_is_sign(parser, ","))
        return first;
    struct expr *list = expr_new(parser, EXPR_LIST);
    struct expr **tail = &list->items;
    if (!add_item(parser, list, &tail, first))
        return NULL;
    while (parser_is_sign(parser, ",")) {
        if (!parser_advance(parser))
            return NULL;
        if (parser->token.kind == TOKEN_CLOSE || parser_is_sign(parser, ")") ||
            parser_is_name(parser, "if"))
            break;
        if (!add_item(parser, list, &tail, parse_tuple_item(parser, choices)))
            return NULL;
    }
    return list;
}
