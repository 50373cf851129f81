#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/task_tree.h"

static char *draw(const char *text)
{
    json_t *tree = NULL;
    struct err err = {0};
    struct diag_list diags = {0};
    struct strbuf out;
    struct arena *arena = arena_new();
    strbuf_init(&out, 4096);
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    const struct task_place *places = task_tree(dag, arena);
    for (size_t i = 0; i < dag->tasks_count; i++)
        strbuf_addf(&out, "%.*s%s\n", (int)places[i].depth, "..........",
                    dag->tasks[places[i].node].id);
    dag_free(dag);
    diag_list_fini(&diags);
    json_decref(tree);
    arena_free(arena);
    return strbuf_take(&out);
}

Test(task_tree, a_task_stands_below_what_it_needs_last)
{
    static const struct {
        const char *dag;
        const char *tree;
    } CASES[] = {
        {"{\"tasks\":{\"a\":{\"noop\":null}}}", "a\n"},
        {"{\"tasks\":{\"a\":{\"noop\":null},\"b\":{\"noop\":null,\"needs\":[\"a\"]},"
         "\"c\":{\"noop\":null,\"needs\":[\"b\"]}}}",
         "a\n.b\n..c\n"},
        /* A diamond: its end is farthest from the root by the longer way. */
        {"{\"tasks\":{\"a\":{\"noop\":null},\"b\":{\"noop\":null,\"needs\":[\"a\"]},"
         "\"c\":{\"noop\":null,\"needs\":[\"b\"]},\"e\":{\"noop\":null,\"needs\":[\"a\"]},"
         "\"d\":{\"noop\":null,\"needs\":[\"e\",\"c\"]}}}",
         "a\n.b\n..c\n...d\n.e\n"},
        {"{\"tasks\":{\"a\":{\"noop\":null},\"b\":{\"noop\":null}},"
         "\"finally\":{\"z\":{\"noop\":null}}}",
         "a\nb\nz\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep) char *drawn = draw(CASES[i].dag);
        EXPECT_STR(CASES[i].tree, drawn);
    }
}
