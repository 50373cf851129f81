#include <string.h>

#include "base/check.h"
#include "model/limits.h"
#include "model/template_filter_priv.h"

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_chain(struct eval *eval, const struct expr *expr)
{
    CLEANUP(path_freep) struct path *path = path_new(eval, expr);
    return path != NULL ? path_value(eval, path, path->count, expr->guarded) : NULL;
}

/* ---- Calls ---- */

/* Positional arguments into a list, named ones into a map. */
/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static bool eval_arguments(struct eval *eval, const struct expr *items, json_t *args, json_t *named)
{
    for (const struct expr *item = items; item != NULL; item = item->next) {
        bool has_name = item->kind == EXPR_NAMED;
        json_t *value = eval_expr(eval, has_name ? item->a : item);
        if (value == NULL)
            return false;
        if (!has_name) {
            CHECK(json_array_append_new(args, value) == 0);
        } else if (json_object_get(named, item->name) != NULL) {
            json_decref(value);
            (void)eval_fail(eval, STATUS_INVALID, "the argument '%.60s' is given twice",
                            item->name);
            (void)eval_locate(eval, item->place);
            return false;
        } else {
            json_put(named, item->name, value);
        }
    }
    return true;
}

static json_t *call_scope(struct eval *eval, const struct path *path, json_t *args, json_t *named,
                          bool guarded)
{
    const struct template_scope *scope = eval->scope;
    json_t *value = NULL;
    struct err err = {0};
    enum status status =
        scope->call(scope->context, path->parts, path->count, args, named, &value, &err);
    if (status == STATUS_OK) {
        CHECK(value != NULL);
        return value;
    }
    if (status == STATUS_NOT_FOUND)
        return eval_missing(eval, guarded, "%s", err.text);
    return eval_fail(eval, status, "%s", err.text);
}

static json_t *call_method(struct eval *eval, const struct expr *expr, json_t *self,
                           const char *name, json_t *args, json_t *named)
{
    const struct callable *method = method_find(self, name);
    if (method == NULL)
        return eval_fail(eval, STATUS_INVALID, "%s has no method '%.60s'", value_type_name(self),
                         name);
    return callable_run(eval, method, self, args, named, expr->guarded);
}

static json_t *call_cycle(struct eval *eval, const struct loop *loop, json_t *args)
{
    size_t count = json_array_size(args);
    if (count == 0)
        return eval_fail(eval, STATUS_INVALID, "loop.cycle needs something to cycle through");
    return json_incref(json_array_get(args, loop->index % count));
}

