#include "service/service.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "blob/blob.h"
#include "model/settings.h"
#include "model/store_place.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "service/principal.h"
#include "store/host.h"
#include "store/sight.h"
#include "store/store.h"
#include "store/vault.h"

void service_close_store(struct service *service)
{
    /* Logs may lie in the store. */
    blob_close(service->blob);
    service->blob = NULL;
    store_close(service->store);
    service->store = NULL;
}

void service_set_reason(struct service *service, const char *reason)
{
    service->reason = reason;
    if (service->store != NULL)
        store_set_reason(service->store, reason);
}

void service_set_sight(struct service *service, const char *spaces)
{
    service->sight = spaces;
    if (service->store != NULL)
        store_set_sight(service->store, spaces);
}

void service_fini(struct service *service)
{
    service_close_store(service);
}

char *service_store_url(const struct service *service)
{
    return store_place_url(settings_text(service->settings, SETTING_STORE), service->home);
}

enum status service_store_path(const struct service *service, char **out, struct err *err)
{
    CLEANUP(mem_freep) char *url = service_store_url(service);
    const char *path = store_place_path(url);
    if (path == NULL)
        return err_set(err, STATUS_INVALID, "the store '%s' is not a file", url);
    *out = mem_strdup(path);
    return STATUS_OK;
}

/* Opening for writing would make one, which is not for us to do. */
static enum status require_store(const struct service *service, const char *url, struct err *err)
{
    const char *path = store_place_path(url);
    if (path == NULL || access(path, F_OK) == 0)
        return STATUS_OK;
    if (errno == ENOENT)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no store in '%s' yet; `eider run` makes one", service->home);
    return err_errno(err, errno, "open the store '%s'", path);
}

struct store_options service_store_options(const struct service *service, enum db_mode mode,
                                           char **out_url)
{
    *out_url = service_store_url(service);
    return (struct store_options){
        .url = *out_url,
        .mode = mode,
        .now_us = service->now_us,
        .hooks = service->hooks,
        .busy_timeout_ms = settings_number(service->settings, SETTING_BUSY_TIMEOUT),
    };
}

static enum status open_store(struct service *service, enum db_mode mode, struct store **out,
                              struct err *err)
{
    CLEANUP(mem_freep) char *url = NULL;
    struct store_options options = service_store_options(service, mode, &url);
    struct store *store = NULL;
    if (store_open(&options, &store, err) != STATUS_OK)
        return err->code;
    service_close_store(service);
    service->store = store;
    service->store_mode = mode;
    store_set_reason(store, service->reason);
    store_set_sight(store, service->sight);
    *out = store;
    return STATUS_OK;
}

enum status service_store(struct service *service, enum db_mode mode, struct store **out,
                          struct err *err)
{
    bool fits =
        service->store != NULL && (service->store_mode == DB_READ_WRITE || mode == DB_READ_ONLY);
    if (!fits) {
        CLEANUP(mem_freep) char *url = service_store_url(service);
        if (require_store(service, url, err) != STATUS_OK)
            return err->code;
        return open_store(service, mode, out, err);
    }
    *out = service->store;
    return STATUS_OK;
}

enum status service_store_new(struct service *service, struct store **out, struct err *err)
{
    if (service->store != NULL && service->store_mode == DB_READ_WRITE) {
        *out = service->store;
        return STATUS_OK;
    }
    if (service->make_home != NULL &&
        service->make_home(service->make_home_context, err) != STATUS_OK)
        return err->code;
    return open_store(service, DB_READ_WRITE, out, err);
}

