/*
 * The cases of template_jinja.json: texts and what Jinja2 3.1 makes of them, with values as
 * JSON instead of Python's notation. What is meant to differ is in test_template.c.
 */
#include <math.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/template.h"
#include "template_world.h"
#include "tree.h"

static json_t *load_cases(void)
{
    static const char path[] = TREE "/tests/unit/model/template_jinja.json";
    json_error_t where;
    json_t *cases = json_load_file(path, 0, &where);
    cr_assert_not_null(cases, "%s:%d: %s", path, where.line, where.text);
    return cases;
}

/* Real numbers may differ in the last digit that a fixture shows; everything else not at all. */
static bool same(const json_t *a, const json_t *b)
{
    if (json_is_real(a) && json_is_real(b)) {
        double x = json_real_value(a);
        double y = json_real_value(b);
        return fabs(x - y) <= 1e-12 * fabs(x);
    }
    return json_equal(a, b);
}

Test(template_jinja, templates_mean_what_jinja_makes_of_them)
{
    json_t *fixture = load_cases();
    struct template_world world = {.roots = json_object_get(fixture, "world")};
    struct template_scope scope = template_world_scope(&world);
    const json_t *cases = json_object_get(fixture, "cases");
    cr_assert_geq(json_array_size(cases), (size_t)400);
    size_t i = 0;
    json_t *row = NULL;
    json_array_foreach(cases, i, row)
    {
        const char *text = json_get_string(row, "text", "");
        const json_t *wanted = json_object_get(row, "value");
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        const struct template *template = NULL;
        struct template_fault fault = {0};
        struct err err = {0};
        json_t *value = NULL;
        bool ok = template_parse(arena, text, &template, &fault, &err) == STATUS_OK &&
                  template_render(template, &scope, &value, &fault, &err) == STATUS_OK;
        cr_expect(ok, "%s: %d:%d: %s", text, fault.line, fault.column, err.text);
        if (!ok)
            continue;
        CLEANUP(mem_freep) char *got = json_format(value);
        CLEANUP(mem_freep) char *expected = json_format(wanted);
        cr_expect(same(wanted, value), "%s is %s, not %s", text, got, expected);
        json_decref(value);
    }
    json_decref(fixture);
}
