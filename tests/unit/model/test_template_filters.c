/*
 * Filters that Jinja does not have, or that differ from Jinja's; the others are in
 * template_jinja.json.
 */
#include "model/template.h"
#include "template_case.h"

static const char ROOTS[] = "{\"ds\": \"2025-01-15\", \"ts\": \"2025-01-15T06:30:05+00:00\","
                            " \"zulu\": \"2024-12-30T23:59:59.250000Z\", \"list\": [1, 2],"
                            " \"at\": \"2025-01-15T08:30:05+02:00\"}";

Test(template_filters, values_as_json_and_back)
{
    static const struct template_case CASES[] = {
        {"{{ {'b': [1, 0.1, none], 'a': true} | tojson }}",
         "\"{\\\"a\\\":true,\\\"b\\\":[1,0.1,null]}\""},
        {"{{ [1, {'a': []}] | tojson(2) }}", "\"[\\n  1,\\n  {\\n    \\\"a\\\": []\\n  }\\n]\""},
        {"{{ 'a\"\\\\\\n\\x01<ü' | tojson }}", "\"\\\"a\\\\\\\"\\\\\\\\\\\\n\\\\u0001<ü\\\"\""},
        {"{{ '[1, {\"a\": null}]' | fromjson }}", "[1,{\"a\":null}]"},
        {"{{ '5' | fromjson + 1 }}", "6"},
        {"{{ 'yes' | bool }}{{ 'TRUE' | bool }}{{ 'no' | bool }}{{ 0 | bool }}{{ [1] | bool }}",
         "\"truetruefalsefalsetrue\""},
        {"{{ 'a,b' | split(',') }}", "[\"a\",\"b\"]"},
        {"{{ ' a  b ' | split }}", "[\"a\",\"b\"]"},
    };
    template_case_expect(ROOTS, CASES, ARRAY_LEN(CASES));
}

Test(template_filters, texts_for_shells_paths_and_transport)
{
    static const struct template_case CASES[] = {
        {"{{ 'plain-1.txt' | sh }}", "\"plain-1.txt\""},
        {"{{ 'two words' | sh }}", "\"'two words'\""},
        {"{{ \"it's; $(rm)\" | sh }}", "\"'it'\\\\''s; $(rm)'\""},
        {"{{ '' | sh }}", "\"''\""},
        {"{{ ['a', 'b c', 3, '~'] | sh }}", "\"a 'b c' 3 '~'\""},
        {"{{ [] | sh }}", "\"\""},
        {"{{ '/data/a.csv.gz' | basename }}", "\"a.csv.gz\""},
        {"{{ '/data/a.csv.gz' | dirname }}", "\"/data\""},
        {"{{ '/data/a.csv.gz' | stem }}", "\"a.csv\""},
        {"{{ '/data/dir/' | basename }}", "\"dir\""},
        {"{{ '/data/dir/' | dirname }}", "\"/data\""},
        {"{{ 'file' | dirname }}", "\".\""},
        {"{{ '/' | basename }}{{ '/' | dirname }}", "\"//\""},
        {"{{ '/x' | dirname }}", "\"/\""},
        {"{{ '.bashrc' | stem }}", "\".bashrc\""},
        {"{{ '' | basename }}", "\"\""},
        {"{{ 'hi' | b64encode }}", "\"aGk=\""},
        {"{{ 'abc' | b64encode | b64decode }}", "\"abc\""},
        {"{{ '' | b64encode }}", "\"\""},
        {"{{ 'aGk=' | b64decode }}", "\"hi\""},
        {"{{ 'a1b22' | regex_replace('[0-9]+', '#') }}", "\"a#b#\""},
        {"{{ 'john smith' | regex_replace('(\\w+) (\\w+)', '\\\\2 \\\\1') }}", "\"smith john\""},
        {"{{ 'aaa' | regex_replace('^a', 'b') }}", "\"baa\""},
        {"{{ 'abc' | regex_replace('x*', '-') }}", "\"-a-b-c-\""},
        {"{{ 'abc' | regex_match('^a.c$') }}", "true"},
        {"{{ 'abd' | regex_match('^a.c$') }}", "false"},
    };
    template_case_expect(ROOTS, CASES, ARRAY_LEN(CASES));
}

