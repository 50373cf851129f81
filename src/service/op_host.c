/*
 * Hosts: who is there, who leads, who should go, how many there should be.
 */
#include "base/str.h"
#include "model/settings.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/host.h"
#include "store/queue.h"
#include "store/worker_claim.h"

/* --- a host as JSON -------------------------------------------------------------------------- */

/* active | draining | stopping | expired (nobody took its tasks yet) | lost | left */
static const char *status_of(const struct service *service, const struct host_info *host)
{
    if (host->ended_at_us != 0)
        return str_equal(host->fate, "lost") ? "lost" : "left";
    if (!service_host_lives(service, host))
        return "expired";
    if (host->stopping)
        return "stopping";
    return host->draining ? "draining" : "active";
}

static json_t *host_json(const struct service *service, const struct host_info *host,
                         int64_t leader)
{
    json_t *object = json_build_object();
    int64_t now_us = service_now_us(service);
    bool is_here = service_host_lives(service, host);
    /* One without a lease shows that it lives by its lock, at every moment. */
    int64_t heard_us = host->lease_ms > 0 ? host->renewed_at_us : is_here ? now_us : 0;
    json_put_id(object, "id", host->id);
    json_put_string(object, "name", host->name);
    json_put_string(object, "status", status_of(service, host));
    json_put_bool(object, "leader", host->id == leader);
    json_put_string(object, "kind", host->kind);
    json_put_string(object, "machine", host->machine);
    json_put_string(object, "version", host->version);
    json_put_int(object, "pid", host->pid);
    json_put_instant(object, "birth", host->started_at_us);
    json_put_instant(object, "last_heartbeat", heard_us);
    json_put(object, "heartbeat_age",
             heard_us != 0 ? json_real((double)MAX(now_us - heard_us, (int64_t)0) / 1e6)
                           : json_null());
    json_put_instant(object, "ended_at", host->ended_at_us);
    json_put_int(object, "slots", host->slots);
    json_put_int(object, "slots_used", host->holds);
    json_put(object, "labels", json_build_words(host->labels));
    json_put(object, "queues", json_build_words(host->queues));
    json_put(object, "roles", json_build_words(host->roles));
    return object;
}

/* --- host.list, host.show -------------------------------------------------------------------- */

struct host_listing {
    const struct service *service;
    const char *wanted; /* id or name; NULL: all */
    int64_t leader;
    json_t *hosts;
};

static bool is_wanted(const char *wanted, const struct host_info *host)
{
    int64_t id = 0;
    return wanted == NULL || str_equal(wanted, host->name) ||
           (str_parse_i64(wanted, 1, INT64_MAX, &id) && id == host->id);
}

static enum status list_host(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct host_listing *listing = context;
    if (is_wanted(listing->wanted, host))
        json_build_append(listing->hosts, host_json(listing->service, host, listing->leader));
    return STATUS_OK;
}

/* The oldest daemon that lives. */
static enum status look_for_leader(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct host_listing *listing = context;
    bool is_older = listing->leader == 0 || host->id < listing->leader;
    if (is_older && str_equal(host->kind, "daemon") && service_host_lives(listing->service, host))
        listing->leader = host->id;
    return STATUS_OK;
}

static enum status list_hosts(struct store *store, bool with_ended, struct host_listing *listing,
                              struct err *err)
{
    if (store_host_each(store, false, look_for_leader, listing, err) != STATUS_OK)
        return err->code;
    return store_host_each(store, with_ended, list_host, listing, err);
}

enum status op_host_list(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(json_decrefp) json_t *hosts = json_build_array();
    struct host_listing listing = {.service = service, .hosts = hosts};
    struct store *store = NULL;
    bool all = json_get_bool(request, "all", false);
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL && list_hosts(store, all, &listing, err) != STATUS_OK))
        return err->code;
    *out = json_build_list("hosts", TAKE(hosts));
    return STATUS_OK;
}

static const char *name_at(const void *context, size_t i)
{
    return json_get_string(json_array_get(context, i), "name", "");
}

/*
 * An id is meant before a name that looks like it, who is there before who is gone, and the daemon
 * before others that call themselves the same: a worker behind HTTP chooses its name freely, and
 * must not be drained in a daemon's stead.
 */
static int claim_to_name(const json_t *host, const char *wanted)
{
    const char *kind = json_get_string(host, "kind", "");
    int by_id = str_equal(json_get_string(host, "id", ""), wanted) ? 8 : 0;
    int there = json_is_null(json_object_get(host, "ended_at")) ? 4 : 0;
    int of_kind = str_equal(kind, "daemon") ? 2 : !str_equal(kind, WORKER_HOST_KIND);
    return by_id + there + of_kind;
}

