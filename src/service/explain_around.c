#include "service/explain_around.h"

#include <string.h>

#include "base/str.h"
#include "model/word_set.h"
#include "store/host.h"
#include "store/overview.h"

struct host_reading {
    const struct service *service;
    struct arena *arena;
    struct explain_around *around;
    int64_t *ids; /* of the hosts kept */
    size_t capacity;
};

static void grow(struct host_reading *reading)
{
    struct explain_around *around = reading->around;
    if (around->hosts_count < reading->capacity)
        return;
    size_t capacity = MAX(2 * reading->capacity, (size_t)16);
    struct fleet_host *hosts = arena_array(reading->arena, capacity, sizeof *hosts);
    int64_t *ids = arena_array(reading->arena, capacity, sizeof *ids);
    if (around->hosts_count > 0) {
        memcpy(hosts, around->hosts, around->hosts_count * sizeof *hosts);
        memcpy(ids, reading->ids, around->hosts_count * sizeof *ids);
    }
    around->hosts = hosts;
    reading->ids = ids;
    reading->capacity = capacity;
}

static enum status note_host(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct host_reading *reading = context;
    struct explain_around *around = reading->around;
    if (!str_equal(host->kind, "daemon") || !service_host_lives(reading->service, host))
        return STATUS_OK;
    around->has_scheduler |= word_set_has(host->roles, "scheduler");
    if (!word_set_has(host->roles, "worker"))
        return STATUS_OK;
    grow(reading);
    reading->ids[around->hosts_count] = host->id;
    around->hosts[around->hosts_count++] = (struct fleet_host){
        .name = arena_strdup(reading->arena, host->name),
        .labels = arena_strdup(reading->arena, host->labels),
        .queues = arena_strdup(reading->arena, host->queues),
        .slots = host->slots,
        .holds = host->holds,
        .is_draining = host->draining,
    };
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
    struct host_reading reading = {.service = service, .arena = arena, .around = &around};
    if (store_host_each(store, false, note_host, &reading, err) != STATUS_OK ||
        store_queue_list(store, arena, &around.queues, &around.queues_count, err) != STATUS_OK ||
        store_pool_list(store, arena, &around.pools, &around.pools_count, err) != STATUS_OK ||
        store_limit_list(store, arena, &around.limits, &around.limits_count, err) != STATUS_OK)
        return err_wrap(err, "look at hosts, queues and limits");
    for (size_t i = 0; i < around.hosts_count && has_share(&around); i++)
        if (store_host_sharing(store, reading.ids[i], &around.hosts[i].sharing, err) != STATUS_OK)
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
