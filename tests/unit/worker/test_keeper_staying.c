#include "os/file_lock.h"
#include "stay_fixture.h"

static struct stay stay;

static void set_up(void)
{
    stay_make(&stay);
}

static void tear_down(void)
{
    stay_close(&stay);
}

TestSuite(keeper_staying, .init = set_up, .fini = tear_down, .timeout = 60);

/* The keepers of these tests are this program. */
int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "__keeper") == 0)
        return keeper_main(KEEPER_SOCKET_FD);
    struct criterion_test_set *tests = criterion_initialize();
    int failed = 0;
    if (criterion_handle_args(argc, argv, true))
        failed = !criterion_run_all_tests(tests);
    criterion_finalize(tests);
    return failed;
}

/* Says a value, waits until it is released, and ends with 7. */
static const char TALKS_AND_WAITS[] =
    "echo before; echo '{\"type\":\"value\",\"key\":\"a\",\"value\":1}' >&4; read -r line <\"$0\";"
    "echo after; echo '{\"type\":\"value\",\"key\":\"b\",\"value\":2}' >&4; exit 7";
/* Waits until it is released. */
static const char WAITS[] = "read -r line <\"$0\"";

#define WITH_PIPE(command) ((const char *const[]){"/bin/sh", "-c", command, stay.fifo, NULL})

static struct keeper_task talking_task(void)
{
    struct keeper_task task = SHELL(&stay.base, 1, TALKS_AND_WAITS);
    task.protocol = true;
    task.context = "attempt one";
    return task;
}

Test(keeper_staying, a_killed_daemon_costs_nothing_and_the_next_one_hears_everything_once)
{
    struct keeper_task task = talking_task();
    task.argv = WITH_PIPE(TALKS_AND_WAITS);
    pid_t daemon = stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = &task, .task_count = 1, .starts = 1, .reports = 1});
    stay_daemon_kill(daemon);

    stay_adopt(&stay);
    EXPECT_STR("1 held attempt one\nall\n", stay.told.text);
    EXPECT_STR("1 value a 1 1\n", stay.base.reports.text);
    cr_assert_eq(kill(stay.base.pids[1], 0), 0);
    stay_release(&stay);
    stay_wait(&stay, 1);

    EXPECT_STR("1 held attempt one\nall\n1 exited 7\n", stay.told.text);
    EXPECT_STR("1 value a 1 1\n1 value b 1 2\n", stay.base.reports.text);
    EXPECT_LOG(&stay.base, 1, "before\nafter\n");
    cr_assert_eq(stay.base.exits[1].log.bytes, strlen("before\nafter\n"));
}

Test(keeper_staying, an_end_without_a_daemon_is_told_until_it_is_acknowledged)
{
    struct keeper_task task = talking_task();
    task.argv = WITH_PIPE(TALKS_AND_WAITS);
    pid_t daemon = stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = &task, .task_count = 1, .starts = 1, .reports = 1});
    stay_daemon_kill(daemon);
    stay_release(&stay);
    while (fixture_survivors(&stay.base, 1) > 0)
        ;

    stay_adopt(&stay);
    stay_wait(&stay, 1);
    EXPECT_STR("1 value a 1 1\n1 value b 1 2\n", stay.base.reports.text);
    stay_leave(&stay);

    stay_adopt(&stay);
    EXPECT_STR("1 held attempt one\n1 exited 7\nall\n", stay.told.text);
    EXPECT_STR("1 value a 1 1\n1 value b 1 2\n", stay.base.reports.text);
    EXPECT_LOG(&stay.base, 1, "before\nafter\n");
    keeper_ack(stay.base.keeper, 1);
    stay_leave(&stay);

    stay_adopt(&stay);
    EXPECT_STR("all\n", stay.told.text);
    EXPECT_STR("", stay.base.reports.text);
}

