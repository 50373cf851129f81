/*
 * What is wrong is said where it is wrong; what is too much is refused.
 */
#include "base/strbuf.h"
#include "model/limits.h"
#include "model/template.h"
#include "template_case.h"

static const char ROOTS[] = "{\"params\": {\"name\": \"eu\", \"rows\": 3, \"list\": [1, \"a\"]},"
                            " \"ds\": \"2025-01-15\", \"ti\": {}, \"lazy\": {}}";

static void expect_fault(const struct template_scope *scope, const char *text, const char *wanted)
{
    struct err err = {0};
    struct template_fault fault = {0};
    json_t *value = NULL;
    enum status status = template_case_render(scope, text, &value, &fault, &err);
    cr_expect_neq(status, STATUS_OK, "%s", text);
    cr_expect_null(value, "%s", text);
    CLEANUP(mem_freep)
    char *got = mem_format("%d:%d: %s", fault.line, fault.column, err.text);
    cr_expect_str_eq(got, wanted, "%s\n  gives  %s\n  wanted %s", text, got, wanted);
}

Test(template_faults, each_mistake_has_a_place_and_a_cause)
{
    static const struct {
        const char *text;
        const char *fault;
    } CASES[] = {
        {"{{ parms.x }}", "1:4: undefined name 'parms' (did you mean 'params'?)"},
        {"a\nb {{ ghost }}", "2:6: undefined name 'ghost'"},
        {"ü {{ ghost }}", "1:6: undefined name 'ghost'"},
        {"{{ params.nmae }}", "1:11: no member 'nmae' (did you mean 'name'?)"},
        {"{{ params['nmae'] }}", "1:11: no member 'nmae' (did you mean 'name'?)"},
        {"{{ params.name.x }}", "1:16: a text has no attribute 'x'"},
        {"{{ params.list[2] }}", "1:16: there is no item 2 in a list of 2"},
        {"{{ params.list[-3] }}", "1:16: there is no item -3 in a list of 2"},
        {"{{ params.x.y | upper }}", "1:11: no member 'x'"},
        {"{{ lazy.gone.key }}", "1:4: task 'gone' has no value 'key'"},
        {"{{ lazy.broken.key | default(1) }}", "1:4: the disk is on fire"},
        {"{{ ti.xcom_pull('gone') }}", "1:4: task 'gone' has no value"},
        {"{{ upper(params.typo | default('x')) | default(1) }}", "1:4: undefined function 'upper'"},
        {"{{ (params.typo ~ 'x') | default(1) }}", "1:12: no member 'typo'"},
        {"{{ params.rows.upper() }}", "1:4: a number has no method 'upper'"},
        {"{{ ds | uper }}", "1:9: unknown filter 'uper' (did you mean 'upper'?)"},
        {"{{ ds is strng }}", "1:10: unknown test 'strng' (did you mean 'string'?)"},
        {"{{ ds | replace('a') }}", "1:9: 'replace' needs the argument 'new'"},
        {"{{ ds | upper(1) }}", "1:9: 'upper' takes at most 0 arguments, not 1"},
        {"{{ ds | join(x=1) }}", "1:9: 'join' has no argument 'x'"},
        {"{{ ds | replace('a', 'b', old='c') }}", "1:9: the argument 'old' is given twice"},
        {"{{ ds | indent('x', true, width=1) }}", "1:9: the argument 'width' is given twice"},
        {"{{ 1 / 0 }}", "1:6: division by zero"},
        {"{{ 1 // 0 }}", "1:6: division by zero"},
        {"{{ 1 % 0.0 }}", "1:6: division by zero"},
        {"{{ 0 ** -1 }}", "1:6: division by zero"},
        {"{{ 9223372036854775807 + 1 }}", "1:24: the result of + does not fit into 64 bits"},
        {"{{ -9223372036854775807 - 2 }}", "1:25: the result of - does not fit into 64 bits"},
        {"{{ 9223372036854775807 * 2 }}", "1:24: the result of * does not fit into 64 bits"},
        {"{{ 2 ** 63 }}", "1:6: the result of ** does not fit into 64 bits"},
        {"{{ (-9223372036854775807 - 1) // -1 }}",
         "1:31: the result of // does not fit into 64 bits"},
        {"{{ -(-9223372036854775807 - 1) }}", "1:4: the result of - does not fit into 64 bits"},
        {"{{ 9223372036854775808 }}", "1:4: the number does not fit into 64 bits"},
        {"{{ 1e999 }}", "1:4: the number is too large"},
        {"{{ 1e308 * 10 }}", "1:10: the result is not a finite number"},
        {"{{ 'a' + 1 }}", "1:8: + cannot join a text and a number; ~ joins anything as text"},
        {"{{ [] - 1 }}", "1:7: - cannot join a list and a number"},
        {"{{ -'a' }}", "1:4: - needs a number, not a text"},
        {"{{ 1 < 'a' }}", "1:6: a number and a text cannot be ordered"},
        {"{{ 1 in 5 }}", "1:6: 'in' needs a list, a map or a text with a text, not a number"},
        {"{{ params.list | sort }}", "1:18: a number and a text cannot be ordered"},
        {"{{ 5 | length }}", "1:8: 'length' needs a list, a map or a text, not a number"},
        {"{{ [] | first }}", "1:9: 'first' of something empty"},
        {"{{ [] | max }}", "1:9: 'max' of something empty"},
        {"{{ 'x' | ds }}", "1:10: 'ds' needs a date or an instant, not 'x'"},
        {"{{ ds | strftime('%Q') }}", "1:9: 'strftime' does not know %Q"},
        {"{{ ds | strftime('%') }}", "1:9: 'strftime': the format ends with %"},
        {"{{ ds | add('soon') }}",
         "1:9: 'add' needs a duration such as '1d' or '-1h30m', not 'soon'"},
        {"{{ '9999-12-31' | date_add(1) }}", "1:19: 'date_add' leaves the years 1 to 9999"},
        {"{{ '0001-01-01' | date_add(-1) }}", "1:19: 'date_add' leaves the years 1 to 9999"},
        {"{{ 'x' | regex_match('(') }}", "1:10: 'regex_match': pattern '(': Unmatched ( or \\("},
        {"{{ '{' | fromjson }}", "1:10: 'fromjson': JSON, line 1, column 1: string or '}' "
                                 "expected near end of file"},
        {"{{ 'a' | b64decode }}", "1:10: 'b64decode': this is not base64"},
        {"{% for x in 5 %}{% endfor %}", "1:4: a number has no items to walk"},
        {"{% for a, b in [[1]] %}{% endfor %}",
         "1:4: 2 variables need a list of 2 items, not a list"},
        {"{% set loop = 1 %}", "1:8: 'loop' cannot be a variable"},
        {"{{ range(1, 5, 0) }}", "1:4: 'range' needs a step that is not 0"},
        {"{{ 'abc'[::2] }}", "1:10: slices with a step are not supported"},
    };
    struct template_world world = {.roots = template_case_json(ROOTS)};
    struct template_scope scope = template_world_scope(&world);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_fault(&scope, CASES[i].text, CASES[i].fault);
    json_decref(world.roots);
}

