#include "worker/keeper_client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/loop.h"
#include "os/proc_tree.h"
#include "worker/keeper_env.h"
#include "worker/keeper_link.h"

/* The keeper needs two seconds for tasks that ignore TERM, and little more. */
enum { CLOSE_WAIT_MS = 5000, PACKETS_PER_TURN = 16 };
enum { LAST_WORDS_MS = 1000 }; /* for what is to be sent before we part */

struct keeper {
    struct loop *loop;
    struct loop_watch *watch;
    struct keeper_link link;
    struct process process;
    struct keeper_events events;
    bool stays;
    bool flush_due;
    bool dead;
    bool in_callback;
};

static void mark_dead(struct keeper *keeper, const char *why)
{
    if (keeper->dead)
        return;
    keeper->dead = true;
    keeper->link.broken = true;
    loop_watch_free(keeper->watch);
    keeper->watch = NULL;
    keeper->events.died(keeper->events.context, why);
}

static void flush(void *context)
{
    struct keeper *keeper = context;
    keeper->flush_due = false;
    if (keeper->dead)
        return;
    bool done = keeper_link_flush(&keeper->link);
    loop_watch_set(keeper->watch, LOOP_READABLE | (done ? 0u : LOOP_WRITABLE));
}

static void schedule_flush(struct keeper *keeper)
{
    if (keeper->flush_due || keeper->dead)
        return;
    keeper->flush_due = true;
    loop_before_wait(keeper->loop, flush, keeper);
}

static void on_line(struct keeper *keeper, const struct keeper_frame *frame)
{
    struct keeper_report report = {0};
    if (frame->numbers[1] != 0) {
        report = (struct keeper_report){.type = KEEPER_REPORT_BAD, .text = "line is too long"};
    } else {
        keeper_report_parse(frame->text == NULL ? "" : frame->text, frame->text_length, &report);
    }
    keeper->events.report(keeper->events.context, frame->numbers[0], &report);
    keeper_report_fini(&report);
}

static bool on_exited(struct keeper *keeper, struct keeper_wire_reader *fields)
{
    int64_t id = 0;
    struct keeper_exit exit;
    if (!keeper_wire_get_exit(fields, &id, &exit))
        return false;
    keeper->events.exited(keeper->events.context, id, &exit);
    return true;
}

static bool on_held(const struct keeper *keeper, const struct keeper_frame *frame)
{
    if (frame->text == NULL)
        return false;
    struct keeper_held held = {.id = frame->numbers[0],
                               .pid = (pid_t)frame->numbers[1],
                               .started_at_us = frame->numbers[2],
                               .context = frame->text};
    keeper->events.held(keeper->events.context, &held);
    return true;
}

/* False: the keeper speaks another language. */
static bool handle_frame(struct keeper *keeper, enum keeper_frame_type type,
                         struct keeper_wire_reader *fields)
{
    if (type == KEEPER_FRAME_EXITED)
        return on_exited(keeper, fields);
    struct keeper_frame frame = {.type = type};
    if (!keeper_wire_get(fields, &frame))
        return false;
    switch (type) {
    case KEEPER_FRAME_HELLO:
        return frame.numbers[0] == KEEPER_WIRE_VERSION;
    case KEEPER_FRAME_STARTED:
        keeper->events.started(keeper->events.context, frame.numbers[0], (pid_t)frame.numbers[1],
                               frame.numbers[2]);
        return true;
    case KEEPER_FRAME_LINE:
        on_line(keeper, &frame);
        return true;
    case KEEPER_FRAME_HELD:
        return on_held(keeper, &frame);
    case KEEPER_FRAME_ALL:
        keeper->events.all_told(keeper->events.context);
        return true;
    case KEEPER_FRAME_EXITED:
    case KEEPER_FRAME_SPAWN:
    case KEEPER_FRAME_STOP:
    case KEEPER_FRAME_DEADLINE:
    case KEEPER_FRAME_ACK:
    case KEEPER_FRAME_END:
    case KEEPER_FRAME_TYPE_COUNT:
        break;
    }
    return false;
}

