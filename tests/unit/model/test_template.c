#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "expect.h"
#include "model/template.h"
#include "template_world.h"

static const char WORLD[] =
    "{\"params\": {\"name\": \"eu\", \"rows\": 3, \"flag\": true, \"none\": null,"
    "  \"list\": [3, 1, 2], \"nested\": {\"a\": {\"b\": 5}}},"
    " \"ds\": \"2025-01-15\", \"ts\": \"2025-01-15T06:30:00+00:00\", \"item\": \"/data/a b.csv\","
    " \"ti\": {}, \"lazy\": {}}";

static struct template_world world_new(void)
{
    struct template_world world = {0};
    struct err err = {0};
    EXPECT_OK(json_parse(WORLD, strlen(WORLD), &world.roots, &err), &err);
    return world;
}

static enum status render(const struct template_scope *scope, const char *text, json_t **out,
                          struct template_fault *fault, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct template *template = NULL;
    if (template_parse(arena, text, &template, fault, err) != STATUS_OK)
        return err->code;
    return template_render(template, scope, out, fault, err);
}

struct render_case {
    const char *text;
    const char *json; /* the value, as JSON */
};

static void expect_renders(const struct render_case *cases, size_t count)
{
    struct template_world world = world_new();
    struct template_scope scope = template_world_scope(&world);
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        struct template_fault fault = {0};
        json_t *value = NULL;
        enum status status = render(&scope, cases[i].text, &value, &fault, &err);
        cr_expect_eq(status, STATUS_OK, "%s: %d:%d: %s", cases[i].text, fault.line, fault.column,
                     err.text);
        if (status != STATUS_OK)
            continue;
        CLEANUP(mem_freep) char *json = json_format(value);
        cr_expect_str_eq(json, cases[i].json, "%s is %s, not %s", cases[i].text, json,
                         cases[i].json);
        json_decref(value);
    }
    json_decref(world.roots);
}

Test(template, a_lone_expression_keeps_its_type_and_text_prints_json)
{
    static const struct render_case CASES[] = {
        {"{{ params.rows }}", "3"},
        {"{{ params.flag }}", "true"},
        {"{{ params.none }}", "null"},
        {"{{ params.list }}", "[3,1,2]"},
        {"{{ params.nested }}", "{\"a\":{\"b\":5}}"},
        {" {{ params.rows }}", "\" 3\""},
        {"{{ params.flag }} {{ params.none }} {{ params.list }} {{ params.nested }}",
         "\"true null [3,1,2] {\\\"a\\\":{\\\"b\\\":5}}\""},
        {"", "\"\""},
        {"no braces { here }", "\"no braces { here }\""},
        {"keeps its newline\n", "\"keeps its newline\\n\""},
        {"{{ 0.1 }}x", "\"0.1x\""},
        {"{{ 1.0 }}x", "\"1.0x\""},
        {"{{ 'a if' if false }}", "\"\""},
        {"[{{ 'x' if params.rows > 5 }}]", "\"[]\""},
    };
    expect_renders(CASES, ARRAY_LEN(CASES));
}

Test(template, undefined_values_are_forgiven_only_where_asked)
{
    static const struct render_case CASES[] = {
        {"{{ nothing | default('x') }}", "\"x\""},
        {"{{ params.nothing.deep.deeper | default(1) }}", "1"},
        {"{{ params.list[9] | d([]) }}", "[]"},
        {"{{ params.list[1:][7] | default('far') }}", "\"far\""},
        {"{{ params.none | default('x') }}", "null"},
        {"{{ params.none | default('x', true) }}", "\"x\""},
        {"{{ params.nothing is defined }}", "false"},
        {"{{ params.name is defined and nothing is not defined }}", "true"},
        {"{{ ti.xcom_pull('gone') | default('none yet') }}", "\"none yet\""},
        {"{{ lazy.gone.key | default(0) }}", "0"},
        {"{{ [] | first | default('empty') }}", "\"empty\""},
        {"{{ (params.x if true else 1) | default(2) }}", "2"},
        {"{{ nothing.upper() | default('u') }}", "\"u\""},
    };
    expect_renders(CASES, ARRAY_LEN(CASES));
}

Test(template, the_scope_answers_whole_chains_and_calls)
{
    static const struct render_case CASES[] = {
        {"{{ lazy.load.rows }}", "\"load/rows\""},
        {"{{ lazy['a-b']['r' ~ 'x'] }}", "\"a-b/rx\""},
        {"{{ lazy.load[1] }}", "\"load/1\""},
        {"{{ lazy.load.rows.upper() }}", "\"LOAD/ROWS\""},
        {"{{ ti.xcom_pull('t', key='k') }}", "{\"args\":[\"t\"],\"named\":{\"key\":\"k\"}}"},
        {"{{ ti.xcom_pull(['a', 'b']).args[0][1] }}", "\"b\""},
    };
    expect_renders(CASES, ARRAY_LEN(CASES));

    struct template_world world = world_new();
    struct template_scope scope = template_world_scope(&world);
    struct template_fault fault = {0};
    struct err err = {0};
    json_t *value = NULL;
    EXPECT_OK(render(&scope, "{{ lazy.a.b | upper }}", &value, &fault, &err), &err);
    cr_expect_eq(world.lookups, 1);
    cr_expect_eq(world.parts_asked, 3);
    json_decref(value);
    json_decref(world.roots);
}
