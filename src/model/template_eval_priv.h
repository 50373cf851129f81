#pragma once
/*
 * template_eval_priv: rendering a tree: its state, and what values can do.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/limits.h"
#include "model/template_priv.h"

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
/* Note where it failed; the innermost place, which comes first, is kept. Always NULL. */
json_t *eval_locate(struct eval *eval, struct template_fault place);
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

/* ---- Variables (template_state.c) ---- */

struct local *local_find(struct eval *eval, const char *name); /* NULL: none */
void local_push(struct eval *eval, struct local local);
/* Drop the newest until `count` are left. */
void local_pop(struct eval *eval, size_t count);
/* Takes the value. A loop body has variables of its own. */
void local_set(struct eval *eval, const char *name, json_t *value);
json_t *local_value(const struct local *local); /* a new reference */

/* ---- Names (template_path.c) ---- */

/* A chain with its dynamic parts evaluated. */
struct path {
    const char *parts[LIMIT_TEMPLATE_DEPTH];
    json_t *keys[LIMIT_TEMPLATE_DEPTH]; /* keys[i] belongs to parts[i]; none for the root */
    const struct expr *exprs[LIMIT_TEMPLATE_DEPTH];
    size_t count;
};

struct path *path_new(struct eval *eval, const struct expr *chain);
void path_freep(struct path **path);
/* The value of its first `count` parts; a new reference. */
json_t *path_value(struct eval *eval, const struct path *path, size_t count, bool guarded);
/* The failure that `kind` (name, function) is undefined, with what was perhaps meant. */
json_t *eval_unknown_name(struct eval *eval, const char *kind, const char *name, bool guarded);

/* ---- Values (template_value.c) ---- */

void value_add_text(struct strbuf *out, const json_t *value); /* as inside text */
void value_add_json(struct strbuf *out, const json_t *value, unsigned indent);
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
