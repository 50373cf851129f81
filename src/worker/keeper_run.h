#pragma once
/*
 * keeper_run: one task as the keeper sees it, from its start to the report of its end.
 *
 *   start -> running -> (stopping: TERM sent, KILL due) -> ended -> reported
 *
 * The end of a task is the end of its process, whatever still holds its pipes. Between
 * ended and reported the rest of its tree is put away (keeper_sweep).
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "blob/log_writer.h"
#include "model/mask.h"
#include "os/process.h"
#include "worker/keeper_book.h"
#include "worker/keeper_task.h"

enum keeper_source_kind {
    KEEPER_SOURCE_SOCKET,
    KEEPER_SOURCE_LISTENER,
    KEEPER_SOURCE_PROCESS,
    KEEPER_SOURCE_OUTPUT,
    KEEPER_SOURCE_REPORT,
    KEEPER_SOURCE_ORPHAN,
};

/* What a descriptor in the poller stands for. */
struct keeper_source {
    enum keeper_source_kind kind;
    void *owner;
};

/* A directory of logs, open as long as a run writes there and a while longer. */
struct keeper_root {
    char *path;
    struct blob *blob;
    size_t users;
    struct keeper_root *next;
};

/* What all runs share. */
struct keeper_room {
    int poller;
    struct keeper_book book;
    char *buffer; /* of KEEPER_READ_BYTES, for every read */
    struct keeper_root *roots;
    struct process_limit files; /* what tasks get, whatever we took */
    uint64_t ignored_signals;
};

enum { KEEPER_READ_BYTES = 64 << 10 };

struct keeper_run {
    struct keeper_source process_source;
    struct keeper_source output_source;
    struct keeper_source report_source;
    int64_t id;
    struct keeper_hold *hold; /* the book's */
    char nonce[KEEPER_NONCE_MAX];
    struct process process;
    int output_fd; /* -1 when at its end */
    int report_fd;
    bool report_paused;
    struct strbuf line; /* of descriptor 4, incomplete */
    struct keeper_root *root;
    struct log_writer log;
    char **secrets;     /* that nothing may have which leaves it; NULL: none */
    bool is_log_masked; /* the log hides them: from its first byte on */
    struct mask *mask;  /* of what else leaves it; NULL: not needed so far */
    char *outputs_dir;
    bool keep_outputs_dir;
    char *script_path;
    int64_t started_us;
    int64_t grace_ms;
    int64_t term_us; /* when the timeout strikes; INT64_MAX: never */
    int64_t kill_us; /* when patience ends; INT64_MAX: not yet stopping */
    int64_t idle_us; /* when the log gets what its mask held back; INT64_MAX: nothing */
    bool survives_deadline;
    bool stopping; /* by us, for the reason in exit.kind */
    bool ended;
    int64_t ended_us;
    size_t orphans; /* of it that are being killed */
    struct keeper_exit exit;
};

void keeper_room_fini(struct keeper_room *room);

/* Start a task and say so; NULL if it could not, which is then said as its exit. */
struct keeper_run *keeper_run_start(struct keeper_room *room, const struct keeper_task *task,
                                    int64_t now_us);

/* One bounded read each, so that no task keeps the others waiting. */
void keeper_run_pump_output(struct keeper_room *room, struct keeper_run *run, int64_t now_us);
void keeper_run_pump_report(struct keeper_room *room, struct keeper_run *run);
/* Read reports again if the link has room for them. */
void keeper_run_resume(struct keeper_room *room, struct keeper_run *run);

/* End it for that reason: TERM, then KILL after the grace; 0 kills at once. */
void keeper_run_stop(struct keeper_run *run, enum keeper_exit_kind why, int64_t grace_ms,
                     int64_t now_us);
/* Do what is due, and return when the next thing is. */
int64_t keeper_run_tick(struct keeper_run *run, int64_t now_us);

/* Its process has ended: take what is left in the pipes, kill its group, reap it. */
void keeper_run_end(struct keeper_room *room, struct keeper_run *run, int64_t now_us);
/* Say how it ended, and forget it. */
void keeper_run_report(struct keeper_room *room, struct keeper_run *run);
