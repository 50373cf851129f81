#include "service/explain_around.h"

#include <string.h>

#include "base/str.h"
#include "model/word_set.h"
#include "store/host.h"
#include "store/overview.h"

struct host_list {
    struct fleet_host *items;
    int64_t *ids;
    size_t count;
    size_t capacity;
};

struct host_reading {
    const struct service *service;
    struct arena *arena;
    struct host_list daemons; /* that work */
    struct host_list foregrounds;
    bool has_scheduler;
};

static void grow(struct arena *arena, struct host_list *list)
{
    if (list->count < list->capacity)
        return;
    struct host_list grown = {.count = list->count,
                              .capacity = MAX(2 * list->capacity, (size_t)16)};
    grown.items = arena_array(arena, grown.capacity, sizeof *grown.items);
    grown.ids = arena_array(arena, grown.capacity, sizeof *grown.ids);
    if (list->count > 0) {
        memcpy(grown.items, list->items, list->count * sizeof *grown.items);
        memcpy(grown.ids, list->ids, list->count * sizeof *grown.ids);
    }
    *list = grown;
}

static void add_host(struct arena *arena, struct host_list *list, const struct host_info *host)
{
    grow(arena, list);
    list->ids[list->count] = host->id;
    list->items[list->count++] = (struct fleet_host){
        .name = arena_strdup(arena, host->name),
        .labels = arena_strdup(arena, host->labels),
        .queues = arena_strdup(arena, host->queues),
        .slots = host->slots,
        .holds = host->holds,
        .is_draining = host->draining,
        .is_stopping = host->stopping,
    };
}

static enum status note_host(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct host_reading *reading = context;
    bool is_daemon = str_equal(host->kind, "daemon");
    bool is_foreground = str_equal(host->kind, "foreground");
    if ((!is_daemon && !is_foreground) || !service_host_lives(reading->service, host))
        return STATUS_OK;
    reading->has_scheduler |= is_daemon && word_set_has(host->roles, "scheduler");
    if (is_foreground)
        add_host(reading->arena, &reading->foregrounds, host);
    else if (word_set_has(host->roles, "worker"))
        add_host(reading->arena, &reading->daemons, host);
    return STATUS_OK;
}

static bool has_share(const struct explain_around *around)
{
    for (size_t i = 0; i < around->queues_count; i++)
        if (around->queues[i].max_share > 0)
            return true;
    return false;
}

enum status explain_around_load(const struct service *service, struct store *store,
                                struct arena *arena, struct explain_around *out, struct err *err)
{
    struct explain_around around = {0};
    struct host_reading reading = {.service = service, .arena = arena};
    if (store_host_each(store, false, note_host, &reading, err) != STATUS_OK ||
        store_queue_list(store, arena, &around.queues, &around.queues_count, err) != STATUS_OK ||
        store_pool_list(store, arena, &around.pools, &around.pools_count, err) != STATUS_OK ||
        store_limit_list(store, arena, &around.limits, &around.limits_count, err) != STATUS_OK)
        return err_wrap(err, "look at hosts, queues and limits");
    around.hosts = reading.daemons.items;
    around.hosts_count = reading.daemons.count;
    around.foregrounds = reading.foregrounds.items;
    around.foregrounds_count = reading.foregrounds.count;
    around.has_scheduler = reading.has_scheduler;
    for (size_t i = 0; i < around.hosts_count && has_share(&around); i++)
        if (store_host_sharing(store, reading.daemons.ids[i], &around.hosts[i].sharing, err) !=
            STATUS_OK)
            return err_wrap(err, "look at hosts");
    *out = around;
    return STATUS_OK;
}

const struct queue_info *explain_around_queue(const struct explain_around *around, const char *name)
{
    for (size_t i = 0; i < around->queues_count; i++)
        if (str_equal(around->queues[i].name, name))
            return &around->queues[i];
    return NULL;
}
