#include <string.h>

#include "base/mem.h"
#include "expect.h"
#include "serve/start_board.h"
#include "service/principal.h"

/* What runs: each word is a task, with its attempt behind a dot; "+" at the end: there is more. */
static void look(struct start_board *board, const char *words)
{
    CLEANUP(mem_freep) char *copy = mem_strdup(words);
    CLEANUP(json_decrefp) json_t *response = json_object();
    json_t *tasks = json_array();
    bool is_more = false;
    char *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        is_more |= strcmp(word, "+") == 0;
        if (strcmp(word, "+") == 0)
            continue;
        json_t *task = json_object();
        char *dot = strchr(word, '.');
        *dot = '\0';
        json_put_string(task, "task", word);
        json_put_string(task, "task_id", word);
        json_put_string(task, "namespace", word[0] == '9' ? "hr" : "sales");
        json_put_int(task, "attempt", dot[1] - '0');
        (void)json_array_append_new(tasks, task);
    }
    json_put(response, "tasks", tasks);
    json_put_bool(response, "more", is_more);
    start_board_look(board, response);
}

static const struct event_filter ALL = {0};

/* The tasks that are told, with their attempts, and "+" for more. */
static void expect_told(const struct start_board *board, const struct event_filter *filter,
                        size_t most, struct start_place *place, const char *wanted)
{
    CLEANUP(strbuf_fini) struct strbuf out;
    CLEANUP(strbuf_fini) struct strbuf got;
    strbuf_init(&out, 100000);
    strbuf_init(&got, 10000);
    bool is_told = start_board_tell(board, filter, most, place, &out);
    const char *line = out.length > 0 ? out.text : "";
    cr_assert_null(strstr(line, "id:"), "%s", line);
    for (line = strstr(line, "data: "); line != NULL; line = strstr(line + 1, "data: ")) {
        CLEANUP(json_decrefp) json_t *data = NULL;
        struct err err = {0};
        EXPECT_OK(json_parse(line + 6, strcspn(line + 6, "\n"), &data, &err), &err);
        cr_assert_null(json_object_get(data, "task"));
        strbuf_addf(&got, "%s", got.length > 0 ? " " : "");
        if (json_get_bool(data, "more", false))
            strbuf_add(&got, "+");
        else
            strbuf_addf(&got, "%s.%lld", json_get_string(data, "task_id", ""),
                        (long long)json_get_int(data, "attempt", 0));
    }
    EXPECT_STR(wanted, got.length > 0 ? got.text : "");
    cr_assert_eq(is_told, got.length > 0);
    cr_assert_eq(out.length == 0 || strstr(out.text, "event: task.started\n") == out.text, true);
}

Test(start_board, each_attempt_is_told_once_to_each_listener)
{
    struct start_board *board = start_board_new();
    struct start_place first = {0};
    struct start_place second = {0};
    look(board, "1.1 2.1");
    expect_told(board, &ALL, 10, &first, "1.1 2.1");
    expect_told(board, &ALL, 10, &first, "");
    look(board, "2.1 3.1 1.1");
    expect_told(board, &ALL, 10, &first, "3.1");
    look(board, "3.1 1.2");
    expect_told(board, &ALL, 10, &first, "1.2");      /* its next attempt */
    expect_told(board, &ALL, 10, &second, "3.1 1.2"); /* what runs already, nothing that is over */
    look(board, "");
    look(board, "4.1");
    expect_told(board, &ALL, 10, &first, "4.1");
    expect_told(board, &ALL, 10, &second, "4.1");
    start_board_clear(board);
    look(board, "5.1");
    expect_told(board, &ALL, 10, &second, "5.1");
    start_board_free(board);
}

Test(start_board, filters_and_namespaces_decide_as_with_events)
{
    static const struct grant GRANT = {"sales", PERMISSION_VIEWER};
    static const struct principal CLERK = {.name = "clerk", .grants = &GRANT, .count = 1};
    const struct event_filter clerks = {.principal = &CLERK};
    const struct event_filter twos = {.task_id = "2"};
    struct start_board *board = start_board_new();
    struct start_place first = {0};
    struct start_place second = {0};
    look(board, "1.1 2.1 9.1");
    expect_told(board, &clerks, 10, &first, "1.1 2.1");
    expect_told(board, &twos, 10, &second, "2.1");
    start_board_free(board);
}

Test(start_board, what_is_too_much_is_more)
{
    struct start_board *board = start_board_new();
    struct start_place first = {0};
    struct start_place late = {0};
    look(board, "1.1 2.1 3.1");
    expect_told(board, &ALL, 2, &first, "1.1 2.1 +");
    expect_told(board, &ALL, 2, &first, "");
    look(board, "1.1 4.1 +");
    expect_told(board, &ALL, 9, &first, "+");
    expect_told(board, &ALL, 9, &first, "");
    expect_told(board, &ALL, 9, &late, "1.1 +");
    look(board, "1.1 2.1 5.1"); /* 2 was told, and nobody knows since when 5 runs */
    expect_told(board, &ALL, 9, &first, "+");
    look(board, "1.1 2.1 5.1 6.1");
    expect_told(board, &ALL, 9, &first, "6.1");
    struct start_place later = {0};
    expect_told(board, &ALL, 9, &later, "1.1 6.1");
    start_board_free(board);
}