/* True if there was a packet. */
static bool receive(struct keeper *keeper)
{
    struct err err = {0};
    struct seqpacket_message message = {0};
    enum status status = keeper_link_receive(&keeper->link, &message, &err);
    if (status == STATUS_BUSY)
        return false;
    if (status != STATUS_OK || message.ended) {
        mark_dead(keeper, status != STATUS_OK ? err.text : "the keeper has ended");
        return false;
    }
    struct keeper_wire_reader packet = {.at = message.bytes, .left = message.length};
    enum keeper_frame_type type = KEEPER_FRAME_TYPE_COUNT;
    struct keeper_wire_reader fields;
    bool fine = true;
    while (fine && keeper_wire_next(&packet, &type, &fields))
        fine = handle_frame(keeper, type, &fields);
    seqpacket_message_fini(&message);
    if (!fine)
        mark_dead(keeper, "the keeper is of another version");
    return fine;
}

static void on_socket(void *context, unsigned events)
{
    struct keeper *keeper = context;
    keeper->in_callback = true;
    if (events & LOOP_WRITABLE)
        schedule_flush(keeper);
    if (events & LOOP_READABLE)
        for (int i = 0; i < PACKETS_PER_TURN && !keeper->dead && receive(keeper); i++)
            ;
    keeper->in_callback = false;
}

static void put(struct keeper *keeper, enum keeper_frame_type type, int64_t first, int64_t second)
{
    keeper_wire_put(&keeper->link.out,
                    &(struct keeper_frame){.type = type, .numbers = {first, second}});
}

enum status keeper_attach(struct loop *loop, const struct keeper_peer *peer,
                          const struct keeper_events *events, struct keeper **out_keeper,
                          struct err *err)
{
    struct keeper *keeper = mem_zalloc(1, sizeof *keeper);
    *keeper = (struct keeper){
        .loop = loop, .process = peer->process, .events = *events, .stays = peer->stays};
    keeper_link_init(&keeper->link, peer->socket_fd);
    if (loop_watch_new(loop, peer->socket_fd, on_socket, keeper, &keeper->watch, err) !=
        STATUS_OK) {
        keeper->dead = true;
        if (keeper->stays)
            keeper_leave(keeper);
        else
            keeper_close(keeper);
        return err_wrap(err, "start keeper");
    }
    loop_watch_set(keeper->watch, LOOP_READABLE);
    if (!keeper->stays)
        put(keeper, KEEPER_FRAME_HELLO, KEEPER_WIRE_VERSION, peer->foreground);
    schedule_flush(keeper);
    *out_keeper = keeper;
    return STATUS_OK;
}

enum status keeper_start(struct loop *loop, const char *exe, bool foreground,
                         const struct keeper_events *events, struct keeper **out_keeper,
                         struct err *err)
{
    int fds[2];
    if (seqpacket_pair(fds, err) != STATUS_OK)
        return err_wrap(err, "start keeper");
    const char *argv[] = {exe, "__keeper", NULL};
    CLEANUP(mem_freep) const char **env = keeper_env_new();
    int log_fd = fcntl(STDERR_FILENO, F_GETFD) >= 0 ? STDERR_FILENO : 0; /* 0: nowhere */
    struct process_request request = {
        .argv = argv,
        .env = env,
        .fds = {0, log_fd, log_fd, fds[1], 0},
    };
    struct process process = {0};
    enum status status = process_spawn(&request, &process, err);
    file_closep(&fds[1]);
    if (status != STATUS_OK) {
        file_closep(&fds[0]);
        return err_wrap(err, "start keeper");
    }
    struct keeper_peer peer = {.socket_fd = fds[0], .process = process, .foreground = foreground};
    return keeper_attach(loop, &peer, events, out_keeper, err);
}

