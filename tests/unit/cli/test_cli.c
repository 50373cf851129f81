#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "expect.h"
#include "fake_host.h"

static const char RUNS[] =
    "{\"dag_runs\":[{\"number\":\"7\",\"dag_id\":\"orders\",\"dag_run_id\":\"manual__x\","
    "\"state\":\"failed\",\"start_date\":\"2026-01-02T03:04:05Z\",\"duration\":62.5,"
    "\"tasks_total\":5,\"counts\":{\"failed\":1},\"note\":\"a, \\\"b\\\"\"}],\"total_entries\":1}";

Test(cli, commands_call_their_operations_with_their_arguments)
{
    static const struct {
        const char *line;
        const char *operation;
        const char *request;
    } CASES[] = {
        {"runs list", "run.list", "{\"limit\":20}"},
        {"runs list --dag d -s failed -n 5 --offset 2", "run.list",
         "{\"dag\":\"d\",\"limit\":5,\"offset\":2,\"state\":\"failed\"}"},
        {"runs show d/r", "run.show", "{\"run\":\"d/r\"}"},
        {"runs tasks 7 --state failed", "run.tasks", "{\"run\":\"7\",\"state\":\"failed\"}"},
        {"tasks states 7", "run.tasks", "{\"run\":\"7\"}"},
        {"runs gantt 7", "run.tasks", "{\"run\":\"7\"}"},
        {"runs cancel 7", "run.cancel", "{\"run\":\"7\"}"},
        {"stop 7 t --dry-run", "run.cancel", "{\"dry_run\":true,\"run\":\"7\",\"task\":\"t\"}"},
        {"runs delete 7 -y", "run.delete", "{\"dry_run\":false,\"run\":\"7\"}"},
        {"runs note 7 hi", "run.note", "{\"note\":\"hi\",\"run\":\"7\"}"},
        {"runs values 7 t -k x --map-index 3", "run.values",
         "{\"key\":\"x\",\"map_index\":3,\"run\":\"7\",\"task\":\"t\"}"},
        {"ps", "run.active", "{}"},
        {"explain 7 t", "run.explain", "{\"run\":\"7\",\"task\":\"t\"}"},
        {"retry 7 a b --dry-run", "run.retry",
         "{\"dry_run\":true,\"run\":\"7\",\"tasks\":[\"a\",\"b\"]}"},
        {"mark 7 t success", "task.mark", "{\"run\":\"7\",\"state\":\"success\",\"task\":\"t\"}"},
        {"tasks clear 7 a b --downstream --map-index 3 --reason late", "task.clear",
         "{\"downstream\":true,\"dry_run\":false,\"failed\":false,\"map_index\":3,"
         "\"reason\":\"late\",\"run\":\"7\",\"tasks\":[\"a\",\"b\"],\"upstream\":false}"},
        {"tasks clear 7 a --upstream --failed --dry-run", "task.clear",
         "{\"downstream\":false,\"dry_run\":true,\"failed\":true,\"run\":\"7\",\"tasks\":[\"a\"],"
         "\"upstream\":true}"},
        {"tasks note 7 a hi --map-index 2", "task.note",
         "{\"map_index\":2,\"note\":\"hi\",\"run\":\"7\",\"task\":\"a\"}"},
        {"secrets rotate --reason yearly", "secret.rotate", "{\"reason\":\"yearly\"}"},
        {"hosts drain h --reason disk", "host.drain",
         "{\"drain\":true,\"host\":\"h\",\"reason\":\"disk\"}"},
        {"audit list --actor ann --dag d --from 2026-01-15 -a", "audit.list",
         "{\"actor\":\"ann\",\"all\":true,\"dag\":\"d\",\"from\":\"2026-01-15\",\"limit\":20}"},
        {"tasks list d.yaml --dag x", "task.list", "{\"dag\":\"x\",\"file\":\"d.yaml\"}"},
        {"tasks show d t", "task.show", "{\"dag\":\"d\",\"task\":\"t\"}"},
        {"tasks render d t -p a=1 --conf {\"b\":2} --date 2026-01-01", "task.render",
         "{\"conf\":{\"b\":2},\"dag\":\"d\",\"logical_date\":\"2026-01-01\","
         "\"params\":{\"a\":\"1\"},\"task\":\"t\"}"},
        {"dags list --tag t", "dag.list", "{\"tag\":\"t\"}"},
        {"dags show a/b.yaml", "dag.show", "{\"file\":\"a/b.yaml\"}"},
        {"dags graph d --format svg", "dag.graph",
         "{\"ascii\":true,\"dag\":\"d\",\"format\":\"svg\",\"width\":80}"},
        {"runs graph 7 --width 100", "dag.graph",
         "{\"ascii\":true,\"format\":\"text\",\"run\":\"7\",\"width\":100}"},
        {"dags source d", "dag.source", "{\"dag\":\"d\"}"},
        {"dags source d --version 3", "dag.source", "{\"dag\":\"d\",\"version\":3}"},
        {"dags list --all", "dag.list", "{\"all\":true}"},
        {"dags versions d", "dag.versions", "{\"dag\":\"d\"}"},
        {"dags diff d", "dag.diff", "{\"dag\":\"d\"}"},
        {"dags diff d 2 5", "dag.diff", "{\"dag\":\"d\",\"from\":2,\"to\":5}"},
        {"dags rollback d 2 --reason why", "dag.rollback",
         "{\"dag\":\"d\",\"dry_run\":false,\"reason\":\"why\",\"version\":2}"},
        {"dags errors", "dag.errors", "{}"},
        {"dags delete d --yes", "dag.delete", "{\"dag\":\"d\",\"dry_run\":false}"},
        {"runs rerun 7 --version newest", "run.rerun", "{\"run\":\"7\",\"version\":\"newest\"}"},
        {"validate a b", "dag.validate", "{\"paths\":[\"a\",\"b\"]}"},
        {"logs 7 t --try 2 -n 5 -g x --map-index 1", "log.read",
         "{\"grep\":\"x\",\"map_index\":1,\"run\":\"7\",\"tail\":5,\"task\":\"t\","
         "\"try_number\":2}"},
        {"store backup p", "store.backup", "{\"path\":\"p\"}"},
        {"store restore p --yes", "store.restore", "{\"path\":\"p\"}"},
        {"store migrate", "store.migrate", "{\"dry_run\":false}"},
        {"config list", "config.list", "{}"},
        {"config get store", "config.get", "{\"key\":\"store\"}"},
    };
    static const struct fake_answer EMPTY = {.response = "{}"};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct fake_host fake;
        fake_host_init(&fake);
        fake.answers = &EMPTY;
        fake.answers_count = 1;
        int code = fake_host_run(&fake, CASES[i].line);
        cr_expect_eq(code, 0, "%s: exit %d, %s", CASES[i].line, code, fake.err);
        cr_expect_str_eq(fake.last_operation, CASES[i].operation, "%s", CASES[i].line);
        cr_expect_str_eq(fake.last_request, CASES[i].request, "%s: %s", CASES[i].line,
                         fake.last_request);
        fake_host_fini(&fake);
    }
}

