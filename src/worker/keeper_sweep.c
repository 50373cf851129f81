#include "worker/keeper_sweep.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/poller.h"

static bool is_known(const struct keeper_sweep *sweep, struct keeper_run *const *runs,
                     size_t run_count, pid_t pid)
{
    for (size_t i = 0; i < run_count; i++)
        if (!runs[i]->ended && runs[i]->process.pid == pid)
            return true;
    for (const struct keeper_orphan *orphan = sweep->orphans; orphan != NULL; orphan = orphan->next)
        if (orphan->process.pid == pid)
            return true;
    return false;
}

enum owner { OWNER_RUNNING, OWNER_ENDED, OWNER_GONE, OWNER_UNKNOWN };

/* Whose process it is; *out_run for those of a run that is not reported yet. */
static enum owner owner_of(const struct proc_info *info, struct keeper_run *const *runs,
                           size_t run_count, struct keeper_run **out_run)
{
    char nonce[KEEPER_NONCE_MAX] = "";
    bool marked = proc_tree_env(info->pid, KEEPER_CLAIM_VARIABLE, nonce, sizeof nonce);
    for (size_t i = 0; i < run_count; i++) {
        struct keeper_run *run = runs[i];
        bool by_group = info->pgrp == run->process.pid || info->session == run->process.pid;
        if (!by_group && !(marked && strcmp(nonce, run->nonce) == 0))
            continue;
        *out_run = run;
        return run->ended ? OWNER_ENDED : OWNER_RUNNING;
    }
    return marked ? OWNER_GONE : OWNER_UNKNOWN;
}

static void kill_orphan(struct keeper_sweep *sweep, struct keeper_room *room, pid_t pid,
                        struct keeper_run *run)
{
    struct err err = {0};
    int pidfd = -1;
    /* Our own child, not reaped: the number is its own. */
    if (process_open(pid, &pidfd, &err) != STATUS_OK)
        return;
    process_signal(pidfd, SIGKILL);
    struct keeper_orphan *orphan = mem_zalloc(1, sizeof *orphan);
    *orphan = (struct keeper_orphan){
        .source = {KEEPER_SOURCE_ORPHAN, orphan},
        .process = {.pid = pid, .pidfd = pidfd},
        .run = run,
        .next = sweep->orphans,
    };
    CHECK(poller_add(room->poller, pidfd, &orphan->source, &err) == STATUS_OK);
    sweep->orphans = orphan;
    sweep->orphan_count++;
    if (run != NULL)
        run->orphans++;
    else
        sweep->unowned_count++;
}

void keeper_sweep_look(struct keeper_sweep *sweep, struct keeper_room *room,
                       struct keeper_run *const *runs, size_t run_count)
{
    size_t running = 0;
    for (size_t i = 0; i < run_count; i++)
        running += runs[i]->ended ? 0 : 1;
    proc_tree_children(&sweep->children);
    sweep->left = sweep->children.count;
    if (sweep->children.count == running + sweep->orphan_count)
        return;

    for (size_t i = 0; i < sweep->children.count; i++) {
        pid_t pid = sweep->children.pids[i];
        struct proc_info info;
        if (is_known(sweep, runs, run_count, pid) || !proc_tree_read(pid, &info))
            continue;
        if (info.state == 'Z') {
            process_reap_pid(pid);
            sweep->left--;
            continue;
        }
        struct keeper_run *run = NULL;
        enum owner owner = owner_of(&info, runs, run_count, &run);
        /* One without any mark may be a running task's: it has time until none is left. */
        if (owner == OWNER_RUNNING || (owner == OWNER_UNKNOWN && running > 0))
            continue;
        kill_orphan(sweep, room, pid, run);
    }
}

static void unlink_orphan(struct keeper_sweep *sweep, struct keeper_orphan *orphan)
{
    for (struct keeper_orphan **at = &sweep->orphans; *at != NULL; at = &(*at)->next)
        if (*at == orphan) {
            *at = orphan->next;
            break;
        }
    sweep->orphan_count--;
}

void keeper_sweep_reap(struct keeper_sweep *sweep, struct keeper_room *room,
                       struct keeper_orphan *orphan)
{
    struct process_end end;
    if (!process_reap(orphan->process.pidfd, &end))
        return;
    unlink_orphan(sweep, orphan);
    if (orphan->run != NULL)
        orphan->run->orphans--;
    else
        sweep->unowned_count--;
    poller_closep(room->poller, &orphan->process.pidfd);
    free(orphan);
}

void keeper_sweep_forget(struct keeper_sweep *sweep, const struct keeper_run *run)
{
    for (struct keeper_orphan *orphan = sweep->orphans; orphan != NULL; orphan = orphan->next)
        if (orphan->run == run) {
            orphan->run = NULL;
            sweep->unowned_count++;
        }
}

void keeper_sweep_fini(struct keeper_sweep *sweep)
{
    while (sweep->orphans != NULL) {
        struct keeper_orphan *next = sweep->orphans->next;
        file_closep(&sweep->orphans->process.pidfd);
        free(sweep->orphans);
        sweep->orphans = next;
    }
    proc_list_fini(&sweep->children);
}
