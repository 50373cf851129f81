#include <dirent.h>
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

TestSuite(keeper_trees, .init = set_up, .fini = tear_down, .timeout = 60);

static void run_until_started(void)
{
    fixture.stop_on_start = true;
    loop_run(fixture.loop);
    fixture.stop_on_start = false;
}

static void run_until_report(void)
{
    fixture.stop_on_report = true;
    loop_run(fixture.loop);
    fixture.stop_on_report = false;
}

Test(keeper_trees, a_grandchild_that_holds_the_output_open_neither_hangs_nor_survives)
{
    struct keeper_task task = SHELL(&fixture, 1, "sleep 999 & echo started; exit 3");

    const struct keeper_exit *exit = fixture_run(&fixture, &task);

    EXPECT_EXIT(KEEPER_EXITED, 3, exit);
    cr_assert_lt(exit->wall_us, 10 * 1000000);
    cr_assert_eq(fixture_survivors(&fixture, 1), 0);
    EXPECT_LOG(&fixture, 1, "started\n");
}

Test(keeper_trees, daemons_of_a_task_end_with_it)
{
    static const char *const COMMANDS[] = {
        "setsid sh -c 'sleep 999 & sleep 999' & sleep 0.05",
        "setsid setsid sh -c 'trap \"\" TERM HUP; sleep 999 & sleep 998 & wait' & sleep 0.05",
        "(setsid sh -c '(setsid sleep 999 &) ; (sleep 999 &)' &) ; sleep 0.05",
    };
    for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++) {
        struct keeper_task task = SHELL(&fixture, 1, COMMANDS[i]);
        EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));
        cr_assert_eq(fixture_survivors(&fixture, 1), 0, "%s", COMMANDS[i]);
    }
}

Test(keeper_trees, a_daemon_without_the_mark_ends_when_nothing_runs)
{
    struct keeper_task task =
        SHELL(&fixture, 1,
              "env -i MARKLESS=\"$EIDER_CLAIM\" setsid setsid sleep 999 & sleep 0.05; echo $!");

    EXPECT_EXIT(KEEPER_EXITED, 0, fixture_run(&fixture, &task));

    struct proc_list list = {0};
    proc_tree_find_env("MARKLESS", task.nonce, &list);
    cr_assert_eq(list.count, 0);
    proc_list_fini(&list);
}

Test(keeper_trees, the_daemon_of_a_running_task_is_left_alone)
{
    struct keeper_task long_one =
        SHELL(&fixture, 1,
              "(setsid sh -c 'sleep 999 & echo \"$1\" >&4; wait' sh '{\"type\":\"defer\"}' &);"
              "read -r line <\"$0\"");
    char fifo[128];
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", fixture.dir);
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    long_one.argv = (const char *const[]){"/bin/sh", "-c", long_one.argv[2], fifo, NULL};
    long_one.protocol = true;
    fixture_spawn(&fixture, &long_one);
    run_until_report();
    struct keeper_task short_one = SHELL(&fixture, 2, "true");
    fixture_spawn(&fixture, &short_one);
    fixture.wanted = 1;
    fixture_wait(&fixture);
    EXPECT_EXIT(KEEPER_EXITED, 0, &fixture.exits[2]);

    /* Shell, daemon and its child; one that is about to run its program shows no environment. */
    while (fixture_survivors(&fixture, 1) < 3)
        ;

    fixture.wanted = 2;
    int fd = open(fifo, O_WRONLY | O_CLOEXEC);
    cr_assert_eq(write(fd, "go\n", 3), 3);
    (void)close(fd);
    fixture_wait(&fixture);
    EXPECT_EXIT(KEEPER_EXITED, 0, &fixture.exits[1]);
    cr_assert_eq(fixture_survivors(&fixture, 1), 0);
}

