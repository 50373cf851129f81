#pragma once
/*
 * keeper_fixture: a real keeper, forked from the test, and what it said about each task.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/loop.h"
#include "os/proc_tree.h"
#include "os/seqpacket.h"
#include "worker/keeper.h"
#include "worker/keeper_client.h"

enum { FIXTURE_TASKS = 4096, FIXTURE_NONCES = 8 };

struct fixture {
    struct loop *loop;
    struct keeper *keeper;
    pid_t keeper_pid;
    char dir[64];
    char nonces[FIXTURE_NONCES][KEEPER_NONCE_MAX]; /* tests run side by side: no two alike */
    size_t wanted;
    size_t exited;
    struct keeper_exit exits[FIXTURE_TASKS];
    pid_t pids[FIXTURE_TASKS];
    struct strbuf reports; /* one line each */
    bool died;
    bool stop_on_start;
    bool stop_on_report;
};

UNUSED static void fixture_started(void *context, int64_t id, pid_t pid, int64_t at_us)
{
    struct fixture *fixture = context;
    cr_assert_gt(at_us, 0);
    fixture->pids[id] = pid;
    if (fixture->stop_on_start)
        loop_stop(fixture->loop);
}

UNUSED static void fixture_exited(void *context, int64_t id, const struct keeper_exit *exit)
{
    struct fixture *fixture = context;
    fixture->exits[id] = *exit;
    if (++fixture->exited == fixture->wanted)
        loop_stop(fixture->loop);
}

UNUSED static void fixture_report(void *context, int64_t id, const struct keeper_report *report)
{
    struct fixture *fixture = context;
    char *value = report->value == NULL ? NULL : json_format(report->value);
    switch (report->type) {
    case KEEPER_REPORT_PROGRESS:
        strbuf_addf(&fixture->reports, "%d progress %g/%g %s\n", (int)id, report->done,
                    report->total, report->text == NULL ? "-" : report->text);
        break;
    case KEEPER_REPORT_VALUE:
        strbuf_addf(&fixture->reports, "%d value %s %zu %.20s\n", (int)id, report->key,
                    strlen(value), value);
        break;
    case KEEPER_REPORT_RESULT:
        strbuf_addf(&fixture->reports, "%d result %d %s\n", (int)id, (int)report->outcome,
                    report->reason == NULL ? "-" : report->reason);
        break;
    case KEEPER_REPORT_HANDLE:
    case KEEPER_REPORT_DEFER:
        strbuf_addf(&fixture->reports, "%d %s\n", (int)id,
                    json_get_string(report->body, "type", "?"));
        break;
    case KEEPER_REPORT_BAD:
        strbuf_addf(&fixture->reports, "%d bad\n", (int)id);
        break;
    case KEEPER_REPORT_TYPE_COUNT:
        break;
    }
    free(value);
    if (fixture->stop_on_report)
        loop_stop(fixture->loop);
}

UNUSED static void fixture_died(void *context, const char *why)
{
    struct fixture *fixture = context;
    cr_assert_not_null(why);
    fixture->died = true;
    loop_stop(fixture->loop);
}

/* Everything but a keeper. */
UNUSED static void fixture_make(struct fixture *fixture)
{
    struct err err = {0};
    *fixture = (struct fixture){0};
    strbuf_init(&fixture->reports, 1 << 20);
    (void)snprintf(fixture->dir, sizeof fixture->dir, "/tmp/eider-keeper-XXXXXX");
    cr_assert_not_null(mkdtemp(fixture->dir));
    cr_assert_eq(chmod(fixture->dir, 0755), 0);
    for (int i = 0; i < FIXTURE_NONCES; i++)
        (void)snprintf(fixture->nonces[i], KEEPER_NONCE_MAX, "c0ffee%d-%d", i, (int)getpid());
    EXPECT_OK(loop_new(&fixture->loop, &err), &err);
}

UNUSED static struct keeper_events fixture_events(struct fixture *fixture)
{
    return (struct keeper_events){.context = fixture,
                                  .started = fixture_started,
                                  .exited = fixture_exited,
                                  .report = fixture_report,
                                  .died = fixture_died};
}

