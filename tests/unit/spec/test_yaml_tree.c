#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/limits.h"
#include "spec/yaml_tree.h"

/* The documents as JSON, or the first problem as "line:column: text". Heap. */
static char *outcome(const char *text)
{
    struct diag_list diags = {0};
    CLEANUP(yaml_tree_freep)
    struct yaml_tree *tree = yaml_tree_parse(text, strlen(text), &diags);
    char *answer = NULL;
    if (diags.count > 0)
        answer = mem_format("%d:%d: %s", diags.items[0].line, diags.items[0].column,
                            diags.items[0].text);
    else
        answer = json_format(yaml_tree_documents(tree));
    diag_list_fini(&diags);
    return answer;
}

static void expect_outcome(const char *text, const char *wanted)
{
    CLEANUP(mem_freep) char *answer = outcome(text);
    cr_expect_str_eq(answer, wanted, "%s\ngives %s\nnot   %s", text, answer, wanted);
}

Test(yaml_tree, texts_become_values_or_located_problems)
{
    static const struct {
        const char *text;
        const char *outcome;
    } CASES[] = {
        {"", "[]"},
        {"# only a comment\n", "[]"},
        {"a: 1\n---\n- x\n- 'y'\n...\n", "[{\"a\":1},[\"x\",\"y\"]]"},
        {"\xEF\xBB\xBF"
         "a: b",
         "[{\"a\":\"b\"}]"},
        {"a: \"1\"\nb: '~'\nc: !!str 5\nd: ! 7\ne: !!int 5",
         "[{\"a\":\"1\",\"b\":\"~\",\"c\":\"5\","
         "\"d\":\"7\",\"e\":5}]"},
        {"1: x\ntrue: y", "[{\"1\":\"x\",\"true\":\"y\"}]"},
        {"a: &x [1, 2]\nb: *x", "[{\"a\":[1,2],\"b\":[1,2]}]"},
        {"a: &x 1\nb: &x 2\nc: *x", "[{\"a\":1,\"b\":2,\"c\":2}]"},
        {"&k key: 1\nother: *k", "[{\"key\":1,\"other\":\"key\"}]"},
        {"d: &d {x: 1, y: 2}\ne: {<<: *d, y: 3}",
         "[{\"d\":{\"x\":1,\"y\":2},\"e\":{\"x\":1,\"y\":3}}]"},
        {"a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b], z: 3}",
         "[{\"a\":{\"x\":1},\"b\":{\"x\":2,\"y\":2},\"c\":{\"x\":1,\"y\":2,\"z\":3}}]"},
        {"a: 1\nb: 2\na: 3", "3:1: duplicate key 'a': it is already set on line 1"},
        {"m: {a: 1, a: &x [1]}\nb: *x", "1:11: duplicate key 'a': it is already set on line 1"},
        {"a: {<<: 5}", "1:9: '<<' takes a map or a list of maps"},
        {"a: !python/object x", "1:4: tag '!python/object' is not supported"},
        {"a: *nobody", "1:4: alias '*nobody' has no anchor '&nobody' before it"},
        {"a: &x 1\n---\nb: *x", "3:4: alias '*x' has no anchor '&x' before it"},
        {"a: &x [*x]", "1:8: alias '*x' stands inside its own anchor"},
        {"? [a]\n: b", "1:3: a key must be plain text, not a list or a map"},
        {"a: \"x\\0y\"", "1:4: a NUL character is not allowed"},
        {"a: 99999999999999999999",
         "1:4: number '99999999999999999999' does not fit 64 bits: quote "
         "it if it is text"},
        {"a: [1, 2",
         "2:1: YAML: did not find expected ',' or ']' while parsing a flow sequence that "
         "starts on line 1"},
        {"a: 1\n\tb: 2", "2:1: YAML: a line cannot be indented by a tab; use spaces"},
        {"a:\n  \tb: 2", "2:3: YAML: a line cannot be indented by a tab; use spaces"},
        {"a: \x01", "1:4: YAML: control characters are not allowed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_outcome(CASES[i].text, CASES[i].outcome);
}

Test(yaml_tree, nesting_is_bounded_on_both_sides_of_the_limit)
{
    struct strbuf text;
    strbuf_init(&text, 4096);
    strbuf_add_repeat(&text, '[', LIMIT_YAML_DEPTH);
    strbuf_add_repeat(&text, ']', LIMIT_YAML_DEPTH);
    CLEANUP(mem_freep) char *fits = outcome(text.text);
    cr_expect_eq(fits[0], '[', "%s", fits);

    strbuf_clear(&text);
    strbuf_add_repeat(&text, '[', LIMIT_YAML_DEPTH + 1);
    CLEANUP(mem_freep) char *deep = outcome(text.text);
    EXPECT_CONTAINS(deep, "nested too deeply");

    strbuf_clear(&text);
    strbuf_add(&text, "a: &a ");
    strbuf_add_repeat(&text, '[', 40);
    strbuf_add_repeat(&text, ']', 40);
    strbuf_add(&text, "\nb: ");
    strbuf_add_repeat(&text, '[', 30);
    strbuf_add(&text, "*a");
    strbuf_add_repeat(&text, ']', 30);
    CLEANUP(mem_freep) char *hidden = outcome(text.text);
    EXPECT_CONTAINS(hidden, "nested too deeply, with aliases written out");
    strbuf_fini(&text);
}

Test(yaml_tree, aliases_cannot_multiply_past_the_limit)
{
    struct strbuf text;
    strbuf_init(&text, 4096);
    strbuf_add(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 30; i++)
        strbuf_addf(&text, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1);
    CLEANUP(mem_freep) char *bomb = outcome(text.text);
    EXPECT_CONTAINS(bomb, "too many values in one file");
    strbuf_fini(&text);
}

Test(yaml_tree, places_inside_texts_are_exact_where_yaml_allows)
{
    static const char TEXT[] = "plain: ab cd\n"
                               "quoted: \"ab cd\"\n"
                               "wide: '\xE6\x97\xA5\xE6\x9C\xAC cd'\n"
                               "escaped: \"\\ta cd\"\n"
                               "literal: |\n"
                               "  first\n"
                               "    ab cd\n"
                               "\n"
                               "  cd\n"
                               "folded: >\n"
                               "  ab\n"
                               "  cd\n";
    static const struct {
        size_t index;
        size_t offset;
        int line;
        int column;
    } CASES[] = {
        {0, 3, 1, 11}, {1, 3, 2, 13}, {2, 7, 3, 11}, {3, 3, 4, 10},  {4, 0, 6, 3},
        {4, 11, 7, 8}, {4, 15, 9, 3}, {5, 3, 10, 9}, {0, 99, 1, 13},
    };
    struct diag_list diags = {0};
    CLEANUP(yaml_tree_freep)
    struct yaml_tree *tree = yaml_tree_parse(TEXT, strlen(TEXT), &diags);
    const json_t *document = json_array_get(yaml_tree_documents(tree), 0);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct source_span span =
            yaml_tree_find_inside(tree, document, CASES[i].index, CASES[i].offset);
        cr_expect_eq(span.line, CASES[i].line, "case %zu: line %d", i, span.line);
        cr_expect_eq(span.column, CASES[i].column, "case %zu: column %d", i, span.column);
    }
    cr_expect_eq(yaml_tree_find_place(tree, document, 99, false).line, 0);
    cr_expect_eq(yaml_tree_find_place(tree, NULL, 0, true).line, 0);
    cr_expect_eq(yaml_tree_find_place(tree, document, 4, true).line, 5);
    diag_list_fini(&diags);
}
