/*
 * template_block: text, {% if %}, {% for %} and {% set %}, and rendering as a whole.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/template_eval_priv.h"

/* Bind one value to the targets of for or set; several targets share out a list. Takes it. */
static bool bind_targets(struct eval *eval, const struct stmt *stmt, json_t *taken)
{
    if (stmt->names_count == 1) {
        local_set(eval, stmt->names[0], taken);
        return true;
    }
    CLEANUP(json_decrefp) json_t *value = taken;
    if (!json_is_array(value) || json_array_size(value) != stmt->names_count) {
        (void)eval_fail(eval, STATUS_INVALID, "%zu variables need a list of %zu items, not %s",
                        stmt->names_count, stmt->names_count, value_type_name(value));
        return false;
    }
    for (size_t i = 0; i < stmt->names_count; i++)
        local_set(eval, stmt->names[i], json_incref(json_array_get(value, i)));
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
        local_pop(eval, locals);
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
        local_push(eval, (struct local){.name = "loop", .loop = &loop});
        ok = bind_targets(eval, stmt, json_incref(json_array_get(items, loop.index))) &&
             eval_output(eval, stmt->body, out);
        local_pop(eval, locals);
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
    const struct template_scope *scope = eval->scope;
    if (scope->before_output != NULL)
        scope->before_output(scope->context);
    json_t *value = eval_expr(eval, stmt->value);
    if (value == NULL)
        return false;
    size_t before = out->length;
    value_add_text(out, value);
    json_decref(value);
    if (scope->after_output != NULL && !out->overflow)
        scope->after_output(scope->context, out->text + before, out->length - before);
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
            (void)eval_locate(eval, stmt->place);
            return false;
        }
    }
    return true;
}

static enum status finish(struct eval *eval, struct template_fault *fault)
{
    local_pop(eval, 0);
    mem_freep(&eval->locals);
    if (eval->status != STATUS_OK)
        *fault = eval->place;
    return eval->status;
}

/* The value of an output that is all there is. */
static json_t *eval_alone(struct eval *eval, const struct expr *expr)
{
    const struct template_scope *scope = eval->scope;
    if (scope->before_output != NULL)
        scope->before_output(scope->context);
    json_t *value = eval_expr(eval, expr);
    if (scope->after_output != NULL && json_is_string(value))
        scope->after_output(scope->context, json_string_value(value), json_string_length(value));
    return value;
}

enum status template_render(const struct template *template, const struct template_scope *scope,
                            json_t **out, struct template_fault *fault, struct err *err)
{
    struct eval eval = {.scope = scope, .err = err};
    const struct stmt *body = template->body;
    json_t *value = NULL;
    if (body != NULL && body->next == NULL && body->kind == STMT_OUTPUT) {
        value = eval_alone(&eval, body->value);
    } else {
        CLEANUP(strbuf_fini) struct strbuf text;
        strbuf_init(&text, LIMIT_RENDERED_BYTES);
        if (eval_output(&eval, body, &text))
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
    (void)eval_output(&eval, template->body, &text);
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
