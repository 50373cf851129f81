#include "base/mem.h"
#include "base/str.h"
#include "model/word_set.h"
#include "service/observer_priv.h"

bool observer_host_does(const struct service *service, const struct host_info *host,
                        const char *role)
{
    return str_equal(host->kind, "daemon") && word_set_has(host->roles, role) &&
           service_host_lives(service, host);
}

/* What of a queue can use a slot now: nothing beyond its bound, of a paused one what runs. */
static int64_t demand_of(const struct census_queue *queue)
{
    int64_t demand = queue->running + (queue->paused ? 0 : queue->ready);
    int64_t bound = MAX(queue->max_running, queue->running);
    return queue->max_running > 0 ? MIN(demand, bound) : demand;
}

int64_t observer_target(const struct service *service, const struct census *census)
{
    int64_t demand = 0;
    int64_t hosts = 0;
    int64_t slots = 0;
    for (size_t i = 0; i < census->queues_count; i++)
        demand += demand_of(&census->queues[i]);
    for (size_t i = 0; i < census->hosts_count; i++) {
        const struct host_info *host = &census->hosts[i];
        bool counts = !host->draining && observer_host_does(service, host, "worker");
        hosts += counts;
        slots += counts ? host->slots : 0;
    }
    int64_t each = hosts > 0 ? slots / hosts : settings_number(service->settings, SETTING_SLOTS);
    each = MAX(each, (int64_t)1);
    return demand / each + (demand % each != 0);
}

/* --- samples --------------------------------------------------------------------------------- */

struct sampling {
    const struct service *service;
    struct metric_samples *out;
};

static void put(const struct sampling *sampling, enum metric metric, int64_t value,
                const char *label)
{
    metric_samples_add(sampling->out, metric, (double)value, label, NULL);
}

static void put_queues(const struct sampling *sampling, const struct census *census)
{
    int64_t jobs = 0;
    for (size_t i = 0; i < census->queues_count; i++) {
        const struct census_queue *queue = &census->queues[i];
        int64_t waited_us = queue->head_us != 0 ? census->now_us - queue->head_us : 0;
        put(sampling, METRIC_QUEUE_DEPTH, queue->ready + queue->delayed, queue->name);
        put(sampling, METRIC_QUEUE_READY, queue->ready, queue->name);
        metric_samples_add(sampling->out, METRIC_QUEUE_OLDEST,
                           (double)MAX(waited_us, (int64_t)0) / 1e6, queue->name, NULL);
        jobs += queue->jobs + queue->delayed;
    }
    put(sampling, METRIC_JOBS_PENDING, jobs, NULL);
    put(sampling, METRIC_JOBS_CLAIMED, census->jobs_claimed, NULL);
}

static void put_pools(const struct sampling *sampling, const struct census *census)
{
    int64_t starving = 0;
    for (size_t i = 0; i < census->pools_count; i++) {
        const struct pool_info *pool = &census->pools[i];
        CLEANUP(mem_freep)
        char *name = str_equal(pool->namespace_, "default")
                         ? mem_strdup(pool->name)
                         : mem_format("%s/%s", pool->namespace_, pool->name);
        int64_t open = MAX(pool->slots - pool->occupied, (int64_t)0);
        metric_samples_add(sampling->out, METRIC_POOL_SLOTS, (double)open, name, "open");
        metric_samples_add(sampling->out, METRIC_POOL_SLOTS, (double)pool->occupied, name,
                           "occupied");
        metric_samples_add(sampling->out, METRIC_POOL_SLOTS, (double)pool->queued, name, "queued");
        starving += pool->waiting;
    }
    put(sampling, METRIC_TASKS_STARVING, starving, NULL);
}

static void put_hosts(const struct sampling *sampling, const struct census *census)
{
    for (size_t i = 0; i < census->hosts_count; i++) {
        const struct host_info *host = &census->hosts[i];
        if (!str_equal(host->kind, "daemon") || !service_host_lives(sampling->service, host))
            continue;
        int64_t lag_us = host->lease_ms > 0 ? census->now_us - host->renewed_at_us : 0;
        metric_samples_add(sampling->out, METRIC_HEARTBEAT_LAG,
                           (double)MAX(lag_us, (int64_t)0) / 1e6, host->name, NULL);
        put(sampling, METRIC_WORKER_ACTIVE_TASKS, host->holds, host->name);
        put(sampling, METRIC_WORKER_SLOTS, host->slots, host->name);
    }
    put(sampling, METRIC_WORKERS_TARGET, observer_target(sampling->service, census), NULL);
}

static void put_store(void *context, const struct census *census)
{
    const struct sampling *sampling = context;
    static const struct census NOTHING;
    census = census != NULL ? census : &NOTHING;
    put(sampling, METRIC_DAG_RUNS_ACTIVE, census->runs_queued, "queued");
    put(sampling, METRIC_DAG_RUNS_ACTIVE, census->runs_running, "running");
    put(sampling, METRIC_DEAD_LETTERS, census->dead, NULL);
    put(sampling, METRIC_LEADER_CHANGES, census->leaders_ended, NULL);
    put_queues(sampling, census);
    put_pools(sampling, census);
    put_hosts(sampling, census);
}

enum status observer_samples(struct service *service, struct metric_samples *out, struct err *err)
{
    struct sampling sampling = {.service = service, .out = out};
    if (service->observer != NULL)
        meters_collect(observer_options_of(service->observer)->meters, out);
    return observer_look(service, put_store, &sampling, err);
}

/* A store that does not answer takes only its own part away. */
enum status observer_text(struct service *service, struct strbuf *out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct metric_samples samples = {.arena = arena};
    struct err ignored = {0};
    if (observer_samples(service, &samples, service->observer != NULL ? &ignored : err) !=
            STATUS_OK &&
        service->observer == NULL)
        return err->code;
    metric_text(&samples, out);
    return STATUS_OK;
}
