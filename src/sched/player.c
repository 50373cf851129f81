#include "sched/player.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "sched/duty.h"
#include "store/host.h"

enum { DUTIES_MAX = 32, ROUNDS_MAX = 1000000 };

static const int64_t POLL_US = 60000000;

static _Thread_local int64_t virtual_now_us;

int64_t player_clock(void)
{
    return virtual_now_us;
}

void player_clock_set(int64_t now_us)
{
    virtual_now_us = now_us;
}

/* An attempt that runs, or has ended and is not delivered yet. */
struct played {
    int64_t end_us;
    int64_t started_us;
    uint64_t order; /* of two that end at once the first started comes first */
    struct claim claim;
    struct player_fate fate;
};

/* Ordered as a heap: the first to end is first. */
struct played_list {
    struct played *items;
    size_t count;
    size_t capacity;
};

struct played_host {
    int64_t id; /* 0: dead */
    struct played_list running;
    int64_t next_renew_us;
    int64_t next_due_us; /* a retry of what it could claim; 0: none */
    bool looks;          /* there may be something to claim */
    bool asks_held;      /* an answer was lost */
};

struct player {
    struct player_options options;
    struct played_host *hosts;
    int64_t duties_us[2][DUTIES_MAX]; /* when each is due, per scheduler */
    bool is_news;                     /* for the schedulers */
    int64_t next_sweep_us;
    int64_t next_poll_us; /* schedulers look now and then, whatever they heard */
    uint64_t started;
};

/* --- what runs ------------------------------------------------------------------------------- */

static bool ends_before(const struct played *a, const struct played *b)
{
    return a->end_us != b->end_us ? a->end_us < b->end_us : a->order < b->order;
}

static void swap(struct played *a, struct played *b)
{
    struct played kept = *a;
    *a = *b;
    *b = kept;
}

static void played_push(struct played_list *list, const struct played *played)
{
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    size_t i = list->count++;
    list->items[i] = *played;
    for (; i > 0 && ends_before(&list->items[i], &list->items[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&list->items[i], &list->items[(i - 1) / 2]);
}

static struct played played_pop(struct played_list *list)
{
    CHECK(list->count > 0);
    struct played first = list->items[0];
    list->items[0] = list->items[--list->count];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < list->count; child++)
            if (ends_before(&list->items[child], &list->items[least]))
                least = child;
        if (least == i)
            return first;
        swap(&list->items[i], &list->items[least]);
        i = least;
    }
}

static bool is_running(const struct played_list *list, const struct claim *claim)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].claim.task == claim->task &&
            list->items[i].claim.attempt == claim->attempt)
            return true;
    return false;
}

static void start(struct player *player, struct played_host *host, const struct claim *claim)
{
    struct player_events *events = &player->options.events;
    struct played played = {
        .started_us = virtual_now_us,
        .order = player->started++,
        .claim = *claim,
        .fate = events->started(events->context, claim),
    };
    played.claim.job = NULL; /* its texts are gone with the answer */
    played.end_us = virtual_now_us + played.fate.takes_us;
    played_push(&host->running, &played);
}

/* --- a host's turn --------------------------------------------------------------------------- */

static struct outcome outcome_of(const struct played *played)
{
    const struct player_fate *fate = &played->fate;
    return (struct outcome){
        .task = played->claim.task,
        .run = played->claim.run,
        .attempt = played->claim.attempt,
        .nonce = played->claim.nonce,
        .kind = fate->kind,
        .end = fate->end,
        .instances = fate->instances,
        .wait = fate->wait,
        .is_choice = fate->is_choice,
        .chosen = fate->chosen,
        .chosen_count = fate->chosen_count,
        .started_at_us = played->started_us,
        .ended_at_us = played->end_us,
    };
}

/* What ended by now leaves the host and is told; if nobody hears it, it is put back. */
struct delivery {
    struct arena *arena;
    struct played_list ended;
    struct outcome *outcomes;
    struct advance_result result;
};

