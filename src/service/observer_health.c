#include "base/clock.h"
#include "base/str.h"
#include "model/health.h"
#include "model/word_set.h"
#include "service/json_build.h"
#include "service/observer_priv.h"
#include "store/queue.h"

struct judging {
    const struct service *service;
    struct arena *arena;
    struct health_facts facts;
    int64_t heard_us; /* of the newest sign of a scheduler, wall clock */
    int64_t workers_target;
};

/* --- the fleet ------------------------------------------------------------------------------- */

static bool serves(const struct host_info *host, const struct census_head *head)
{
    return queue_is_among(host->queues, head->queue) &&
           word_set_is_part(head->labels, host->labels);
}

/* Whether living hosts take such work, and whether one of them has plenty of room for it. */
static void find_takers(const struct judging *judging, const struct census *census,
                        const struct census_head *head, bool *out_any, bool *out_free)
{
    *out_any = *out_free = false;
    for (size_t i = 0; i < census->hosts_count; i++) {
        const struct host_info *host = &census->hosts[i];
        if (host->draining || !serves(host, head) ||
            !observer_host_does(judging->service, host, "worker"))
            continue;
        *out_any = true;
        *out_free = *out_free || host->holds == 0 || host->holds * 2 < host->slots;
    }
}

static void judge_heads(struct judging *judging, const struct census *census)
{
    struct health_facts *facts = &judging->facts;
    for (size_t i = 0; i < census->heads_count; i++) {
        const struct census_head *head = &census->heads[i];
        bool has_taker = false;
        bool has_room = false;
        int64_t waited_ms = (census->now_us - head->since_us) / 1000;
        if (head->is_bounded)
            continue;
        find_takers(judging, census, head, &has_taker, &has_room);
        if (!has_taker && facts->workers > 0) {
            facts->lone_queue = arena_strdup(judging->arena, head->queue);
            facts->lone_labels = arena_strdup(judging->arena, head->labels);
        } else if (has_room && waited_ms > facts->stuck_ms) {
            facts->stuck_queue = arena_strdup(judging->arena, head->queue);
            facts->stuck_ms = waited_ms;
        }
    }
}

static void judge_fleet(void *context, const struct census *census)
{
    struct judging *judging = context;
    struct health_facts *facts = &judging->facts;
    if (census == NULL)
        return;
    for (size_t i = 0; i < census->queues_count; i++)
        facts->ready += census->queues[i].paused ? 0 : census->queues[i].ready;
    for (size_t i = 0; i < census->hosts_count; i++) {
        const struct host_info *host = &census->hosts[i];
        facts->workers += !host->draining && observer_host_does(judging->service, host, "worker");
        if (!observer_host_does(judging->service, host, "scheduler"))
            continue;
        facts->schedulers++;
        /* Without a lease its lock tells that it lives, now. */
        int64_t heard_us = host->lease_ms > 0 ? host->renewed_at_us : census->now_us;
        judging->heard_us = MAX(judging->heard_us, heard_us);
    }
    judging->workers_target = observer_target(judging->service, census);
    judge_heads(judging, census);
}

/* --- this process ---------------------------------------------------------------------------- */

static int64_t since_ms(int64_t at_us, int64_t now_us)
{
    return at_us != 0 ? (now_us - at_us) / 1000 : 0;
}

/* Between two turns it may sleep; a turn itself is short. */
static int64_t scheduler_late_ms(const struct observer_options *options, int64_t now_us)
{
    int64_t began_us = meters_sign_at(options->meters, SIGN_SCHEDULER_BEGAN);
    int64_t ended_us = meters_sign_at(options->meters, SIGN_SCHEDULER_TURN);
    if (!options->schedules)
        return 0;
    if (began_us != 0)
        return since_ms(began_us, now_us);
    return since_ms(ended_us, now_us) - settings_number(options->settings, SETTING_POLL);
}

static void judge_process(struct judging *judging)
{
    if (judging->service->observer == NULL)
        return;
    const struct observer_options *options = observer_options_of(judging->service->observer);
    int64_t now_us = clock_mono_us();
    judging->facts.scheduler_late_ms = scheduler_late_ms(options, now_us);
    judging->facts.commits_failing_ms =
        since_ms(meters_sign_at(options->meters, SIGN_COMMIT_FAILING), now_us);
    /* It says more than a lock that is held. */
    int64_t ended_us = meters_sign_at(options->meters, SIGN_SCHEDULER_TURN);
    bool is_alone = settings_number(options->settings, SETTING_POLL) > 0 &&
                    judging->facts.schedulers == 1 && ended_us != 0;
    if (is_alone)
        judging->heard_us = clock_wall_us() - (now_us - ended_us);
}

/* --- the answer ------------------------------------------------------------------------------ */

static const char *word(bool is_ok)
{
    return is_ok ? "healthy" : "unhealthy";
}

static json_t *checks_json(const struct health_check *checks)
{
    json_t *list = json_build_array();
    for (size_t i = 0; i < HEALTH_CHECKS; i++) {
        json_t *check = json_build_object();
        json_put_string(check, "name", checks[i].name);
        json_put_string(check, "state", checks[i].is_ok ? "success" : "failed");
        json_put_bool(check, "ok", checks[i].is_ok);
        json_put_string(check, "detail", checks[i].detail);
        json_put_string(check, "advice", checks[i].advice);
        json_build_append(list, check);
    }
    return list;
}

static json_t *answer(const struct judging *judging, bool is_healthy,
                      const struct health_check *checks)
{
    bool has_store = checks[0].is_ok && checks[1].is_ok;
    bool has_scheduler = judging->facts.database_error == NULL && checks[2].is_ok;
    json_t *health = json_build_object();
    json_t *database = json_build_object();
    json_t *scheduler = json_build_object();
    json_t *workers = json_build_object();
    json_put_string(database, "status", word(has_store));
    json_put_string(scheduler, "status", word(has_scheduler));
    json_put_instant(scheduler, "latest_heartbeat", judging->heard_us);
    json_put_instant(scheduler, "latest_scheduler_heartbeat", judging->heard_us);
    json_put_int(workers, "active", judging->facts.workers);
    json_put_int(workers, "target", judging->workers_target);
    json_put_string(health, "status", word(is_healthy));
    json_put_bool(health, "ok", is_healthy);
    json_put_string(health, "database", word(has_store));
    json_put(health, "metadatabase", database);
    json_put(health, "scheduler", scheduler);
    json_put(health, "workers", workers);
    json_put(health, "checks", checks_json(checks));
    return health;
}

json_t *observer_health(struct service *service)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct judging judging = {.service = service, .arena = arena};
    struct health_check checks[HEALTH_CHECKS];
    struct err err = {0};
    if (observer_look(service, judge_fleet, &judging, &err) != STATUS_OK)
        judging.facts.database_error = err.text;
    judge_process(&judging);
    bool is_healthy = health_judge(&judging.facts, arena, checks);
    return answer(&judging, is_healthy, checks);
}

static void ignore(void *context, const struct census *census)
{
    (void)context;
    (void)census;
}

bool observer_is_ready(struct service *service, struct err *why)
{
    if (!observer_is_up(service->observer)) {
        (void)err_set(why, STATUS_BUSY, "starting: DAG files are being read");
        return false;
    }
    return observer_look(service, ignore, NULL, why) == STATUS_OK;
}
