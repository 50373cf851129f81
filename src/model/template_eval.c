#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/template_priv.h"

/* ---- Failure and steps ---- */

PRINTF(4, 0)
static void record(struct eval *eval, enum status code, bool forgivable, const char *fmt,
                   va_list args)
{
    if (eval->status != STATUS_OK)
        return;
    char text[ERR_TEXT_MAX];
    int length = vsnprintf(text, sizeof text, fmt, args);
    CHECK(length >= 0);
    eval->status = err_set(eval->err, code, "%s", text);
    eval->forgivable = forgivable;
}

json_t *eval_fail(struct eval *eval, enum status code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    record(eval, code, false, fmt, args);
    va_end(args);
    return NULL;
}

json_t *eval_missing(struct eval *eval, bool guarded, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    record(eval, STATUS_NOT_FOUND, guarded, fmt, args);
    va_end(args);
    return NULL;
}

bool eval_charge(struct eval *eval, size_t steps)
{
    if (steps > LIMIT_TEMPLATE_STEPS || eval->steps + (int64_t)steps > LIMIT_TEMPLATE_STEPS) {
        (void)eval_fail(eval, STATUS_LIMIT, "more than %d steps", LIMIT_TEMPLATE_STEPS);
        return false;
    }
    eval->steps += (int64_t)steps;
    return true;
}

/* The innermost failing place is the one to show; unwinding passes it first. */
static json_t *locate(struct eval *eval, struct template_fault place)
{
    if (!eval->located)
        eval->place = place;
    eval->located = true;
    return NULL;
}

bool eval_forgive(struct eval *eval)
{
    if (eval->status == STATUS_OK || !eval->forgivable)
        return false;
    eval->status = STATUS_OK;
    eval->forgivable = false;
    eval->located = false;
    return true;
}

/* ---- Variables of the template ---- */

static struct local *find_local(struct eval *eval, const char *name)
{
    for (size_t i = eval->locals_count; i > 0; i--)
        if (strcmp(eval->locals[i - 1].name, name) == 0)
            return &eval->locals[i - 1];
    return NULL;
}

static void push_local(struct eval *eval, struct local local)
{
    eval->locals =
        mem_grow(eval->locals, &eval->locals_capacity, eval->locals_count, sizeof *eval->locals);
    eval->locals[eval->locals_count++] = local;
}

static void pop_locals(struct eval *eval, size_t count)
{
    while (eval->locals_count > count)
        json_decref(eval->locals[--eval->locals_count].value);
}

/* Takes the value. A loop body has variables of its own. */
static void set_local(struct eval *eval, const char *name, json_t *value)
{
    struct local *old = find_local(eval, name);
    if (old == NULL || (size_t)(old - eval->locals) < eval->frame) {
        push_local(eval, (struct local){.name = name, .value = value});
        return;
    }
    json_decref(old->value);
    old->value = value;
}

static json_t *loop_value(const struct loop *loop)
{
    size_t length = json_array_size(loop->items);
    json_t *value = json_object();
    json_put_int(value, "index", (int64_t)loop->index + 1);
    json_put_int(value, "index0", (int64_t)loop->index);
    json_put_int(value, "revindex", (int64_t)(length - loop->index));
    json_put_int(value, "revindex0", (int64_t)(length - loop->index - 1));
    json_put_bool(value, "first", loop->index == 0);
    json_put_bool(value, "last", loop->index + 1 == length);
    json_put_int(value, "length", (int64_t)length);
    if (loop->index > 0)
        json_put(value, "previtem", json_incref(json_array_get(loop->items, loop->index - 1)));
    if (loop->index + 1 < length)
        json_put(value, "nextitem", json_incref(json_array_get(loop->items, loop->index + 1)));
    return value;
}

static json_t *local_value(const struct local *local)
{
    return local->loop != NULL ? loop_value(local->loop) : json_incref(local->value);
}

/* ---- Names and what follows them ---- */

