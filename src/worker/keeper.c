#include "worker/keeper.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sabotage.h"
#include "os/file.h"
#include "os/poller.h"
#include "os/secret_box.h"
#include "worker/keeper_run.h"
#include "worker/keeper_stay.h"
#include "worker/keeper_sweep.h"
#include "worker/keeper_wire.h"

enum { EVENTS_PER_TURN = 64, FRAMES_PER_TURN = 4 };
enum {
    SWEEP_US = 1000 * 1000,       /* how often to look for processes left behind, and a bound on
                                     every wait, since waits do not count a suspended machine */
    TREE_WAIT_US = 5 * 1000000,   /* longest wait for a killed tree before its task is reported */
    CLOSE_GRACE_MS = 2000,        /* for all tasks when everything is to end */
    CLOSE_WAIT_US = 10 * 1000000, /* when nothing dies: give up */
};

struct core {
    struct keeper_room room;
    struct keeper_sweep sweep;
    struct keeper_stay stay;
    struct keeper_source socket;
    struct keeper_source listening;
    int listener; /* -1: we end with our daemon, or are ending */
    struct keeper_run **runs;
    size_t run_count;
    size_t run_capacity;
    struct seqpacket_message message; /* being worked on */
    struct keeper_wire_reader packet;
    struct arena *arena; /* of that message */
    bool served;         /* there is a daemon */
    bool wants_write;
    bool welcome; /* it has greeted */
    bool sweep_due;
    int64_t next_sweep_us;
    int64_t next_tick_us; /* nothing is due in any run before */
    int64_t lease_us;     /* 0: none */
    int64_t closing_us;   /* since when everything is to end; 0: not yet */
};

/* False: malformed. */
static bool spawn(struct core *core, struct keeper_wire_reader *fields, int64_t now_us)
{
    struct keeper_task task;
    if (!keeper_wire_get_task(fields, core->arena, &task))
        return false;
    struct keeper_run *run = keeper_run_start(&core->room, &task, now_us);
    if (run == NULL)
        return true;
    core->runs = mem_grow(core->runs, &core->run_capacity, core->run_count,
                          sizeof(struct keeper_run *)); /* NOLINT(bugprone-sizeof-expression) */
    core->runs[core->run_count++] = run;
    core->next_tick_us = MIN(core->next_tick_us, run->term_us);
    return true;
}

static void stop(struct core *core, int64_t id, bool gentle, int64_t now_us)
{
    for (size_t i = 0; i < core->run_count; i++) {
        struct keeper_run *run = core->runs[i];
        if (run->id != id)
            continue;
        keeper_run_stop(run, KEEPER_STOPPED, gentle ? run->grace_ms : 0, now_us);
        core->next_tick_us = MIN(core->next_tick_us, run->kill_us);
    }
}

static void stop_all(struct core *core, int64_t grace_ms, int64_t now_us)
{
    for (size_t i = 0; i < core->run_count; i++)
        keeper_run_stop(core->runs[i], KEEPER_STOPPED, MIN(grace_ms, core->runs[i]->grace_ms),
                        now_us);
    core->next_tick_us = now_us;
}

static void lose_lease(struct core *core, int64_t now_us)
{
    core->lease_us = 0;
    for (size_t i = 0; i < core->run_count; i++)
        if (!core->runs[i]->survives_deadline)
            keeper_run_stop(core->runs[i], KEEPER_LOST, 0, now_us);
    core->next_tick_us = now_us;
}

static void close_down(struct core *core, int64_t now_us)
{
    core->closing_us = now_us;
    core->served = false;
    core->room.book.link.broken = true;
    poller_closep(core->room.poller, &core->listener);
    poller_remove(core->room.poller, core->room.book.link.fd);
    stop_all(core, CLOSE_GRACE_MS, now_us);
    core->sweep_due = true;
}

static void message_done(struct core *core)
{
    secret_wipe(core->message.bytes, core->message.length);
    seqpacket_message_fini(&core->message);
    core->packet = (struct keeper_wire_reader){0};
    arena_free(core->arena);
    core->arena = NULL;
}

