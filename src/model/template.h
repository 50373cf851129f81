#pragma once
/*
 * template: texts with {{ expressions }}, {% if %}, {% for %}, {% set %}, {% raw %} and {# #}.
 *
 * Jinja's meaning for what is supported, with these differences: an undefined name or a
 * missing attribute is an error (`| default(..)` and `is defined` forgive it, along a whole
 * chain of attributes); values print as JSON inside text; a trailing newline is kept; tuples
 * are lists; upper, lower, title and capitalize change ASCII letters only; integers have 64
 * bits and overflow is an error; `a if c` without else is the empty text when c is false.
 *
 * Pure: whatever a template can see comes from its scope. Everything is bounded by
 * model/limits.h, and exceeding a bound is STATUS_LIMIT.
 *
 * Ownership  A parsed template lives in the arena given and never changes.
 * Threads    A parsed template may be shared; one rendering belongs to one thread.
 * Tests      tests/unit/model/test_template*.c, tests/fuzz/fuzz_template.c
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/zone.h"

struct arena;
struct template;

/* Where in the template text something is wrong. Both count from 1; columns in characters. */
struct template_fault {
    int line;
    int column;
};

/*
 * What a template can see. Paths are a root name and the attributes and subscripts after it:
 * `tasks['a-b'].rows[0]` is {"tasks", "a-b", "rows", "0"}. Members may be NULL.
 */
struct template_scope {
    void *context;
    /*
     * The value of the longest prefix of `path` that the scope wants to answer itself: a new
     * reference in *out, the parts it used (at least 1) in *out_used; the rest is looked up
     * in the value. STATUS_NOT_FOUND when there is none: *err names what is missing, unless the
     * root is unknown, for which the caller finds better words.
     */
    enum status (*lookup)(void *context, const char *const *path, size_t count, size_t *out_used,
                          json_t **out, struct err *err);
    /* Is the path a function of the scope, such as ti.xcom_pull? */
    bool (*is_function)(void *context, const char *const *path, size_t count);
    /* Call it. `args` is an array, `named` an object; STATUS_NOT_FOUND counts as undefined. */
    enum status (*call)(void *context, const char *const *path, size_t count, json_t *args,
                        json_t *named, json_t **out, struct err *err);
    /* Around each {{ }}: what comes of one that looked something up. Either may be NULL. */
    void (*before_output)(void *context);
    void (*after_output)(void *context, const char *text, size_t length);
    /* Where the filter `tz` finds zones; NULL: it knows only UTC. */
    zone_reader zones;
    /* The root names, for "did you mean". */
    size_t roots_count;
    const char *(*root)(const void *context, size_t i);
};

/* True when rendering would give back the text itself: it has none of `{{ {% {#`. */
bool template_is_plain(const char *text);

/* On failure *fault says where. The text is copied. */
NODISCARD enum status template_parse(struct arena *arena, const char *text,
                                     const struct template **out, struct template_fault *fault,
                                     struct err *err);

/* A text that is exactly one {{ }} keeps its type; anything else becomes a string. */
NODISCARD enum status template_render(const struct template *template,
                                      const struct template_scope *scope, json_t **out,
                                      struct template_fault *fault, struct err *err);
/* Always text; heap, caller frees. */
NODISCARD enum status template_render_text(const struct template *template,
                                           const struct template_scope *scope, char **out,
                                           struct template_fault *fault, struct err *err);

/* The truth of a value: false, null, 0, "", [] and {} are false. */
bool template_truth(const json_t *value);

/* A name used in a template, with the parts after it up to the first that is not constant. */
struct template_name {
    const char *const *parts;
    size_t count;
    bool complete; /* no dynamic part follows */
    bool guarded;  /* under `| default` or `is defined`: it may be absent */
    bool called;   /* complete and followed by (...): the last part is a function or method */
    struct template_fault place;
};

/* Every use of a name that is not a variable of the template itself, in the order of the text. */
void template_visit_names(const struct template *template,
                          void (*visit)(void *context, const struct template_name *name),
                          void *context);

/* The filters, sorted by name, for documentation and completion. */
struct template_filter {
    const char *name;
    const char *const *params;
    size_t params_count;
    const char *doc;
};
struct template_filter template_filter_get(size_t i);
size_t template_filter_count(void);
