#pragma once
/*
 * template_priv: the syntax tree of a template and how its files work together.
 *
 *     text -> template_lex -> template_parse, template_expr -> tree -> template_eval
 *             (tokens)        (blocks)        (expressions)           template_op, _value, _filter,
 * ..
 *
 * Failure inside these files: a function that makes something returns NULL after it
 * recorded the failure with parser_fail or eval_fail. The public functions turn that
 * into a status.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/template.h"

/* Operators in a row make a tree as high as the row is long. */
enum { EXPR_HEIGHT_MAX = 512, CALL_ARGS_MAX = 6, FOR_TARGETS_MAX = 8 };

/* ---- Tokens ---- */

enum token_kind {
    TOKEN_TEXT,   /* outside of tags */
    TOKEN_OUTPUT, /* {{ */
    TOKEN_TAG,    /* {% */
    TOKEN_CLOSE,  /* }} or %} */
    TOKEN_NAME,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_STRING, /* text is decoded */
    TOKEN_SIGN,
    TOKEN_END,
};

struct token {
    enum token_kind kind;
    struct template_fault place;
    const char *text;
    size_t length;
    int64_t integer;
    double real;
};

struct lexer {
    struct arena *arena;
    const char *text;
    const char *cursor;
    char closes;       /* '}' or '%' inside a tag, 0 outside */
    unsigned brackets; /* open ones: }} closes the tag only when there are none */
    bool trim;         /* the last tag ended with '-' */
    bool after_dot;    /* `x.0.1` has no real number in it */
    const char *mark;  /* the place of `mark` is known: */
    struct template_fault mark_place;
};

/* False with *err and *fault filled. */
bool lexer_next(struct lexer *lexer, struct token *out, struct template_fault *fault,
                struct err *err);

/* ---- Tree ---- */

enum expr_kind {
    EXPR_NULL,
    EXPR_TRUE,
    EXPR_FALSE,
    EXPR_INTEGER,
    EXPR_REAL,
    EXPR_TEXT,
    EXPR_LIST,
    EXPR_DICT,    /* items: key, value, key, value, .. */
    EXPR_CHAIN,   /* name and items: parts after it */
    EXPR_INDEX,   /* a[b], where a is no chain */
    EXPR_SLICE,   /* a[items], three of them, NULL kind for absent ones */
    EXPR_CALL,    /* a is a chain or index; items: arguments */
    EXPR_NAMED,   /* argument name=a */
    EXPR_FILTER,  /* a | name(items) */
    EXPR_TEST,    /* a is name(items); negated by an EXPR_NOT around it */
    EXPR_NOT,     /* not a */
    EXPR_MINUS,   /* -a */
    EXPR_PLUS,    /* +a */
    EXPR_BINARY,  /* a op b */
    EXPR_AND,     /* a and b */
    EXPR_OR,      /* a or b */
    EXPR_COMPARE, /* a, then items each with its op to the one before */
    EXPR_CHOICE,  /* b if a else c; c may be NULL */
};

enum op {
    OP_NONE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_FLOOR_DIVIDE,
    OP_MODULO,
    OP_POWER,
    OP_CONCAT,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_IN,
    OP_NOT_IN,
};

struct expr {
    enum expr_kind kind;
    enum op op;
    bool guarded; /* `default` or `defined` forgives when it is undefined */
    unsigned height;
    struct template_fault place;
    struct expr *next; /* among the items of another */
    struct expr *a, *b, *c;
    struct expr *items;
    size_t count;
    const char *name; /* or the text of EXPR_TEXT, `count` bytes long */
    union {
        int64_t integer;
        double real;
        const struct callable *callable; /* EXPR_FILTER */
        const struct test *test;         /* EXPR_TEST */
    };
};

enum stmt_kind { STMT_TEXT, STMT_OUTPUT, STMT_IF, STMT_FOR, STMT_SET };

struct stmt {
    enum stmt_kind kind;
    struct template_fault place;
    struct stmt *next;
    const char *text; /* STMT_TEXT */
    size_t length;
    const struct expr *value;           /* output, condition, sequence, new value */
    const struct expr *filter;          /* of `for .. if filter`, or NULL */
    const char *names[FOR_TARGETS_MAX]; /* targets of for and set */
    size_t names_count;
    struct stmt *body;      /* of if, for, and of set without a value */
    struct stmt *otherwise; /* else; elif is an if in here */
    bool is_elif;
};

struct template
{
    const char *text;
    struct stmt *body;
};

/* ---- Parsing ---- */

struct parser {
    struct arena *arena;
    struct lexer lexer;
    struct token token; /* the one to look at */
    unsigned depth;
    struct template_fault *fault;
    struct err *err;
};

bool parser_advance(struct parser *parser);
/* Record a failure at the current token. Always false. */
bool parser_fail(struct parser *parser, enum status code, const char *fmt, ...) PRINTF(3, 4);
bool parser_is_sign(const struct parser *parser, const char *sign);
bool parser_is_name(const struct parser *parser, const char *name);
bool parser_expect_sign(struct parser *parser, const char *sign);
bool parser_expect_name(struct parser *parser, const char *name);
/* One more level of nesting; false when there are too many. Undo with parser->depth--. */
bool parser_deepen(struct parser *parser);

/* An expression; NULL on failure. */
struct expr *expr_parse(struct parser *parser);
/* The same, or several with commas, which make a list. Without `a if b else c` when !choices. */
struct expr *expr_parse_tuple(struct parser *parser, bool choices);

/* ---- What the parser looks up ---- */

const struct callable *filter_find(const char *name);
const char *filter_nearest(const char *name);
const struct test *test_find(const char *name);
const char *test_nearest(const char *name);
bool test_takes_undefined(const struct test *test);
unsigned test_args(const struct test *test);