/* Of those that match equally well the newest, which is listed first. */
static json_t *best_match(const json_t *hosts, const char *wanted)
{
    json_t *best = NULL;
    size_t i;
    json_t *host;
    json_array_foreach(hosts, i, host)
    {
        if (best == NULL || claim_to_name(host, wanted) > claim_to_name(best, wanted))
            best = host;
    }
    return best;
}

static enum status find_host(struct service *service, struct store *store, const char *wanted,
                             json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *hosts = json_build_array();
    struct host_listing listing = {.service = service, .hosts = hosts, .wanted = wanted};
    if (list_hosts(store, true, &listing, err) != STATUS_OK)
        return err->code;
    json_t *found = best_match(hosts, wanted);
    if (found != NULL) {
        *out = json_incref(found);
        return STATUS_OK;
    }
    listing.wanted = NULL;
    if (list_hosts(store, true, &listing, err) != STATUS_OK)
        return err->code;
    const char *near = str_nearest(wanted, json_array_size(hosts), name_at, hosts);
    return err_set(err, STATUS_NOT_FOUND, "there is no host '%.100s'%s%s%s", wanted,
                   near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : "");
}

enum status op_host_show(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    struct store *store = NULL;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err->code;
    return find_host(service, store, json_get_string(request, "host", ""), out, err);
}

/* --- host.drain ------------------------------------------------------------------------------ */

enum status op_host_drain(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *host = NULL;
    const char *wanted = json_get_string(request, "host", "");
    bool drain = json_get_bool(request, "drain", true);
    struct store *store = NULL;
    int64_t id = 0;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        find_host(service, store, wanted, &host, err) != STATUS_OK)
        return err->code;
    if (!json_is_null(json_object_get(host, "ended_at")))
        return err_set(err, STATUS_CONFLICT, "the host '%.100s' is gone: %s", wanted,
                       json_get_string(host, "status", ""));
    if (!drain && str_equal(json_get_string(host, "status", ""), "stopping"))
        return err_set(err, STATUS_CONFLICT,
                       "the host '%.100s' was told to end: `eider up` starts it again when it has",
                       wanted);
    (void)!str_parse_i64(json_get_string(host, "id", ""), 0, INT64_MAX, &id);
    if (store_host_drain(store, id, drain, service->actor, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return find_host(service, store, json_get_string(host, "id", ""), out, err);
}

/* --- host.desired ---------------------------------------------------------------------------- */

struct fleet {
    const struct service *service;
    int64_t living;
    int64_t slots;
};

static enum status count_host(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct fleet *fleet = context;
    if (str_equal(host->kind, "daemon") && !host->draining &&
        service_host_lives(fleet->service, host)) {
        fleet->living++;
        fleet->slots += host->slots;
    }
    return STATUS_OK;
}

/* What of a queue can use a slot now: nothing beyond its bound, of a paused one what runs. */
static int64_t demand_of(const struct queue_info *queue)
{
    int64_t demand = queue->running + (queue->paused ? 0 : queue->pending);
    int64_t bound = MAX(queue->max_running, queue->running);
    return queue->max_running > 0 ? MIN(demand, bound) : demand;
}

enum status op_host_desired(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct fleet fleet = {.service = service};
    struct queue_info *queues = NULL;
    size_t count = 0;
    struct store *store = NULL;
    int64_t least = json_get_int(request, "min", 0);
    int64_t most = json_get_int(request, "max", INT64_MAX);
    int64_t demand = 0;
    if (least < 0 || most < least)
        return err_set(err, STATUS_INVALID, "'min' must not be negative, nor 'max' below it");
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL && (store_queue_list(store, arena, &queues, &count, err) != STATUS_OK ||
                           store_host_each(store, false, count_host, &fleet, err) != STATUS_OK)))
        return err->code;
    for (size_t i = 0; i < count; i++)
        demand += demand_of(&queues[i]);
    int64_t each = fleet.living > 0 ? fleet.slots / fleet.living
                                    : settings_number(service->settings, SETTING_SLOTS);
    each = MAX(each, (int64_t)1);
    int64_t desired = demand / each + (demand % each != 0);
    *out = json_build_object();
    json_put_int(*out, "desired", MIN(MAX(desired, least), most));
    json_put_int(*out, "living", fleet.living);
    json_put_int(*out, "demand", demand);
    json_put_int(*out, "slots_per_host", each);
    return STATUS_OK;
}