enum status keeper_start_staying(struct loop *loop, const struct keeper_stay_options *options,
                                 const struct keeper_events *events, struct keeper **out_keeper,
                                 struct err *err)
{
    struct keeper_reached reached = {0};
    if (keeper_reach(options, &reached, err) != STATUS_OK)
        return err->code;
    struct keeper_peer peer = {
        .socket_fd = reached.socket_fd, .process = {.pidfd = reached.pidfd}, .stays = true};
    return keeper_attach(loop, &peer, events, out_keeper, err);
}

/* What was asked for is on its way, unless the keeper does not listen. */
static void send_rest(struct keeper *keeper)
{
    while (!keeper->dead && !keeper_link_flush(&keeper->link)) {
        struct pollfd watch = {.fd = keeper->link.fd, .events = POLLOUT};
        if (poll(&watch, 1, LAST_WORDS_MS) <= 0)
            break;
    }
}

static void disconnect(struct keeper *keeper)
{
    CHECK(!keeper->in_callback);
    loop_before_wait_cancel(keeper->loop, keeper);
    loop_watch_free(keeper->watch);
    keeper_link_fini(&keeper->link);
}

static void wait_for_end(const struct keeper *keeper)
{
    int pidfd = keeper->process.pidfd;
    struct process_end end;
    bool gone = keeper->stays ? process_wait_gone(pidfd, CLOSE_WAIT_MS)
                              : process_wait(pidfd, CLOSE_WAIT_MS, &end);
    if (gone)
        return;
    process_signal(pidfd, SIGKILL);
    CHECK(keeper->stays ? process_wait_gone(pidfd, INT32_MAX) : process_wait(pidfd, -1, &end));
}

void keeper_close(struct keeper *keeper)
{
    if (keeper == NULL)
        return;
    if (keeper->stays && !keeper->dead) {
        put(keeper, KEEPER_FRAME_END, 0, 0);
        send_rest(keeper);
    }
    disconnect(keeper);
    wait_for_end(keeper);
    file_closep(&keeper->process.pidfd);
    free(keeper);
}

void keeper_leave(struct keeper *keeper)
{
    if (keeper == NULL)
        return;
    CHECK(keeper->stays);
    send_rest(keeper);
    disconnect(keeper);
    file_closep(&keeper->process.pidfd);
    free(keeper);
}

enum status keeper_spawn(struct keeper *keeper, const struct keeper_task *task, struct err *err)
{
    if (keeper->dead)
        return err_set(err, STATUS_NOT_FOUND, "the keeper has ended");
    if (keeper_wire_put_task(&keeper->link.out, task, err) != STATUS_OK)
        return err->code;
    schedule_flush(keeper);
    return STATUS_OK;
}

static void send_numbers(struct keeper *keeper, enum keeper_frame_type type, int64_t first,
                         int64_t second)
{
    if (keeper->dead)
        return;
    put(keeper, type, first, second);
    schedule_flush(keeper);
}

void keeper_stop_task(struct keeper *keeper, int64_t id, enum keeper_stop how)
{
    send_numbers(keeper, KEEPER_FRAME_STOP, id, how);
}

void keeper_ack(struct keeper *keeper, int64_t id)
{
    if (keeper->stays)
        send_numbers(keeper, KEEPER_FRAME_ACK, id, 0);
}

void keeper_set_deadline(struct keeper *keeper, int64_t mono_us)
{
    send_numbers(keeper, KEEPER_FRAME_DEADLINE, mono_us, 0);
}

size_t keeper_kill_claim(const char *nonce)
{
    struct proc_list list = {0};
    proc_tree_find_env(KEEPER_CLAIM_VARIABLE, nonce, &list);
    size_t killed = 0;
    for (size_t i = 0; i < list.count; i++) {
        struct proc_info info;
        /* Looked at again: between the search and the signal the number may change hands. */
        char again[KEEPER_NONCE_MAX];
        if (proc_tree_read(list.pids[i], &info) &&
            proc_tree_env(list.pids[i], KEEPER_CLAIM_VARIABLE, again, sizeof again) &&
            strcmp(again, nonce) == 0 && proc_tree_signal(info.pid, info.start_ticks, SIGKILL))
            killed++;
    }
    proc_list_fini(&list);
    return killed;
}