/* The daemon is gone, or of no use. */
static void part(struct core *core, int64_t now_us)
{
    if (core->listener < 0) {
        close_down(core, now_us);
        return;
    }
    poller_remove(core->room.poller, core->room.book.link.fd);
    keeper_book_disconnect(&core->room.book);
    message_done(core);
    core->served = core->welcome = core->wants_write = false;
    keeper_stay_alone(&core->stay, now_us);
    struct err err = {0};
    CHECK(poller_add(core->room.poller, core->listener, &core->listening, &err) == STATUS_OK);
}

/* While one is served the next has to wait, so that no two ever give orders. */
static void meet(struct core *core, int64_t now_us)
{
    struct err err = {0};
    int fd = -1;
    if (core->served || core->closing_us != 0 ||
        seqpacket_accept(core->listener, &fd, &err) != STATUS_OK)
        return;
    keeper_book_connect(&core->room.book, fd);
    core->served = true;
    keeper_stay_served(&core->stay);
    poller_remove(core->room.poller, core->listener);
    if (poller_add(core->room.poller, fd, &core->socket, &err) != STATUS_OK) {
        log_error("keeper cannot serve a daemon", LOG_STR("error", err.text));
        part(core, now_us);
    }
}

/* False: we do not understand each other. */
static bool greet(struct core *core, const struct keeper_frame *frame)
{
    struct keeper_book *book = &core->room.book;
    keeper_wire_put(&book->link.out,
                    &(struct keeper_frame){
                        .type = KEEPER_FRAME_HELLO,
                        .numbers = {KEEPER_WIRE_VERSION, getpid(), (int64_t)core->run_count}});
    bool sent = keeper_link_flush(&book->link);
    core->welcome = frame->numbers[0] == KEEPER_WIRE_VERSION;
    if (!core->welcome) {
        log_error("keeper is of another version than its daemon", LOG_INT("answered", sent));
        core->stay.outdated = true;
        return false;
    }
    keeper_stay_greeted(&core->stay, frame->numbers[2], frame->numbers[3]);
    keeper_book_begin(book);
    return true;
}

/* False: the daemon makes no sense. */
static bool handle_frame(struct core *core, enum keeper_frame_type type,
                         struct keeper_wire_reader *fields, int64_t now_us)
{
    if (core->welcome == (type == KEEPER_FRAME_HELLO))
        return false;
    if (type == KEEPER_FRAME_SPAWN)
        return spawn(core, fields, now_us);
    struct keeper_frame frame = {.type = type};
    if (!keeper_wire_get(fields, &frame))
        return false;
    switch (type) {
    case KEEPER_FRAME_HELLO:
        return greet(core, &frame);
    case KEEPER_FRAME_STOP:
        stop(core, frame.numbers[0], frame.numbers[1] == KEEPER_STOP_GENTLE, now_us);
        return true;
    case KEEPER_FRAME_DEADLINE:
        core->lease_us = frame.numbers[0];
        if (SABOTAGE("wall_clock_lease") && core->lease_us != 0)
            core->lease_us += clock_wall_us() - clock_mono_us();
        return true;
    case KEEPER_FRAME_ACK:
        keeper_book_acknowledge(&core->room.book, frame.numbers[0]);
        return true;
    case KEEPER_FRAME_END:
        close_down(core, now_us);
        return true;
    case KEEPER_FRAME_SPAWN:
    case KEEPER_FRAME_STARTED:
    case KEEPER_FRAME_EXITED:
    case KEEPER_FRAME_LINE:
    case KEEPER_FRAME_HELD:
    case KEEPER_FRAME_ALL:
    case KEEPER_FRAME_TYPE_COUNT:
        break;
    }
    return false;
}

/* A few frames at a time: each start takes a while, and running tasks want to be read. */
static void work_on_message(struct core *core)
{
    for (int i = 0; i < FRAMES_PER_TURN && core->arena != NULL; i++) {
        enum keeper_frame_type type = KEEPER_FRAME_TYPE_COUNT;
        struct keeper_wire_reader fields;
        int64_t now_us = clock_mono_us();
        if (!core->served || !keeper_wire_next(&core->packet, &type, &fields)) {
            message_done(core);
        } else if (!handle_frame(core, type, &fields, now_us)) {
            part(core, now_us);
        }
    }
}