static void collect(struct played_host *host, struct delivery *out)
{
    struct played_list *running = &host->running;
    while (running->count > 0 && running->items[0].end_us <= virtual_now_us) {
        struct played played = played_pop(running);
        out->ended.items = mem_grow(out->ended.items, &out->ended.capacity, out->ended.count,
                                    sizeof *out->ended.items);
        out->ended.items[out->ended.count++] = played;
    }
    out->outcomes = arena_array(out->arena, out->ended.count, sizeof *out->outcomes);
    for (size_t i = 0; i < out->ended.count; i++)
        out->outcomes[i] = outcome_of(&out->ended.items[i]);
}

static void put_back(struct played_host *host, const struct delivery *delivery)
{
    for (size_t i = 0; i < delivery->ended.count; i++)
        played_push(&host->running, &delivery->ended.items[i]);
}

static void take_answer(struct player *player, struct played_host *host,
                        const struct delivery *delivery)
{
    const struct player_events *events = &player->options.events;
    const struct advance_result *result = &delivery->result;
    for (size_t i = 0; i < delivery->ended.count && events->ended != NULL; i++)
        events->ended(events->context, &delivery->ended.items[i].claim, result->accepted[i]);
    for (size_t i = 0; i < result->claims_count; i++)
        start(player, host, &result->claims[i]);
    for (size_t i = 0; i < result->runs_count && events->run_ended != NULL; i++)
        events->run_ended(events->context, &result->runs[i]);
    player->is_news |= result->runs_count > 0;
    host->next_due_us = result->next_due_us;
    /* Others may be able to take what this one freed and had no room for. */
    for (size_t i = 0; i < player->options.hosts; i++)
        player->hosts[i].looks |= result->changes_count > 0;
    host->looks = result->claims_count > 0;
}

/* What the store thinks it holds, after an answer was lost. */
static enum status look_at_held(struct player *player, struct played_host *host,
                                struct arena *arena, struct err *err)
{
    struct claim *held = NULL;
    size_t count = 0;
    if (store_held(player->options.store, host->id, arena, &held, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (!is_running(&host->running, &held[i]))
            start(player, host, &held[i]);
    host->asks_held = false;
    return STATUS_OK;
}

static enum status call_store(struct player *player, size_t index, struct delivery *delivery,
                              struct err *err)
{
    struct played_host *host = &player->hosts[index];
    const struct player_events *events = &player->options.events;
    if (host->asks_held && look_at_held(player, host, delivery->arena, err) != STATUS_OK)
        return err->code;
    collect(host, delivery);
    int64_t room = MAX(player->options.slots - (int64_t)host->running.count, (int64_t)0);
    const struct advance_request request = {
        .labels = player->options.labels,
        .host = host->id,
        .process_slots = room,
        .inline_slots = room,
        .outcomes = delivery->outcomes,
        .outcomes_count = delivery->ended.count,
    };
    if (store_advance(player->options.store, &request, delivery->arena, &delivery->result, err) !=
        STATUS_OK)
        return err->code;
    host->asks_held = events->loses_answer != NULL && events->loses_answer(events->context, index);
    return STATUS_OK;
}

static enum status host_turn(struct player *player, size_t index, struct err *err)
{
    struct played_host *host = &player->hosts[index];
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct delivery delivery = {.arena = arena};
    host->looks = false;
    enum status status = call_store(player, index, &delivery, err);
    if (status == STATUS_OK && !host->asks_held)
        take_answer(player, host, &delivery);
    else
        put_back(host, &delivery);
    /* The store tells everybody of what was carried out, whoever hears the answer. */
    host->looks |= status == STATUS_OK && host->asks_held;
    player->is_news |= status == STATUS_OK && host->asks_held;
    free(delivery.ended.items);
    return status;
}

static bool has_something_to_do(const struct played_host *host)
{
    const struct played_list *running = &host->running;
    bool is_ended = running->count > 0 && running->items[0].end_us <= virtual_now_us;
    bool is_due = host->next_due_us != 0 && host->next_due_us <= virtual_now_us;
    return host->id != 0 && (host->looks || is_ended || is_due);
}

/* Until nobody has anything to do at this instant. */
static enum status play_hosts(struct player *player, struct err *err)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        bool any = false;
        for (size_t i = 0; i < player->options.hosts; i++) {
            if (!has_something_to_do(&player->hosts[i]))
                continue;
            any = true;
            if (host_turn(player, i, err) != STATUS_OK)
                return err->code;
        }
        if (!any)
            return STATUS_OK;
    }
    return err_set(err, STATUS_CORRUPT, "the hosts never come to rest at one instant");
}

