#include "worker/presence.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

static char *lock_path(const char *home, int64_t host)
{
    return mem_format("%s/hosts/%lld.lock", home, (long long)host);
}

enum status presence_begin(const char *home, int64_t host, struct presence *out, struct err *err)
{
    struct presence presence = {.path = lock_path(home, host), .lock = {.fd = -1}};
    if (file_lock_try(presence.path, &presence.lock, err) != STATUS_OK) {
        free(presence.path);
        return err_wrap(err, "register this process");
    }
    *out = presence;
    return STATUS_OK;
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

bool presence_is_alive(void *context, int64_t host)
{
    CLEANUP(mem_freep) char *path = lock_path(context, host);
    struct err err = {0};
    bool held = false;
    /* When in doubt it is alive: taking work away from a living host would double it. */
    return file_lock_is_held(path, &held, &err) != STATUS_OK || held;
}
