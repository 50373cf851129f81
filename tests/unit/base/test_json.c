#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/rng.h"
#include "expect.h"

static char *nested(size_t depth)
{
    char *text = mem_alloc(depth * 2 + 1);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[depth * 2] = '\0';
    return text;
}

Test(json, depth_is_bounded_and_strings_do_not_count)
{
    static const struct {
        size_t depth;
        enum status status;
    } CASES[] = {{1, STATUS_OK},
                 {JSON_DEPTH_MAX, STATUS_OK},
                 {JSON_DEPTH_MAX + 1, STATUS_LIMIT},
                 {100000, STATUS_LIMIT}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        CLEANUP(mem_freep) char *text = nested(CASES[i].depth);
        CLEANUP(json_decrefp) json_t *value = NULL;
        EXPECT_STATUS(CASES[i].status, json_parse(text, strlen(text), &value, &err), &err);
        CLEANUP(mem_freep) char *quoted = mem_format("[\"\\\"%s\"]", text);
        CLEANUP(json_decrefp) json_t *string = NULL;
        EXPECT_OK(json_parse(quoted, strlen(quoted), &string, &err), &err);
    }
}

Test(json, input_is_one_strict_value)
{
    static const struct {
        const char *text;
        bool good;
    } CASES[] = {
        {"1", true},
        {"\"a\"", true},
        {"null", true},
        {" [1] ", true},
        {"{\"a\":1,\"b\":2}", true},
        {"{\"a\":1,\"a\":2}", false},
        {"", false},
        {" ", false},
        {"1 2", false},
        {"[1]x", false},
        {"[1,]", false},
        {"{'a':1}", false},
        {"NaN", false},
        {"1e999", false},
        {"-1e999", false},
        {"9223372036854775807", true},
        {"9223372036854775808", false},
        {"01", false},
        {"\"\\u0000\"", false},
        {"\"\xff\"", false},
        {"\"\\ud800\"", false},
        {"\"\\ud83d\\ude00\"", true},
        {"\"a\nb\"", false},
        {"nul", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        CLEANUP(json_decrefp) json_t *value = NULL;
        EXPECT_STATUS(CASES[i].good ? STATUS_OK : STATUS_INVALID,
                      json_parse(CASES[i].text, strlen(CASES[i].text), &value, &err), &err);
        cr_assert_eq(value != NULL, CASES[i].good, "%s", CASES[i].text);
    }
    struct err err = {0};
    json_t *value = NULL;
    EXPECT_STATUS(STATUS_INVALID, json_parse("1\0", 2, &value, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, json_parse("1\0x", 3, &value, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, json_parse("{\n \"a\": x}", 10, &value, &err), &err);
    EXPECT_CONTAINS(err.text, "line 2");
}

Test(json, what_is_json_but_not_kept_is_told_as_such)
{
    static const struct {
        const char *text, *words;
    } CASES[] = {
        {"99999999999999999999", "numbers beyond 64 bits are not supported"},
        {"[-99999999999999999999]", "numbers beyond 64 bits are not supported"},
        {"1e999", "numbers beyond 64 bits are not supported"},
        {"\"a\\u0000\"", "NUL characters (\\u0000) are not supported"},
        {"{\"a\\u0000\": 1}", "NUL characters (\\u0000) are not supported"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        json_t *value = NULL;
        EXPECT_STATUS(STATUS_INVALID,
                      json_parse(CASES[i].text, strlen(CASES[i].text), &value, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].words);
    }
}

Test(json, text_of_any_bytes_becomes_valid)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *wanted;
    } CASES[] = {
        {"", 0, ""},
        {"abc", 3, "abc"},
        {"a\0b", 3,
         "a\xEF\xBF\xBD"
         "b"},
        {"\xff", 1, "\xEF\xBF\xBD"},
        {"\xc3\xa9", 2, "\xc3\xa9"},
        {"\xc3", 1, "\xEF\xBF\xBD"},
        {"\xc0\x80", 2, "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xed\xa0\x80", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xf4\x90\x80\x80", 4, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xf0\x9f\x98\x80\xff", 5, "\xf0\x9f\x98\x80\xEF\xBF\xBD"},
        {"\xe2\x82x", 3, "\xEF\xBF\xBD\xEF\xBF\xBDx"},
        {"\xf0\x9f\x98", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(json_decrefp) json_t *value = json_text(CASES[i].bytes, CASES[i].length);
        EXPECT_STR(CASES[i].wanted, json_string_value(value));
        CLEANUP(mem_freep) char *text = json_format(value);
        struct err err = {0};
        CLEANUP(json_decrefp) json_t *again = NULL;
        EXPECT_OK(json_parse(text, strlen(text), &again, &err), &err);
    }
}

Test(json, members_with_a_default_and_ids_as_strings)
{
    CLEANUP(json_decrefp) json_t *object = json_object();

    json_put_id(object, "id", INT64_MAX);
    json_put_int(object, "n", INT64_MIN);
    json_put_bool(object, "b", true);
    json_put_string(object, "s", "x");
    json_put_string(object, "none", NULL);
    json_put_instant(object, "at", 1700000000000000);
    json_put_instant(object, "never", 0);

    CLEANUP(mem_freep) char *text = json_format(object);
    EXPECT_STR("{\"at\":\"2023-11-14T22:13:20Z\",\"b\":true,\"id\":\"9223372036854775807\","
               "\"n\":-9223372036854775808,\"never\":null,\"none\":null,\"s\":\"x\"}",
               text);
    cr_assert_eq(json_get_int(object, "n", 1), INT64_MIN);
    cr_assert_eq(json_get_int(object, "s", 1), 1);
    cr_assert_eq(json_get_int(object, "missing", 2), 2);
    EXPECT_STR("x", json_get_string(object, "s", "y"));
    EXPECT_STR("y", json_get_string(object, "n", "y"));
    cr_assert(json_get_bool(object, "b", false));
    cr_assert(!json_get_bool(object, "n", false));
    cr_assert_null(json_get_string(NULL, "x", NULL));
}

Test(json, equal_values_give_equal_texts_and_pretty_keeps_the_order)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *a = NULL;
    CLEANUP(json_decrefp) json_t *b = NULL;
    static const char A[] = "{\"b\": [1, {}], \"a\": \"\\u00e9/\"}";
    static const char B[] = "{\"a\":\"\xc3\xa9\\/\",\"b\":[1,{}]}";
    EXPECT_OK(json_parse(A, strlen(A), &a, &err), &err);
    EXPECT_OK(json_parse(B, strlen(B), &b, &err), &err);

    CLEANUP(mem_freep) char *one = json_format(a);
    CLEANUP(mem_freep) char *two = json_format(b);
    CLEANUP(mem_freep) char *pretty = json_format_pretty(a);

    EXPECT_STR(one, two);
    EXPECT_STR("{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": \"\xc3\xa9/\"\n}", pretty);
}

Test(json, a_real_is_printed_as_short_as_it_can_be_read_back)
{
    static const struct {
        double value;
        const char *text;
    } CASES[] = {
        {0.1, "0.1"},
        {-0.1, "-0.1"},
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {100.0, "100.0"},
        {1.5, "1.5"},
        {0.30000000000000004, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {1e15, "1e15"},
        {1e16, "1e16"},
        {1e100, "1e100"},
        {1.5e-7, "1.5e-7"},
        {1e-10, "1e-10"},
        {123456789012345678.0, "1.2345678901234568e17"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {5e-324, "5e-324"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(json_decrefp) json_t *value = json_real(CASES[i].value);
        CLEANUP(mem_freep) char *text = json_format(value);
        EXPECT_STR(CASES[i].text, text);
    }
}

Test(json, reals_among_other_things_change_nothing_else)
{
    static const char TEXT[] = "{\"0.10000000000000001\":\"1.10000000000000001e+5 \\\" 0.5\",\"a\":"
                               "[0.1,1,-7,0.5,true,null,1e300,\"\\\\\",0.2],\"e\":\"\"}";
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *value = NULL;
    EXPECT_OK(json_parse(TEXT, strlen(TEXT), &value, &err), &err);

    CLEANUP(mem_freep) char *text = json_format(value);
    CLEANUP(mem_freep) char *pretty = json_format_pretty(value);

    EXPECT_STR(TEXT, text);
    EXPECT_CONTAINS(pretty, "    0.1,\n");
    EXPECT_CONTAINS(pretty, "    1e300,\n");
}

Test(json, any_real_reads_back_as_itself)
{
    for (int i = 0; i < 5000; i++) {
        double wanted = 0;
        rng_bytes(&wanted, sizeof wanted);
        if (!isfinite(wanted))
            continue;
        struct err err = {0};
        CLEANUP(json_decrefp) json_t *value = json_pack("[f]", wanted);
        CLEANUP(mem_freep) char *text = json_format(value);
        CLEANUP(json_decrefp) json_t *again = NULL;
        EXPECT_OK(json_parse(text, strlen(text), &again, &err), &err);
        double got = json_real_value(json_array_get(again, 0));
        cr_assert(json_is_real(json_array_get(again, 0)), "%s", text);
        cr_assert_eq(memcmp(&got, &wanted, sizeof got), 0, "%s", text);
    }
}

Test(json, seconds_with_microseconds_are_as_short_as_any_real)
{
    for (int i = 0; i < 20000; i++) {
        int64_t micros = (int64_t)rng_below(i % 2 == 0 ? 1000000000000000 : 3000000);
        char wanted[40];
        (void)snprintf(wanted, sizeof wanted, "%.15g", (double)micros / 1e6);
        if (strpbrk(wanted, ".e") == NULL)
            (void)strcat(wanted, ".0");
        CLEANUP(json_decrefp) json_t *value = json_real((double)micros / 1e6);
        CLEANUP(mem_freep) char *text = json_format(value);
        if (strchr(wanted, 'e') == NULL)
            EXPECT_STR(wanted, text);
        cr_assert_eq(strtod(text, NULL), (double)micros / 1e6, "%s", text);
    }
}

static json_t *some_text(void)
{
    static const char *const PIECES[] = {"a",    "\"",   "\\", "/",        "\n",           "\x01",
                                         "\x1f", "\x7f", "\t", "\xc3\xa9", "\xe2\x82\xac", "zz"};
    char text[64] = "";
    for (uint64_t left = rng_below(8); left > 0; left--)
        (void)strcat(text, PIECES[rng_below(sizeof PIECES / sizeof *PIECES)]);
    return json_string(text);
}

static json_t *some_value(unsigned depth)
{
    switch (rng_below(depth > 0 ? 7 : 4)) {
    case 0:
        return json_integer((json_int_t)rng_below(UINT64_MAX));
    case 1:
        return json_integer((json_int_t)rng_below(3) - 1);
    case 2:
        return rng_below(2) == 0 ? json_null() : json_boolean(rng_below(2));
    case 3:
        return some_text();
    case 4: {
        json_t *array = json_array();
        for (uint64_t left = rng_below(5); left > 0; left--)
            (void)json_array_append_new(array, some_value(depth - 1));
        return array;
    }
    default: {
        json_t *object = json_object();
        for (uint64_t left = rng_below(7); left > 0; left--) {
            CLEANUP(json_decrefp) json_t *key = some_text();
            (void)json_object_set_new(object, json_string_value(key), some_value(depth - 1));
        }
        return object;
    }
    }
}

Test(json, everything_but_reals_is_written_as_jansson_does)
{
    static const size_t FLAGS[] = {
        [JSON_AS_SET] = JSON_COMPACT,
        [JSON_SORTED] = JSON_COMPACT | JSON_SORT_KEYS,
        [JSON_PRETTY] = JSON_INDENT(2),
    };
    for (int i = 0; i < 3000; i++) {
        CLEANUP(json_decrefp) json_t *value = some_value(5);
        for (enum json_style style = JSON_AS_SET; style <= JSON_PRETTY; style++) {
            struct strbuf text;
            CLEANUP(mem_freep) char *wanted = json_dumps(value, JSON_ENCODE_ANY | FLAGS[style]);
            strbuf_init(&text, SIZE_MAX / 4);
            json_write(&text, value, style);
            EXPECT_STR(wanted, text.text);
            strbuf_fini(&text);
        }
    }
}
