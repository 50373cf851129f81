#include "base/strbuf.h"
#include "model/template.h"
#include "template_case.h"

static const char WORLD[] =
    "{\"params\": {\"name\": \"eu\", \"rows\": 3, \"flag\": true, \"none\": null,"
    "  \"list\": [3, 1, 2], \"nested\": {\"a\": {\"b\": 5}}},"
    " \"ds\": \"2025-01-15\", \"ts\": \"2025-01-15T06:30:00+00:00\", \"item\": \"/data/a b.csv\","
    " \"ti\": {}, \"lazy\": {}}";

Test(template, a_lone_expression_keeps_its_type_and_text_prints_json)
{
    static const struct template_case CASES[] = {
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
    template_case_expect(WORLD, CASES, ARRAY_LEN(CASES));
}

Test(template, undefined_values_are_forgiven_only_where_asked)
{
    static const struct template_case CASES[] = {
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
    template_case_expect(WORLD, CASES, ARRAY_LEN(CASES));
}

Test(template, the_scope_answers_whole_chains_and_calls)
{
    static const struct template_case CASES[] = {
        {"{{ lazy.load.rows }}", "\"load/rows\""},
        {"{{ lazy['a-b']['r' ~ 'x'] }}", "\"a-b/rx\""},
        {"{{ lazy.load[1] }}", "\"load/1\""},
        {"{{ lazy.load.rows.upper() }}", "\"LOAD/ROWS\""},
        {"{{ ti.xcom_pull('t', key='k') }}", "{\"args\":[\"t\"],\"named\":{\"key\":\"k\"}}"},
        {"{{ ti.xcom_pull(['a', 'b']).args[0][1] }}", "\"b\""},
    };
    template_case_expect(WORLD, CASES, ARRAY_LEN(CASES));

    struct template_world world = {.roots = template_case_json(WORLD)};
    struct template_scope scope = template_world_scope(&world);
    struct template_fault fault = {0};
    struct err err = {0};
    json_t *value = NULL;
    EXPECT_OK(template_case_render(&scope, "{{ lazy.a.b | upper }}", &value, &fault, &err), &err);
    cr_expect_eq(world.lookups, 1);
    cr_expect_eq(world.parts_asked, 3);
    json_decref(value);
    json_decref(world.roots);
}

static void note_name(void *context, const struct template_name *name)
{
    struct strbuf *text = context;
    strbuf_addf(text, "%d:%d ", name->place.line, name->place.column);
    for (size_t i = 0; i < name->count; i++)
        strbuf_addf(text, "%s%s", i > 0 ? "." : "", name->parts[i]);
    strbuf_addf(text, "%s%s%s\n", name->called ? "()" : "", name->complete ? "" : "[?]",
                name->guarded ? " guarded" : "");
}

Test(template, names_are_listed_without_the_variables_of_the_template)
{
    static const char TEXT[] =
        "{{ params.x }} {{ tasks['a-b'].rows[0] }}\n"
        "{% for i in items.list if i > low %}{{ i.x }}{{ loop.index }}"
        "{{ item }}{% else %}{{ i }}{% endfor %}\n"
        "{% set v = w %}{{ v }}{{ tasks[v].key[u] }}\n"
        "{{ ti.xcom_pull('t', key=k) }}{{ range(n) }}{{ p.q.upper() }}\n"
        "{{ a.b | default(c) }}{{ d.e is defined }}{{ (f if g else h) | d }}";
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 4096);
    const struct template *template = NULL;
    struct template_fault fault = {0};
    struct err err = {0};

    EXPECT_OK(template_parse(arena, TEXT, &template, &fault, &err), &err);
    template_visit_names(template, note_name, &text);

    EXPECT_STR("1:4 params.x\n"
               "1:19 tasks.a-b.rows.0\n"
               "2:13 items.list\n"
               "2:31 low\n"
               "2:65 item\n"
               "2:85 i\n"
               "3:12 w\n"
               "3:26 tasks[?]\n"
               "3:39 u\n"
               "4:4 ti.xcom_pull()\n"
               "4:26 k\n"
               "4:40 n\n"
               "4:48 p.q.upper()\n"
               "5:4 a.b guarded\n"
               "5:18 c\n"
               "5:26 d.e guarded\n"
               "5:47 f guarded\n"
               "5:52 g\n"
               "5:59 h guarded\n",
               text.text);
}

Test(template, plain_texts_are_known_and_rendered_as_text)
{
    static const struct {
        const char *text;
        bool plain;
    } CASES[] = {
        {"", true},    {"a { b } c", true}, {"{ {", true}, {"}} %} #}", true}, {"{", true},
        {"{{", false}, {"a {% x", false},   {"{#", false}, {"{{{", false},     {"x{ {{", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(template_is_plain(CASES[i].text), CASES[i].plain, "%s", CASES[i].text);
}

Test(template, text_rendering_never_keeps_a_type)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct template_world world = {.roots = template_case_json(WORLD)};
    struct template_scope scope = template_world_scope(&world);
    const struct template *template = NULL;
    struct template_fault fault = {0};
    struct err err = {0};
    CLEANUP(mem_freep) char *text = NULL;

    EXPECT_OK(template_parse(arena, "{{ params.flag }}", &template, &fault, &err), &err);
    EXPECT_OK(template_render_text(template, &scope, &text, &fault, &err), &err);

    EXPECT_STR("true", text);
    json_decref(world.roots);
}

Test(template, a_template_without_a_scope_can_still_compute)
{
    static const struct template_scope NOTHING = {0};
    struct template_fault fault = {0};
    struct err err = {0};
    json_t *value = NULL;

    EXPECT_OK(template_case_render(&NOTHING, "{{ 1 + 1 }}", &value, &fault, &err), &err);
    cr_expect_eq(json_integer_value(value), 2);
    json_decref(value);
    EXPECT_STATUS(STATUS_NOT_FOUND, template_case_render(&NOTHING, "{{ a }}", &value, &fault, &err),
                  &err);
    EXPECT_STR("undefined name 'a'", err.text);
}
