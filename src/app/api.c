#include "app/api.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/actor.h"
#include "app/api_place.h"
#include "app/local_service.h"
#include "app/measuring.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "serve/doorway.h"
#include "serve/live.h"
#include "serve/lounge.h"
#include "serve/openapi.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "serve/usher.h"
#include "service/credentials.h"
#include "service/principal.h"

struct api {
    const struct config *config;
    const struct home *home;
    const struct measuring *measuring;
    struct route_table *routes;
    struct router *router;
    struct serve_world world;
    struct server *server;
    struct api_place place; /* for those who read our state folder */
    char *owner;            /* who they are */
    char *link;             /* for the first user; NULL: there are some */
};

/* Whoever has the key of the state folder has the store. */
static const struct grant OWNER_GRANTS[] = {{"*", PERMISSION_ADMIN}};

static struct service *open_service(void *context)
{
    const struct api *api = context;
    struct local_service *local = mem_zalloc(1, sizeof *local);
    local_service_init(local, api->config, api->home);
    local->service.principal = NULL;
    local->service.meters = api->measuring->meters;
    local->service.spans = measuring_spans(api->measuring);
    local->service.observer = api->measuring->observer;
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

/* Programs of the user whose daemon this is. */
static bool is_owner(const struct api *api, const struct http_request *request)
{
    static const char BEARER[] = "Bearer ";
    const char *authorization = http_header(request, "Authorization");
    return authorization != NULL && str_starts_with(authorization, BEARER) &&
           api_place_has_key(&api->place, authorization + strlen(BEARER));
}

static enum status admit(void *context, struct service *service, const struct http_request *request,
                         struct arena *arena, struct dispatch_visitor *out, struct err *err)
{
    const struct api *api = context;
    if (!is_owner(api, request))
        return usher_admit(api->world.usher, service, request, arena, out, err);
    *out = (struct dispatch_visitor){
        .is_known = true,
        .principal = {.name = api->owner, .grants = OWNER_GRANTS, .count = ARRAY_LEN(OWNER_GRANTS)},
    };
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

/* Who reads a file needs a processor; who asks a server waits for the most part. */
static int64_t brisk_workers(const struct api *api, int64_t workers)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return home_is_embedded(api->home) ? MIN(MAX(processors, 2L), workers) : workers;
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
    int64_t workers = settings_number(settings, SETTING_API_WORKERS);
    struct server_options options = {
        .address = settings_text(settings, SETTING_LISTEN),
        .tls_certificate = certificate,
        .tls_key = key,
        .workers = workers,
        .brisk = brisk_workers(api, workers),
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
    return live_new(&options, &api->world.live, err);
}

static enum status begin_lounge(struct api *api, struct err *err)
{
    struct lounge_options options = {
        .open_service = open_service, .close_service = close_service, .context = api};
    return lounge_new(&options, &api->world.lounge, err);
}

/* --- who may come in ------------------------------------------------------------------------- */

static enum status refuse_exposure(const char *address, bool has_users, bool has_tls,
                                   struct err *err)
{
    const char *lacks = has_users ? "TLS is off"
                        : has_tls ? "there are no users"
                                  : "there are no users and TLS is off";
    const char *mend = has_users ? "set tls_certificate and tls_key"
                       : has_tls ? "`eider users add` makes one"
                                 : "`eider users add` makes one, set tls_certificate and tls_key";
    return err_set(err, STATUS_INVALID,
                   "'%s' is reached by other machines, but %s: %s, listen at 127.0.0.1, or set "
                   "listen_anyway",
                   address, lacks, mend);
}

/* What others reach has users whom it knows, and keeps their passwords from listeners. */
static enum status check_exposure(struct api *api, struct err *err)
{
    const struct settings *settings = &api->config->settings;
    const char *address = settings_text(settings, SETTING_LISTEN);
    bool has_tls = settings_text(settings, SETTING_TLS_CERTIFICATE)[0] != '\0';
    bool has_users = false;
    /* Nobody reaches what is no address: whoever mistyped one is to read that. */
    if (doorway_check(address, err) != STATUS_OK)
        return err->code;
    if (doorway_is_loopback(address) || settings_number(settings, SETTING_LISTEN_ANYWAY) != 0)
        return STATUS_OK;
    struct service *service = open_service(api);
    enum status status = credentials_any(service, &has_users, err);
    close_service(api, service);
    if (status != STATUS_OK || (has_tls && has_users))
        return status;
    return refuse_exposure(address, has_users, has_tls, err);
}

/* While nobody has another way in, one is printed where only this machine's user reads it. */
static enum status offer_link(struct api *api, struct err *err)
{
    char secret[SECRET_TEXT_MAX];
    struct err problem = {0};
    struct service *service = open_service(api);
    enum status status = credentials_make_link(service, secret, &problem);
    close_service(api, service);
    if (status == STATUS_OK)
        api->link = mem_format("%s/login?link=%s", server_url(api->server), secret);
    if (status == STATUS_OK || status == STATUS_CONFLICT)
        return STATUS_OK;
    *err = problem;
    return err_wrap(err, "make a link to sign in");
}

enum status api_start(const struct api_options *options, struct api **out, struct err *err)
{
    const struct settings *settings = &options->config->settings;
    *out = NULL;
    api_place_remove(options->home); /* what a daemon that was killed left */
    if (str_equal(settings_text(settings, SETTING_LISTEN), "off"))
        return STATUS_OK;
    struct api *api = mem_zalloc(1, sizeof *api);
    api->config = options->config;
    api->home = options->home;
    api->measuring = options->measuring;
    api->owner = mem_strdup(actor_name());
    api_place_init(&api->place);
    api->routes = routes_new();
    api->router = router_new(api->routes);
    api->world = (struct serve_world){
        .router = api->router, .settings = settings, .admit = admit, .context = api};
    api->world.usher = usher_new();
    enum status status = check_exposure(api, err);
    if (status == STATUS_OK)
        status = begin_live(api, err);
    if (status == STATUS_OK)
        status = begin_lounge(api, err);
    if (status == STATUS_OK)
        status = listen_there(api, err);
    if (status == STATUS_OK && doorway_is_loopback(settings_text(settings, SETTING_LISTEN)))
        status = offer_link(api, err);
    if (status == STATUS_OK)
        status = api_place_leave(&api->place, options->home, server_url(api->server), err);
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
    lounge_close(api->world.lounge);
    if (api->place.url != NULL)
        api_place_remove(api->home);
    server_stop(api->server);
    lounge_free(api->world.lounge);
    live_free(api->world.live);
    api_place_fini(&api->place);
    free(api->owner);
    usher_free(api->world.usher);
    free(api->link);
    router_free(api->router);
    routes_free(api->routes);
    free(api);
}

const char *api_url(const struct api *api)
{
    return server_url(api->server);
}

const char *api_near_url(const struct api *api)
{
    return server_near_url(api->server);
}

void api_wake(struct api *api)
{
    if (api == NULL)
        return;
    live_wake(api->world.live);
    lounge_wake(api->world.lounge);
}

json_t *api_describe(void)
{
    struct route_table *table = routes_new();
    json_t *document = openapi_document(table);
    routes_free(table);
    return document;
}

const char *api_link(const struct api *api)
{
    return api->link;
}
