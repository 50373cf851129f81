#pragma once
/*
 * stress_world: what the processes of a stress test work on, and what they share while they do:
 * a clock that they move, what was acknowledged to them, and the first complaint.
 */
#include <stdarg.h>
#include <stdatomic.h>

#include "store_bench.h"

enum { RUNS_MAX = 60, JOBS_MAX = 800, BUSY_MAX = 60 };

/* --- the DAGs and queues --------------------------------------------------------------------- */

/* The limits that the observer knows of; 0: none. */
static const struct subject {
    const char *json;
    int64_t most_active;   /* of a run */
    int64_t most_parallel; /* instances of a task */
} SUBJECTS[] = {
    {"{\"dag\": \"plain\", \"tasks\": {\"a\": {\"run\": \"x\"},"
     " \"b\": {\"run\": \"x\", \"needs\": [\"a\"], \"retries\": 2, \"retry_delay\": 1},"
     " \"c\": {\"noop\": null, \"needs\": [\"a\"]},"
     " \"d\": {\"run\": \"x\", \"needs\": [\"b\", \"c\"], \"trigger_rule\": \"all_done\"}},"
     " \"finally\": {\"f\": {\"run\": \"x\"}}}",
     0, 0},
    {"{\"dag\": \"active\", \"max_active_tasks\": 2, \"tasks\": {"
     "\"a\": {\"run\": \"x\", \"retries\": 2, \"retry_delay\": 1},"
     " \"b\": {\"run\": \"x\", \"queue\": \"strict\"}, \"c\": {\"run\": \"x\"},"
     " \"d\": {\"run\": \"x\", \"priority\": 2}, \"e\": {\"noop\": null},"
     " \"z\": {\"run\": \"x\", \"needs\": [\"a\", \"b\", \"c\", \"d\", \"e\"],"
     " \"trigger_rule\": \"all_done\"}}}",
     2, 0},
    {"{\"dag\": \"parallel\", \"tasks\": {\"a\": {\"run\": \"x\"},"
     " \"m\": {\"run\": \"x\", \"foreach\": [1], \"max_parallel\": 2, \"needs\": [\"a\"],"
     " \"retries\": 1, \"retry_delay\": 1},"
     " \"z\": {\"run\": \"x\", \"needs\": [\"m\"], \"trigger_rule\": \"all_done\"}}}",
     0, 2},
    {"{\"dag\": \"choice\", \"tasks\": {\"s\": {\"short_circuit\": \"{{ true }}\"},"
     " \"l\": {\"run\": \"x\", \"needs\": [\"s\"], \"queue\": \"moving\"},"
     " \"r\": {\"run\": \"x\", \"needs\": [\"s\"]},"
     " \"z\": {\"run\": \"x\", \"needs\": [\"l\", \"r\"], \"trigger_rule\": \"all_done\"}}}",
     0, 0},
    {"{\"dag\": \"both\", \"max_active_tasks\": 3, \"tasks\": {"
     "\"m\": {\"run\": \"x\", \"foreach\": [1], \"max_parallel\": 2, \"fail_fast\": true,"
     " \"retries\": 1, \"retry_delay\": 1},"
     " \"n\": {\"run\": \"x\", \"foreach\": [1], \"queue\": \"strict\"},"
     " \"z\": {\"run\": \"x\", \"needs\": [\"m\", \"n\"], \"trigger_rule\": \"all_done\"}}}",
     3, 2},
    /* Node 0 needs two slots, node 1 and instances of node 2 one each. */
    {"{\"dag\": \"pooled\", \"namespace\": \"capped\", \"tasks\": {"
     "\"a\": {\"run\": \"x\", \"pool\": \"fixed\", \"slots\": 2, \"retries\": 1,"
     " \"retry_delay\": 1},"
     " \"b\": {\"run\": \"x\", \"pool\": \"fixed\", \"priority\": 1, \"queue\": \"moving\"},"
     " \"m\": {\"run\": \"x\", \"foreach\": [1], \"pool\": \"shifting\"},"
     " \"z\": {\"noop\": null, \"needs\": [\"a\", \"b\", \"m\"],"
     " \"trigger_rule\": \"all_done\"}}}",
     0, 0},
    {"{\"dag\": \"shared\", \"max_active_tasks\": 2, \"tasks\": {"
     "\"a\": {\"run\": \"x\", \"pool\": \"fixed\", \"slots\": 2, \"weight_rule\": \"downstream\"},"
     " \"b\": {\"noop\": null, \"pool\": \"fixed\"},"
     " \"c\": {\"run\": \"x\", \"pool\": \"shifting\", \"slots\": 2},"
     " \"d\": {\"run\": \"x\", \"pool\": \"shifting\", \"needs\": [\"a\"],"
     " \"trigger_rule\": \"all_done\"}}}",
     2, 0},
};

/* `shifting` is made larger and smaller all the time. */
static const struct {
    const char *name;
    int64_t least, most;
} POOLS[] = {{"fixed", 3, 3}, {"shifting", 2, 5}};

/* Of the namespace `capped`. */
enum { CAP_LEAST = 2, CAP_MOST = 4 };

/* `moving` has its bound changed all the time; no more than the largest may ever run. */
static const struct {
    const char *name;
    int64_t least, most;
} QUEUES[] = {{"default", 0, 0}, {"strict", 2, 2}, {"moving", 1, 3}};

/* --- what the processes share ---------------------------------------------------------------- */

struct world {
    _Atomic int64_t now_us;
    _Atomic bool is_over;
    _Atomic int64_t runs[RUNS_MAX];
    _Atomic int runs_count;
    struct {
        _Atomic int64_t id;
        int key; /* -1: none */
    } jobs[JOBS_MAX];
    _Atomic int jobs_count;
    _Atomic int calls;
    _Atomic int looks;
    _Atomic bool is_broken;
    char why[1024];
};

static struct world *world;
static struct db_bench place;
static char worker_url[640];
static int64_t versions[ARRAY_LEN(SUBJECTS)];
static uint64_t seed;
static uint64_t chance;

static inline int64_t shared_clock(void)
{
    return atomic_fetch_add(&world->now_us, 1);
}

static inline unsigned draw(unsigned bound)
{
    chance += 0x9E3779B97F4A7C15U;
    uint64_t x = chance;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return (unsigned)((x ^ (x >> 31)) >> 16) % bound;
}

static inline bool one_in(unsigned bound)
{
    return draw(bound) == 0;
}

/* From a child: the first complaint is kept, and the child ends. */
static inline _Noreturn void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline _Noreturn void complain(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!atomic_exchange(&world->is_broken, true))
        (void)vsnprintf(world->why, sizeof world->why, fmt, args);
    va_end(args);
    atomic_store(&world->is_over, true);
    _exit(1);
}

static inline struct store *open_store(const char *url)
{
    struct err err = {0};
    struct store *store = NULL;
    struct store_options options = {.url = url, .mode = DB_READ_WRITE, .now_us = shared_clock};
    for (int tries = 0; tries < BUSY_MAX; tries++)
        if (store_open(&options, &store, &err) == STATUS_OK)
            return store;
    complain("open: %s", err.text);
}
