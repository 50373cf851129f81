#include "base/str.h"
#include "build_dag.h"
#include "cli/progress.h"
#include "cli/progress_live.h"
#include "expect.h"

#define TASK(name, before)                                                                         \
    {                                                                                              \
        .id = (name), .needs = (before)                                                            \
    }

static const struct build_task TASKS[] = {
    TASK("extract", ""),
    {.id = "stage", .needs = "extract", .is_mapped = true},
    {.id = "g.one", .needs = "stage", .group = "g"},
    {.id = "g.two", .needs = "stage", .group = "g"},
    TASK("load", "g.one g.two"),
};

static struct progress *start(struct dag *dag)
{
    struct progress *progress = progress_new();
    struct engine_run run = {.dag = dag, .run_id = "manual__x", .number = 7, .started_at_us = 0};
    progress_start(progress, &run);
    return progress;
}

static void change(struct progress *progress, uint32_t node, int64_t index, enum task_state from,
                   enum task_state to)
{
    struct engine_task task = {.node = node,
                               .map_index = index,
                               .from = from,
                               .to = to,
                               .attempt = 1,
                               .attempts_max = 1,
                               .at_us = 1000000,
                               .duration_ms = task_state_is_final(to) ? 1200 : -1,
                               .reason = to == TASK_FAILED ? "exit" : NULL,
                               .exit_code = to == TASK_FAILED ? 3 : -1,
                               .message = to == TASK_FAILED ? "no such table" : NULL};
    progress_change(progress, &task);
}

static char *frame(const struct progress *progress, size_t columns, size_t rows, struct style style)
{
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    struct progress_view view = {
        .columns = columns, .rows = rows, .style = style, .now_us = 3000000};
    progress_frame(progress, &view, &out);
    cr_expect(!out.overflow);
    return strbuf_take(&out);
}

Test(progress, a_frame_shows_tasks_groups_instances_and_the_last_failure)
{
    struct dag *dag = build_dag("demo", TASKS, ARRAY_LEN(TASKS));
    CLEANUP(progress_freep) struct progress *progress = start(dag);
    change(progress, 0, -1, TASK_NONE, TASK_RUNNING);
    change(progress, 0, -1, TASK_RUNNING, TASK_SUCCESS);
    progress_expand(progress, 1, 12);
    for (int64_t i = 0; i < 7; i++) {
        change(progress, 1, i, TASK_NONE, TASK_RUNNING);
        change(progress, 1, i, TASK_RUNNING, i == 6 ? TASK_FAILED : TASK_SUCCESS);
    }
    change(progress, 1, 7, TASK_NONE, TASK_RUNNING);
    progress_interrupt(progress, 1);

    CLEANUP(mem_freep) char *text = frame(progress, 80, 20, (struct style){.utf8 = true});
    EXPECT_STR("demo  manual__x  #7  3.0s\n"
               "✓ extract       1.2s\n"
               "● stage [7/12]  1 running  1 failed  2.0s\n"
               "○ g [0/2]\n"
               "  ○ one\n"
               "  ○ two\n"
               "○ load\n"
               "✗ stage[6]: exit 3: no such table\n"
               "■ stopping; Ctrl-C again kills\n"
               "█████████████░░░░░░░░░░░░░ 8/16  7 success  1 failed  1 running  2.7/s\n",
               text);
    build_dag_free(dag);
}

static void expect_fits(const char *text, size_t columns, size_t rows)
{
    size_t lines = 0;
    for (const char *line = text; line[0] != '\0';) {
        size_t length = strcspn(line, "\n");
        CLEANUP(mem_freep) char *one = mem_strndup(line, length);
        cr_expect_leq(str_columns(one), columns, "%zux%zu: %s", columns, rows, one);
        lines++;
        line += length + (line[length] == '\n');
    }
    cr_expect_leq(lines, rows, "%zu lines of %zu", lines, rows);
}

