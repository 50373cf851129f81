#pragma once
/*
 * template_case: rendering one text in a template_world, for the tests of templates.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "expect.h"
#include "template_world.h"

static inline enum status template_case_render(const struct template_scope *scope, const char *text,
                                               json_t **out, struct template_fault *fault,
                                               struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct template *template = NULL;
    if (template_parse(arena, text, &template, fault, err) != STATUS_OK)
        return err->code;
    return template_render(template, scope, out, fault, err);
}

static inline json_t *template_case_json(const char *text)
{
    json_t *value = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &value, &err), &err);
    return value;
}

struct template_case {
    const char *text;
    const char *result; /* the value as JSON */
};

static inline void template_case_expect(const char *roots, const struct template_case *cases,
                                        size_t count)
{
    struct template_world world = {.roots = template_case_json(roots)};
    struct template_scope scope = template_world_scope(&world);
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        struct template_fault fault = {0};
        json_t *value = NULL;
        enum status status = template_case_render(&scope, cases[i].text, &value, &fault, &err);
        cr_expect_eq(status, STATUS_OK, "%s: %d:%d: %s", cases[i].text, fault.line, fault.column,
                     err.text);
        if (status != STATUS_OK)
            continue;
        CLEANUP(mem_freep) char *json = json_format(value);
        cr_expect_str_eq(json, cases[i].result, "%s is %s, not %s", cases[i].text, json,
                         cases[i].result);
        json_decref(value);
    }
    json_decref(world.roots);
}
