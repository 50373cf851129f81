#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "expect.h"
#include "spec/diag_render.h"

static void expect_rendered(const char *source, int line, int column, int length,
                            const char *wanted)
{
    struct diag_list list = {0};
    struct strbuf out;
    strbuf_init(&out, 4096);
    diag_add(&list, DIAG_ERROR, line, column, length, "wrong");
    diag_render(&list.items[0], &(struct diag_source){.path = "f", .text = source}, &out);
    cr_expect_str_eq(out.text, wanted, "got\n%swanted\n%s", out.text, wanted);
    strbuf_fini(&out);
    diag_list_fini(&list);
}

Test(diag_render, the_underline_stands_under_the_place)
{
    expect_rendered("a: b\nkey: value\n", 2, 6, 5,
                    "f:2:6: error: wrong\n     2 | key: value\n       |      ^~~~~\n");
    expect_rendered("x", 1, 1, 1, "f:1:1: error: wrong\n     1 | x\n       | ^\n");
    /* Tabs become spaces, wide characters count double, carriage returns are not shown. */
    expect_rendered("\tkey: v\r\n", 1, 7, 1,
                    "f:1:7: error: wrong\n     1 |     key: v\n       |          ^\n");
    expect_rendered("\xE6\x97\xA5\xE6\x9C\xAC: v", 1, 2, 1,
                    "f:1:2: error: wrong\n     1 | \xE6\x97\xA5\xE6\x9C\xAC: v\n       |   ^~\n");
    /* Past the end of the line, of the file, and the file as a whole. */
    expect_rendered("ab", 1, 9, 3, "f:1:9: error: wrong\n     1 | ab\n       |   ^\n");
    expect_rendered("ab", 7, 1, 3, "f:7:1: error: wrong\n");
    expect_rendered("ab", 0, 0, 1, "f: error: wrong\n");
    expect_rendered(NULL, 1, 1, 1, "f:1:1: error: wrong\n");
    /* Nothing of the file reaches the terminal as a control character. */
    expect_rendered("\x1b[31mx", 1, 6, 1,
                    "f:1:6: error: wrong\n     1 | ?[31mx\n       |      ^\n");
}

Test(diag_render, long_lines_are_cut_around_the_place)
{
    struct strbuf line;
    strbuf_init(&line, 1000);
    strbuf_add_repeat(&line, 'a', 200);
    strbuf_add(&line, "HERE");
    strbuf_add_repeat(&line, 'b', 200);
    struct diag_list list = {0};
    struct strbuf out;
    strbuf_init(&out, 4096);

    diag_add(&list, DIAG_WARNING, 1, 201, 4, "wrong");
    diag_render(&list.items[0], &(struct diag_source){.path = "f", .text = line.text}, &out);

    EXPECT_CONTAINS(out.text, "f:1:201: warning: wrong\n     1 | ...aaa");
    EXPECT_CONTAINS(out.text, "bbb...\n");
    const char *shown = strstr(out.text, "HERE");
    const char *caret = strstr(out.text, "^~~~\n");
    cr_assert_not_null(shown);
    cr_assert_not_null(caret);
    const char *second = strchr(out.text, '\n') + 1;
    const char *third = strchr(second, '\n') + 1;
    cr_expect_eq(shown - second, caret - third);
    strbuf_fini(&line);
    strbuf_fini(&out);
    diag_list_fini(&list);
}

Test(diag_render, colour_and_the_list_and_json)
{
    struct diag_list list = {0};
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    for (int i = 0; i < 102; i++)
        diag_add(&list, i == 0 ? DIAG_WARNING : DIAG_ERROR, 1, 1, 2, "w \"%d\"", i);

    diag_render_list(&list, &(struct diag_source){.path = "f", .text = "ab", .colour = true}, &out);
    EXPECT_CONTAINS(out.text, "\x1b[35;1mwarning:\x1b[0m w \"0\"");
    EXPECT_CONTAINS(out.text, "\x1b[31;1merror:\x1b[0m w \"99\"");
    EXPECT_CONTAINS(out.text, "f: more problems than the 100 above, 101 errors in all\n");
    strbuf_fini(&out);

    json_t *json = diag_render_json(&list, "f");
    cr_expect_eq(json_array_size(json), 100);
    CLEANUP(mem_freep) char *text = json_format(json_array_get(json, 0));
    EXPECT_STR("{\"column\":1,\"file\":\"f\",\"length\":2,\"line\":1,\"message\":\"w \\\"0\\\"\","
               "\"severity\":\"warning\"}",
               text);
    json_decref(json);
    diag_list_fini(&list);
}
