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

/* ---- Evaluation ---- */

struct loop {
    size_t index; /* from 0 */
    json_t *items;
};

struct local {
    const char *name;
    json_t *value;           /* owned; NULL for `loop` */
    const struct loop *loop; /* `loop` itself */
};

struct eval {
    const struct template_scope *scope;
    struct err *err;
    enum status status; /* STATUS_OK until something failed */
    bool forgivable;    /* what failed is an undefined value under a guard */
    bool located;
    struct template_fault place;
    int64_t steps;
    struct local *locals;
    size_t locals_count;
    size_t locals_capacity;
    size_t frame; /* locals from here on belong to the innermost loop body */
};

/* Record a failure. Always NULL. */
json_t *eval_fail(struct eval *eval, enum status code, const char *fmt, ...) PRINTF(3, 4);
/* The same for an undefined value. */
json_t *eval_missing(struct eval *eval, bool guarded, const char *fmt, ...) PRINTF(3, 4);
/* True, and all is well again, when what failed is an undefined value under a guard. */
bool eval_forgive(struct eval *eval);
/* Spend steps; false when there are none left. */
bool eval_charge(struct eval *eval, size_t steps);

/* A new text value, charged for its length. */
json_t *eval_text(struct eval *eval, const char *bytes, size_t length);
/* The text of a buffer, which is emptied; fails when it overflowed. */
json_t *eval_take_text(struct eval *eval, struct strbuf *buf);
/* A finite real number. */
json_t *eval_real(struct eval *eval, double number);
/* A container made here: fails when it is too deep or too big. Takes the reference. */
json_t *eval_container(struct eval *eval, json_t *taken);

json_t *eval_expr(struct eval *eval, const struct expr *expr);
bool eval_output(struct eval *eval, const struct stmt *body, struct strbuf *out);

/* ---- Values (template_value.c) ---- */

void value_add_text(struct strbuf *out, const json_t *value); /* as inside text */
void value_add_json(struct strbuf *out, const json_t *value, unsigned indent);
/* In quotes it is JSON. */
const char *value_type_name(const json_t *value);
bool value_is_number(const json_t *value); /* booleans count, as in Python */
bool value_to_integer(const json_t *value, int64_t *out);
double value_to_real(const json_t *value); /* of a number */
/* Member, item or character; a new reference. */
json_t *value_access(struct eval *eval, json_t *value, const json_t *key, bool guarded);
json_t *value_slice(struct eval *eval, json_t *value, json_t *const bounds[3]);
/* What a for loop walks: items, keys or characters. New reference to a list. */
json_t *value_items(struct eval *eval, json_t *value);
/* Characters of a UTF-8 text, and the byte offset of the n-th. */
size_t utf8_count(const char *text, size_t length);
size_t utf8_offset(const char *text, size_t length, size_t n);

/* ---- Operators (template_op.c) ---- */

json_t *op_binary(struct eval *eval, enum op op, json_t *a, json_t *b);
json_t *op_minus(struct eval *eval, json_t *a);
/* False with the failure recorded when the two cannot be compared. */
bool op_compare(struct eval *eval, enum op op, json_t *a, json_t *b, bool *out);
bool op_equal(struct eval *eval, const json_t *a, const json_t *b);
/* Less, equal, greater: -1, 0, 1. */
bool op_order(struct eval *eval, const json_t *a, const json_t *b, int *out);

/* ---- Filters, methods and functions ---- */

struct call {
    struct eval *eval;
    const struct callable *callable;
    json_t *self;                /* what is filtered; NULL: undefined (only for `default`) */
    json_t *args[CALL_ARGS_MAX]; /* by parameter, NULL where not given */
    bool guarded;
};

struct callable {
    const char *name;
    const char *params[CALL_ARGS_MAX];
    unsigned least; /* arguments that must be given */
    json_t *(*run)(struct call *call);
    const char *doc;
};

const struct callable *filter_find(const char *name);
const char *filter_nearest(const char *name);
/* A method of texts, lists and maps such as x.split(','); NULL if there is none of that name. */
const struct callable *method_find(const json_t *self, const char *name);
/* A function such as range or macros.ds_add, by its dotted name. */
const struct callable *function_find(const char *const *path, size_t count);

/* Run with arguments bound to parameters. `self` may be NULL. */
json_t *callable_run(struct eval *eval, const struct callable *callable, json_t *self, json_t *args,
                     json_t *named, bool guarded);

/* Arguments with a default; a wrong type fails and gives false. */
bool call_integer(struct call *call, size_t i, int64_t otherwise, int64_t *out);
bool call_text(struct call *call, size_t i, const char *otherwise, const char **out);
bool call_flag(const struct call *call, size_t i, bool otherwise);
/* The thing filtered as text, as `upper` sees a number. Into `buf`. */
const char *call_self_text(struct call *call, struct strbuf *buf);
json_t *call_wrong_self(struct call *call, const char *wanted);

