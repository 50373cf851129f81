#include <stdlib.h>

#include "base/json.h"
#include "expect.h"
#include "spec/yaml_scalar.h"

Test(yaml_scalar, only_what_everybody_reads_the_same_way_is_typed)
{
    static const struct {
        const char *text;
        const char *json;
    } CASES[] = {
        {"", "null"},
        {"~", "null"},
        {"null", "null"},
        {"NULL", "null"},
        {"true", "true"},
        {"False", "false"},
        {"0", "0"},
        {"-7", "-7"},
        {"+12", "12"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"0.5", "0.5"},
        {"-.5", "-0.5"},
        {"1.", "1.0"},
        {"1e3", "1000.0"},
        {"2.5E-1", "0.25"},
        /* The rest stays text. */
        {"yes", "\"yes\""},
        {"on", "\"on\""},
        {"NO", "\"NO\""},
        {"tRUE", "\"tRUE\""},
        {"0o17", "\"0o17\""},
        {"0x1F", "\"0x1F\""},
        {"007", "\"007\""},
        {"01.5", "\"01.5\""},
        {"1_000", "\"1_000\""},
        {"1.2.3", "\"1.2.3\""},
        {"12:30", "\"12:30\""},
        {"2026-01-01", "\"2026-01-01\""},
        {".inf", "\".inf\""},
        {".nan", "\".nan\""},
        {"1e999", "\"1e999\""},
        {".", "\".\""},
        {"-", "\"-\""},
        {"e5", "\"e5\""},
        {"1e", "\"1e\""},
        {"5 ", "\"5 \""},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_t *value = yaml_scalar_value(CASES[i].text, strlen(CASES[i].text));
        cr_assert_not_null(value, "%s", CASES[i].text);
        char *text = json_format(value);
        EXPECT_STR(CASES[i].json, text);
        free(text);
        json_decref(value);
    }
}

Test(yaml_scalar, integers_past_64_bits_are_refused)
{
    cr_expect_null(yaml_scalar_value("9223372036854775808", 19));
    cr_expect_null(yaml_scalar_value("-9223372036854775809", 20));
}
