/*
 * template_names: which names a template uses, found without rendering it.
 *
 * Variables that the template sets itself are tracked as rendering would: targets of a
 * loop end with it, what `set` makes inside of a loop too.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "model/template_filter_priv.h"

struct walk {
    void (*visit)(void *context, const struct template_name *name);
    void *context;
    const char **own; /* names that are variables here */
    size_t count;
    size_t capacity;
};

static void walk_body(struct walk *walk, const struct stmt *body);
static void walk_expr(struct walk *walk, const struct expr *expr);

static void push(struct walk *walk, const char *name)
{
    walk->own = mem_grow(walk->own, &walk->capacity, walk->count, sizeof *walk->own);
    walk->own[walk->count++] = name;
}

static bool is_own(const struct walk *walk, const char *name)
{
    for (size_t i = 0; i < walk->count; i++)
        if (strcmp(walk->own[i], name) == 0)
            return true;
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high */
static void walk_chain(struct walk *walk, const struct expr *chain, bool called)
{
    const char *parts[LIMIT_TEMPLATE_DEPTH];
    char *numbers[LIMIT_TEMPLATE_DEPTH];
    size_t numbers_count = 0;
    struct template_name name = {.parts = parts, .complete = true, .guarded = chain->guarded};
    parts[name.count++] = chain->name;
    for (const struct expr *part = chain->items; part != NULL; part = part->next) {
        if (part->kind != EXPR_TEXT && part->kind != EXPR_INTEGER) {
            name.complete = false;
            break;
        }
        if (part->kind == EXPR_INTEGER) {
            numbers[numbers_count] = mem_format("%" PRId64, part->integer);
            parts[name.count++] = numbers[numbers_count++];
        } else {
            parts[name.count++] = part->name;
        }
    }
    name.called = called && name.complete;
    name.place = chain->place;
    bool builtin = called && function_find(parts, name.count) != NULL;
    if (!is_own(walk, chain->name) && !builtin)
        walk->visit(walk->context, &name);
    for (size_t i = 0; i < numbers_count; i++)
        mem_freep(&numbers[i]);
    for (const struct expr *part = chain->items; part != NULL; part = part->next)
        walk_expr(walk, part);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the tree is high, at most EXPR_HEIGHT_MAX */
static void walk_expr(struct walk *walk, const struct expr *expr)
{
    if (expr->kind == EXPR_CHAIN) {
        walk_chain(walk, expr, false);
        return;
    }
    bool call = expr->kind == EXPR_CALL && expr->a->kind == EXPR_CHAIN;
    if (call)
        walk_chain(walk, expr->a, true);
    /* A choice reads b first: `b if a else c`. */
    const struct expr *children[] = {expr->kind == EXPR_CHOICE ? expr->b : expr->a,
                                     expr->kind == EXPR_CHOICE ? expr->a : expr->b, expr->c};
    for (size_t i = call ? 1 : 0; i < ARRAY_LEN(children); i++)
        if (children[i] != NULL)
            walk_expr(walk, children[i]);
    for (const struct expr *item = expr->items; item != NULL; item = item->next)
        walk_expr(walk, item);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static void walk_for(struct walk *walk, const struct stmt *stmt)
{
    walk_expr(walk, stmt->value);
    size_t before = walk->count;
    for (size_t i = 0; i < stmt->names_count; i++)
        push(walk, stmt->names[i]);
    if (stmt->filter != NULL)
        walk_expr(walk, stmt->filter);
    push(walk, "loop");
    walk_body(walk, stmt->body);
    walk->count = before;
    walk_body(walk, stmt->otherwise);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static void walk_set(struct walk *walk, const struct stmt *stmt)
{
    if (stmt->value != NULL)
        walk_expr(walk, stmt->value);
    else
        walk_body(walk, stmt->body);
    for (size_t i = 0; i < stmt->names_count; i++)
        if (!is_own(walk, stmt->names[i]))
            push(walk, stmt->names[i]);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest */
static void walk_if(struct walk *walk, const struct stmt *stmt)
{
    for (;;) {
        walk_expr(walk, stmt->value);
        walk_body(walk, stmt->body);
        if (stmt->otherwise == NULL || !stmt->otherwise->is_elif)
            break;
        stmt = stmt->otherwise;
    }
    walk_body(walk, stmt->otherwise);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as blocks nest, at most LIMIT_TEMPLATE_DEPTH */
static void walk_body(struct walk *walk, const struct stmt *body)
{
    for (const struct stmt *stmt = body; stmt != NULL; stmt = stmt->next) {
        switch (stmt->kind) {
        case STMT_TEXT:
            break;
        case STMT_OUTPUT:
            walk_expr(walk, stmt->value);
            break;
        case STMT_IF:
            walk_if(walk, stmt);
            break;
        case STMT_FOR:
            walk_for(walk, stmt);
            break;
        case STMT_SET:
            walk_set(walk, stmt);
            break;
        }
    }
}

void template_visit_names(const struct template *template,
                          void (*visit)(void *context, const struct template_name *name),
                          void *context)
{
    struct walk walk = {.visit = visit, .context = context};
    walk_body(&walk, template->body);
    mem_freep(&walk.own);
}