/* --- schedulers ------------------------------------------------------------------------------ */

struct played_turn {
    struct store *store;
    int64_t *due_us; /* of each duty */
    bool is_woken;
    struct store_glance room;
    const struct store_glance *glance; /* void once a duty did something */
};

static enum status do_duty(struct player *player, struct played_turn *turn, size_t index,
                           struct err *err)
{
    int64_t *due_us = &turn->due_us[index];
    bool woken = turn->is_woken;
    for (int round = 0; woken || *due_us <= virtual_now_us; round++) {
        const struct duty_call call = {.store = turn->store,
                                       .now_us = virtual_now_us,
                                       .due_us = *due_us,
                                       .glance = woken ? turn->glance : NULL};
        struct duty_result result = {.next_us = DUTY_NEVER};
        if (round == ROUNDS_MAX)
            return err_set(err, STATUS_CORRUPT, "the duty '%s' never ends", DUTIES[index].name);
        if (DUTIES[index].run(&call, &result, err) != STATUS_OK)
            return err_wrap(err, "%s", DUTIES[index].name);
        if (!result.was_idle)
            turn->glance = NULL;
        bool has_more = result.next_us <= virtual_now_us;
        int64_t least_us = virtual_now_us + player->options.grain_us;
        *due_us = has_more ? result.next_us : MAX(result.next_us, least_us);
        woken = false;
        player->is_news |= result.changed;
        for (size_t i = 0; i < player->options.hosts && result.changed; i++)
            player->hosts[i].looks = true;
    }
    return STATUS_OK;
}

static enum status play_schedulers(struct player *player, struct err *err)
{
    bool is_news = player->is_news;
    player->is_news = false;
    for (size_t scheduler = 0; scheduler < (player->options.twin != NULL ? 2 : 1); scheduler++) {
        struct played_turn turn = {
            .store = scheduler == 0 ? player->options.store : player->options.twin,
            .due_us = player->duties_us[scheduler],
            .is_woken = is_news,
        };
        turn.glance = is_news ? duties_glance(turn.store, &turn.room) : NULL;
        for (size_t i = 0; i < DUTIES_COUNT; i++)
            if (do_duty(player, &turn, i, err) != STATUS_OK)
                return err->code;
    }
    return STATUS_OK;
}

/* --- leases ---------------------------------------------------------------------------------- */

static enum status renew(struct player *player, struct played_host *host, struct err *err)
{
    struct host_pulse pulse;
    host->next_renew_us = virtual_now_us + player->options.renew_ms * 1000;
    enum status status = store_host_renew(player->options.store, host->id, &pulse, err);
    if (status == STATUS_NOT_FOUND) {
        /* A sweep was faster: everything it ran is somebody else's by now. */
        player_kill_host(player, (size_t)(host - player->hosts));
        return STATUS_OK;
    }
    return status;
}

static enum status sweep(struct player *player, int64_t self, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct sweep_result result = {.more = true};
    player->next_sweep_us = virtual_now_us + player->options.sweep_ms * 1000;
    while (result.more)
        if (store_sweep(player->options.store, self, arena, &result, err) != STATUS_OK)
            return err->code;
    for (size_t i = 0; i < player->options.hosts && result.tasks > 0; i++)
        player->hosts[i].looks = true;
    player->is_news |= result.tasks > 0;
    return STATUS_OK;
}

static enum status play_leases(struct player *player, struct err *err)
{
    int64_t living = 0;
    for (size_t i = 0; i < player->options.hosts; i++) {
        struct played_host *host = &player->hosts[i];
        if (host->id != 0 && host->next_renew_us <= virtual_now_us &&
            renew(player, host, err) != STATUS_OK)
            return err->code;
        living = living != 0 ? living : host->id;
    }
    if (living != 0 && player->next_sweep_us <= virtual_now_us)
        return sweep(player, living, err);
    return STATUS_OK;
}

