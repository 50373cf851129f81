#include "app/api.h"

#include <stdlib.h>

#include "app/local_service.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "serve/live.h"
#include "serve/routes.h"
#include "serve/server.h"

struct api {
    const struct config *config;
    const struct home *home;
    struct route_table *routes;
    struct router *router;
    struct serve_world world;
    struct live *live;
    struct server *server;
};

static struct service *open_service(void *context)
{
    const struct api *api = context;
    struct local_service *local = mem_zalloc(1, sizeof *local);
    local_service_init(local, api->config, api->home);
    local->service.principal = NULL;
    return &local->service;
}

static void close_service(void *context, struct service *service)
{
    (void)context;
    if (service == NULL)
        return;
    service_fini(service);
    free((char *)service - offsetof(struct local_service, service));
}

static enum status admit(void *context, struct service *service, const struct http_request *request,
                         struct arena *arena, struct dispatch_visitor *out, struct err *err)
{
    (void)context;
    (void)service;
    (void)request;
    (void)arena;
    (void)err;
    *out = (struct dispatch_visitor){0};
    return STATUS_OK;
}

static enum status read_pem(const struct settings *settings, enum setting_key key, char **out,
                            struct err *err)
{
    const char *path = settings_text(settings, key);
    size_t length = 0;
    if (path[0] == '\0')
        return STATUS_OK;
    if (file_read(path, 1 << 20, out, &length, err) != STATUS_OK)
        return err_wrap(err, "%s", SETTINGS[key].key);
    return STATUS_OK;
}

static enum status listen_there(struct api *api, struct err *err)
{
    const struct settings *settings = &api->config->settings;
    CLEANUP(mem_freep) char *certificate = NULL;
    CLEANUP(mem_freep) char *key = NULL;
    if (read_pem(settings, SETTING_TLS_CERTIFICATE, &certificate, err) != STATUS_OK ||
        read_pem(settings, SETTING_TLS_KEY, &key, err) != STATUS_OK)
        return err->code;
    if ((certificate == NULL) != (key == NULL))
        return err_set(err, STATUS_INVALID,
                       "tls_certificate and tls_key belong together: one of them is missing");
    struct server_options options = {
        .address = settings_text(settings, SETTING_LISTEN),
        .tls_certificate = certificate,
        .tls_key = key,
        .workers = settings_number(settings, SETTING_API_WORKERS),
        .connections = settings_number(settings, SETTING_API_CONNECTIONS),
        .connections_peer = settings_number(settings, SETTING_API_CONNECTIONS_PEER),
        .idle_ms = settings_number(settings, SETTING_API_REQUEST_TIME),
        .request_ms = settings_number(settings, SETTING_API_REQUEST_TIME),
        .body_bytes = settings_number(settings, SETTING_API_BODY),
        .world = &api->world,
        .open_service = open_service,
        .close_service = close_service,
        .context = api,
    };
    return server_start(&options, &api->server, err);
}

static enum status begin_live(struct api *api, struct err *err)
{
    struct live_options options = {
        .open_service = open_service, .close_service = close_service, .context = api};
    if (live_new(&options, &api->live, err) != STATUS_OK)
        return err->code;
    api->world.live = api->live;
    return STATUS_OK;
}

enum status api_start(const struct config *config, const struct home *home, struct api **out,
                      struct err *err)
{
    const struct settings *settings = &config->settings;
    *out = NULL;
    if (str_equal(settings_text(settings, SETTING_LISTEN), "off"))
        return STATUS_OK;
    struct api *api = mem_zalloc(1, sizeof *api);
    api->config = config;
    api->home = home;
    api->routes = routes_new();
    api->router = router_new(api->routes);
    api->world = (struct serve_world){
        .router = api->router, .settings = settings, .admit = admit, .context = api};
    enum status status = begin_live(api, err);
    if (status == STATUS_OK)
        status = listen_there(api, err);
    if (status == STATUS_OK) {
        *out = api;
        return STATUS_OK;
    }
    api_stop(api);
    /* A second daemon on a machine works all the same; whoever names an address means it. */
    if (status != STATUS_CONFLICT || settings->values[SETTING_LISTEN].origin != ORIGIN_DEFAULT)
        return status;
    log_warn("no API: its usual address is taken; `listen` names another one",
             LOG_STR("why", err->text));
    *err = (struct err){0};
    return STATUS_OK;
}

void api_stop(struct api *api)
{
    if (api == NULL)
        return;
    server_stop(api->server);
    live_free(api->live);
    router_free(api->router);
    routes_free(api->routes);
    free(api);
}

const char *api_url(const struct api *api)
{
    return server_url(api->server);
}

void api_wake(struct api *api)
{
    if (api != NULL)
        live_wake(api->live);
}
