/*
 * membership: a worker as a host of the store: its lease, and what it leaves when it goes.
 *
 * Where there are only programs of this kind and no daemon, nobody else would take back what a dead
 * one held: a heartbeat that sees expired hosts sweeps. It does so only after it was heard for one
 * whole lease itself, so that a program which was cut off does not judge others by its own silence.
 */
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "library/handle_priv.h"
#include "model/limits.h"
#include "model/word_set.h"
#include "store/advance.h"
#include "store/host.h"
#include "store/repeat.h"

enum {
    LEASE_DEFAULT_MS = 30000,
    LEASE_LEAST_MS = 500,
    LEASE_MOST_MS = 86400000,
    BEATS_PER_LEASE = 3,
    MACHINE_MAX = 256,
    NAME_CHANCES = 10000,
    UNKNOWN_TRIES = 5,
};

/* --- coming ---------------------------------------------------------------------------------- */

struct twin {
    const struct host_request *wanted;
    int64_t id; /* 0: there is none */
};

static enum status note_twin(void *context, const struct host_info *info, struct err *err)
{
    (void)err;
    struct twin *twin = context;
    if (str_equal(info->name, twin->wanted->name) && info->pid == twin->wanted->pid &&
        str_equal(info->machine, twin->wanted->machine))
        twin->id = info->id;
    return STATUS_OK;
}

/* When the answer is lost, the living host of this name and process is the one that was asked for:
 * another one would have been a conflict. */
static enum status add_host(struct store *store, const struct host_request *request, int64_t *out,
                            struct err *err)
{
    for (int tries = 1;; tries++) {
        enum status status = store_host_add(store, request, out, err);
        struct twin twin = {.wanted = request};
        if (status != STATUS_UNKNOWN)
            return status;
        struct err problem = {0};
        if (store_host_each(store, false, note_twin, &twin, &problem) != STATUS_OK ||
            tries == UNKNOWN_TRIES)
            return err->code;
        if (twin.id != 0) {
            *out = twin.id;
            return STATUS_OK;
        }
    }
}

static enum status check_options(const struct eider_worker_options *options, struct err *err)
{
    if (options->name != NULL && strnlen(options->name, LIMIT_ID_BYTES + 1) > LIMIT_ID_BYTES)
        return err_set(err, STATUS_LIMIT, "the name has more than %d bytes", LIMIT_ID_BYTES);
    if (options->lease_ms != 0 &&
        (options->lease_ms < LEASE_LEAST_MS || options->lease_ms > LEASE_MOST_MS))
        return err_set(err, STATUS_INVALID, "a lease is from %d to %d ms", LEASE_LEAST_MS,
                       LEASE_MOST_MS);
    if (options->slots < 0)
        return err_set(err, STATUS_INVALID, "'slots' must not be negative");
    return STATUS_OK;
}

static void note_beat(struct eider *e, int64_t sent_us)
{
    e->next_beat_us = sent_us + e->lease_ms * 1000 / BEATS_PER_LEASE;
    if (e->healthy_us == 0)
        e->healthy_us = sent_us;
}

static enum status begin(struct eider *e, const struct eider_worker_options *options,
                         struct err *err)
{
    char machine[MACHINE_MAX] = "";
    (void)gethostname(machine, sizeof machine - 1);
    CLEANUP(mem_freep)
    char *own_name = mem_format("%s-%d-%d", machine, (int)getpid(), (int)rng_below(NAME_CHANCES));
    CLEANUP(mem_freep)
    char *labels = word_set_parse(options->labels != NULL ? options->labels : "");
    CLEANUP(mem_freep)
    char *queues = word_set_parse(options->queues != NULL ? options->queues : "");
    struct host_request request = {
        .name = options->name != NULL ? options->name : own_name,
        .kind = "client",
        .machine = machine,
        .version = EIDER_VERSION,
        .labels = labels,
        .queues = queues,
        .pid = getpid(),
        .slots = options->slots > 0 ? options->slots : 1,
        .lease_ms = options->lease_ms > 0 ? options->lease_ms : LEASE_DEFAULT_MS,
    };
    int64_t sent_us = clock_mono_us();
    if (add_host(e->store, &request, &e->host, err) != STATUS_OK)
        return err->code;
    e->labels = TAKE(labels);
    e->queues = TAKE(queues);
    e->lease_ms = request.lease_ms;
    e->is_worker = true;
    note_beat(e, sent_us);
    return STATUS_OK;
}

