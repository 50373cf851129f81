#include <unistd.h>

#include "app/daemon_priv.h"
#include "app/host_id.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/store_place.h"
#include "model/word_set.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store/host.h"
#include "store/platform.h"

enum { STORES_MAX = 10000 };

static struct host_request request_of(const struct daemon *daemon, const char *boot)
{
    return (struct host_request){
        .name = settings_text(daemon->settings, SETTING_HOST_NAME),
        .kind = "daemon",
        .machine = settings_text(daemon->settings, SETTING_HOST_NAME),
        .version = EIDER_VERSION,
        .roles = daemon->roles,
        .labels = daemon->session.labels,
        .queues = daemon->queues,
        .pid = getpid(),
        .boot = boot,
        .slots = settings_number(daemon->settings, SETTING_SLOTS),
        .lease_ms = daemon->lease.lease_ms,
        .fleet = settings_text(daemon->settings, SETTING_FLEET),
    };
}

/* False: somebody has taken, or is taking, what it held. */
static enum status resume(struct daemon *daemon, int64_t host, const struct host_request *request,
                          struct err *err)
{
    struct session *session = &daemon->session;
    if (daemon_is_embedded(daemon) &&
        presence_begin(session->place.meeting_dir, host, &session->presence, err) != STATUS_OK)
        return err->code;
    if (store_host_resume(session->store, host, request, err) != STATUS_OK) {
        presence_end(&session->presence);
        return err->code;
    }
    session->host = host;
    return STATUS_OK;
}

static enum status add(struct daemon *daemon, const struct host_request *request, struct err *err)
{
    struct session *session = &daemon->session;
    if (store_host_add(session->store, request, &session->host, err) != STATUS_OK)
        return err->code;
    return daemon_is_embedded(daemon)
               ? presence_begin(session->place.meeting_dir, session->host, &session->presence, err)
               : STATUS_OK;
}

/* What its settings say of backfills holds for all that use the store. */
static enum status publish_policy(const struct daemon *daemon, struct err *err)
{
    const char *queue = settings_text(daemon->settings, SETTING_BACKFILL_QUEUE);
    const struct platform_policy policy = {
        .backfill_approval = settings_number(daemon->settings, SETTING_BACKFILL_APPROVAL),
        .backfill_queue = queue != NULL ? queue : "",
    };
    return word_set_has(daemon->roles, "scheduler")
               ? store_platform_set(daemon->session.store, &policy, err)
               : STATUS_OK;
}

enum status daemon_host_begin(struct daemon *daemon, struct err *err)
{
    struct session *session = &daemon->session;
    const char *uuid = session->store_info.uuid;
    char boot[BOOT_TEXT_MAX];
    host_id_boot(boot);
    struct host_request request = request_of(daemon, boot);
    int64_t known = host_id_load(&session->place, uuid);
    struct err lost = {0};
    int64_t sent_us = clock_mono_us();
    enum status status = known != 0 ? resume(daemon, known, &request, &lost) : STATUS_NOT_FOUND;
    if (status != STATUS_OK && known != 0)
        log_info("this host was given up meanwhile", LOG_ID("host", known),
                 LOG_STR("why", lost.text));
    if (status != STATUS_OK && add(daemon, &request, err) != STATUS_OK)
        return err->code;
    daemon->beat_us = sent_us;
    if (publish_policy(daemon, err) != STATUS_OK)
        return err->code;
    return host_id_save(&session->place, uuid, session->host, err);
}

void daemon_host_tell_of_others(const struct daemon *daemon)
{
    CLEANUP(mem_freep) char *stores = store_place_kept(daemon->session.home->path, "");
    CLEANUP(file_closep) int fd = -1;
    CLEANUP(file_tree_list_fini) struct file_tree_list list = {0};
    struct err ignored = {0};
    if (file_open_directory(stores, &fd, &ignored) != STATUS_OK ||
        file_tree_list(fd, STORES_MAX, &list, &ignored) != STATUS_OK)
        return;
    for (size_t i = 0; i < list.count; i++) {
        const char *uuid = list.entries[i].name;
        struct home_place place;
        home_place_init(daemon->session.home, uuid, &place);
        if (!str_equal(uuid, daemon->session.store_info.uuid) && host_id_load(&place, uuid) != 0)
            log_info("a daemon of another store did not end in this home; what it left running is "
                     "left alone",
                     LOG_STR("store", uuid));
        home_place_fini(&place);
    }
}

void daemon_host_lost(struct daemon *daemon)
{
    if (daemon->was_swept)
        return;
    log_warn("this host was given up by the others; its tasks are ended",
             LOG_ID("host", daemon->session.host));
    daemon->was_swept = true;
    executor_fence(daemon->session.executor);
    daemon_host_renew_if_lost(daemon);
}

void daemon_host_renew_if_lost(struct daemon *daemon)
{
    struct session *session = &daemon->session;
    struct err err = {0};
    if (!daemon->was_swept || daemon->phase != DAEMON_WORKING ||
        executor_load(session->executor) > 0)
        return;
    presence_end(&session->presence);
    host_id_forget(&session->place);
    if (daemon_host_begin(daemon, &err) != STATUS_OK) {
        /* Tried again with the next thing that happens, at the latest by the timer. */
        log_warn("register as a new host", LOG_STR("error", err.text));
        return;
    }
    daemon->was_swept = false;
    log_info("this is a new host now", LOG_ID("host", session->host));
    executor_set_deadline(session->executor, lease_deadline_us(&daemon->lease, daemon->beat_us));
    executor_set_host(session->executor, session->host);
    daemon_open_or_close(daemon);
    pulse_set_host(daemon->pulse, session->host);
}
