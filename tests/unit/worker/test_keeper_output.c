#include <sys/prctl.h>

#include "keeper_fixture.h"
#include "model/limits.h"
#include "worker/keeper_outputs.h"

static struct fixture fixture;

static void set_up(void)
{
    fixture_open(&fixture);
}

static void tear_down(void)
{
    fixture_close(&fixture);
}

TestSuite(keeper_output, .init = set_up, .fini = tear_down, .timeout = 60);

Test(keeper_output, twenty_megabytes_arrive_whole)
{
    struct keeper_task task = SHELL(&fixture, 1, "seq 1 2900000");

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 0, exit);
    size_t length = 0;
    char *log = fixture_log(&fixture, 1, &length);
    cr_assert_eq(exit->log.bytes, length);
    cr_assert_eq(exit->log.lines, 2900000);
    cr_assert_gt(length, 20 << 20);
    const char *at = log;
    for (long line = 1; line <= 2900000; line++) {
        char *end = NULL;
        cr_assert_eq(strtoll(at, &end, 10), line);
        at = end + 1;
    }
    free(log);
}

Test(keeper_output, beyond_the_cap_the_head_is_kept_and_the_rest_counted)
{
    static const struct {
        int64_t cap;
        const char *log;
        uint64_t bytes;
        uint64_t dropped;
    } CASES[] = {
        {10, "123456789\n", 10, 0},
        {9, "123456789\n[eider: output cut here: 1 bytes dropped]\n", 9, 1},
        {0, "[eider: output cut here: 10 bytes dropped]\n", 0, 10},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct keeper_task task = SHELL(&fixture, 1, "echo 123456789");
        task.output_bytes = CASES[i].cap;
        task.log_key.ids[1] = (int64_t)i;
        const struct keeper_exit *exit = fixture_run(&fixture, &task);
        EXPECT_EXIT(KEEPER_EXITED, 0, exit);
        EXPECT_LOG(&fixture, (int)i, CASES[i].log);
        cr_assert_eq(exit->log.bytes, CASES[i].bytes);
        cr_assert_eq(exit->log.dropped_bytes, CASES[i].dropped);
    }
}

Test(keeper_output, a_task_is_not_held_up_when_its_output_is_dropped)
{
    struct keeper_task task = SHELL(&fixture, 1, "head -c 30000000 /dev/zero; echo end >&2");
    task.output_bytes = 1000;

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 0, exit);
    cr_assert_eq(exit->log.dropped_bytes, 30000000 + 4 - 1000);
}

Test(keeper_output, bytes_are_kept_as_they_are)
{
    struct keeper_task task = SHELL(&fixture, 1, "printf 'a\\000b\\377\\033[1m\\nlast'");

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    size_t length = 0;
    char *log = fixture_log(&fixture, 1, &length);
    cr_assert_eq(length, 13);
    cr_assert_eq(memcmp(log, "a\0b\377\033[1m\nlast", 13), 0);
    cr_assert_eq(exit->log.lines, 2);
    free(log);
}

static const char *const SECRETS[] = {"hunter2!", NULL};

Test(keeper_output, secrets_do_not_reach_the_log)
{
    /* The parts are put together by the shell, so that no argument holds the secret. */
    struct keeper_task task = SHELL(&fixture, 1,
                                    "s=hun; s=${s}ter2!; echo \"it is $s\"; printf %s $s | base64; "
                                    "printf hunt; printf er2!; echo; "
                                    "cat /proc/$$/environ /proc/$PPID/cmdline | grep -c $s; echo "
                                    "hunter2");
    task.secrets = SECRETS;

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 0, exit);
    EXPECT_LOG(&fixture, 1, "it is ***\n***\n***\n0\nhunter2\n");
    cr_assert_eq(exit->log.bytes, 28);
    cr_assert_eq(exit->log.lines, 5);
}

Test(keeper_output, secrets_do_not_leave_as_values_or_progress)
{
    char outputs[128];
    (void)snprintf(outputs, sizeof outputs, "%s/out", fixture.dir);
    char command[1024];
    (void)snprintf(
        command, sizeof command,
        "s=hun; s=${s}ter2!; echo \"a $s b\" > %s/plain; echo fine > %s/other;"
        " printf %%s $s | base64 > %s/coded;"
        " printf '{\"type\": \"progress\", \"done\": 1, \"text\": \"at %%s\"}\\n' $s >&4;"
        " printf '{\"type\": \"result\", \"outcome\": \"failed\", \"reason\": \"bad "
        "%%s\"}\\n' $s >&4",
        outputs, outputs, outputs);
    struct keeper_task task = SHELL(&fixture, 1, command);
    task.secrets = SECRETS;
    task.protocol = true;
    task.outputs_dir = outputs;

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 0, exit);
    cr_assert(exit->outputs_left);
    struct err err = {0};
    json_t *values = NULL;
    EXPECT_OK(keeper_outputs_take(outputs, &values, &err), &err);
    EXPECT_STR("a *** b", json_get_string(values, "plain", ""));
    EXPECT_STR("fine", json_get_string(values, "other", ""));
    EXPECT_STR("***", json_get_string(values, "coded", ""));
    json_decref(values);
    EXPECT_CONTAINS(fixture.reports.text, "at ***");
    EXPECT_CONTAINS(fixture.reports.text, "bad ***");
    cr_assert_null(strstr(fixture.reports.text, "hunter2"));
}

