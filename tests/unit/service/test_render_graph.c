#include "base/clock.h"
#include "build_dag.h"
#include "expect.h"
#include "service/render_gantt.h"
#include "service/render_graph.h"

static char *render(struct dag *dag, const enum task_state *states, enum graph_format format,
                    size_t width, bool ascii)
{
    struct graph_request request = {.dag = dag, .states = states, .width = width, .ascii = ascii};
    struct strbuf out;
    struct err err = {0};
    strbuf_init(&out, 64 << 20);
    EXPECT_OK(render_graph(&request, format, &out, &err), &err);
    build_dag_free(dag);
    return strbuf_take(&out);
}

#define BUILD(tasks) build_dag("demo", tasks, ARRAY_LEN(tasks))
#define TASK(name, before)                                                                         \
    {                                                                                              \
        .id = (name), .needs = (before)                                                            \
    }

Test(render_graph, small_dags_are_drawn_with_boxes_and_lines)
{
    static const struct build_task DIAMOND[] = {TASK("extract", ""), TASK("clean", "extract"),
                                                TASK("check", "extract"),
                                                TASK("load", "clean check")};
    CLEANUP(mem_freep) char *text = render(BUILD(DIAMOND), NULL, GRAPH_TEXT, 80, false);

    EXPECT_STR("                ╭───────╮\n"
               "            ╭──▶│ clean ├─╮\n"
               "╭─────────╮ │   ╰───────╯ │   ╭──────╮\n"
               "│ extract ├─┤   ╭───────╮ ├──▶│ load │\n"
               "╰─────────╯ ╰──▶│ check ├─╯   ╰──────╯\n"
               "                ╰───────╯\n",
               text);
}

Test(render_graph, all_to_all_is_one_bus)
{
    static const struct build_task BUS[] = {TASK("a", ""), TASK("b", ""), TASK("c", "a b"),
                                            TASK("d", "a b")};
    CLEANUP(mem_freep) char *text = render(BUILD(BUS), NULL, GRAPH_TEXT, 80, true);

    EXPECT_STR("+---+     +---+\n"
               "| a +-+-->| c |\n"
               "+---+ |   +---+\n"
               "+---+ |   +---+\n"
               "| b +-+-->| d |\n"
               "+---+     +---+\n",
               text);
}

Test(render_graph, lines_that_only_cross_are_not_joined)
{
    static const struct build_task TASKS[] = {TASK("a", ""),       TASK("b", ""),  TASK("c", "a b"),
                                              TASK("d", "a"),      TASK("e", "b"), TASK("f", "a c"),
                                              TASK("g", "c d e a")};
    CLEANUP(mem_freep) char *text = render(BUILD(TASKS), NULL, GRAPH_TEXT, 80, false);

    EXPECT_STR("      ╭───────────╮     ╭───╮\n"
               "      │           ├────▶│ f │\n"
               "╭───╮ │           │     ╰───╯\n"
               "│ a ├─┤     ╭───╮ │\n"
               "╰───╯ ├─┬──▶│ c ├─┤\n"
               "      │ │   ╰───╯ │\n"
               "      │ │         │     ╭───╮\n"
               "      │ │         ╰─┬──▶│ g │\n"
               "╭───╮ │ │           │   ╰───╯\n"
               "│ b ├─│─┤   ╭───╮   │\n"
               "╰───╯ ╰─│──▶│ d ├───┤\n"
               "        │   ╰───╯   │\n"
               "        │           │\n"
               "        │           │\n"
               "        │           │\n"
               "        │   ╭───╮   │\n"
               "        ╰──▶│ e ├───╯\n"
               "            ╰───╯\n",
               text);
}

static const struct build_task HOSTILE[] = {
    TASK("a\"b\\<i>&amp;", ""),
    {.id = "g.map", .needs = "a\"b\\<i>&amp;", .group = "g", .is_mapped = true, .doc = "x < y"},
};
static const enum task_state STATES[] = {TASK_SUCCESS, TASK_FAILED};

Test(render_graph, too_narrow_a_terminal_gets_a_list)
{
    static const struct build_task TASKS[] = {TASK("extract", ""), TASK("clean", "extract"),
                                              TASK("load", "extract clean")};
    CLEANUP(mem_freep) char *text = render(BUILD(TASKS), NULL, GRAPH_TEXT, 20, false);
    EXPECT_STR("extract\n  clean ← extract\n    load ← extract, clean\n", text);

    CLEANUP(mem_freep) char *wide = render(BUILD(TASKS), NULL, GRAPH_TEXT, 0, true);
    EXPECT_CONTAINS(wide, "| extract +");
}

