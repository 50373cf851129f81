#pragma once
/*
 * template_filter_priv: filters, methods, functions and tests, and how they get their arguments.
 */
#include <stdbool.h>
#include <stdint.h>

#include "model/template_eval_priv.h"

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
    X(tz, 1, "the instant as clocks of a zone show it, 2025-01-31T07:00:00+01:00", "zone")         \
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

/* `value` is NULL when undefined; false when the test itself failed. */
bool test_run(struct eval *eval, const struct test *test, json_t *value, json_t *arg, bool *out);