/* Every filter: name, parameters, how many are needed, what it does. Sorted by name. */
#define FILTER_MAP(X)                                                                              \
    X(abs, 0, "the number without its sign")                                                       \
    X(add, 1, "the instant later (or earlier, with '-') by a duration such as '1d'", "duration")   \
    X(b64decode, 0, "the text that base64 stands for")                                             \
    X(b64encode, 0, "the text in base64")                                                          \
    X(basename, 0, "the last part of a path")                                                      \
    X(bool, 0, "truth; the words true, yes, on and 1 are true, other words false")                 \
    X(capitalize, 0, "first letter upper case, the rest lower case")                               \
    X(count, 0, "how many items, members or characters")                                           \
    X(d, 0, "the same as default", "default_value", "boolean")                                     \
    X(date_add, 1, "the date or instant that many days later", "days")                             \
    X(default, 0, "another value when undefined (or false, with true)", "default_value",           \
      "boolean")                                                                                   \
    X(dictsort, 0, "pairs of a map sorted by key", "case_sensitive", "by", "reverse")              \
    X(dirname, 0, "a path without its last part")                                                  \
    X(ds, 0, "the date of an instant, 2025-01-31")                                                 \
    X(ds_nodash, 0, "the date of an instant, 20250131")                                            \
    X(first, 0, "the first item")                                                                  \
    X(float, 0, "the number with a fraction, or the default", "default")                           \
    X(fromjson, 0, "the value that a JSON text stands for")                                        \
    X(indent, 0, "lines indented, the first one only if asked", "width", "first", "blank")         \
    X(int, 0, "the whole number, or the default", "default", "base")                               \
    X(items, 0, "pairs of key and value of a map")                                                 \
    X(join, 0, "the items as one text", "d", "attribute")                                          \
    X(last, 0, "the last item")                                                                    \
    X(length, 0, "how many items, members or characters")                                          \
    X(list, 0, "the items, keys or characters as a list")                                          \
    X(lower, 0, "lower case")                                                                      \
    X(map, 0, "each item through a filter, or one attribute of each", "filter", "attribute",       \
      "default")                                                                                   \
    X(max, 0, "the largest item", "case_sensitive", "attribute")                                   \
    X(min, 0, "the smallest item", "case_sensitive", "attribute")                                  \
    X(regex_match, 1, "whether a POSIX extended regular expression matches", "pattern")            \
    X(regex_replace, 2, "every match replaced; \\1 to \\9 are groups", "pattern", "with")          \
    X(reject, 0, "the items for which a test is false", "test", "value")                           \
    X(rejectattr, 1, "the items whose attribute fails a test", "attribute", "test", "value")       \
    X(replace, 2, "each occurrence of a text replaced", "old", "new", "count")                     \
    X(reverse, 0, "the items or characters in reverse")                                            \
    X(round, 0, "the number rounded", "precision", "method")                                       \
    X(select, 0, "the items for which a test is true", "test", "value")                            \
    X(selectattr, 1, "the items whose attribute passes a test", "attribute", "test", "value")      \
    X(sh, 0, "quoted for a POSIX shell; a list becomes several words")                             \
    X(sort, 0, "the items sorted", "reverse", "case_sensitive", "attribute")                       \
    X(split, 0, "the parts between separators, or between spaces", "sep", "maxsplit")              \
    X(stem, 0, "the last part of a path without its extension")                                    \
    X(strftime, 1, "the instant in a format such as '%Y/%m/%d'", "format")                         \
    X(string, 0, "as text")                                                                        \
    X(sum, 0, "the items added up", "attribute", "start")                                          \
    X(title, 0, "first letter of each word upper case, the rest lower case")                       \
    X(tojson, 0, "as JSON", "indent")                                                              \
    X(trim, 0, "without spaces, or the given characters, at both ends", "chars")                   \
    X(truncate, 0, "cut to a length", "length", "killwords", "end", "leeway")                      \
    X(ts, 0, "the instant, 2025-01-31T06:00:00+00:00")                                             \
    X(ts_nodash, 0, "the instant, 20250131T060000")                                                \
    X(ts_nodash_with_tz, 0, "the instant, 20250131T060000+0000")                                   \
    X(unique, 0, "each item once", "case_sensitive", "attribute")                                  \
    X(upper, 0, "upper case")                                                                      \
    X(urlencode, 0, "escaped for a URL; a map becomes a query")

#define X(name, least, doc, ...) json_t *filter_##name(struct call *call);
FILTER_MAP(X)
#undef X

/* Methods of instants: x.add(days=1, hours=2, ..). */
json_t *method_date_add(struct call *call);
json_t *method_date_subtract(struct call *call);

/* ---- Tests after `is` (template_is.c) ---- */

struct test;
const struct test *test_find(const char *name);
const char *test_nearest(const char *name);
bool test_takes_undefined(const struct test *test);
unsigned test_args(const struct test *test);
/* `value` is NULL when undefined; false when the test itself failed. */
bool test_run(struct eval *eval, const struct test *test, json_t *value, json_t *arg, bool *out);