Test(keeper_staying, what_could_not_be_started_is_kept_like_other_ends)
{
    stay_adopt(&stay);
    struct keeper_task task = SHELL(&stay.base, 1, "");
    task.argv = (const char *const[]){"/no/such", NULL};
    fixture_spawn(&stay.base, &task);
    stay_wait(&stay, 1);
    struct keeper_task fine = SHELL(&stay.base, 2, "exit 3");
    fixture_spawn(&stay.base, &fine);
    stay_wait(&stay, 2);
    keeper_ack(stay.base.keeper, 2);
    stay_leave(&stay);

    struct err err = {0};
    stay_adopt(&stay);
    EXPECT_STR("1 held \n1 exec_error 0\nall\n", stay.told.text);
    EXPECT_CONTAINS(stay.base.exits[1].text, "No such file");
    /* The same id again: the end before is done with. */
    task.argv = (const char *const[]){"/bin/sh", "-c", "exit 4", NULL};
    EXPECT_OK(keeper_spawn(stay.base.keeper, &task, &err), &err);
    stay_wait(&stay, 2);
    stay_leave(&stay);
    stay_adopt(&stay);
    EXPECT_STR("1 held \n1 exited 4\nall\n", stay.told.text);
}

Test(keeper_staying, much_that_was_said_is_told_again_whole)
{
    stay_adopt(&stay);
    for (int id = 1; id <= 3; id++) {
        struct keeper_task task =
            SHELL(&stay.base, id,
                  "head -c 60000 /dev/zero | tr '\\0' x > \"$D/$$\"; for i in $(seq 60); do printf "
                  "'{\"type\":\"value\",\"key\":\"k%s\",\"value\":\"%s\"}\\n' $i \"$(cat "
                  "\"$D/$$\")\" >&4; "
                  "done");
        char dir[96];
        (void)snprintf(dir, sizeof dir, "D=%s", stay.base.dir);
        task.env = (const char *const[]){"PATH=/usr/bin:/bin", dir, NULL};
        task.protocol = true;
        fixture_spawn(&stay.base, &task);
        stay_wait(&stay, (size_t)id);
    }
    char *before = mem_strdup(stay.base.reports.text);
    EXPECT_CONTAINS(before, "3 value k60 60002");
    stay_leave(&stay);
    stay_adopt(&stay);
    EXPECT_STR(before, stay.base.reports.text);
    EXPECT_STR("1 held \n2 held \n3 held \n1 exited 0\n2 exited 0\n3 exited 0\nall\n",
               stay.told.text);
    free(before);
}

Test(keeper_staying, the_deadline_holds_without_a_daemon_and_with_a_stopped_one)
{
    static const int SIGNALS[] = {SIGKILL, SIGSTOP};
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++) {
        struct keeper_task tasks[] = {SHELL(&stay.base, 1, "trap '' TERM; sleep 999 & wait"),
                                      SHELL(&stay.base, 2, "")};
        tasks[1].argv = WITH_PIPE(WAITS);
        tasks[1].survives_deadline = true;
        pid_t daemon = stay_daemon_start(
            &stay,
            (struct stay_daemon){.tasks = tasks, .task_count = 2, .starts = 2, .deadline_ms = 300});
        cr_assert_eq(kill(daemon, SIGNALS[i]), 0);
        while (fixture_survivors(&stay.base, 1) > 0)
            ;
        cr_assert_gt(fixture_survivors(&stay.base, 2), 0);
        stay_daemon_kill(daemon);

        stay_adopt(&stay);
        stay_wait(&stay, 1);
        EXPECT_EXIT(KEEPER_LOST, 0, &stay.base.exits[1]);
        stay_release(&stay);
        stay_wait(&stay, 2);
        EXPECT_EXIT(KEEPER_EXITED, 0, &stay.base.exits[2]);
        keeper_close(stay.base.keeper);
        stay.base.keeper = NULL;
    }
}

