#include <signal.h>

#include "keeper_fixture.h"

static struct fixture fixture;

static void set_up(void)
{
    fixture_open(&fixture);
}

static void tear_down(void)
{
    fixture_close(&fixture);
}

TestSuite(keeper_exits, .init = set_up, .fini = tear_down, .timeout = 60);

Test(keeper_exits, codes_and_signals_are_told_as_they_are)
{
    struct keeper_task zero = SHELL(&fixture, 1, "echo hello; echo oops >&2");
    struct keeper_task seven = SHELL(&fixture, 2, "exit 7");
    struct keeper_task killed = SHELL(&fixture, 3, "kill -9 $$");
    fixture_spawn(&fixture, &zero);
    fixture_spawn(&fixture, &seven);
    fixture_spawn(&fixture, &killed);
    fixture_wait(&fixture);

    EXPECT_EXIT(KEEPER_EXITED, 0, &fixture.exits[1]);
    EXPECT_EXIT(KEEPER_EXITED, 7, &fixture.exits[2]);
    EXPECT_EXIT(KEEPER_SIGNALLED, 0, &fixture.exits[3]);
    cr_assert_eq(fixture.exits[3].signal, SIGKILL);
    EXPECT_LOG(&fixture, 1, "hello\noops\n");
    cr_assert_eq(fixture.exits[1].log.bytes, 11);
    cr_assert_eq(fixture.exits[1].log.lines, 2);
    cr_assert_gt(fixture.exits[1].rss_kb, 0);
    cr_assert_gt(fixture.exits[1].wall_us, 0);
    cr_assert_gt(fixture.pids[1], 1);
    EXPECT_LOG(&fixture, 2, "");
}

Test(keeper_exits, what_cannot_be_run_is_said_exactly)
{
    char bad_script[128], no_rights[128];
    (void)snprintf(bad_script, sizeof bad_script, "%s/bad", fixture.dir);
    (void)snprintf(no_rights, sizeof no_rights, "%s/plain", fixture.dir);
    struct err err = {0};
    EXPECT_OK(file_write_atomic(bad_script, "#!/no/such/perl -w\n", 19, 0755, &err), &err);
    EXPECT_OK(file_write_atomic(no_rights, "echo\n", 5, 0644, &err), &err);
    const struct {
        const char *program;
        const char *workdir;
        const char *user;
        const char *text;
    } CASES[] = {
        {"/usr/bin/nope", NULL, NULL, "exec '/usr/bin/nope': No such file or directory"},
        {"nope", NULL, NULL, "exec 'nope': No such file or directory"},
        {no_rights, NULL, NULL, "Permission denied"},
        {"/tmp", NULL, NULL, "exec '/tmp': Is a directory"},
        {bad_script, NULL, NULL, "interpreter '/no/such/perl': No such file or directory"},
        {"/bin/true", "/no/such", NULL,
         "enter working directory '/no/such': No such file or directory"},
        {"/bin/true", "/etc/passwd", NULL, "enter working directory '/etc/passwd'"},
        {"/bin/true", NULL, "no-such-user", "user 'no-such-user' does not exist"},
        {"", NULL, NULL, "no command"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct keeper_task task = SHELL(&fixture, 5, "");
        task.argv = (const char *const[]){CASES[i].program, NULL};
        task.workdir = CASES[i].workdir;
        task.user = CASES[i].user;
        const struct keeper_exit *exit = fixture_run(&fixture, &task);
        EXPECT_EXIT(KEEPER_EXEC_ERROR, 0, exit);
        EXPECT_CONTAINS(exit->text, CASES[i].text);
    }
}

Test(keeper_exits, an_environment_beyond_the_kernel_is_an_exec_error)
{
    char *large = mem_alloc(2 << 20);
    memset(large, 'x', 2 << 20);
    memcpy(large, "BIG=", 4);
    large[(2 << 20) - 1] = '\0';
    struct keeper_task task = SHELL(&fixture, 1, "true");
    task.env = (const char *const[]){large, NULL};

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXEC_ERROR, 0, exit);
    EXPECT_CONTAINS(exit->text, "Argument list too long");
    free(large);
}