Test(keeper_output, what_may_begin_a_secret_is_seen_after_a_pause)
{
    char command[256];
    (void)snprintf(command, sizeof command,
                   "printf '> hun'; until grep -qs hun %s/1/1.log; do :; done; echo ter2!",
                   fixture.dir);
    struct keeper_task task = SHELL(&fixture, 1, command);
    task.secrets = SECRETS;

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 0, exit);
    EXPECT_LOG(&fixture, 1, "> hun***\n");
}

Test(keeper_output, a_task_whose_secrets_cannot_be_hidden_does_not_start)
{
    char *long_secret = mem_zalloc(LIMIT_MASK_BYTES + 2, 1);
    memset(long_secret, 'x', LIMIT_MASK_BYTES + 1);
    struct keeper_task task = SHELL(&fixture, 1, "echo started");
    task.secrets = (const char *const[]){long_secret, NULL};

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXEC_ERROR, 0, exit);
    EXPECT_CONTAINS(exit->text, "secrets to hide");
    EXPECT_LOG(&fixture, 1, "");
    free(long_secret);
}

Test(keeper_output, a_missing_place_for_logs_does_not_hurt_the_task)
{
    struct keeper_task task = SHELL(&fixture, 1, "echo lost; exit 2");
    task.blob_root = "/no/such/place";

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 2, exit);
    EXPECT_CONTAINS(exit->log.error, "/no/such/place");
    cr_assert_eq(exit->log.dropped_bytes, 5);
}

Test(keeper_output, a_loud_task_does_not_starve_a_quiet_one)
{
    struct keeper_task loud = SHELL(&fixture, 1, "exec cat /dev/zero");
    loud.output_bytes = 1000;
    fixture_spawn(&fixture, &loud);
    struct keeper_task quiet = SHELL(&fixture, 2, "echo one; echo two");
    fixture_spawn(&fixture, &quiet);
    fixture.wanted = 1;
    fixture_wait(&fixture);

    EXPECT_LOG(&fixture, 2, "one\ntwo\n");
    cr_assert_eq(fixture.exits[1].wall_us, 0);
    keeper_stop_task(fixture.keeper, 1, KEEPER_STOP_KILL);
    fixture.wanted = 2;
    fixture_wait(&fixture);
    EXPECT_EXIT(KEEPER_STOPPED, 0, &fixture.exits[1]);
}

Test(keeper_output, lines_of_the_protocol_are_understood_or_called_bad)
{
    struct keeper_task task = SHELL(
        &fixture, 1,
        "read -r line <&3; echo \"$line\"; exec >&4\n"
        "echo '{\"type\":\"progress\",\"done\":1,\"total\":4,\"text\":\"copy\"}'\n"
        "echo '{\"type\":\"progress\",\"done\":2.5}'\n"
        "echo '{\"type\":\"value\",\"key\":\"k\",\"value\":[1,2]}'\n"
        "echo '{\"type\":\"handle\",\"id\":7}'\n"
        "echo '{\"type\":\"defer\",\"until\":7}'\n"
        "echo garbage; echo; echo '[]'; echo '{\"type\":\"nope\"}'; echo '{\"type\":\"value\"}'\n"
        "echo '{\"type\":\"progress\",\"done\":-1}'; echo '{\"type\":\"result\"}'\n"
        "printf '{\"type\":\"result\",\"outcome\":\"skipped\",\"reason\":\"why\"}'");
    task.protocol = true;
    task.request = "{\"eider\":1}\n";

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));

    EXPECT_LOG(&fixture, 1, "{\"eider\":1}\n");
    EXPECT_STR("1 progress 1/4 copy\n1 progress 2.5/-1 -\n1 value k 5 [1,2]\n1 handle\n1 defer\n"
               "1 bad\n1 bad\n1 bad\n1 bad\n1 bad\n1 bad\n1 bad\n1 result 2 why\n",
               fixture.reports.text);
}

Test(keeper_output, a_line_beyond_the_limit_is_bad_and_the_next_one_fine)
{
    struct keeper_task task =
        SHELL(&fixture, 1,
              "exec >&4; printf '{\"type\":\"value\",\"key\":\"a\",\"value\":\"'\n"
              "head -c 16000000 /dev/zero | tr '\\0' x; echo '\"}'\n"
              "head -c 17000000 /dev/zero | tr '\\0' y; echo; echo '{\"type\":\"defer\"}'");
    task.protocol = true;

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));

    EXPECT_STR("1 value a 16000002 \"xxxxxxxxxxxxxxxxxxx\n1 bad\n1 defer\n", fixture.reports.text);
}