/* root.part.name(...): a function of the scope, one of ours, or a method of a value. */
static json_t *call_path(struct eval *eval, const struct expr *expr, const struct path *path,
                         json_t *args, json_t *named)
{
    const struct template_scope *scope = eval->scope;
    const struct local *local = local_find(eval, path->parts[0]);
    size_t last = path->count - 1;
    if (local == NULL && scope->is_function != NULL &&
        scope->is_function(scope->context, path->parts, path->count))
        return call_scope(eval, path, args, named, expr->guarded);
    const struct callable *function =
        local == NULL ? function_find(path->parts, path->count) : NULL;
    if (function != NULL)
        return callable_run(eval, function, NULL, args, named, expr->guarded);
    if (last == 0)
        return eval_unknown_name(eval, "function", path->parts[0], false);
    if (local != NULL && local->loop != NULL && strcmp(path->parts[last], "cycle") == 0)
        return call_cycle(eval, local->loop, args);
    CLEANUP(json_decrefp) json_t *self = path_value(eval, path, last, expr->guarded);
    if (self == NULL)
        return NULL;
    return call_method(eval, expr, self, path->parts[last], args, named);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_call(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *args = json_array();
    CLEANUP(json_decrefp) json_t *named = json_object();
    if (!eval_arguments(eval, expr->items, args, named))
        return NULL;
    if (expr->a->kind == EXPR_CHAIN) {
        CLEANUP(path_freep) struct path *path = path_new(eval, expr->a);
        return path != NULL ? call_path(eval, expr, path, args, named) : NULL;
    }
    CLEANUP(json_decrefp) json_t *self = eval_expr(eval, expr->a->a);
    return self != NULL ? call_method(eval, expr, self, expr->a->b->name, args, named) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_filter(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *args = json_array();
    CLEANUP(json_decrefp) json_t *named = json_object();
    CLEANUP(json_decrefp) json_t *self = eval_expr(eval, expr->a);
    bool takes_undefined =
        strcmp(expr->callable->name, "default") == 0 || strcmp(expr->callable->name, "d") == 0;
    if (self == NULL && !(takes_undefined && eval_forgive(eval)))
        return NULL;
    if (!eval_arguments(eval, expr->items, args, named))
        return NULL;
    return callable_run(eval, expr->callable, self, args, named, expr->guarded);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_test(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *value = eval_expr(eval, expr->a);
    if (value == NULL && !(test_takes_undefined(expr->test) && eval_forgive(eval)))
        return NULL;
    CLEANUP(json_decrefp) json_t *arg = expr->items != NULL ? eval_expr(eval, expr->items) : NULL;
    if (expr->items != NULL && arg == NULL)
        return NULL;
    bool holds = false;
    return test_run(eval, expr->test, value, arg, &holds) ? json_boolean(holds) : NULL;
}

/* ---- The other expressions ---- */

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_list(struct eval *eval, const struct expr *expr)
{
    json_t *list = json_array();
    for (const struct expr *item = expr->items; item != NULL; item = item->next) {
        json_t *value = eval_expr(eval, item);
        if (value == NULL) {
            json_decref(list);
            return NULL;
        }
        CHECK(json_array_append_new(list, value) == 0);
    }
    return eval_container(eval, list);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_dict(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *dict = json_object();
    for (const struct expr *item = expr->items; item != NULL; item = item->next->next) {
        CLEANUP(json_decrefp) json_t *key = eval_expr(eval, item);
        if (key == NULL)
            return NULL;
        json_t *value = eval_expr(eval, item->next);
        if (value == NULL)
            return NULL;
        struct strbuf name;
        strbuf_init(&name, LIMIT_RENDERED_BYTES);
        value_add_text(&name, key);
        json_put(dict, name.text, value);
        strbuf_fini(&name);
    }
    return eval_container(eval, TAKE(dict));
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_compare(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *left = eval_expr(eval, expr->a);
    bool holds = left != NULL;
    for (const struct expr *step = expr->items; step != NULL && holds; step = step->next) {
        json_t *right = eval_expr(eval, step->a);
        if (right == NULL || !op_compare(eval, step->op, left, right, &holds)) {
            json_decref(right);
            return NULL;
        }
        json_decref(left);
        left = right;
    }
    return left != NULL ? json_boolean(holds) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_infix(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *a = eval_expr(eval, expr->a);
    if (a == NULL)
        return NULL;
    if (expr->kind == EXPR_AND || expr->kind == EXPR_OR)
        return template_truth(a) == (expr->kind == EXPR_AND) ? eval_expr(eval, expr->b) : TAKE(a);
    CLEANUP(json_decrefp) json_t *b = eval_expr(eval, expr->b);
    return b != NULL ? op_binary(eval, expr->op, a, b) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_prefix(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *a = eval_expr(eval, expr->a);
    if (a == NULL)
        return NULL;
    if (expr->kind == EXPR_NOT)
        return json_boolean(!template_truth(a));
    if (expr->kind == EXPR_MINUS)
        return op_minus(eval, a);
    if (!value_is_number(a))
        return eval_fail(eval, STATUS_INVALID, "+ needs a number, not %s", value_type_name(a));
    return TAKE(a);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_choice(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *condition = eval_expr(eval, expr->a);
    if (condition == NULL)
        return NULL;
    if (template_truth(condition))
        return eval_expr(eval, expr->b);
    if (expr->c != NULL)
        return eval_expr(eval, expr->c);
    return expr->guarded ? eval_missing(eval, true, "there is no else") : json_string("");
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_subscript(struct eval *eval, const struct expr *expr)
{
    CLEANUP(json_decrefp) json_t *base = eval_expr(eval, expr->a);
    if (base == NULL)
        return NULL;
    if (expr->kind == EXPR_INDEX) {
        CLEANUP(json_decrefp) json_t *key = eval_expr(eval, expr->b);
        return key != NULL ? value_access(eval, base, key, expr->guarded) : NULL;
    }
    CLEANUP(json_decrefp) json_t *from = eval_expr(eval, expr->items);
    CLEANUP(json_decrefp) json_t *to = from ? eval_expr(eval, expr->items->next) : NULL;
    CLEANUP(json_decrefp) json_t *step = to ? eval_expr(eval, expr->items->next->next) : NULL;
    return step != NULL ? value_slice(eval, base, (json_t *const[]){from, to, step}) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static json_t *eval_kind(struct eval *eval, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_NULL:
        return json_null();
    case EXPR_TRUE:
        return json_true();
    case EXPR_FALSE:
        return json_false();
    case EXPR_INTEGER:
        return json_integer(expr->integer);
    case EXPR_REAL:
        return json_real(expr->real);
    case EXPR_TEXT:
        return eval_text(eval, expr->name, expr->count);
    case EXPR_LIST:
        return eval_list(eval, expr);
    case EXPR_DICT:
        return eval_dict(eval, expr);
    case EXPR_CHAIN:
        return eval_chain(eval, expr);
    case EXPR_INDEX:
    case EXPR_SLICE:
        return eval_subscript(eval, expr);
    case EXPR_CALL:
        return eval_call(eval, expr);
    case EXPR_FILTER:
        return eval_filter(eval, expr);
    case EXPR_TEST:
        return eval_test(eval, expr);
    case EXPR_NOT:
    case EXPR_MINUS:
    case EXPR_PLUS:
        return eval_prefix(eval, expr);
    case EXPR_BINARY:
    case EXPR_AND:
    case EXPR_OR:
        return eval_infix(eval, expr);
    case EXPR_COMPARE:
        return eval_compare(eval, expr);
    case EXPR_CHOICE:
        return eval_choice(eval, expr);
    case EXPR_NAMED:
        break;
    }
    check_failed(__FILE__, __LINE__, "a kind of expression that has a value");
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high, at most EXPR_HEIGHT_MAX */
json_t *eval_expr(struct eval *eval, const struct expr *expr)
{
    json_t *value = eval_charge(eval, 1) ? eval_kind(eval, expr) : NULL;
    return value != NULL ? value : eval_locate(eval, expr->place);
}
