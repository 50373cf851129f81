#include "app/run_owner.h"

#include "store/control.h"
#include "store/host.h"
#include "store/overview.h"
#include "worker/orphans.h"
#include "worker/recovery.h"

/* When in doubt it lives: taking work away from a living host would double it. */
static bool is_alive(void *context, int64_t host)
{
    struct session *session = context;
    bool lives = true;
    struct err ignored = {0};
    if (session_is_embedded(session))
        return presence_is_alive(session->place.meeting_dir, host);
    if (presence_is_dead(session->place.meeting_dir, host))
        return false;
    return store_host_is_alive(session->store, host, &lives, &ignored) != STATUS_OK || lives;
}

struct search {
    struct session *session;
    int64_t living; /* 0: none */
};

static void note_living(void *context, int64_t host)
{
    struct search *search = context;
    if (is_alive(search->session, host))
        search->living = host;
}

static enum status refuse_if_owned(struct session *session, int64_t run, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct search search = {.session = session};
    struct host_info host;
    if (store_host_of_run(session->store, run, note_living, &search, err) != STATUS_OK)
        return err->code;
    if (search.living == 0)
        return STATUS_OK;
    if (store_host_load(session->store, arena, search.living, &host, err) != STATUS_OK)
        return err->code;
    return err_set(err, STATUS_CONFLICT,
                   "run %lld is being run by process %lld on '%s'; stop it there, or wait until "
                   "its lease has ended if it is dead",
                   (long long)run, (long long)host.pid, host.name);
}

enum status run_owner_take_back(struct session *session, int64_t run, struct err *err)
{
    struct recovery_result ignored;
    int64_t lost = 0;
    if (session->is_onlooker)
        return session_is_embedded(session)
                   ? recovery_sweep(session->store, session->place.meeting_dir, 0, &ignored, err)
                   : STATUS_OK;
    if (refuse_if_owned(session, run, err) != STATUS_OK ||
        orphans_kill(session->store, run, is_alive, session, err) != STATUS_OK)
        return err->code;
    return store_recover(session->store, run, is_alive, session, &lost, err);
}