static void receive(struct core *core, int64_t now_us)
{
    if (core->arena != NULL || !core->served)
        return;
    struct err err = {0};
    enum status status = keeper_link_receive(&core->room.book.link, &core->message, &err);
    if (status == STATUS_BUSY)
        return;
    if (status != STATUS_OK)
        log_error("keeper lost its daemon", LOG_STR("error", err.text));
    if (status != STATUS_OK || core->message.ended) {
        part(core, now_us);
        return;
    }
    core->arena = arena_new();
    core->packet =
        (struct keeper_wire_reader){.at = core->message.bytes, .left = core->message.length};
}

static void flush(struct core *core)
{
    struct keeper_link *link = &core->room.book.link;
    keeper_book_go_on(&core->room.book);
    bool done = keeper_link_flush(link);
    if (core->served && core->wants_write == done) {
        core->wants_write = !done;
        poller_want_write(core->room.poller, link->fd, &core->socket, !done);
    }
    for (size_t i = 0; i < core->run_count; i++)
        if (core->runs[i]->report_paused)
            keeper_run_resume(&core->room, core->runs[i]);
}

static void pump_output(struct core *core, struct keeper_run *run, int64_t now_us)
{
    keeper_run_pump_output(&core->room, run, now_us);
    core->next_tick_us = MIN(core->next_tick_us, run->idle_us);
}

static void handle_event(struct core *core, const struct keeper_source *source, int64_t now_us)
{
    switch (source->kind) {
    case KEEPER_SOURCE_SOCKET:
        receive(core, now_us);
        break;
    case KEEPER_SOURCE_LISTENER:
        meet(core, now_us);
        break;
    case KEEPER_SOURCE_OUTPUT:
        pump_output(core, source->owner, now_us);
        break;
    case KEEPER_SOURCE_REPORT:
        keeper_run_pump_report(&core->room, source->owner);
        break;
    case KEEPER_SOURCE_PROCESS:
        keeper_run_end(&core->room, source->owner, now_us);
        core->sweep_due = true;
        break;
    case KEEPER_SOURCE_ORPHAN:
        keeper_sweep_reap(&core->sweep, &core->room, source->owner);
        core->sweep_due = true;
        break;
    }
}

/* Runs that have ended and left nothing. Only here are runs forgotten, after all events. */
static void report_ended(struct core *core, int64_t now_us)
{
    for (size_t i = 0; i < core->run_count;) {
        struct keeper_run *run = core->runs[i];
        bool clean = run->orphans == 0 && core->sweep.unowned_count == 0;
        if (!run->ended || (!clean && now_us - run->ended_us < TREE_WAIT_US)) {
            i++;
            continue;
        }
        keeper_sweep_forget(&core->sweep, run);
        core->runs[i] = core->runs[--core->run_count];
        keeper_run_report(&core->room, run);
    }
}

static void do_due(struct core *core, int64_t now_us)
{
    int64_t lease_now_us = SABOTAGE("wall_clock_lease") ? clock_wall_us() : now_us;
    if (core->lease_us != 0 && lease_now_us >= core->lease_us)
        lose_lease(core, now_us);
    if (now_us >= core->next_tick_us) {
        core->next_tick_us = INT64_MAX;
        for (size_t i = 0; i < core->run_count; i++)
            core->next_tick_us = MIN(core->next_tick_us, keeper_run_tick(core->runs[i], now_us));
    }
    if (core->sweep_due || now_us >= core->next_sweep_us) {
        keeper_sweep_look(&core->sweep, &core->room, core->runs, core->run_count);
        core->sweep_due = false;
        core->next_sweep_us = now_us + SWEEP_US;
        report_ended(core, now_us);
    }
}