Test(cli, a_list_is_printed_in_every_form)
{
    static const struct {
        const char *line;
        const char *text;
    } CASES[] = {
        {"runs list",
         "NUMBER  DAG     RUN        TYPE  STATE   LATE  STARTED               DURATION  TASKS\n"
         "     7  orders  manual__x  -     failed  -     2026-01-02 03:04:05Z  1m 02s        5\n"},
        {"runs list -o name", "7\n"},
        {"runs list -o csv",
         "number,dag_id,dag_run_id,run_type,state,late,start_date,duration,tasks_total,"
         "counts.failed,logical_date,note\r\n7,orders,manual__x,,failed,,2026-01-02T03:04:05Z,62.5,"
         "5,1,,"
         "\"a, \"\"b\"\"\"\r\n"},
        {"runs list -o yaml",
         "dag_runs:\n  - number: \"7\"\n    dag_id: orders\n    dag_run_id: manual__x\n"
         "    state: failed\n    start_date: \"2026-01-02T03:04:05Z\"\n    duration: 62.5\n"
         "    tasks_total: 5\n    counts:\n      failed: 1\n    note: \"a, \\\"b\\\"\"\n"
         "total_entries: 1\n"},
    };
    static const struct fake_answer ANSWER = {.response = RUNS};
    struct fake_host fake;
    fake_host_init(&fake);
    fake.answers = &ANSWER;
    fake.answers_count = 1;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        cr_expect_eq(fake_host_run(&fake, CASES[i].line), 0);
        EXPECT_STR(CASES[i].text, fake.out);
    }
    cr_expect_eq(fake_host_run(&fake, "runs list -o json"), 0);
    json_t *again = NULL;
    json_t *original = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(fake.out, strlen(fake.out), &again, &err), &err);
    EXPECT_OK(json_parse(RUNS, strlen(RUNS), &original, &err), &err);
    cr_expect(json_equal(again, original));
    json_decref(again);
    json_decref(original);
    fake_host_fini(&fake);
}

