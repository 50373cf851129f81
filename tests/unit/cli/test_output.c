#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/humanize.h"
#include "cli/output.h"
#include "expect.h"

static json_t *parse(const char *text)
{
    json_t *value = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &value, &err), &err);
    return value;
}

Test(output, yaml_keeps_every_value_what_it_is)
{
    static const struct {
        const char *json;
        const char *yaml;
    } CASES[] = {
        {"{\"a\":[[1,[2]],{},[],{\"k\":\"v\",\"n\":[{\"x\":1}]}],\"yes\":\"no\"}",
         "a:\n  - - 1\n    - - 2\n  - {}\n  - []\n  - k: v\n    \"n\":\n      - x: 1\n"
         "\"yes\": \"no\"\n"},
        {"[\"\",\"a b\",\"a: b\",\"~\",\"1\",\"ok\",\"NULL\",\"-\",\"#x\",\"a\\nb\",\"0x1f\"]",
         "- \"\"\n- \"a b\"\n- \"a: b\"\n- \"~\"\n- \"1\"\n- ok\n- \"NULL\"\n- \"-\"\n- \"#x\"\n"
         "- \"a\\nb\"\n- \"0x1f\"\n"},
        {"[null,true,1.5,-3]", "- null\n- true\n- 1.5\n- -3\n"},
        {"{}", "{}\n"},
        {"\"x\"", "x\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        json_t *value = parse(CASES[i].json);
        output_yaml(stream, value);
        json_decref(value);
        (void)fclose(stream);
        EXPECT_STR(CASES[i].yaml, text);
        free(text);
    }
}

Test(output, csv_fields_are_quoted_where_needed)
{
    static const struct {
        const char *text;
        const char *field;
    } CASES[] = {{"plain", "plain"},          {"", ""},
                 {"a,b", "\"a,b\""},          {"say \"x\"", "\"say \"\"x\"\"\""},
                 {"a\nb", "\"a\nb\""},        {" lead", "\" lead\""},
                 {"semi;colon", "semi;colon"}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        output_csv_field(stream, CASES[i].text);
        (void)fclose(stream);
        EXPECT_STR(CASES[i].field, text);
        free(text);
    }
}

Test(output, durations_are_short_on_both_sides_of_every_unit)
{
    static const struct {
        int64_t ms;
        const char *text;
    } CASES[] = {
        {-1, "-"},
        {0, "0.0s"},
        {99, "0.0s"},
        {59999, "59.9s"},
        {60000, "1m 00s"},
        {3599999, "59m 59s"},
        {3600000, "1h 00m"},
        {86399999, "23h 59m"},
        {86400000, "1d 00h"},
        {INT64_MAX, "106751991167d 07h"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char text[HUMAN_MAX];
        EXPECT_STR(CASES[i].text, humanize_duration(CASES[i].ms, text));
    }
}

Test(output, foreign_text_is_made_harmless_and_cut_to_its_room)
{
    static const struct {
        const char *text;
        size_t columns;
        int utf8;
        const char *shown;
    } CASES[] = {
        {"hello", 5, 1, "hello"},
        {"hello", 4, 1, "hel…"},
        {"hello", 4, 0, "hel~"},
        {"hello", 1, 1, "…"},
        {"hello", 0, 1, ""},
        {"a\033[1m\tb", 20, 1, "a?[1m b"},
        {"日本語", 6, 1, "日本語"},
        {"日本語", 5, 1, "日本…"},
        {"日本語", 4, 1, "日…"},
        {"日本", 9, 0, "??"},
        {"\xff\xfe", 9, 1, "??"},
        {"\xc2\x9b"
         "2J",
         9, 1, "?2J"},
        {"a\x7f", 9, 1, "a?"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct strbuf out;
        strbuf_init(&out, 1024);
        humanize_add_text(&out, CASES[i].text, CASES[i].columns, CASES[i].utf8);
        EXPECT_STR(CASES[i].shown, out.text);
        strbuf_fini(&out);
    }
}

static const char *variable(void *context, const char *name)
{
    return json_string_value(json_object_get(context, name));
}

Test(output, colours_and_symbols_depend_on_terminal_environment_and_flags)
{
    static const struct {
        const char *environment;
        bool is_terminal, no_color;
        bool color, utf8;
    } CASES[] = {
        {"{\"TERM\":\"xterm\",\"LANG\":\"C.UTF-8\"}", true, false, true, true},
        {"{\"TERM\":\"xterm\",\"LANG\":\"C.UTF-8\"}", false, false, false, true},
        {"{\"TERM\":\"xterm\",\"LANG\":\"C.UTF-8\"}", true, true, false, true},
        {"{\"TERM\":\"xterm\",\"NO_COLOR\":\"1\"}", true, false, false, false},
        {"{\"TERM\":\"xterm\",\"NO_COLOR\":\"\"}", true, false, true, false},
        {"{\"TERM\":\"dumb\",\"LC_ALL\":\"C\",\"LANG\":\"C.UTF-8\"}", true, false, false, false},
        {"{\"LC_CTYPE\":\"de_DE.utf8\"}", true, false, false, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_t *environment = parse(CASES[i].environment);
        struct style style =
            style_detect(CASES[i].is_terminal, CASES[i].no_color, variable, environment);
        cr_expect_eq(style.color, CASES[i].color, "%s", CASES[i].environment);
        cr_expect_eq(style.utf8, CASES[i].utf8, "%s", CASES[i].environment);
        json_decref(environment);
    }
    struct style plain = {0};
    struct style full = {.color = true, .utf8 = true};
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++) {
        cr_expect_eq(strlen(style_symbol(&plain, state)), 1);
        cr_expect_eq(strlen(style_color(&plain, state)), 0);
        cr_expect_gt(strlen(style_color(&full, state)), 0);
    }
}