/* When a keeper that stays has waited long enough; INT64_MAX: not at all. */
static int64_t leave_us(struct core *core, int64_t now_us)
{
    if (core->listener < 0)
        return INT64_MAX;
    size_t tasks = core->run_count + core->sweep.orphan_count;
    struct keeper_stay_load load = {.tasks = tasks, .ends = core->room.book.count};
    return keeper_stay_until_us(&core->stay, &load, now_us);
}

static int64_t wait_ms(struct core *core)
{
    bool can_tell = core->room.book.state == KEEPER_BOOK_RETELLING && !core->wants_write;
    if (core->arena != NULL || can_tell)
        return 0;
    int64_t now_us = clock_mono_us();
    int64_t next_us = leave_us(core, now_us);
    bool idle = core->run_count == 0 && core->closing_us == 0;
    if (core->lease_us != 0)
        next_us = MIN(next_us, core->lease_us);
    if (!idle || core->lease_us != 0) {
        next_us = MIN(next_us, core->next_tick_us);
        next_us = MIN(next_us, core->next_sweep_us);
    }
    return next_us == INT64_MAX ? -1 : MAX((next_us - now_us + 999) / 1000, (int64_t)0);
}

static bool is_done(const struct core *core, int64_t now_us)
{
    if (core->closing_us == 0)
        return false;
    bool empty = core->run_count == 0 && core->sweep.orphan_count == 0 && !core->sweep_due &&
                 core->sweep.left == 0;
    return empty || now_us - core->closing_us > CLOSE_WAIT_US;
}

static void leave_if_due(struct core *core, int64_t now_us)
{
    if (now_us < leave_us(core, now_us))
        return;
    if (core->room.book.count > 0)
        log_warn("keeper ends with tasks that nobody acknowledged",
                 LOG_INT("tasks", (int64_t)core->room.book.count));
    close_down(core, now_us);
}

static void serve(struct core *core)
{
    int64_t now_us = clock_mono_us();
    while (!is_done(core, now_us)) {
        struct poller_event events[EVENTS_PER_TURN];
        size_t count = poller_wait(core->room.poller, events, ARRAY_LEN(events), wait_ms(core));
        now_us = clock_mono_us();
        for (size_t i = 0; i < count; i++)
            if (events[i].readable)
                handle_event(core, events[i].context, now_us);
        work_on_message(core);
        do_due(core, now_us);
        leave_if_due(core, now_us);
        flush(core);
    }
}

static enum status begin(struct core *core, int socket_fd, struct err *err)
{
    bool stays = seqpacket_is_listener(socket_fd);
    if (stays && process_detach(err) != STATUS_OK)
        return err->code;
    core->served = !stays;
    core->listener = stays ? socket_fd : -1;
    core->socket = (struct keeper_source){.kind = KEEPER_SOURCE_SOCKET, .owner = core};
    core->listening = (struct keeper_source){.kind = KEEPER_SOURCE_LISTENER, .owner = core};
    keeper_book_init(&core->room.book, stays ? -1 : socket_fd, stays);
    keeper_stay_init(&core->stay, clock_mono_us());
    process_raise_files(&core->room.files);
    if (process_become_keeper("eider-keeper", err) != STATUS_OK ||
        poller_open(&core->room.poller, err) != STATUS_OK)
        return err->code;
    core->room.ignored_signals = process_ignored_signals();
    core->room.buffer = mem_alloc(KEEPER_READ_BYTES);
    return poller_add(core->room.poller, socket_fd, stays ? &core->listening : &core->socket, err);
}

int keeper_main(int socket_fd)
{
    struct err err = {0};
    struct core core = {
        .next_tick_us = INT64_MAX, .listener = -1, .room = {.poller = -1, .book.link.fd = -1}};
    bool ready = begin(&core, socket_fd, &err) == STATUS_OK;
    if (ready)
        serve(&core);
    else
        log_error("keeper cannot start", LOG_STR("error", err.text));
    message_done(&core);
    keeper_sweep_fini(&core.sweep);
    free(core.runs);
    file_closep(&core.listener);
    keeper_room_fini(&core.room);
    return ready ? 0 : 1;
}