Test(keeper_staying, a_held_task_obeys_the_next_daemon)
{
    struct keeper_task tasks[] = {SHELL(&stay.base, 1, "sleep 999"),
                                  SHELL(&stay.base, 2, "sleep 999")};
    stay_daemon_kill(stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = tasks, .task_count = 2, .starts = 2}));
    stay_adopt(&stay);
    keeper_stop_task(stay.base.keeper, 1, KEEPER_STOP_GENTLE);
    stay_wait(&stay, 1);
    EXPECT_EXIT(KEEPER_STOPPED, 0, &stay.base.exits[1]);

    keeper_close(stay.base.keeper);
    stay.base.keeper = NULL;
    cr_assert_eq(fixture_survivors(&stay.base, 2), 0);
    pid_t pid = 0;
    cr_assert_eq(stay_keepers(&stay, &pid), 0);
}

static NORETURN void start_when_told(const int gate[2])
{
    struct err err = {0};
    struct keeper_reached reached = {0};
    char byte = 0;
    (void)close(gate[1]);
    (void)!read(gate[0], &byte, 1);
    _exit(keeper_reach(&stay.options, &reached, &err) == STATUS_OK ? 0 : 1);
}

static void start_many_at_once(void)
{
    enum { STARTERS = 6 };
    int gate[2];
    cr_assert_eq(pipe(gate), 0);
    pid_t starters[STARTERS];
    for (int i = 0; i < STARTERS; i++) {
        starters[i] = fork();
        if (starters[i] == 0)
            start_when_told(gate);
    }
    (void)close(gate[0]);
    (void)close(gate[1]);
    for (int i = 0; i < STARTERS; i++) {
        int status = 0;
        cr_assert_eq(waitpid(starters[i], &status, 0), starters[i]);
        cr_assert_eq(status, 0);
    }
}

Test(keeper_staying, many_that_start_at_once_make_one_keeper)
{
    /* The gap between looking and listening is small: it takes a few rounds to meet in it. */
    for (int round = 0; round < 12; round++) {
        start_many_at_once();
        pid_t pid = 0;
        cr_assert_eq(stay_keepers(&stay, &pid), 1);
        stay_adopt(&stay);
        keeper_close(stay.base.keeper);
        stay.base.keeper = NULL;
    }
}

Test(keeper_staying, what_a_dead_keeper_left_at_the_path_is_replaced)
{
    stay_adopt(&stay);
    pid_t pid = 0;
    cr_assert_eq(stay_keepers(&stay, &pid), 1);
    cr_assert_eq(kill(pid, SIGKILL), 0);
    while (!stay.base.died)
        loop_run(stay.base.loop);
    keeper_close(stay.base.keeper);
    stay.base.died = false;
    cr_assert_eq(access(stay.socket, F_OK), 0);

    stay_adopt(&stay);
    struct keeper_task task = SHELL(&stay.base, 1, "exit 5");
    fixture_spawn(&stay.base, &task);
    stay_wait(&stay, 1);
    EXPECT_EXIT(KEEPER_EXITED, 5, &stay.base.exits[1]);
    struct stat status;
    cr_assert_eq(stat(stay.socket, &status), 0);
    cr_assert_eq(status.st_mode & 07777, 0600);
}

Test(keeper_staying, with_nothing_to_keep_it_goes_away)
{
    stay.options.linger_ms = 50;
    stay_adopt(&stay);
    struct keeper_task task = SHELL(&stay.base, 1, "true");
    fixture_spawn(&stay.base, &task);
    stay_wait(&stay, 1);
    keeper_ack(stay.base.keeper, 1);
    stay_leave(&stay);
    stay_wait_for_no_keeper(&stay);
}

Test(keeper_staying, one_that_is_about_to_go_is_replaced_by_another)
{
    stay.options.linger_ms = 1;
    for (int i = 0; i < 40; i++) {
        stay_adopt(&stay);
        EXPECT_STR("all\n", stay.told.text);
        stay_leave(&stay);
    }
    stay_wait_for_no_keeper(&stay);
}

Test(keeper_staying, a_second_daemon_has_to_wait_until_the_first_is_gone)
{
    struct err err = {0};
    struct keeper_task task = SHELL(&stay.base, 1, "");
    task.argv = WITH_PIPE(WAITS);
    pid_t daemon = stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = &task, .task_count = 1, .starts = 1});
    cr_assert_eq(kill(daemon, SIGSTOP), 0);
    stay.options.answer_ms = 100;
    EXPECT_STATUS(STATUS_BUSY, stay_connect(&stay, &err), &err);
    EXPECT_CONTAINS(err.text, "it serves another daemon");
    stay.options.answer_ms = 0;
    stay_daemon_kill(daemon);

    stay_adopt(&stay);
    stay_release(&stay);
    stay_wait(&stay, 1);
    EXPECT_STR("1 held \nall\n1 exited 0\n", stay.told.text);
}

