#include "worker/presence.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

static char *host_path(const char *home, int64_t host)
{
    return mem_format("%s/hosts/%lld.lock", home, (long long)host);
}

static char *run_path(const char *home, int64_t run)
{
    return mem_format("%s/hosts/run-%lld.lock", home, (long long)run);
}

static enum status hold(const char *path, struct presence *out, struct err *err)
{
    struct presence presence = {.path = mem_strdup(path), .lock = {.fd = -1}};
    if (file_lock_try(presence.path, &presence.lock, err) != STATUS_OK) {
        free(presence.path);
        return err->code;
    }
    *out = presence;
    return STATUS_OK;
}

/*
 * A daemon comes back under the id of one that was killed a moment ago, whose files are closed one
 * after the other while it dies: that of the home may be free already, and this one not yet.
 */
enum status presence_begin(const char *home, int64_t host, struct presence *out, struct err *err)
{
    static const struct timespec A_MOMENT = {.tv_nsec = INT64_C(10) * 1000 * 1000};
    enum { MOMENTS = 200 };
    CLEANUP(mem_freep) char *path = host_path(home, host);
    struct err problem = {0};
    enum status status = hold(path, out, &problem);
    for (int i = 0; status == STATUS_BUSY && i < MOMENTS; i++) {
        (void)nanosleep(&A_MOMENT, NULL);
        status = hold(path, out, &problem);
    }
    if (status == STATUS_OK)
        return STATUS_OK;
    *err = problem;
    return err_wrap(err, "register this process");
}

enum status presence_hold_run(const char *home, int64_t run, struct presence *out, struct err *err)
{
    CLEANUP(mem_freep) char *path = run_path(home, run);
    enum status status = hold(path, out, err);
    if (status == STATUS_BUSY)
        return err_set(err, STATUS_CONFLICT, "run %lld is being run by another process",
                       (long long)run);
    return status;
}

void presence_end(struct presence *presence)
{
    if (presence->path == NULL)
        return;
    /* Removed while it is held: whoever looks afterwards finds no file, which means dead too. */
    (void)unlink(presence->path);
    file_lock_release(&presence->lock);
    free(presence->path);
    presence->path = NULL;
}

/* When in doubt it is held: taking work away from a living process would double it. */
static bool is_held(const char *path)
{
    struct err err = {0};
    bool held = false;
    return file_lock_is_held(path, &held, &err) != STATUS_OK || held;
}

bool presence_is_alive(void *context, int64_t host)
{
    CLEANUP(mem_freep) char *path = host_path(context, host);
    return is_held(path);
}

bool presence_is_dead(const char *home, int64_t host)
{
    CLEANUP(mem_freep) char *path = host_path(home, host);
    return access(path, F_OK) == 0 && !is_held(path);
}

bool presence_run_is_held(void *context, int64_t run)
{
    CLEANUP(mem_freep) char *path = run_path(context, run);
    return is_held(path);
}