/* A chain with its dynamic parts evaluated. */
struct path {
    const char *parts[LIMIT_TEMPLATE_DEPTH];
    json_t *keys[LIMIT_TEMPLATE_DEPTH]; /* keys[i] belongs to parts[i]; none for the root */
    const struct expr *exprs[LIMIT_TEMPLATE_DEPTH];
    size_t count;
};

static void path_free(struct path *path)
{
    for (size_t i = 1; i < path->count; i++) {
        if (json_is_integer(path->keys[i])) {
            /* The text of a number was made for the path. */
            void *text = (void *)(uintptr_t)path->parts[i];
            mem_freep(&text);
        }
        json_decref(path->keys[i]);
    }
    mem_freep(&path);
}

static void path_freep(struct path **path)
{
    if (*path != NULL)
        path_free(*path);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static struct path *path_new(struct eval *eval, const struct expr *chain)
{
    CLEANUP(path_freep) struct path *path = mem_zalloc(1, sizeof *path);
    path->parts[0] = chain->name;
    path->exprs[0] = chain;
    path->count = 1;
    for (const struct expr *part = chain->items; part != NULL; part = part->next) {
        json_t *key = eval_expr(eval, part);
        if (key == NULL)
            return NULL;
        if (!json_is_string(key) && !json_is_integer(key)) {
            (void)eval_fail(eval, STATUS_INVALID, "%s cannot be a key or an index",
                            value_type_name(key));
            json_decref(key);
            (void)locate(eval, part->place);
            return NULL;
        }
        size_t i = path->count++;
        path->keys[i] = key;
        path->exprs[i] = part;
        path->parts[i] = json_is_string(key)
                             ? json_string_value(key)
                             : mem_format("%" PRId64, (int64_t)json_integer_value(key));
    }
    return TAKE(path);
}

struct name_list {
    const struct eval *eval;
};

static const char *known_name(const void *context, size_t i)
{
    const struct eval *eval = ((const struct name_list *)context)->eval;
    if (i < eval->locals_count)
        return eval->locals[i].name;
    return eval->scope->root(eval->scope->context, i - eval->locals_count);
}

static json_t *unknown_name(struct eval *eval, const char *kind, const char *name, bool guarded)
{
    struct name_list names = {eval};
    size_t roots = eval->scope->root != NULL ? eval->scope->roots_count : 0;
    size_t count = eval->locals_count + roots;
    const char *near = guarded ? NULL : str_nearest(name, count, known_name, &names);
    if (near == NULL)
        return eval_missing(eval, guarded, "undefined %s '%.60s'", kind, name);
    return eval_missing(eval, guarded, "undefined %s '%.60s' (did you mean '%.60s'?)", kind, name,
                        near);
}

static bool is_root(const struct template_scope *scope, const char *name)
{
    for (size_t i = 0; scope->root != NULL && i < scope->roots_count; i++)
        if (strcmp(scope->root(scope->context, i), name) == 0)
            return true;
    return false;
}

/* The value of the first parts of a path, as many as the scope answers for. */
static json_t *look_up(struct eval *eval, const struct path *path, size_t count, size_t *out_used,
                       bool guarded)
{
    const struct template_scope *scope = eval->scope;
    const struct local *local = find_local(eval, path->parts[0]);
    *out_used = 1;
    if (local != NULL)
        return local_value(local);
    if (scope->lookup == NULL)
        return unknown_name(eval, "name", path->parts[0], guarded);
    json_t *value = NULL;
    struct err err = {0};
    enum status status = scope->lookup(scope->context, path->parts, count, out_used, &value, &err);
    if (status == STATUS_OK) {
        CHECK(value != NULL);
        CHECK(*out_used >= 1);
        CHECK(*out_used <= count);
        return value;
    }
    if (status != STATUS_NOT_FOUND)
        return eval_fail(eval, status, "%s", err.text);
    if (!is_root(scope, path->parts[0]) || err.text[0] == '\0')
        return unknown_name(eval, "name", path->parts[0], guarded);
    return eval_missing(eval, guarded, "%s", err.text);
}

/* The value of the first `count` parts of a path. */
static json_t *path_value(struct eval *eval, const struct path *path, size_t count, bool guarded)
{
    size_t used = 1;
    json_t *value = look_up(eval, path, count, &used, guarded);
    if (value == NULL)
        return locate(eval, path->exprs[0]->place);
    for (size_t i = used; i < count && value != NULL; i++) {
        json_t *member = value_access(eval, value, path->keys[i], guarded);
        json_decref(value);
        value = member != NULL ? member : locate(eval, path->exprs[i]->place);
    }
    return value;
}

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
            (void)locate(eval, item->place);
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
    const struct local *local = find_local(eval, path->parts[0]);
    size_t last = path->count - 1;
    if (local == NULL && scope->is_function != NULL &&
        scope->is_function(scope->context, path->parts, path->count))
        return call_scope(eval, path, args, named, expr->guarded);
    const struct callable *function =
        local == NULL ? function_find(path->parts, path->count) : NULL;
    if (function != NULL)
        return callable_run(eval, function, NULL, args, named, expr->guarded);
    if (last == 0)
        return unknown_name(eval, "function", path->parts[0], false);
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
    return value != NULL ? value : locate(eval, expr->place);
}