Test(keeper_output, a_flood_of_reports_arrives_in_order_while_nobody_listens)
{
    struct keeper_task task = SHELL(
        &fixture, 1,
        "i=0; while [ $i -lt 30000 ]; do i=$((i+1));"
        "echo '{\"type\":\"progress\",\"done\":'$i'}'; done >&4; echo '{\"type\":\"defer\"}' >&4");
    task.protocol = true;

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));

    EXPECT_CONTAINS(fixture.reports.text, "1 progress 1/-1 -\n1 progress 2/-1 -\n");
    EXPECT_CONTAINS(fixture.reports.text,
                    "1 progress 29999/-1 -\n1 progress 30000/-1 -\n1 defer\n");
}

Test(keeper_output, scripts_and_outputs_are_made_before_and_cleared_after)
{
    char outputs[128], script[128], variable[160];
    (void)snprintf(outputs, sizeof outputs, "%s/scratch/out", fixture.dir);
    (void)snprintf(script, sizeof script, "%s/script", fixture.dir);
    (void)snprintf(variable, sizeof variable, "EIDER_OUTPUTS=%s", outputs);
    struct keeper_task task = SHELL(&fixture, 1, "");
    task.argv = (const char *const[]){script, "x", NULL};
    task.env = (const char *const[]){variable, "PATH=/usr/bin:/bin", NULL};
    task.script = "#!/bin/sh\ncd $EIDER_OUTPUTS; echo '[1, 2]' >list; echo plain $1 >text;"
                  "printf '\\377' >bytes; : >empty\n";
    task.script_path = script;
    task.outputs_dir = outputs;

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 0, exit);
    cr_assert(exit->outputs_left);
    cr_assert_neq(access(script, F_OK), 0);
    json_t *values = NULL;
    struct err err = {0};
    EXPECT_OK(keeper_outputs_take(outputs, &values, &err), &err);
    char *text = json_format(values);
    EXPECT_STR("{\"bytes\":\"\xEF\xBF\xBD\",\"empty\":\"\",\"list\":[1,2],\"text\":\"plain x\"}",
               text);
    free(text);
    json_decref(values);
    cr_assert_neq(access(outputs, F_OK), 0);

    task.script = "#!/bin/sh\ntrue\n";
    exit = fixture_run(&fixture, &task);
    cr_assert(!exit->outputs_left);
    cr_assert_neq(access(outputs, F_OK), 0);
}

Test(keeper_output, outputs_that_are_no_files_are_refused)
{
    static const char *const COMMANDS[] = {
        "ln -s /etc/passwd p", "mkfifo f", "mkdir d; : >d/x", "head -c 17000000 /dev/zero >large",
        "i=0; while [ $i -lt 1001 ]; do i=$((i+1)); : >$i; done"};
    char outputs[128];
    (void)snprintf(outputs, sizeof outputs, "%s/out", fixture.dir);
    for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++) {
        struct keeper_task task = SHELL(&fixture, 1, COMMANDS[i]);
        task.workdir = outputs;
        task.outputs_dir = outputs;
        EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));
        json_t *values = NULL;
        struct err err = {0};
        EXPECT_STATUS(i < 3 ? STATUS_INVALID : STATUS_LIMIT,
                      keeper_outputs_take(outputs, &values, &err), &err);
        cr_assert_null(values);
        cr_assert_neq(access(outputs, F_OK), 0);
    }
}

/* To root every process is open, so this is about somebody else. */
static void set_up_as_nobody(void)
{
    enum { NOBODY = 65534 };
    if (geteuid() == 0) {
        cr_assert_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
        cr_assert_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
        cr_assert_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
    }
    fixture_open(&fixture);
}

TestSuite(keeper_privacy, .init = set_up_as_nobody, .fini = tear_down, .timeout = 60);

Test(keeper_privacy, a_keeper_with_secrets_cannot_be_looked_into)
{
    static const char LOOK[] = "head -c 1 /proc/$PPID/environ >/dev/null 2>&1 && echo open";
    struct keeper_task before = SHELL(&fixture, 1, LOOK);
    struct keeper_task task = SHELL(&fixture, 2, LOOK);
    task.secrets = SECRETS;

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &before));
    EXPECT_EXIT(KEEPER_EXITED, 1, fixture_run(&fixture, &task));

    EXPECT_LOG(&fixture, 1, "open\n");
}

Test(keeper_privacy, a_token_that_its_processes_carry_needs_no_secrecy_of_the_keeper)
{
    static const char *const ENV[] = {"PATH=/usr/bin:/bin", "EIDER_TOKEN=eda_1_1_0123456789abcdef",
                                      NULL};
    static const char *const PROOF[] = {"0123456789abcdef", NULL};
    static const char LOOK[] = "head -c 1 /proc/$PPID/environ >/dev/null 2>&1 && env | grep TOKEN";
    struct keeper_task task = SHELL(&fixture, 1, LOOK);
    task.env = ENV;
    task.secrets = PROOF;

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));

    EXPECT_LOG(&fixture, 1, "EIDER_TOKEN=eda_1_1_***\n");
}