Test(keeper_trees, a_timeout_ends_the_whole_tree_whatever_it_does)
{
    static const struct {
        const char *command;
        int signal;
        const char *log;
    } CASES[] = {
        {"sleep 999", SIGTERM, ""},
        {"trap '' TERM; sleep 999 & sleep 999; sleep 999; sleep 999", SIGKILL, ""},
        {"kill -STOP $$", SIGTERM, ""},
        {"trap '' TERM; kill -STOP $$; sleep 999", SIGKILL, ""},
        {"trap 'echo bye; exit 5' TERM; sleep 999 & wait", 0, "bye\n"},
        {"setsid sleep 999 & trap '' TERM; while :; do :; done", SIGKILL, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct keeper_task task = SHELL(&fixture, 1, CASES[i].command);
        task.timeout_ms = 100;
        task.log_key.ids[1] = (int64_t)i;
        const struct keeper_exit *exit = fixture_run(&fixture, &task);
        cr_assert_eq(exit->kind, KEEPER_TIMEOUT, "%s", CASES[i].command);
        cr_assert_eq(exit->signal, CASES[i].signal, "%s: %d", CASES[i].command, exit->signal);
        cr_assert_geq(exit->wall_us, 100 * 1000);
        cr_assert_eq(fixture_survivors(&fixture, 1), 0, "%s", CASES[i].command);
        EXPECT_LOG(&fixture, (int)i, CASES[i].log);
    }
}

Test(keeper_trees, tasks_are_stopped_on_request_gently_or_not)
{
    struct keeper_task polite =
        SHELL(&fixture, 1, "trap 'exit 9' TERM; sleep 999 & echo '{\"type\":\"defer\"}' >&4; wait");
    polite.protocol = true;
    polite.grace_ms = 30000;
    fixture_spawn(&fixture, &polite);
    run_until_report();
    keeper_stop_task(fixture.keeper, 1, KEEPER_STOP_GENTLE);
    fixture_wait(&fixture);
    EXPECT_EXIT(KEEPER_STOPPED, 9, &fixture.exits[1]);

    struct keeper_task deaf = SHELL(&fixture, 2, "trap '' TERM; sleep 999 & wait");
    deaf.grace_ms = 600000;
    fixture_spawn(&fixture, &deaf);
    run_until_started();
    keeper_stop_task(fixture.keeper, 2, KEEPER_STOP_GENTLE);
    keeper_stop_task(fixture.keeper, 2, KEEPER_STOP_KILL);
    keeper_stop_task(fixture.keeper, 77, KEEPER_STOP_KILL);
    fixture_wait(&fixture);
    EXPECT_EXIT(KEEPER_STOPPED, 0, &fixture.exits[2]);
    cr_assert_eq(fixture_survivors(&fixture, 2), 0);
}

Test(keeper_trees, everything_ends_when_the_lease_deadline_passes)
{
    struct keeper_task first = SHELL(&fixture, 1, "trap '' TERM; sleep 999 & wait");
    struct keeper_task second = SHELL(&fixture, 2, "setsid sleep 999");
    keeper_set_deadline(fixture.keeper, clock_mono_us() + 3600LL * 1000000);
    fixture_spawn(&fixture, &first);
    fixture_spawn(&fixture, &second);
    run_until_started();
    keeper_set_deadline(fixture.keeper, clock_mono_us() + 100 * 1000);
    fixture_wait(&fixture);

    EXPECT_EXIT(KEEPER_LOST, 0, &fixture.exits[1]);
    EXPECT_EXIT(KEEPER_LOST, 0, &fixture.exits[2]);
    cr_assert_eq(fixture_survivors(&fixture, 1) + fixture_survivors(&fixture, 2), 0);

    struct keeper_task after = SHELL(&fixture, 3, "exit 4");
    EXPECT_EXIT(KEEPER_EXITED, 4, fixture_run(&fixture, &after));
}

Test(keeper_trees, the_death_of_the_keeper_is_noticed_and_takes_the_tasks_along)
{
    struct keeper_task task = SHELL(&fixture, 1, "setsid sleep 999 & wait");
    fixture_spawn(&fixture, &task);
    run_until_started();
    cr_assert_eq(kill(fixture.keeper_pid, SIGKILL), 0);
    loop_run(fixture.loop);

    cr_assert(fixture.died);
    struct err err = {0};
    EXPECT_STATUS(STATUS_NOT_FOUND, keeper_spawn(fixture.keeper, &task, &err), &err);
    /* The task dies by itself; its daemon is left to whoever clears up after the claim. */
    while (fixture_survivors(&fixture, 1) > 0)
        (void)keeper_kill_claim(task.nonce);
}

Test(keeper_trees, tasks_end_when_the_daemon_is_gone)
{
    struct keeper_task task = SHELL(
        &fixture, 1, "trap '' TERM; setsid sleep 999 & echo '{\"type\":\"defer\"}' >&4; sleep 999");
    task.protocol = true;
    task.grace_ms = 100;
    fixture_spawn(&fixture, &task);
    run_until_report();

    keeper_close(fixture.keeper);
    fixture.keeper = NULL;

    cr_assert_eq(fixture_survivors(&fixture, 1), 0);
}

static size_t count_fds(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    size_t count = 0;
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count;
}

Test(keeper_trees, two_thousand_short_tasks_leave_no_zombie_and_no_descriptor)
{
    struct keeper_task first = SHELL(&fixture, 1, "true");
    (void)fixture_run(&fixture, &first);
    size_t fds_before = count_fds(fixture.keeper_pid);

    for (int64_t id = 1; id <= 2000; id++) {
        struct keeper_task task = SHELL(&fixture, 1, "");
        task.id = id;
        task.argv = (const char *const[]){"/bin/true", NULL};
        fixture_spawn(&fixture, &task);
    }
    fixture_wait(&fixture);

    cr_assert_eq(fixture.exited, 2001);
    for (int64_t id = 1; id <= 2000; id++)
        EXPECT_EXIT(KEEPER_EXITED, 0, &fixture.exits[id]);
    cr_assert_eq(count_fds(fixture.keeper_pid), fds_before);
    char path[64], children[16] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)fixture.keeper_pid,
                   (int)fixture.keeper_pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(read(fd, children, sizeof children - 1), 0);
    (void)close(fd);
    EXPECT_STR("", children);
}