enum status service_store_if_any(struct service *service, struct store **out, struct err *err)
{
    struct err problem = {0};
    struct store *store = NULL;
    enum status status = service_store(service, DB_READ_ONLY, &store, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    *out = store;
    return STATUS_OK;
}

/*
 * Once every store of a home had its logs in the same folder. One in a file elsewhere, or of
 * another name, still has them there until somebody writes, unless the home has a store of its own.
 */
static char *blob_dir_of_file(const struct service *service, const char *store_path)
{
    CLEANUP(mem_freep) char *folder = store_place_folder(store_path);
    CLEANUP(mem_freep) char *own = file_path_join(folder, "blob");
    CLEANUP(mem_freep) char *old = file_path_join(service->home, "blob");
    CLEANUP(mem_freep) char *usual = store_place_url("", service->home);
    bool is_moved = access(own, F_OK) == 0 || access(old, F_OK) != 0;
    return is_moved || access(store_place_path(usual), F_OK) == 0 ? TAKE(own) : TAKE(old);
}

/* `store` may be NULL when it would be a file. */
static enum status find_blob_dir(const struct service *service, struct store *store, char **out,
                                 struct err *err)
{
    CLEANUP(mem_freep) char *url = service_store_url(service);
    struct store_info info;
    if (store_place_path(url) != NULL) {
        *out = blob_dir_of_file(service, store_place_path(url));
        return STATUS_OK;
    }
    if (store_describe(store, &info, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *kept = store_place_kept(service->home, info.uuid);
    *out = file_path_join(kept, "blob");
    return STATUS_OK;
}

enum status service_blob_if_any(struct service *service, struct blob **out, struct err *err)
{
    if (service->blob == NULL) {
        CLEANUP(mem_freep) char *path = NULL;
        struct err problem = {0};
        struct store *store = NULL;
        if (service_store_if_any(service, &store, err) != STATUS_OK ||
            find_blob_dir(service, store, &path, err) != STATUS_OK)
            return err->code;
        enum status status = store != NULL ? blob_open_for(store, path, &service->blob, &problem)
                                           : blob_open_directory(path, &service->blob, &problem);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            *err = problem;
            return status;
        }
    }
    *out = service->blob;
    return STATUS_OK;
}

enum status service_blob_new(struct service *service, struct blob **out, struct err *err)
{
    CLEANUP(mem_freep) char *url = service_store_url(service);
    struct store *store = NULL;
    if (store_place_path(url) != NULL) {
        CLEANUP(mem_freep) char *folder = store_place_folder(store_place_path(url));
        CLEANUP(mem_freep) char *path = file_path_join(folder, "blob");
        return file_tree_make(path, 0700, err) == STATUS_OK ? blob_open_directory(path, out, err)
                                                            : err->code;
    }
    if (service_store_new(service, &store, err) != STATUS_OK)
        return err->code;
    blob_open_store(store, out);
    return STATUS_OK;
}

enum status service_vault(struct service *service, struct vault **out, struct err *err)
{
    static const struct vault_sources NOTHING = {0};
    struct store *store = NULL;
    if (service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    *out = vault_new(service->sources != NULL ? service->sources : &NOTHING, store);
    return STATUS_OK;
}

bool service_is_local(const struct service *service)
{
    return service->principal != NULL && service->principal->is_local;
}

int64_t service_now_us(const struct service *service)
{
    if (service->now_us != NULL)
        return service->now_us();
    /* Instants that were written by others are compared by the clock that all share. */
    return service->store != NULL ? store_now_us(service->store) : clock_wall_us();
}

void service_wake(struct service *service)
{
    service->wakes_at_end = true;
    if (service->wake != NULL && !service->is_together)
        service->wake(service->wake_context);
}

bool service_host_is_alive(const struct service *service, int64_t host)
{
    if (service->is_alive != NULL)
        return service->is_alive(service->is_alive_context, host);
    /* When in doubt it is alive: taking work away from a living host would double it. */
    bool is_alive = true;
    struct err ignored = {0};
    return service->store == NULL ||
           store_host_is_alive(service->store, host, &is_alive, &ignored) != STATUS_OK || is_alive;
}

bool service_host_lives(const struct service *service, const struct host_info *host)
{
    if (host->ended_at_us != 0)
        return false;
    return host->lease_ms > 0 ? !host->has_expired : service_host_is_alive(service, host->id);
}

bool service_run_is_held(const struct service *service, int64_t run)
{
    return service->is_held(service->is_held_context, run);
}