UNUSED static void fixture_open(struct fixture *fixture)
{
    struct err err = {0};
    fixture_make(fixture);
    int fds[2];
    EXPECT_OK(seqpacket_pair(fds, &err), &err);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setpgid(0, 0);
        (void)close(fds[0]);
        _exit(keeper_main(fds[1]));
    }
    (void)close(fds[1]);
    fixture->keeper_pid = pid;
    struct process process = {.pid = pid};
    EXPECT_OK(process_open(pid, &process.pidfd, &err), &err);
    struct keeper_events events = fixture_events(fixture);
    struct keeper_peer peer = {.socket_fd = fds[0], .process = process, .foreground = true};
    EXPECT_OK(keeper_attach(fixture->loop, &peer, &events, &fixture->keeper, &err), &err);
}

UNUSED static void fixture_close(struct fixture *fixture)
{
    struct err err = {0};
    keeper_close(fixture->keeper);
    loop_free(fixture->loop);
    int tmp = -1;
    EXPECT_OK(file_open_directory("/tmp", &tmp, &err), &err);
    EXPECT_OK(file_tree_remove(tmp, fixture->dir + strlen("/tmp/"), &err), &err);
    (void)close(tmp);
    strbuf_fini(&fixture->reports);
}

/* A task that runs `command` in a shell, with everything else usual. */
#define SHELL(fixture, number, command)                                                            \
    {                                                                                              \
        .id = (number), .nonce = (fixture)->nonces[number],                                        \
        .argv = (const char *const[]){"/bin/sh", "-c", command, NULL},                             \
        .env = (const char *const[]){"PATH=/usr/bin:/bin", NULL}, .grace_ms = 200,                 \
        .output_bytes = 1 << 30, .blob_root = (fixture)->dir, .log_key = {                         \
            .kind = BLOB_LOG,                                                                      \
            .ids = {1, number},                                                                    \
            .id_count = 2                                                                          \
        }                                                                                          \
    }

UNUSED static void fixture_spawn(struct fixture *fixture, const struct keeper_task *task)
{
    struct err err = {0};
    fixture->wanted++;
    EXPECT_OK(keeper_spawn(fixture->keeper, task, &err), &err);
}

/* Until every task that was spawned has ended. */
UNUSED static void fixture_wait(struct fixture *fixture)
{
    if (fixture->exited < fixture->wanted)
        loop_run(fixture->loop);
}

UNUSED static const struct keeper_exit *fixture_run(struct fixture *fixture,
                                                    const struct keeper_task *task)
{
    fixture_spawn(fixture, task);
    fixture_wait(fixture);
    cr_assert_eq(fixture->exited, fixture->wanted);
    return &fixture->exits[task->id];
}

/* The log of a task as heap text; empty when there is none. */
UNUSED static char *fixture_log(const struct fixture *fixture, int id, size_t *out_length)
{
    struct err err = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "%s/1/%d.log", fixture->dir, id);
    char *text = NULL;
    if (file_read(path, 64 << 20, &text, out_length, &err) != STATUS_OK) {
        *out_length = 0;
        return mem_strdup("");
    }
    return text;
}

#define EXPECT_LOG(fixture, number, wanted)                                                        \
    do {                                                                                           \
        size_t length_ = 0;                                                                        \
        char *log_ = fixture_log(fixture, number, &length_);                                       \
        EXPECT_STR(wanted, log_);                                                                  \
        free(log_);                                                                                \
    } while (0)

/* Processes that carry the claim of a task. */
UNUSED static size_t fixture_survivors(const struct fixture *fixture, int number)
{
    struct proc_list list = {0};
    proc_tree_find_env(KEEPER_CLAIM_VARIABLE, fixture->nonces[number], &list);
    size_t count = list.count;
    proc_list_fini(&list);
    return count;
}

#define EXPECT_EXIT(wanted_kind, wanted_code, exit)                                                \
    do {                                                                                           \
        const struct keeper_exit *exit_ = (exit);                                                  \
        cr_assert_eq(exit_->kind, (wanted_kind), "%s %s, not %s",                                  \
                     keeper_exit_kind_name(exit_->kind), exit_->text,                              \
                     keeper_exit_kind_name(wanted_kind));                                          \
        cr_assert_eq(exit_->code, (wanted_code), "code %d", exit_->code);                          \
    } while (0)