Test(keeper_staying, nobody_comes_for_too_long_and_everything_ends)
{
    stay.options.alone_ms_max = 100;
    struct keeper_task task = SHELL(&stay.base, 1, "setsid sleep 999 & wait");
    stay_daemon_kill(stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = &task, .task_count = 1, .starts = 1}));
    stay_wait_for_no_keeper(&stay);
    cr_assert_eq(fixture_survivors(&stay.base, 1), 0);
}

Test(keeper_staying, it_is_nobodys_child_and_deaf_to_signals_meant_for_the_daemon)
{
    stay_adopt(&stay);
    pid_t pid = 0;
    struct proc_info info;
    cr_assert_eq(stay_keepers(&stay, &pid), 1);
    cr_assert(proc_tree_read(pid, &info));
    cr_assert_eq(info.session, pid);
    cr_assert_eq(info.pgrp, pid);
    cr_assert_neq(info.ppid, getpid());
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        cr_assert_eq(kill(pid, SIGNALS[i]), 0);
    struct keeper_task task = SHELL(&stay.base, 1, "exit 5");
    fixture_spawn(&stay.base, &task);
    stay_wait(&stay, 1);
    EXPECT_EXIT(KEEPER_EXITED, 5, &stay.base.exits[1]);
}

Test(keeper_staying, a_lock_it_was_given_is_held_as_long_as_it_lives)
{
    struct err err = {0};
    char path[96];
    (void)snprintf(path, sizeof path, "%s/host.lock", stay.base.dir);
    struct file_lock lock = {.fd = -1};
    bool held = false;
    EXPECT_OK(file_lock_try(path, &lock, &err), &err);
    stay.options.keep_fd = lock.fd;
    struct keeper_task task = SHELL(&stay.base, 1, "");
    task.argv = WITH_PIPE(WAITS);
    pid_t daemon = stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = &task, .task_count = 1, .starts = 1});
    file_lock_release(&lock);
    stay_daemon_kill(daemon);
    EXPECT_OK(file_lock_is_held(path, &held, &err), &err);
    cr_assert(held);

    stay.options.keep_fd = 0;
    stay_adopt(&stay);
    EXPECT_OK(file_lock_is_held(path, &held, &err), &err);
    cr_assert(held);
    stay_release(&stay);
    stay_wait(&stay, 1);
    keeper_close(stay.base.keeper);
    stay.base.keeper = NULL;
    EXPECT_OK(file_lock_is_held(path, &held, &err), &err);
    cr_assert_not(held);
}

/* --- others at the socket -------------------------------------------------------------------- */

/* Send these bytes as a client and wait until the keeper hangs up; its answer as a frame. */
static struct keeper_frame say(const char *bytes, size_t length)
{
    struct err err = {0};
    int fd = -1;
    struct keeper_frame answer = {.type = KEEPER_FRAME_TYPE_COUNT};
    EXPECT_OK(seqpacket_connect(stay.socket, &fd, &err), &err);
    EXPECT_OK(seqpacket_send(fd, bytes, length, NULL, 0, &err), &err);
    for (bool ended = false; !ended;) {
        struct pollfd watch = {.fd = fd, .events = POLLIN};
        cr_assert_eq(poll(&watch, 1, 30000), 1);
        struct seqpacket_message message = {0};
        EXPECT_OK(seqpacket_receive(fd, 1 << 20, &message, &err), &err);
        struct keeper_wire_reader packet = {.at = message.bytes, .left = message.length};
        struct keeper_wire_reader fields;
        if (message.length > 0 && keeper_wire_next(&packet, &answer.type, &fields))
            cr_assert(keeper_wire_get(&fields, &answer));
        ended = message.ended;
        answer.text = NULL;
        seqpacket_message_fini(&message);
    }
    (void)close(fd);
    return answer;
}