Test(render_graph, states_mapped_tasks_and_hostile_names_are_shown_and_escaped)
{
    CLEANUP(mem_freep) char *text = render(BUILD(HOSTILE), STATES, GRAPH_TEXT, 200, false);
    EXPECT_CONTAINS(text, "✗ g.map[*]");
    CLEANUP(mem_freep) char *dot = render(BUILD(HOSTILE), STATES, GRAPH_DOT, 0, false);
    EXPECT_CONTAINS(dot, "label=\"a\\\"b\\\\<i>&amp;\"");
    EXPECT_CONTAINS(dot, "subgraph cluster_1 {\n  label=\"g\";\n  n1 [label=\"g.map[*]\"");
    EXPECT_CONTAINS(dot, "n0 -> n1;");
    CLEANUP(mem_freep) char *mermaid = render(BUILD(HOSTILE), STATES, GRAPH_MERMAID, 0, false);
    EXPECT_CONTAINS(mermaid, "n0(\"a#34;b\\#60;i#62;#38;amp#59;\"):::success");
    EXPECT_CONTAINS(mermaid, "n0 --> n1");
    EXPECT_CONTAINS(mermaid, "classDef failed fill:");
    CLEANUP(mem_freep) char *svg = render(BUILD(HOSTILE), STATES, GRAPH_SVG, 0, false);
    EXPECT_CONTAINS(svg, "a&quot;b\\&lt;i&gt;&amp;amp;");
    EXPECT_CONTAINS(svg, "<title>g.map (run): failed\nx &lt; y</title>");
    EXPECT_CONTAINS(svg, "marker-end");
    cr_expect_null(strstr(svg, "<i>"));
}

Test(render_graph, every_form_survives_odd_sizes)
{
    enum { TASKS_MAX = 300 };
    static char names[TASKS_MAX][8];
    static char needs[TASKS_MAX][64];
    struct build_task tasks[TASKS_MAX] = {0};
    uint64_t seed = 7;
    for (size_t i = 0; i < TASKS_MAX; i++) {
        (void)snprintf(names[i], sizeof names[i], "t%zu", i);
        size_t length = 0;
        size_t before = SIZE_MAX;
        for (int k = 0; k < 3 && i > 0; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t parent = i - 1 - (seed >> 33) % MIN(i, (size_t)(i % 2 ? 8 : 30));
            if (parent == before)
                continue;
            before = parent;
            length += (size_t)snprintf(needs[i] + length, sizeof needs[i] - length, "%s%s",
                                       length > 0 ? " " : "", names[parent]);
        }
        tasks[i] = (struct build_task){.id = names[i], .needs = needs[i]};
    }
    for (size_t count = 0; count <= TASKS_MAX; count = count * 2 + 1)
        for (enum graph_format format = 0; format < GRAPH_FORMAT_COUNT; format++) {
            CLEANUP(mem_freep)
            char *text = render(build_dag("d", tasks, count), NULL, format, 0, count % 2 == 0);
            cr_expect(count == 0 || strstr(text, "t0") != NULL, "%zu", count);
        }
    CLEANUP(mem_freep)
    char *list = render(build_dag("d", tasks, TASKS_MAX), NULL, GRAPH_TEXT, 80, false);
    EXPECT_CONTAINS(list, "t299 ← ");
}

Test(render_graph, the_gantt_shows_bars_in_order_of_start)
{
    struct strbuf out;
    struct err err = {0};
    json_t *tasks = NULL;
    static const char JSON[] =
        "[{\"task_id\":\"b\",\"state\":\"failed\",\"start_date\":\"2026-01-01T00:00:05Z\","
        "\"end_date\":\"2026-01-01T00:00:10Z\"},"
        "{\"task_id\":\"a\",\"map_index\":2,\"state\":\"success\","
        "\"start_date\":\"2026-01-01T00:00:00Z\",\"end_date\":\"2026-01-01T00:00:05Z\"},"
        "{\"task_id\":\"late\",\"state\":\"running\",\"start_date\":\"2026-01-01T00:00:09Z\"},"
        "{\"task_id\":\"none\",\"state\":\"none\",\"start_date\":null}]";
    EXPECT_OK(json_parse(JSON, strlen(JSON), &tasks, &err), &err);
    int64_t now_us = 0;
    cr_assert(instant_parse("2026-01-01T00:00:10Z", &now_us));
    strbuf_init(&out, 4096);

    struct gantt_request request = {.tasks = tasks, .width = 37, .ascii = true, .now_us = now_us};
    render_gantt(&request, &out);

    EXPECT_STR("a[2] |==========          | 5.0s\n"
               "b    |          xxxxxxxxxx| 5.0s\n"
               "late |                  >>| 1.0s\n"
               "     0                10.0s\n",
               out.text);
    strbuf_clear(&out);
    request.tasks = NULL;
    render_gantt(&request, &out);
    EXPECT_STR("no task has started\n", out.text);
    strbuf_fini(&out);
    json_decref(tasks);
}