Test(progress, frames_fit_every_terminal_and_show_what_matters)
{
    enum { COUNT = 500 };
    static char names[COUNT][40];
    static struct build_task many[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(names[i], sizeof names[i], "a_task_with_quite_a_long_name_%zu", i);
        many[i] = (struct build_task){.id = names[i]};
    }
    struct dag *dag = build_dag("big", many, COUNT);
    CLEANUP(progress_freep) struct progress *progress = start(dag);
    for (uint32_t i = 0; i < 300; i++)
        change(progress, i, -1, TASK_NONE, TASK_SUCCESS);
    change(progress, 300, -1, TASK_NONE, TASK_FAILED);
    change(progress, 400, -1, TASK_NONE, TASK_RUNNING);

    static const size_t COLUMNS[] = {1, 2, 7, 20, 80, 300};
    static const size_t ROWS[] = {1, 2, 3, 4, 5, 6, 24, 499, 503, 504, 505, 1000};
    for (size_t c = 0; c < ARRAY_LEN(COLUMNS); c++)
        for (size_t r = 0; r < ARRAY_LEN(ROWS); r++)
            for (int utf8 = 0; utf8 < 2; utf8++) {
                CLEANUP(mem_freep)
                char *text =
                    frame(progress, COLUMNS[c], ROWS[r], (struct style){.utf8 = utf8 != 0});
                expect_fits(text, COLUMNS[c], ROWS[r]);
            }
    CLEANUP(mem_freep) char *text = frame(progress, 80, 8, (struct style){0});
    EXPECT_CONTAINS(text, "* a_task_with_quite_a_long_name_400");
    EXPECT_CONTAINS(text, "x a_task_with_quite_a_long_name_300");
    EXPECT_CONTAINS(text, "more: ");
    EXPECT_CONTAINS(text, "300 success");
    EXPECT_CONTAINS(text, " 301/500 ");
    build_dag_free(dag);
}

Test(progress, counts_survive_retries_replays_and_odd_reports)
{
    struct dag *dag = build_dag("demo", TASKS, ARRAY_LEN(TASKS));
    CLEANUP(progress_freep) struct progress *progress = start(dag);
    change(progress, 0, -1, TASK_NONE, TASK_RUNNING);
    change(progress, 0, -1, TASK_RUNNING, TASK_UP_FOR_RETRY);
    change(progress, 0, -1, TASK_UP_FOR_RETRY, TASK_RUNNING);
    change(progress, 0, -1, TASK_RUNNING, TASK_SUCCESS);
    change(progress, 1, -1, TASK_NONE, TASK_SUCCESS); /* before an expansion */
    progress_expand(progress, 1, 0);
    change(progress, 4, -1, TASK_QUEUED, TASK_SKIPPED); /* never reported as queued */

    CLEANUP(mem_freep) char *text = frame(progress, 80, 20, (struct style){0});
    EXPECT_CONTAINS(text, " 3/5  2 success  1 skipped");
    build_dag_free(dag);
}

Test(progress, tasks_are_shown_parents_first_and_a_failure_until_it_is_made_up_for)
{
    static const struct build_task UNSORTED[] = {
        TASK("z_first", ""),
        {.id = "g.a", .needs = "", .group = "g"},
        TASK("a_last", "z_first"),
        {.id = "g.b", .needs = "", .group = "g"},
    };
    static uint32_t order[] = {3, 0, 1, 2};
    struct dag *dag = build_dag("demo", UNSORTED, ARRAY_LEN(UNSORTED));
    dag->order = order;
    CLEANUP(progress_freep) struct progress *progress = start(dag);
    change(progress, 0, -1, TASK_NONE, TASK_RUNNING);
    change(progress, 0, -1, TASK_RUNNING, TASK_FAILED);

    CLEANUP(mem_freep) char *failed = frame(progress, 80, 20, (struct style){0});
    EXPECT_CONTAINS(failed, "g [0/2]\n"
                            "  . b\n"
                            "  . a\n"
                            "x z_first");
    EXPECT_CONTAINS(failed, "x z_first: exit 3: no such table\n");
    change(progress, 2, -1, TASK_NONE, TASK_SUCCESS);
    CLEANUP(mem_freep) char *other = frame(progress, 80, 20, (struct style){0});
    EXPECT_CONTAINS(other, "x z_first: exit 3: no such table\n");
    change(progress, 0, -1, TASK_FAILED, TASK_SUCCESS);
    CLEANUP(mem_freep) char *made_up = frame(progress, 80, 20, (struct style){0});
    cr_expect_null(strstr(made_up, "no such table"));
    build_dag_free(dag);
}

Test(progress, the_live_view_replaces_its_block_and_gives_the_cursor_back)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    struct progress_live live;
    progress_live_init(&live, stream);

    progress_live_draw(&live, "\033[32mabcdef\033[0m\nb\n", 80, 24);
    progress_live_draw(&live, "c\n", 3, 24); /* the terminal became narrow: abcdef takes 2 rows */
    progress_live_fini(&live);
    progress_live_fini(&live);
    (void)fclose(stream);

    EXPECT_STR("\033[?25l\r\033[32mabcdef\033[0m\033[K\nb\033[K\n\033[J"
               "\033[3A\rc\033[K\n\033[J\033[?25h",
               text);
    free(text);
}