Test(template_faults, each_error_of_syntax_has_a_place_and_a_cause)
{
    static const struct {
        const char *text;
        const char *fault;
    } CASES[] = {
        {"{{", "1:3: the text ends inside of {{ ..: }} is missing"},
        {"{{ 1", "1:5: the text ends inside of {{ ..: }} is missing"},
        {"{% if", "1:6: the text ends inside of {% ..: %} is missing"},
        {"{{ }}", "1:4: expected a value"},
        {"{{ 1 2 }}", "1:6: expected the end of the tag, found '2'"},
        {"{{ 1 + }}", "1:8: expected a value"},
        {"{{ (1 }}", "1:7: expected ')', found '}'"},
        {"{{ [1, 2 }}", "1:10: expected ']', found '}'"},
        {"{{ {'a' 1} }}", "1:9: expected ':', found '1'"},
        {"{{ 'abc }}", "1:4: the string is never closed"},
        {"{{ '\\x0' }}", "1:5: bad escape in the string"},
        {"{{ '\\x00' }}", "1:5: bad escape in the string"},
        {"{{ '\\ud800' }}", "1:5: bad escape in the string"},
        {"{{ 1x }}", "1:4: bad number"},
        {"{{ 007 }}", "1:4: a number does not begin with 0"},
        {"{{ a.+ }}", "1:6: expected a name after '.'"},
        {"{{ a | 1 }}", "1:8: expected the name of a filter after '|'"},
        {"{{ a is 1 }}", "1:9: expected the name of a test after 'is'"},
        {"{{ a ? b }}", "1:6: unexpected character in an expression"},
        {"{{ 'a'() }}", "1:7: this cannot be called"},
        {"{{ f(1=2) }}", "1:7: only a name can stand before '='"},
        {"{{ and }}", "1:4: expected a value before 'and'"},
        {"{% endif %}", "1:4: {% endif %} without its beginning"},
        {"{% else %}", "1:4: {% else %} without its beginning"},
        {"x\n{% if a %}", "2:4: the block is never closed by {% endif %}"},
        {"{% for a in b %}{% else %}", "1:4: the block is never closed by {% endfor %}"},
        {"{% if a %}{% endfor %}", "1:14: expected 'endif', found 'endfor'"},
        {"{% for 1 in x %}", "1:8: expected a name, found '1'"},
        {"{% for a on x %}", "1:10: expected 'in', found 'on'"},
        {"{% macro x() %}", "1:4: unknown tag 'macro'; the tags are if, for, set and raw"},
        {"{% %}", "1:4: expected the name of a tag, found the end of the tag"},
        {"a {# never", "1:3: {# is never closed by #}"},
        {"{% raw %} x", "1:1: {% raw %} is never closed by {% endraw %}"},
        {"{% set a, b %}", "1:13: expected '=', found the end of the tag"},
        {"{{ 5 is even(1) }}", "1:13: the test 'even' takes no argument"},
    };
    struct template_world world = {.roots = template_case_json(ROOTS)};
    struct template_scope scope = template_world_scope(&world);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_fault(&scope, CASES[i].text, CASES[i].fault);
    json_decref(world.roots);
}

