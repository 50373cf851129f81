#include "worker/keeper.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "os/poller.h"
#include "worker/keeper_run.h"
#include "worker/keeper_sweep.h"
#include "worker/keeper_wire.h"

enum { EVENTS_PER_TURN = 64, FRAMES_PER_TURN = 4 };
enum {
    SWEEP_US = 1000 * 1000,       /* how often to look for processes left behind, and a bound on
                                     every wait, since waits do not count a suspended machine */
    TREE_WAIT_US = 5 * 1000000,   /* longest wait for a killed tree before its task is reported */
    CLOSE_GRACE_MS = 2000,        /* for all tasks when the daemon is gone */
    CLOSE_WAIT_US = 10 * 1000000, /* when nothing dies: give up */
};

struct core {
    struct keeper_room room;
    struct keeper_sweep sweep;
    struct keeper_source socket;
    struct keeper_run **runs;
    size_t run_count;
    size_t run_capacity;
    struct seqpacket_message message; /* being worked on */
    struct keeper_wire_reader packet;
    struct arena *arena; /* of that message */
    bool wants_write;
    bool welcome;
    bool sweep_due;
    int64_t next_sweep_us;
    int64_t next_tick_us; /* nothing is due in any run before */
    int64_t lease_us;     /* 0: none */
    int64_t closing_us;   /* when the daemon was gone; 0: it is there */
};