Test(template_filters, dates_and_instants)
{
    static const struct template_case CASES[] = {
        {"{{ ts | ds }}", "\"2025-01-15\""},
        {"{{ ts | ds_nodash }}", "\"20250115\""},
        {"{{ ts | ts }}", "\"2025-01-15T06:30:05+00:00\""},
        {"{{ at | ts }}", "\"2025-01-15T06:30:05+00:00\""},
        {"{{ ts | ts_nodash }}", "\"20250115T063005\""},
        {"{{ ts | ts_nodash_with_tz }}", "\"20250115T063005+0000\""},
        {"{{ ts | strftime('%Y/%m/%d %H:%M:%S %y %j %a %A %b %B %p %I %u %w %z %Z %%') }}",
         "\"2025/01/15 06:30:05 25 015 Wed Wednesday Jan January AM 06 3 3 +0000 UTC %\""},
        {"{{ zulu | strftime('%G-W%V %f %s %F %T %D %R %U %W') }}",
         "\"2025-W01 250000 1735603199 2024-12-30 23:59:59 12/30/24 23:59 52 53\""},
        {"{{ ds | strftime('%F%F') }}", "\"2025-01-152025-01-15\""},
        {"{{ ds | date_add(17) }}", "\"2025-02-01\""},
        {"{{ ds | date_add(-15) }}", "\"2024-12-31\""},
        {"{{ ts | date_add(1) }}", "\"2025-01-16T06:30:05+00:00\""},
        {"{{ zulu | add('2d') }}", "\"2025-01-01T23:59:59.250000Z\""},
        {"{{ ds | add('-1d') }}", "\"2025-01-14\""},
        {"{{ ds | add('1h30m') }}", "\"2025-01-15T01:30:00+00:00\""},
        {"{{ macros.ds_add(ds, 5) }}", "\"2025-01-20\""},
        {"{{ ts.year + ts.month + ts.day }}", "2041"},
        {"{{ ts.strftime('%d.%m.') }}{{ ds.isoformat() }}", "\"15.01.2025-01-15T00:00:00+00:00\""},
        {"{{ ts.add(days=1, hours=-1) }}", "\"2025-01-16T05:30:05+00:00\""},
        {"{{ ds.subtract(weeks=1) }}", "\"2025-01-08\""},
    };
    template_case_expect(ROOTS, CASES, ARRAY_LEN(CASES));
}

Test(template_filters, instants_are_shown_on_clocks_of_a_zone)
{
    static const struct template_case CASES[] = {
        {"{{ ts | tz('Europe/Berlin') }}", "\"2025-01-15T07:30:05+01:00\""},
        {"{{ ts | tz('America/New_York') }}", "\"2025-01-15T01:30:05-05:00\""},
        {"{{ '2025-07-15' | tz('Europe/Berlin') }}", "\"2025-07-15T02:00:00+02:00\""},
        {"{{ ts | tz('UTC') }}", "\"2025-01-15T06:30:05+00:00\""},
        {"{{ at | tz('UTC') }}", "\"2025-01-15T06:30:05+00:00\""},
        {"{{ zulu | tz('Europe/Berlin') }}", "\"2024-12-31T00:59:59.250000+01:00\""},
        /* What comes after goes by that clock. */
        {"{{ zulu | tz('Europe/Berlin') | ds }}", "\"2024-12-31\""},
        {"{{ zulu | tz('Europe/Berlin') | ds_nodash }}", "\"20241231\""},
        {"{{ zulu | tz('Europe/Berlin') | ts_nodash_with_tz }}", "\"20241231T005959+0100\""},
        {"{{ ts | tz('America/New_York') | strftime('%H:%M %z %Z %s %j') }}",
         "\"01:30 -0500 UTC-05:00 1736922605 015\""},
        {"{{ (ts | tz('America/New_York')).hour }}", "1"},
        {"{{ ts | tz('Europe/Berlin') | add('1d') }}", "\"2025-01-16T07:30:05+01:00\""},
        {"{{ ts | tz('Europe/Berlin') | ts }}", "\"2025-01-15T06:30:05+00:00\""},
    };
    template_case_expect(ROOTS, CASES, ARRAY_LEN(CASES));
}

Test(template_filters, an_unknown_zone_is_an_error)
{
    struct template_world world = {.roots = template_case_json(ROOTS)};
    struct template_scope scope = template_world_scope(&world);
    struct template_fault fault = {0};
    struct err err = {0};
    json_t *value = NULL;
    EXPECT_STATUS(STATUS_INVALID,
                  template_case_render(&scope, "{{ ts | tz('Mars') }}", &value, &fault, &err),
                  &err);
    EXPECT_CONTAINS(err.text, "'tz': there is no time zone 'Mars'");
    scope.zones = NULL;
    EXPECT_STATUS(
        STATUS_INVALID,
        template_case_render(&scope, "{{ ts | tz('Europe/Berlin') }}", &value, &fault, &err), &err);
    EXPECT_CONTAINS(err.text, "only UTC");
    json_decref(world.roots);
}

Test(template_filters, the_table_is_sorted_and_described)
{
    for (size_t i = 0; i < template_filter_count(); i++) {
        struct template_filter filter = template_filter_get(i);
        cr_expect_gt(strlen(filter.doc), (size_t)0, "%s", filter.name);
        if (i > 0)
            cr_expect_lt(strcmp(template_filter_get(i - 1).name, filter.name), 0, "%s",
                         filter.name);
    }
    cr_expect_gt(template_filter_count(), (size_t)40);
}