/* `open` n times, `middle`, `close` n times. */
static char *nest(const char *open, const char *middle, const char *close, size_t n)
{
    struct strbuf text;
    strbuf_init(&text, 64 << 20);
    for (size_t i = 0; i < n; i++)
        strbuf_add(&text, open);
    strbuf_add(&text, middle);
    for (size_t i = 0; i < n; i++)
        strbuf_add(&text, close);
    return strbuf_take(&text);
}

static enum status try_text(const char *text)
{
    struct template_world world = {.roots = template_case_json(ROOTS)};
    struct template_scope scope = template_world_scope(&world);
    struct template_fault fault = {0};
    struct err err = {0};
    json_t *value = NULL;
    enum status status = template_case_render(&scope, text, &value, &fault, &err);
    json_decref(value);
    json_decref(world.roots);
    return status;
}

static enum status try_nested(const char *before, const char *open, const char *middle,
                              const char *close, size_t n)
{
    CLEANUP(mem_freep) char *nested = nest(open, middle, close, n);
    CLEANUP(mem_freep) char *text = mem_format("%s%s", before, nested);
    return try_text(text);
}

Test(template_faults, nesting_is_bounded_on_every_path)
{
    static const struct {
        const char *before, *open, *middle, *close;
        size_t fits; /* one more does not */
    } CASES[] = {
        {"", "{% if true %}", "x", "{% endif %}", LIMIT_TEMPLATE_DEPTH - 1},
        {"", "{% for i in [1] %}", "x", "{% endfor %}", LIMIT_TEMPLATE_DEPTH - 2},
        {"{{ ", "(", "1", ")", LIMIT_TEMPLATE_DEPTH / 2 - 1},
        {"{{ ", "[", "1", "]", LIMIT_TEMPLATE_DEPTH / 2 - 1},
        {"{{ ", "- ", "1", " ", LIMIT_TEMPLATE_DEPTH - 2},
        {"{{ ", "not ", "1", " ", LIMIT_TEMPLATE_DEPTH - 2},
        {"{{ ", "1 + ", "1", "", 512},
        {"{{ 'a' ", "| upper ", "", "", 512},
        {"{{ x", ".a", " is defined", "", LIMIT_TEMPLATE_DEPTH - 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const char *end = CASES[i].before[0] != '\0' ? " }}" : "";
        CLEANUP(mem_freep)
        char *fits = nest(CASES[i].open, CASES[i].middle, CASES[i].close, CASES[i].fits);
        CLEANUP(mem_freep)
        char *more = nest(CASES[i].open, CASES[i].middle, CASES[i].close, CASES[i].fits + 1);
        CLEANUP(mem_freep) char *text = mem_format("%s%s%s", CASES[i].before, fits, end);
        CLEANUP(mem_freep) char *over = mem_format("%s%s%s", CASES[i].before, more, end);
        cr_expect_eq(try_text(text), STATUS_OK, "%s %zu", CASES[i].open, CASES[i].fits);
        cr_expect_eq(try_text(over), STATUS_LIMIT, "%s %zu", CASES[i].open, CASES[i].fits + 1);
    }
}

Test(template_faults, long_chains_of_elif_are_no_nesting)
{
    cr_expect_eq(try_nested("{% if false %}", "{% elif false %}", "{% endif %}", "", 10000),
                 STATUS_OK);
}

Test(template_faults, work_and_sizes_are_bounded)
{
    static const char *const CASES[] = {
        "{% set s = 'x' * 60000 %}{% for a in range(500) %}{{ s | regex_match('x') }}{% endfor %}",
        "{{ 'x' * 16777217 }}",
        "{{ [0] * 2000000 }}",
        "{{ range(100001) }}",
        "{% for a in range(20) %}{{ ('x' * 1000) * 1000 }}{% endfor %}",
        "{% set s = ('x' * 4000) * 2100 %}{{ s ~ s }}",
        "{{ ('x' * 20000) | replace('x', 'y' * 1000) }}",
        "{{ (('x' * 2000) * 2000) | list }}",
        "{{ ('x' * 100000) | regex_match('x') }}",
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(try_text(CASES[i]), STATUS_LIMIT, "%s", CASES[i]);
    cr_expect_eq(try_text("{{ (('x' * 4096) * 4096) | length }}"), STATUS_OK);
    cr_expect_eq(try_text("{{ range(100000) | length }}"), STATUS_OK);
}

Test(template_faults, values_that_double_or_deepen_are_refused)
{
    cr_expect_eq(try_nested("{% set x = [1] %}", "{% set x = [x, x] %}", "", "", 40), STATUS_LIMIT);
    cr_expect_eq(try_nested("{% set x = [1] %}", "{% set x = {'a': x} %}", "", "", 200),
                 STATUS_LIMIT);
    cr_expect_eq(try_nested("{% set x = [1] %}", "{% set x = [x] %}", "{{ x }}", "", 100),
                 STATUS_OK);
}

Test(template_faults, a_template_has_at_most_a_mebibyte)
{
    CLEANUP(mem_freep) char *fits = nest("x", "", "", LIMIT_TEMPLATE_BYTES);
    CLEANUP(mem_freep) char *over = nest("x", "", "", LIMIT_TEMPLATE_BYTES + 1);

    cr_expect_eq(try_text(fits), STATUS_OK);
    cr_expect_eq(try_text(over), STATUS_LIMIT);
}