Test(cli, text_from_outside_cannot_steer_the_terminal)
{
    static const struct fake_answer ANSWER = {
        .response = "{\"dag_runs\":[{\"number\":\"1\",\"dag_id\":\"a\\u001b[2Jb\\nc\"}]}"};
    struct fake_host fake;
    fake_host_init(&fake);
    fake.answers = &ANSWER;
    fake.answers_count = 1;

    cr_expect_eq(fake_host_run(&fake, "runs list"), 0);
    cr_expect_null(strchr(fake.out, '\033'));
    EXPECT_CONTAINS(fake.out, "a?[2Jb c");
    fake_host_fini(&fake);
}

Test(cli, failures_become_a_line_on_stderr_and_an_exit_code)
{
    static const struct {
        enum status status;
        int code;
    } CASES[] = {
        {STATUS_INVALID, 2}, {STATUS_NOT_FOUND, 3}, {STATUS_DENIED, 4}, {STATUS_CONFLICT, 5},
        {STATUS_BAD_DAG, 6}, {STATUS_TIMEOUT, 7},   {STATUS_IO, 8},     {STATUS_BUSY, 8},
        {STATUS_CORRUPT, 8}, {STATUS_FULL, 8},      {STATUS_LIMIT, 2},  {STATUS_UNKNOWN, 8},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct fake_answer answer = {.status = CASES[i].status, .problem = "no run '7'"};
        struct fake_host fake;
        fake_host_init(&fake);
        fake.answers = &answer;
        fake.answers_count = 1;
        cr_expect_eq(fake_host_run(&fake, "runs show 7"), CASES[i].code, "%d",
                     (int)CASES[i].status);
        EXPECT_STR("eider: no run '7'\n", fake.err);
        EXPECT_STR("", fake.out);
        fake_host_fini(&fake);
    }
}

Test(cli, waiting_ends_with_the_verdict_or_the_time)
{
    static const struct fake_answer ENDS[] = {{.response = "{\"state\":\"running\"}"},
                                              {.response = "{\"state\":\"failed\"}"}};
    struct fake_host fake;
    fake_host_init(&fake);
    fake.answers = ENDS;
    fake.answers_count = 2;
    fake.pauses_left = 100;
    cr_expect_eq(fake_host_run(&fake, "runs wait 7"), 1);

    fake.answers_count = 1;
    cr_expect_eq(fake_host_run(&fake, "runs wait 7 --timeout 1"), 7);
    fake.pauses_left = 0;
    cr_expect_eq(fake_host_run(&fake, "runs wait 7"), 130);
    fake_host_fini(&fake);
}

Test(cli, a_watched_list_is_shown_again_until_interrupted)
{
    static const struct fake_answer ANSWER = {.response = RUNS};
    struct fake_host fake;
    fake_host_init(&fake);
    fake.answers = &ANSWER;
    fake.answers_count = 1;
    fake.pauses_left = 2;

    cr_expect_eq(fake_host_run(&fake, "runs list --watch -o name"), 0);
    EXPECT_STR("7\n7\n7\n", fake.out);
    fake_host_fini(&fake);
}