enum eider_status eider_worker_begin(struct eider *e, const struct eider_worker_options *options)
{
    static const struct eider_worker_options USUAL = {0};
    struct err err = {0};
    enum eider_status status = handle_check_open(e);
    if (status != EIDER_OK)
        return status;
    if (e->is_worker && !e->is_lost)
        return handle_refuse(e, EIDER_INVALID, "this is a worker already");
    handle_forget_worker(e);
    if (options == NULL)
        options = &USUAL;
    if (check_options(options, &err) != STATUS_OK || begin(e, options, &err) != STATUS_OK)
        return handle_failed(e, &err);
    return EIDER_OK;
}

/* --- living ---------------------------------------------------------------------------------- */

struct renewal {
    int64_t host;
    struct host_pulse *out;
};

static enum status renew_once(struct store *store, const void *context, struct err *err)
{
    const struct renewal *renewal = context;
    return store_host_renew(store, renewal->host, renewal->out, err);
}

/* What is not done, or fails, is done by the next heartbeat or by somebody else. */
static void sweep(struct eider *e)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct sweep_result result = {0};
    struct err ignored = {0};
    if (clock_mono_us() - e->healthy_us >= e->lease_ms * 1000)
        (void)!store_sweep(e->store, e->host, arena, &result, &ignored);
}

enum eider_status eider_heartbeat(struct eider *e)
{
    struct host_pulse pulse = {0};
    struct err err = {0};
    enum eider_status refused = handle_check_worker(e);
    if (refused != EIDER_OK)
        return refused;
    const struct renewal renewal = {e->host, &pulse};
    int64_t sent_us = clock_mono_us();
    enum status status = store_repeat(e->store, renew_once, &renewal, &err);
    for (int tries = 1; status == STATUS_UNKNOWN && tries < UNKNOWN_TRIES; tries++) {
        sent_us = clock_mono_us();
        status = store_repeat(e->store, renew_once, &renewal, &err);
    }
    if (status == STATUS_NOT_FOUND) {
        e->is_lost = true;
        return handle_refuse(e, EIDER_LOST, err.text);
    }
    if (status != STATUS_OK) {
        e->healthy_us = 0;
        return handle_failed(e, &err);
    }
    note_beat(e, sent_us);
    e->is_draining = pulse.draining;
    if (pulse.expired > 0)
        sweep(e);
    return EIDER_OK;
}

int64_t eider_heartbeat_due(const struct eider *e)
{
    if (!e->is_worker || e->is_lost)
        return -1;
    return MAX((e->next_beat_us - clock_mono_us() + 999) / 1000, (int64_t)0);
}

int eider_is_draining(const struct eider *e)
{
    return e->is_draining;
}

/* --- going ----------------------------------------------------------------------------------- */

struct return_call {
    int64_t host;
    struct arena *arena;
};

static enum status return_once(struct store *store, const void *context, struct err *err)
{
    const struct return_call *call = context;
    struct advance_result result = {0};
    struct claim *claims = NULL;
    size_t count = 0;
    if (store_held(store, call->host, call->arena, &claims, &count, err) != STATUS_OK)
        return err->code;
    if (count == 0)
        return STATUS_OK;
    struct outcome *outcomes = arena_array(call->arena, count, sizeof *outcomes);
    for (size_t i = 0; i < count; i++)
        outcomes[i] = (struct outcome){
            .task = claims[i].task,
            .run = claims[i].run,
            .attempt = claims[i].attempt,
            .nonce = claims[i].nonce,
            .kind = OUTCOME_RETURN,
        };
    struct advance_request request = {
        .host = call->host, .outcomes = outcomes, .outcomes_count = count};
    return store_advance(store, &request, call->arena, &result, err);
}

enum eider_status eider_worker_end(struct eider *e)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct err err = {0};
    enum eider_status refused = handle_check_worker(e);
    if (refused == EIDER_LOST) {
        handle_forget_worker(e);
        return EIDER_OK;
    }
    if (refused != EIDER_OK)
        return refused;
    const struct return_call call = {e->host, arena};
    enum status status = STATUS_UNKNOWN;
    for (int tries = 0; status == STATUS_UNKNOWN && tries < UNKNOWN_TRIES; tries++) {
        status = store_repeat(e->store, return_once, &call, &err);
        if (status == STATUS_OK)
            status = store_host_end(e->store, e->host, &err);
    }
    if (status != STATUS_OK)
        return handle_failed(e, &err);
    handle_forget_worker(e);
    return EIDER_OK;
}