Test(keeper_exits, a_large_environment_arrives_whole)
{
    enum { COUNT = 20, EACH = 20000 };
    char *env[COUNT + 1] = {0};
    char *filling = mem_alloc(EACH + 1);
    memset(filling, 'y', EACH);
    filling[EACH] = '\0';
    for (int i = 0; i < COUNT; i++)
        env[i] = mem_format("V%d=%s", i, filling);
    free(filling);
    struct keeper_task task = SHELL(&fixture, 1, "set | wc -c");
    task.env = (const char *const *)env;

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));

    size_t length = 0;
    char *log = fixture_log(&fixture, 1, &length);
    cr_assert_gt(strlen(log), 6, "%s", log);
    free(log);
    for (int i = 0; i < COUNT; i++)
        free(env[i]);
}

Test(keeper_exits, a_task_gets_its_environment_and_nothing_else)
{
    cr_assert_eq(setenv("LEAK", "yes", 1), 0);
    struct keeper_task task = SHELL(&fixture, 1, "");
    task.argv = (const char *const[]){"env", NULL};
    task.env = (const char *const[]){"A=1", "PATH=/usr/bin:/bin", "EMPTY=", NULL};

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));

    char wanted[200];
    (void)snprintf(wanted, sizeof wanted, "A=1\nPATH=/usr/bin:/bin\nEMPTY=\nEIDER_CLAIM=%s\n",
                   task.nonce);
    EXPECT_LOG(&fixture, 1, wanted);
}

Test(keeper_exits, a_task_has_three_descriptors_default_signals_and_its_own_group)
{
    struct keeper_task fds = SHELL(&fixture, 1, "");
    fds.argv = (const char *const[]){"ls", "/proc/self/fd", NULL}; /* 3 is the listing itself */
    struct keeper_task signals =
        SHELL(&fixture, 2, "grep -E '^Sig(Blk|Ign)' /proc/self/status; wc -c <&0; ulimit -c");
    struct keeper_task group = SHELL(&fixture, 3, "[ $(ps -o pgid= $$) = $$ ] && echo leader");

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &fds));
    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &signals));
    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &group));

    EXPECT_LOG(&fixture, 1, "0\n1\n2\n3\n");
    EXPECT_LOG(&fixture, 2, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0\n0\n");
    EXPECT_LOG(&fixture, 3, "leader\n");
}

Test(keeper_exits, limits_and_user_are_applied)
{
    struct keeper_task limits = SHELL(&fixture, 1, "ulimit -t; ulimit -v; ulimit -p");
    limits.limits =
        (struct keeper_limits){.cpu_s = 77, .memory_bytes = 512 << 20, .processes = 500};
    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &limits));
    size_t length = 0;
    char *log = fixture_log(&fixture, 1, &length);
    EXPECT_CONTAINS(log, "77\n524288\n500\n");
    free(log);

    if (geteuid() != 0)
        return;
    char outputs[128];
    (void)snprintf(outputs, sizeof outputs, "%s/out", fixture.dir);
    struct keeper_task user =
        SHELL(&fixture, 2, "id -un; id -G; cd \"$OUT\" && echo 5 > five && stat -c %a .");
    char out_env[160];
    (void)snprintf(out_env, sizeof out_env, "OUT=%s", outputs);
    user.env = (const char *const[]){"PATH=/usr/bin:/bin", out_env, NULL};
    user.user = "nobody";
    user.outputs_dir = outputs;
    const struct keeper_exit *exit = fixture_run(&fixture, &user);
    EXPECT_EXIT(KEEPER_EXITED, 0, exit);
    EXPECT_LOG(&fixture, 2, "nobody\n65534\n700\n");
    cr_assert(exit->outputs_left);
}