static void spawn(struct core *core, struct keeper_wire_reader *fields, int64_t now_us)
{
    struct keeper_task task;
    CHECK(keeper_wire_get_task(fields, core->arena, &task));
    struct keeper_run *run = keeper_run_start(&core->room, &task, now_us);
    if (run == NULL)
        return;
    core->runs = mem_grow(core->runs, &core->run_capacity, core->run_count,
                          sizeof(struct keeper_run *)); /* NOLINT(bugprone-sizeof-expression) */
    core->runs[core->run_count++] = run;
    core->next_tick_us = MIN(core->next_tick_us, run->term_us);
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

static void stop_all(struct core *core, enum keeper_exit_kind why, int64_t grace_ms, int64_t now_us)
{
    for (size_t i = 0; i < core->run_count; i++)
        keeper_run_stop(core->runs[i], why, MIN(grace_ms, core->runs[i]->grace_ms), now_us);
    core->next_tick_us = now_us;
}

static void close_down(struct core *core, int64_t now_us)
{
    core->closing_us = now_us;
    core->room.link.broken = true;
    poller_remove(core->room.poller, core->room.link.fd);
    stop_all(core, KEEPER_STOPPED, CLOSE_GRACE_MS, now_us);
    core->sweep_due = true;
}

static void greet(struct core *core, const struct keeper_frame *frame, int64_t now_us)
{
    keeper_wire_put(&core->room.link.out,
                    &(struct keeper_frame){.type = KEEPER_FRAME_HELLO,
                                           .numbers = {KEEPER_WIRE_VERSION, getpid()}});
    core->welcome = frame->numbers[0] == KEEPER_WIRE_VERSION;
    if (core->welcome)
        return;
    bool sent = keeper_link_flush(&core->room.link);
    log_error("keeper is of another version than its daemon", LOG_INT("answered", sent));
    close_down(core, now_us);
}

static void handle_frame(struct core *core, enum keeper_frame_type type,
                         struct keeper_wire_reader *fields, int64_t now_us)
{
    CHECK(core->welcome || type == KEEPER_FRAME_HELLO);
    if (type == KEEPER_FRAME_SPAWN) {
        spawn(core, fields, now_us);
        return;
    }
    struct keeper_frame frame = {.type = type};
    CHECK(keeper_wire_get(fields, &frame));
    switch (type) {
    case KEEPER_FRAME_HELLO:
        greet(core, &frame, now_us);
        break;
    case KEEPER_FRAME_STOP:
        stop(core, frame.numbers[0], frame.numbers[1] == KEEPER_STOP_GENTLE, now_us);
        break;
    case KEEPER_FRAME_DEADLINE:
        core->lease_us = frame.numbers[0];
        break;
    case KEEPER_FRAME_SPAWN:
    case KEEPER_FRAME_STARTED:
    case KEEPER_FRAME_EXITED:
    case KEEPER_FRAME_LINE:
    case KEEPER_FRAME_TYPE_COUNT:
        UNREACHABLE("a frame for the keeper");
        break;
    }
}

static void message_done(struct core *core)
{
    seqpacket_message_fini(&core->message);
    core->packet = (struct keeper_wire_reader){0};
    arena_free(core->arena);
    core->arena = NULL;
}

/* A few frames at a time: each start takes a while, and running tasks want to be read. */
static void work_on_message(struct core *core)
{
    for (int i = 0; i < FRAMES_PER_TURN && core->arena != NULL; i++) {
        enum keeper_frame_type type = KEEPER_FRAME_TYPE_COUNT;
        struct keeper_wire_reader fields;
        if (core->closing_us == 0 && keeper_wire_next(&core->packet, &type, &fields))
            handle_frame(core, type, &fields, clock_mono_us());
        else
            message_done(core);
    }
}

static void receive(struct core *core, int64_t now_us)
{
    if (core->arena != NULL || core->closing_us != 0)
        return;
    struct err err = {0};
    enum status status = keeper_link_receive(&core->room.link, &core->message, &err);
    if (status == STATUS_BUSY)
        return;
    if (status != STATUS_OK)
        log_error("keeper lost its daemon", LOG_STR("error", err.text));
    if (status != STATUS_OK || core->message.ended) {
        close_down(core, now_us);
        return;
    }
    core->arena = arena_new();
    core->packet =
        (struct keeper_wire_reader){.at = core->message.bytes, .left = core->message.length};
}

static void flush(struct core *core)
{
    bool done = keeper_link_flush(&core->room.link);
    if (core->closing_us == 0 && core->wants_write == done) {
        core->wants_write = !done;
        poller_want_write(core->room.poller, core->room.link.fd, &core->socket, !done);
    }
    for (size_t i = 0; i < core->run_count; i++)
        if (core->runs[i]->report_paused)
            keeper_run_resume(&core->room, core->runs[i]);
}

static void handle_event(struct core *core, const struct keeper_source *source, int64_t now_us)
{
    switch (source->kind) {
    case KEEPER_SOURCE_SOCKET:
        receive(core, now_us);
        break;
    case KEEPER_SOURCE_OUTPUT:
        keeper_run_pump_output(&core->room, source->owner);
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
    if (core->lease_us != 0 && now_us >= core->lease_us) {
        core->lease_us = 0;
        stop_all(core, KEEPER_LOST, 0, now_us);
    }
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

static int64_t wait_ms(const struct core *core)
{
    if (core->arena != NULL)
        return 0;
    bool idle = core->run_count == 0 && core->closing_us == 0;
    if (idle && core->lease_us == 0)
        return -1;
    int64_t next_us = MIN(core->next_tick_us, core->next_sweep_us);
    if (core->lease_us != 0)
        next_us = MIN(next_us, core->lease_us);
    return MAX((next_us - clock_mono_us() + 999) / 1000, (int64_t)0);
}

static bool is_done(const struct core *core, int64_t now_us)
{
    if (core->closing_us == 0)
        return false;
    bool empty = core->run_count == 0 && core->sweep.orphan_count == 0 && !core->sweep_due &&
                 core->sweep.left == 0;
    return empty || now_us - core->closing_us > CLOSE_WAIT_US;
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
        flush(core);
    }
}

int keeper_main(int socket_fd)
{
    struct err err = {0};
    struct core core = {.next_tick_us = INT64_MAX, .room.poller = -1};
    core.socket = (struct keeper_source){.kind = KEEPER_SOURCE_SOCKET, .owner = &core};
    keeper_link_init(&core.room.link, socket_fd);
    process_raise_files(&core.room.files);
    bool ready = process_become_keeper("eider-keeper", &err) == STATUS_OK &&
                 poller_open(&core.room.poller, &err) == STATUS_OK &&
                 poller_add(core.room.poller, socket_fd, &core.socket, &err) == STATUS_OK;
    if (ready) {
        core.room.ignored_signals = process_ignored_signals();
        core.room.buffer = mem_alloc(KEEPER_READ_BYTES);
        serve(&core);
    } else {
        log_error("keeper cannot start", LOG_STR("error", err.text));
    }
    message_done(&core);
    keeper_sweep_fini(&core.sweep);
    free(core.runs);
    keeper_room_fini(&core.room);
    return ready ? 0 : 1;
}