/* --- time ------------------------------------------------------------------------------------ */

static int64_t next_instant(const struct player *player)
{
    int64_t next_us = player->next_poll_us;
    for (size_t i = 0; i < player->options.hosts; i++) {
        const struct played_host *host = &player->hosts[i];
        if (host->id == 0)
            continue;
        if (host->running.count > 0)
            next_us = MIN(next_us, host->running.items[0].end_us);
        if (host->next_due_us != 0)
            next_us = MIN(next_us, host->next_due_us);
        if (player->options.lease_ms > 0)
            next_us = MIN(next_us, host->next_renew_us);
    }
    if (player->options.lease_ms > 0)
        next_us = MIN(next_us, player->next_sweep_us);
    for (size_t scheduler = 0; scheduler < (player->options.twin != NULL ? 2 : 1); scheduler++)
        for (size_t i = 0; i < DUTIES_COUNT; i++)
            next_us = MIN(next_us, player->duties_us[scheduler][i]);
    return next_us;
}

enum status player_step(struct player *player, int64_t until_us, struct err *err)
{
    if (player->options.lease_ms > 0 && play_leases(player, err) != STATUS_OK)
        return err->code;
    if (player->next_poll_us <= virtual_now_us) {
        player->next_poll_us = virtual_now_us + POLL_US;
        player->is_news = true;
    }
    do {
        if (play_schedulers(player, err) != STATUS_OK || play_hosts(player, err) != STATUS_OK)
            return err->code;
    } while (player->is_news);
    int64_t next_us = MIN(next_instant(player), until_us);
    virtual_now_us = MAX(next_us, virtual_now_us + 1);
    return STATUS_OK;
}

enum status player_run(struct player *player, int64_t until_us, struct err *err)
{
    while (virtual_now_us < until_us)
        if (player_step(player, until_us, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

size_t player_load(const struct player *player)
{
    size_t load = 0;
    for (size_t i = 0; i < player->options.hosts; i++)
        load += player->hosts[i].running.count;
    return load;
}

/* --- the whole ------------------------------------------------------------------------------- */

void player_kill_host(struct player *player, size_t host)
{
    struct played_host *victim = &player->hosts[host];
    free(victim->running.items);
    *victim = (struct played_host){0};
}

enum status player_start_host(struct player *player, size_t host, struct err *err)
{
    struct played_host *fresh = &player->hosts[host];
    CHECK(fresh->id == 0);
    char name[32];
    (void)snprintf(name, sizeof name, "played-%zu-%llu", host, (unsigned long long)player->started);
    const struct host_request request = {
        .name = name,
        .kind = "client",
        .machine = "",
        .version = "",
        .roles = "worker",
        .labels = player->options.labels != NULL ? player->options.labels : "",
        .queues = "",
        .boot = "",
        .slots = player->options.slots,
        .lease_ms = player->options.lease_ms,
    };
    player->started++;
    if (store_host_add(player->options.store, &request, &fresh->id, err) != STATUS_OK)
        return err->code;
    fresh->looks = true;
    fresh->next_renew_us = virtual_now_us + player->options.renew_ms * 1000;
    return STATUS_OK;
}

enum status player_new(const struct player_options *options, struct player **out, struct err *err)
{
    CHECK(DUTIES_COUNT <= DUTIES_MAX);
    CHECK(options->events.started != NULL);
    CLEANUP(player_freep) struct player *player = mem_zalloc(1, sizeof *player);
    player->options = *options;
    player->hosts = mem_zalloc(options->hosts, sizeof *player->hosts);
    player->is_news = true;
    player->next_sweep_us = virtual_now_us + options->sweep_ms * 1000;
    for (size_t i = 0; i < options->hosts; i++)
        if (player_start_host(player, i, err) != STATUS_OK)
            return err->code;
    *out = TAKE(player);
    return STATUS_OK;
}

void player_free(struct player *player)
{
    if (player == NULL)
        return;
    for (size_t i = 0; i < player->options.hosts; i++)
        free(player->hosts[i].running.items);
    free(player->hosts);
    free(player);
}
