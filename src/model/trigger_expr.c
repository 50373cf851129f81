#include "model/trigger_expr.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"

/* Depth is bounded by LIMIT_TRIGGER_DEPTH when an expression is read. */
/* NOLINTNEXTLINE(misc-no-recursion) */
bool trigger_expr_holds(const struct trigger_expr *expr, const bool *happened)
{
    if (expr->op == TRIGGER_LEAF)
        return happened[expr->leaf];
    bool is_any = expr->op == TRIGGER_ANY;
    for (size_t i = 0; i < expr->count; i++)
        if (trigger_expr_holds(&expr->items[i], happened) == is_any)
            return is_any;
    return !is_any;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void mark_wanted(const struct trigger_expr *expr, const bool *happened, bool *wanted)
{
    if (trigger_expr_holds(expr, happened))
        return;
    if (expr->op == TRIGGER_LEAF)
        wanted[expr->leaf] = true;
    for (size_t i = 0; i < expr->count; i++)
        mark_wanted(&expr->items[i], happened, wanted);
}

void trigger_rules_wanted(const struct trigger_rules *rules, const bool *happened, bool *wanted)
{
    for (size_t i = 0; i < rules->leaves_count; i++)
        wanted[i] = false;
    if (rules->root != NULL)
        mark_wanted(rules->root, happened, wanted);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void describe(const struct trigger_expr *expr, const bool *happened, bool is_inside,
                     struct strbuf *out)
{
    if (expr->op == TRIGGER_LEAF) {
        strbuf_add(out, expr->name);
        return;
    }
    size_t needed = 0;
    for (size_t i = 0; i < expr->count; i++)
        needed += !trigger_expr_holds(&expr->items[i], happened);
    bool has_braces = is_inside && needed > 1;
    strbuf_add(out, has_braces ? "(" : "");
    size_t told = 0;
    for (size_t i = 0; i < expr->count; i++) {
        if (trigger_expr_holds(&expr->items[i], happened))
            continue;
        strbuf_add(out, told++ == 0 ? "" : expr->op == TRIGGER_ANY ? " or " : " and ");
        describe(&expr->items[i], happened, needed > 1, out);
    }
    strbuf_add(out, has_braces ? ")" : "");
}

void trigger_rules_describe(const struct trigger_rules *rules, const bool *happened,
                            struct strbuf *out)
{
    if (rules->root != NULL && !trigger_expr_holds(rules->root, happened))
        describe(rules->root, happened, false, out);
}

/* ---- events ---- */

bool trigger_leaf_matches(const struct trigger_expr *leaf, const struct trigger_event *event)
{
    CHECK(leaf->op == TRIGGER_LEAF);
    return (leaf->states == 0 || (leaf->states >> event->state & 1u) != 0) &&
           str_equal(leaf->name, event->name);
}

static void note(const struct trigger_rules *rules, const struct trigger_event *event,
                 bool *happened)
{
    for (size_t i = 0; i < rules->leaves_count; i++)
        happened[i] |= trigger_leaf_matches(rules->leaves[i], event);
}

void trigger_rules_note(const struct trigger_rules *rules, const struct trigger_event *events,
                        size_t count, bool *happened)
{
    for (size_t i = 0; i < rules->leaves_count; i++)
        happened[i] = false;
    for (size_t i = 0; i < count; i++)
        note(rules, &events[i], happened);
}

size_t trigger_rules_take(const struct trigger_rules *rules, const struct trigger_event *events,
                          size_t count, enum trigger_taking taking)
{
    if (rules->root == NULL)
        return 0;
    CLEANUP(mem_freep) bool *happened = mem_zalloc(rules->leaves_count + 1, sizeof *happened);
    for (size_t i = 0; i < count; i++) {
        note(rules, &events[i], happened);
        if (trigger_expr_holds(rules->root, happened))
            return taking == TRIGGER_TAKE_ALL ? count : i + 1;
    }
    return 0;
}

bool triggers_are_none(const struct triggers *triggers)
{
    return triggers->datasets.root == NULL && triggers->after.root == NULL &&
           triggers->files_count == 0 && triggers->webhooks_count == 0;
}

void triggers_free(struct triggers *triggers)
{
    if (triggers != NULL)
        arena_free(triggers->arena);
}