/* ---- Blocks ---- */

/* Bind one value to the targets of for or set; several targets share out a list. Takes it. */
static bool bind_targets(struct eval *eval, const struct stmt *stmt, json_t *taken)
{
    if (stmt->names_count == 1) {
        set_local(eval, stmt->names[0], taken);
        return true;
    }
    CLEANUP(json_decrefp) json_t *value = taken;
    if (!json_is_array(value) || json_array_size(value) != stmt->names_count) {
        (void)eval_fail(eval, STATUS_INVALID, "%zu variables need a list of %zu items, not %s",
                        stmt->names_count, stmt->names_count, value_type_name(value));
        return false;
    }
    for (size_t i = 0; i < stmt->names_count; i++)
        set_local(eval, stmt->names[i], json_incref(json_array_get(value, i)));
    return true;
}

/* The items of a loop for which its `if` holds. */
static json_t *wanted_items(struct eval *eval, const struct stmt *stmt, json_t *taken)
{
    CLEANUP(json_decrefp) json_t *all = taken;
    if (all == NULL || stmt->filter == NULL)
        return TAKE(all);
    CLEANUP(json_decrefp) json_t *kept = json_array();
    size_t frame = eval->frame;
    size_t locals = eval->locals_count;
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *item = json_array_get(all, i);
        eval->frame = locals;
        json_t *holds =
            bind_targets(eval, stmt, json_incref(item)) ? eval_expr(eval, stmt->filter) : NULL;
        pop_locals(eval, locals);
        eval->frame = frame;
        if (holds == NULL)
            return NULL;
        if (template_truth(holds))
            CHECK(json_array_append(kept, item) == 0);
        json_decref(holds);
    }
    return TAKE(kept);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static bool run_for(struct eval *eval, const struct stmt *stmt, struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *value = eval_expr(eval, stmt->value);
    if (value == NULL)
        return false;
    CLEANUP(json_decrefp) json_t *items = wanted_items(eval, stmt, value_items(eval, value));
    if (items == NULL)
        return false;
    size_t count = json_array_size(items);
    if (count == 0)
        return eval_output(eval, stmt->otherwise, out);
    size_t frame = eval->frame;
    size_t locals = eval->locals_count;
    struct loop loop = {.items = items};
    bool ok = true;
    for (; loop.index < count && ok; loop.index++) {
        eval->frame = locals;
        push_local(eval, (struct local){.name = "loop", .loop = &loop});
        ok = bind_targets(eval, stmt, json_incref(json_array_get(items, loop.index))) &&
             eval_output(eval, stmt->body, out);
        pop_locals(eval, locals);
    }
    eval->frame = frame;
    return ok;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static bool run_set(struct eval *eval, const struct stmt *stmt)
{
    json_t *value = NULL;
    if (stmt->value != NULL) {
        value = eval_expr(eval, stmt->value);
    } else {
        struct strbuf text;
        strbuf_init(&text, LIMIT_RENDERED_BYTES);
        if (eval_output(eval, stmt->body, &text))
            value = eval_take_text(eval, &text);
        strbuf_fini(&text);
    }
    return value != NULL && bind_targets(eval, stmt, value);
}

/* elif chains are walked, not recursed into. */
/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static bool run_if(struct eval *eval, const struct stmt *stmt, struct strbuf *out)
{
    for (;;) {
        CLEANUP(json_decrefp) json_t *condition = eval_expr(eval, stmt->value);
        if (condition == NULL)
            return false;
        if (template_truth(condition))
            return eval_output(eval, stmt->body, out);
        const struct stmt *next = stmt->otherwise;
        if (next == NULL || !next->is_elif)
            return eval_output(eval, next, out);
        stmt = next;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static bool run_output(struct eval *eval, const struct stmt *stmt, struct strbuf *out)
{
    json_t *value = eval_expr(eval, stmt->value);
    if (value == NULL)
        return false;
    size_t before = out->length;
    value_add_text(out, value);
    json_decref(value);
    return eval_charge(eval, (out->length - before) / 16);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static bool run_stmt(struct eval *eval, const struct stmt *stmt, struct strbuf *out)
{
    switch (stmt->kind) {
    case STMT_TEXT:
        strbuf_add_bytes(out, stmt->text, stmt->length);
        return true;
    case STMT_OUTPUT:
        return run_output(eval, stmt, out);
    case STMT_IF:
        return run_if(eval, stmt, out);
    case STMT_FOR:
        return run_for(eval, stmt, out);
    case STMT_SET:
        return run_set(eval, stmt);
    }
    check_failed(__FILE__, __LINE__, "a kind of statement");
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest, at most LIMIT_TEMPLATE_DEPTH */
bool eval_output(struct eval *eval, const struct stmt *body, struct strbuf *out)
{
    for (const struct stmt *stmt = body; stmt != NULL; stmt = stmt->next) {
        bool ok = eval_charge(eval, 1) && run_stmt(eval, stmt, out);
        if (ok && out->overflow)
            ok = eval_fail(eval, STATUS_LIMIT, "the result has more than %d bytes",
                           LIMIT_RENDERED_BYTES) != NULL;
        if (!ok) {
            (void)locate(eval, stmt->place);
            return false;
        }
    }
    return true;
}

/* ---- Rendering ---- */

static enum status finish(struct eval *eval, struct template_fault *fault)
{
    pop_locals(eval, 0);
    mem_freep(&eval->locals);
    if (eval->status != STATUS_OK)
        *fault = eval->place;
    return eval->status;
}

static bool render_into(struct eval *eval, const struct template *template, struct strbuf *out)
{
    return eval_output(eval, template->body, out);
}

enum status template_render(const struct template *template, const struct template_scope *scope,
                            json_t **out, struct template_fault *fault, struct err *err)
{
    struct eval eval = {.scope = scope, .err = err};
    const struct stmt *body = template->body;
    json_t *value = NULL;
    if (body != NULL && body->next == NULL && body->kind == STMT_OUTPUT) {
        value = eval_expr(&eval, body->value);
    } else {
        CLEANUP(strbuf_fini) struct strbuf text;
        strbuf_init(&text, LIMIT_RENDERED_BYTES);
        if (render_into(&eval, template, &text))
            value = json_text(text.text, text.length);
    }
    if (finish(&eval, fault) != STATUS_OK)
        return err->code;
    CHECK(value != NULL);
    *out = value;
    return STATUS_OK;
}

enum status template_render_text(const struct template *template,
                                 const struct template_scope *scope, char **out,
                                 struct template_fault *fault, struct err *err)
{
    struct eval eval = {.scope = scope, .err = err};
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, LIMIT_RENDERED_BYTES);
    (void)render_into(&eval, template, &text);
    if (finish(&eval, fault) != STATUS_OK)
        return err->code;
    *out = strbuf_take(&text);
    return STATUS_OK;
}

bool template_is_plain(const char *text)
{
    for (const char *p = strchr(text, '{'); p != NULL; p = strchr(p + 1, '{'))
        if (p[1] == '{' || p[1] == '%' || p[1] == '#')
            return false;
    return true;
}