static struct keeper_frame say_hello(int64_t version)
{
    struct strbuf out;
    strbuf_init(&out, 1000);
    keeper_wire_put(&out, &(struct keeper_frame){.type = KEEPER_FRAME_HELLO, .numbers = {version}});
    struct keeper_frame answer = say(out.text, out.length);
    strbuf_fini(&out);
    return answer;
}

Test(keeper_staying, senseless_messages_harm_nobody)
{
    struct keeper_task task = SHELL(&stay.base, 1, "");
    task.argv = WITH_PIPE(WAITS);
    stay_daemon_kill(stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = &task, .task_count = 1, .starts = 1}));
    static const char GARBAGE[] = "\x02\0\0\0\x01\0\0\0xx";
    (void)say(GARBAGE, sizeof GARBAGE - 1);
    struct strbuf out;
    strbuf_init(&out, 1000);
    keeper_wire_put(&out, &(struct keeper_frame){.type = KEEPER_FRAME_END});
    cr_assert_eq(say(out.text, out.length).type, KEEPER_FRAME_TYPE_COUNT);
    strbuf_clear(&out);
    keeper_wire_put(
        &out, &(struct keeper_frame){.type = KEEPER_FRAME_HELLO, .numbers = {KEEPER_WIRE_VERSION}});
    strbuf_add_bytes(&out, GARBAGE, sizeof GARBAGE - 1);
    cr_assert_eq(say(out.text, out.length).numbers[0], KEEPER_WIRE_VERSION);
    strbuf_fini(&out);

    stay_adopt(&stay);
    stay_release(&stay);
    stay_wait(&stay, 1);
    EXPECT_STR("1 held \nall\n1 exited 0\n", stay.told.text);
}

Test(keeper_staying, after_a_daemon_of_another_version_it_ends_with_its_tasks)
{
    struct keeper_task task = SHELL(&stay.base, 1, "");
    task.argv = WITH_PIPE(WAITS);
    stay_daemon_kill(stay_daemon_start(
        &stay, (struct stay_daemon){.tasks = &task, .task_count = 1, .starts = 1}));
    pid_t pid = 0;
    cr_assert_eq(stay_keepers(&stay, &pid), 1);

    struct keeper_frame answer = say_hello(KEEPER_WIRE_VERSION + 1);
    cr_assert_eq(answer.type, KEEPER_FRAME_HELLO);
    cr_assert_eq(answer.numbers[0], KEEPER_WIRE_VERSION);
    cr_assert_eq(answer.numbers[1], pid);
    cr_assert_eq(answer.numbers[2], 1);
    cr_assert_gt(fixture_survivors(&stay.base, 1), 0);
    stay_release(&stay);
    stay_wait_for_no_keeper(&stay);
}

Test(keeper_staying, a_keeper_of_another_version_is_a_conflict)
{
    struct err err = {0};
    int listener = -1;
    EXPECT_OK(seqpacket_listen(stay.socket, &listener, &err), &err);
    pid_t other = fork();
    if (other == 0) {
        struct pollfd watch = {.fd = listener, .events = POLLIN};
        struct strbuf out;
        int fd = -1;
        strbuf_init(&out, 1000);
        keeper_wire_put(&out,
                        &(struct keeper_frame){.type = KEEPER_FRAME_HELLO, .numbers = {99, 4, 2}});
        (void)poll(&watch, 1, -1);
        if (seqpacket_accept(listener, &fd, &err) == STATUS_OK)
            (void)!seqpacket_send(fd, out.text, out.length, NULL, 0, &err);
        (void)pause();
    }
    EXPECT_STATUS(STATUS_CONFLICT, stay_connect(&stay, &err), &err);
    EXPECT_CONTAINS(err.text, "process 4 is of another version of this program (99, not 3)");
    EXPECT_CONTAINS(err.text, "it ends after its running tasks (2)");
    stay_daemon_kill(other);
    (void)close(listener);
}