Test(cli, logs_follow_the_cursor_to_the_end)
{
    static const struct fake_answer ANSWERS[] = {
        {.response = "{\"entries\":[{\"task_id\":\"a\",\"try_number\":1,\"text\":\"one\\n\"}],"
                     "\"cursor\":\"c1\",\"more\":true,\"live\":true}"},
        {.response = "{\"entries\":[{\"task_id\":\"a\",\"try_number\":1,\"text\":\"two\"}],"
                     "\"cursor\":\"c2\",\"more\":false,\"live\":true}"},
        {.response = "{\"entries\":[{\"task_id\":\"m\",\"map_index\":2,\"try_number\":1,"
                     "\"text\":\"three\\n\"}],\"cursor\":\"c3\",\"more\":false,\"live\":false}"}};
    struct fake_host fake;
    fake_host_init(&fake);
    fake.answers = ANSWERS;
    fake.answers_count = 3;
    fake.pauses_left = 5;

    cr_expect_eq(fake_host_run(&fake, "logs 7 -f"), 0);
    EXPECT_STR("== a try 1 ==\none\ntwo\n== m[2] try 1 ==\nthree\n", fake.out);
    EXPECT_STR("{\"cursor\":\"c2\",\"run\":\"7\"}", fake.last_request);

    fake.calls = 0;
    cr_expect_eq(fake_host_run(&fake, "logs 7 a"), 0);
    EXPECT_STR("one\ntwo", fake.out);
    fake_host_fini(&fake);
}

Test(cli, validation_shows_places_and_exits_6)
{
    static const struct fake_answer ANSWER = {
        .response = "{\"errors\":1,\"warnings\":0,\"files\":[{\"path\":\"a.yaml\",\"ok\":false,"
                    "\"problems\":[{\"severity\":\"error\",\"line\":3,\"column\":5,\"length\":4,"
                    "\"message\":\"unknown key 'rnu'\",\"source\":\"    rnu: x\"}]},"
                    "{\"path\":\"b.yaml\",\"ok\":true,\"tasks_total\":2,\"problems\":[]}]}"};
    struct fake_host fake;
    fake_host_init(&fake);
    fake.answers = &ANSWER;
    fake.answers_count = 1;

    cr_expect_eq(fake_host_run(&fake, "validate a.yaml b.yaml"), 6);
    EXPECT_STR("a.yaml:3:5: error: unknown key 'rnu'\n"
               "     3 |     rnu: x\n"
               "       |     ^~~~\n"
               "b.yaml: ok (2 tasks)\n",
               fake.out);
    EXPECT_STR("1 error\n", fake.err);
    cr_expect_eq(fake_host_run(&fake, "validate a.yaml -q -o json"), 6);
    EXPECT_STR("", fake.err);
    fake_host_fini(&fake);
}

Test(cli, settings_given_as_options_reach_the_application)
{
    static const struct fake_answer ANSWER = {.response = RUNS};
    struct fake_host fake;
    fake_host_init(&fake);
    fake.answers = &ANSWER;
    fake.answers_count = 1;

    cr_expect_eq(fake_host_run(&fake, "--home /tmp/x runs list --store=sqlite:y.db"), 0);
    CLEANUP(mem_freep) char *flags = json_format(fake.flags);
    EXPECT_STR("{\"home\":\"/tmp/x\",\"store\":\"sqlite:y.db\"}", flags);
    fake_host_fini(&fake);
}

Test(cli, init_makes_a_project_and_never_overwrites)
{
    char folder[] = "/tmp/eider-init-XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    CLEANUP(mem_freep) char *line = mem_format("init %s/shop", folder);
    CLEANUP(mem_freep) char *dag = mem_format("%s/shop/dags/hello.yaml", folder);
    CLEANUP(mem_freep) char *dags = mem_format("%s/shop/dags", folder);
    CLEANUP(mem_freep) char *settings = mem_format("%s/shop/eider.yaml", folder);
    CLEANUP(mem_freep) char *ignore = mem_format("%s/shop/.gitignore", folder);
    CLEANUP(mem_freep) char *shop = mem_format("%s/shop", folder);
    struct fake_host fake;
    fake_host_init(&fake);

    cr_expect_eq(fake_host_run(&fake, line), 0, "%s", fake.err);
    cr_expect_eq(access(dag, R_OK), 0);
    cr_expect_eq(access(settings, R_OK), 0);
    cr_expect_eq(access(ignore, R_OK), 0);
    cr_expect_eq(unlink(dag), 0);
    cr_expect_eq(fake_host_run(&fake, line), 5);
    EXPECT_CONTAINS(fake.err, "exists already; nothing was changed");
    cr_expect_neq(access(dag, R_OK), 0);

    (void)unlink(settings);
    (void)unlink(ignore);
    (void)rmdir(dags);
    (void)rmdir(shop);
    (void)rmdir(folder);
    fake_host_fini(&fake);
}
