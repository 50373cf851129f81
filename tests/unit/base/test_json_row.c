#include "base/json_row.h"
#include "base/json_write.h"
#include "expect.h"

/* What is written is what the object would be. */
static void expect_same(const struct json_row *row)
{
    struct strbuf one;
    struct strbuf other;
    strbuf_init(&one, 1 << 20);
    strbuf_init(&other, 1 << 20);
    json_t *object = json_row_object(row);
    json_row_write(&one, row);
    json_write(&other, object, JSON_AS_SET);
    cr_expect_str_eq(one.text, other.text);
    json_decref(object);
    strbuf_fini(&one);
    strbuf_fini(&other);
}

Test(json_row, every_kind_of_member_is_written_as_json_writes_it)
{
    struct json_row row;
    json_t *value = json_pack("{s:[i,b]}", "list", 1, 0);
    json_row_begin(&row);
    expect_same(&row);
    json_row_text(&row, "text", "plain");
    json_row_text(&row, "none", NULL);
    json_row_text(&row, "empty", "");
    json_row_integer(&row, "least", INT64_MIN);
    json_row_integer(&row, "most", INT64_MAX);
    json_row_bool(&row, "yes", true);
    json_row_bool(&row, "no", false);
    json_row_id(&row, "id", INT64_MAX);
    json_row_instant(&row, "never", 0);
    json_row_instant(&row, "then", INT64_C(1700000000123456));
    json_cell_real(json_row_add(&row, "real"), 0.1);
    json_cell_value(json_row_add(&row, "value"), value);
    json_cell_json(json_row_add(&row, "json"), "{\"a\":[1,2]}");

    expect_same(&row);

    json_t *object = json_row_object(&row);
    cr_expect_str_eq(json_get_string(object, "id", ""), "9223372036854775807");
    cr_expect_str_eq(json_get_string(object, "then", ""), "2023-11-14T22:13:20.123456Z");
    cr_expect(json_is_null(json_object_get(object, "never")));
    json_decref(object);
    json_decref(value);
}

Test(json_row, any_bytes_become_json)
{
    static const char *const TEXTS[] = {
        "\"",
        "\\",
        "\n\t\x01 and on",
        "h\xC3\xA9llo",
        "\xF0\x9F\xA6\x86 swims on the lake",
        "bad \xFF byte",
        "\xC3",
        "\xED\xA0\x80",
        "eight by"
        "\xC3\xA9",
        "eight by\"",
        "\x7F",
    };
    for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
        struct json_row row;
        json_row_begin(&row);
        json_row_text(&row, "text", TEXTS[i]);
        expect_same(&row);
    }
}

Test(json_row, members_are_found_and_changed)
{
    struct json_row row;
    json_t *object = json_pack("{s:s, s:i, s:n}", "name", "eider", "number", 7, "nothing");
    json_row_read(&row, object);

    cr_expect_str_eq(json_cell_string(json_row_find(&row, "name")), "eider");
    cr_expect_eq(json_cell_number(json_row_find(&row, "number"), -1), 7);
    cr_expect_eq(json_cell_number(json_row_find(&row, "name"), -1), -1);
    cr_expect_null(json_cell_string(json_row_find(&row, "nothing")));
    cr_expect_null(json_row_find(&row, "nam"));
    json_cell_text(json_row_at(&row, "name"), "duck");
    json_cell_copy(json_row_at(&row, "again"), json_row_find(&row, "number"));

    json_t *changed = json_row_object(&row);
    cr_expect_str_eq(json_get_string(changed, "name", ""), "duck");
    cr_expect_eq(json_get_int(changed, "again", 0), 7);
    cr_expect_eq(json_object_size(changed), 4);
    cr_expect_str_eq(json_get_string(object, "name", ""), "eider", "what it was read from stays");
    json_decref(changed);
    json_decref(object);
}

Test(json_row, its_room_has_an_end)
{
    struct json_row row;
    json_row_begin(&row);
    cr_expect_null(json_row_room(&row, JSON_ROW_TEXT_MAX + 1));
    cr_expect_not_null(json_row_room(&row, JSON_ROW_TEXT_MAX));
    cr_expect_null(json_row_room(&row, 1));
    json_row_begin(&row);
    cr_expect_not_null(json_row_room(&row, 1));
}
