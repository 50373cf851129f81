#include "app/local_service.h"

#include "app/actor.h"
#include "app/old_home.h"
#include "base/mem.h"
#include "model/store_place.h"
#include "service/principal.h"
#include "worker/presence.h"
#include "worker/preview.h"
#include "worker/recovery.h"

static void wake(void *context)
{
    home_wake(context);
}

static enum status recover(void *context, struct store *store, struct err *err)
{
    const struct home *home = context;
    struct recovery_result ignored;
    if (old_home_refuse_living(home, store, err) != STATUS_OK)
        return err->code;
    return recovery_sweep(store, home->store_dir, 0, &ignored, err);
}

/* When in doubt it is: whoever asks leaves alone what is held. */
static bool is_held(void *context, int64_t run)
{
    const struct local_service *local = context;
    struct store_info info;
    struct err ignored = {0};
    if (home_is_embedded(local->home))
        return presence_run_is_held(local->home->store_dir, run);
    if (local->service.store == NULL ||
        store_describe(local->service.store, &info, &ignored) != STATUS_OK)
        return true;
    CLEANUP(mem_freep) char *meeting_dir = store_place_kept(local->home->path, info.uuid);
    return presence_run_is_held(meeting_dir, run);
}

static enum status make_home(void *context, struct err *err)
{
    return home_make(context, err);
}

static json_t *preview(void *context, const struct service_preview *preview)
{
    (void)context;
    return preview_fields(&(struct preview_request){
        .dag = preview->dag,
        .path = preview->path,
        .params = preview->params,
        .conf = preview->conf,
        .logical_at_us = preview->logical_at_us,
        .node = preview->node,
        .space = preview->dag->namespace_,
        .vault = preview->vault,
    });
}

void local_service_init(struct local_service *local, const struct config *config,
                        const struct home *home)
{
    local->home = home;
    /* In a fleet leases tell who lives, and those who lead take back. */
    bool is_embedded = home_is_embedded(home);
    local->service = (struct service){
        .settings = &config->settings,
        .home = home->path,
        .dags = settings_text(&config->settings, SETTING_DAGS),
        .actor = actor_name(),
        .principal = &PRINCIPAL_LOCAL,
        .is_alive = is_embedded ? presence_is_alive : NULL,
        .is_alive_context = home->store_dir,
        .recover = is_embedded ? recover : NULL,
        .recover_context = (void *)(uintptr_t)home,
        .is_held = is_held,
        .is_held_context = local,
        .wake = wake,
        .wake_context = (void *)(uintptr_t)home,
        .make_home = make_home,
        .make_home_context = (void *)(uintptr_t)home,
        .preview = preview,
        .sources = &config->vault,
        .hooks = config->hooks,
    };
}
