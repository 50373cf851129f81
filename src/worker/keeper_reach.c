#include "worker/keeper_reach.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/process.h"
#include "os/seqpacket.h"
#include "worker/keeper_env.h"
#include "worker/keeper_link.h"
#include "worker/keeper_wire.h"

enum { ANSWER_WAIT_MS = 10000, START_WAIT_MS = 10000, TRIES = 3 };

/* --- start --------------------------------------------------------------- */

/* Our child is gone at once; the keeper is its child and goes on by itself. */
static enum status run_program(const struct keeper_stay_options *options, int listener,
                               struct err *err)
{
    const char *argv[] = {options->exe, "__keeper", NULL};
    CLEANUP(mem_freep) const char **env = keeper_env_new();
    struct process_request request = {
        .argv = argv,
        .env = env,
        .fds = {0, options->log_fd, options->log_fd, listener, options->keep_fd},
    };
    struct process process = {0};
    if (process_spawn(&request, &process, err) != STATUS_OK)
        return err->code;
    struct process_end end = {0};
    bool ended = process_wait(process.pidfd, START_WAIT_MS, &end);
    if (!ended) {
        process_signal(process.pidfd, SIGKILL);
        CHECK(process_wait(process.pidfd, -1, &end));
    }
    file_closep(&process.pidfd);
    if (!ended || end.signalled || end.code != 0)
        return err_set(err, STATUS_IO, "'%s __keeper' did not detach itself", options->exe);
    return STATUS_OK;
}

/* We make the socket, so it can be connected to before the keeper has come that far. */
static enum status start(const struct keeper_stay_options *options, struct err *err)
{
    CLEANUP(file_closep) int listener = -1;
    if (seqpacket_listen(options->socket_path, &listener, err) != STATUS_OK)
        return err->code;
    return run_program(options, listener, err);
}

/* --- greet --------------------------------------------------------------- */

static enum status wait_for_answer(struct keeper_link *link, int64_t answer_ms,
                                   struct seqpacket_message *out, struct err *err)
{
    int64_t end_us = clock_mono_us() + (answer_ms > 0 ? answer_ms : ANSWER_WAIT_MS) * 1000;
    for (;;) {
        enum status status = keeper_link_receive(link, out, err);
        if (status == STATUS_OK && out->ended)
            return err_set(err, STATUS_NOT_FOUND, "it has ended");
        int64_t left_ms = (end_us - clock_mono_us() + 999) / 1000;
        if (status != STATUS_BUSY)
            return status;
        if (left_ms <= 0)
            return err_set(err, STATUS_BUSY, "it serves another daemon");
        struct pollfd watch = {.fd = link->fd, .events = POLLIN};
        (void)poll(&watch, 1, (int)left_ms);
    }
}

static enum status check_answer(const struct seqpacket_message *message, pid_t *out_pid,
                                struct err *err)
{
    struct keeper_wire_reader packet = {.at = message->bytes, .left = message->length};
    struct keeper_wire_reader fields;
    struct keeper_frame hello = {.type = KEEPER_FRAME_TYPE_COUNT};
    if (!keeper_wire_next(&packet, &hello.type, &fields) || hello.type != KEEPER_FRAME_HELLO ||
        !keeper_wire_get(&fields, &hello) || packet.left > 0)
        return err_set(err, STATUS_CORRUPT, "its answer is no greeting");
    if (hello.numbers[0] != KEEPER_WIRE_VERSION)
        return err_set(err, STATUS_CONFLICT,
                       "process %lld is of another version of this program (%lld, not %d); it ends "
                       "after its running tasks (%lld), try again then",
                       (long long)hello.numbers[1], (long long)hello.numbers[0],
                       KEEPER_WIRE_VERSION, (long long)hello.numbers[2]);
    *out_pid = (pid_t)hello.numbers[1];
    return STATUS_OK;
}

/* STATUS_NOT_FOUND: it ended before it could answer. */
static enum status greet(const struct keeper_stay_options *options, struct keeper_link *link,
                         struct keeper_reached *out, struct err *err)
{
    keeper_wire_put(&link->out,
                    &(struct keeper_frame){.type = KEEPER_FRAME_HELLO,
                                           .numbers = {KEEPER_WIRE_VERSION, false,
                                                       options->linger_ms, options->alone_ms_max}});
    if (!keeper_link_flush(link))
        return err_set(err, STATUS_BUSY, "the greeting cannot be sent");
    struct seqpacket_message message = {0};
    if (wait_for_answer(link, options->answer_ms, &message, err) != STATUS_OK)
        return err->code;
    pid_t pid = 0;
    enum status status = check_answer(&message, &pid, err);
    seqpacket_message_fini(&message);
    if (status != STATUS_OK)
        return status;
    if (process_open(pid, &out->pidfd, err) != STATUS_OK)
        return err_set(err, STATUS_NOT_FOUND, "it has ended");
    out->socket_fd = file_take(&link->fd);
    return STATUS_OK;
}

static enum status try_once(const struct keeper_stay_options *options, struct keeper_reached *out,
                            struct err *err)
{
    int fd = -1;
    struct err ignored = {0};
    enum status status = seqpacket_connect(options->socket_path, &fd, &ignored);
    if (status == STATUS_NOT_FOUND) {
        if (start(options, err) != STATUS_OK)
            return err->code;
        status = seqpacket_connect(options->socket_path, &fd, &ignored);
    }
    if (status != STATUS_OK) {
        *err = ignored;
        return status;
    }
    struct keeper_link link;
    keeper_link_init(&link, fd);
    status = greet(options, &link, out, err);
    keeper_link_fini(&link);
    return status;
}

enum status keeper_reach(const struct keeper_stay_options *options, struct keeper_reached *out,
                         struct err *err)
{
    CLEANUP(mem_freep) char *lock_path = mem_format("%s.lock", options->socket_path);
    struct file_lock lock = {.fd = -1};
    if (file_lock_hold(lock_path, &lock, err) != STATUS_OK)
        return err_wrap(err, "start keeper");
    /* One may just have been about to leave. */
    enum status status = STATUS_NOT_FOUND;
    for (int i = 0; i < TRIES && status == STATUS_NOT_FOUND; i++)
        status = try_once(options, out, err);
    file_lock_release(&lock);
    if (status != STATUS_OK)
        return err_wrap(err, "keeper at '%s'", options->socket_path);
    return STATUS_OK;
}
