/*
 * Several processes on one store, all at once: hosts that claim and finish, producers, people who
 * cancel, clear, mark and retry, queues that are paused and bounded, leases that run out, sweeps,
 * processes killed in the middle of a call and connections that break.
 *
 * An observer looks at one state of the database after another: every rule between the tables and
 * every limit must hold in each. At the end one host works off what is left, and everything must
 * have ended, once. A failure names its seed: EIDER_STRESS_SEED=n runs that one alone,
 * EIDER_STRESS_SEEDS=n runs more of them. A seed decides what each process does, not how the
 * processes meet.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "model/event_kind.h"
#include "store/host.h"
#include "store/job.h"
#include "store/limit.h"
#include "store/pool.h"
#include "store/queue.h"
#include "store/task_cancel.h"
#include "stress_world.h"

enum {
    SEEDS = 3,
    LASTS_MS = 2000,
    GRACE_MS = 30000, /* for calls under way when the time is over */
    WORKERS_MAX = 6,
    HELD_MAX = 64,
    STALE_MAX = 16,
    KEYS = 120,
    BATCH_MAX = 8,
    LEASE_MS = 5000,
    ROUNDS_MAX = 3000,
    NODES_MAX = 64, /* more than any DAG here has */
};

/* --- a worker -------------------------------------------------------------------------------- */

struct worker {
    struct store *store;
    struct arena *arena;
    int index;
    int64_t host;
    struct claim held[HELD_MAX];
    size_t held_count;
    struct outcome stale[STALE_MAX]; /* accepted or lost before: never accepted again */
    size_t stale_count;
    int busy; /* in a row */
};

/* Nothing happened, or nobody can say: both are definite answers, but must not go on for ever. */
static bool is_trouble(struct worker *self, enum status status, const struct err *err)
{
    bool trouble =
        status == STATUS_BUSY || status == STATUS_UNREACHABLE || status == STATUS_UNKNOWN;
    self->busy = trouble ? self->busy + 1 : 0;
    if (self->busy > BUSY_MAX)
        complain("worker %d is told all the time: %s", self->index, err->text);
    return trouble;
}

/* For calls that people make: what they ask for may be out of date. */
static void expect_answer(struct worker *self, const char *what, enum status status,
                          const struct err *err)
{
    bool is_fine =
        status == STATUS_OK || status == STATUS_CONFLICT || is_trouble(self, status, err);
    if (!is_fine)
        complain("%s: %s (%s)", what, status_text(status), err->text);
}

static void join_fleet(struct worker *self)
{
    static int joined;
    char name[64];
    (void)snprintf(name, sizeof name, "w%d-%d-%d", self->index, (int)getpid(), joined++);
    struct host_request request = {.name = name, .kind = "daemon", .lease_ms = LEASE_MS};
    struct err err = {0};
    enum status status = STATUS_OK;
    do
        status = store_host_add(self->store, &request, &self->host, &err);
    while (is_trouble(self, status, &err));
    if (status != STATUS_OK)
        complain("add a host: %s", err.text);
}

static void keep_stale(struct worker *self, const struct outcome *outcome)
{
    struct outcome *place_of = &self->stale[draw(STALE_MAX)];
    if (self->stale_count < STALE_MAX)
        place_of = &self->stale[self->stale_count++];
    *place_of = *outcome;
    place_of->chosen = NULL;
    place_of->chosen_count = 0;
}

static struct outcome play(struct worker *self, const struct claim *claim)
{
    struct outcome outcome = bench_outcome(claim, one_in(6));
    struct err err = {0};
    const struct dag *dag = NULL;
    if (one_in(20))
        outcome.kind = one_in(2) ? OUTCOME_RETURN : OUTCOME_LOST;
    if (claim->run == 0 || outcome.kind != OUTCOME_END)
        return outcome;
    struct run_info run;
    enum status status = STATUS_OK;
    do
        status = store_run_load(self->store, self->arena, claim->run, &run, &err);
    while (is_trouble(self, status, &err));
    if (status != STATUS_OK)
        complain("run %lld: %s", (long long)claim->run, err.text);
    do
        status = store_version_dag(self->store, run.version, &dag, &err);
    while (is_trouble(self, status, &err));
    if (status != STATUS_OK)
        complain("version: %s", err.text);
    const struct task_def *def = &dag->tasks[claim->node];
    if (claim->map_index < 0 && task_def_is_mapped(def)) {
        outcome.instances = draw(6);
        outcome.kind = outcome.instances > 0 ? OUTCOME_EXPAND : OUTCOME_END;
        outcome.end = (struct attempt_end){.reason = REASON_EMPTY, .result = TASK_SKIPPED};
    } else if (def->kind == KIND_SHORT_CIRCUIT) {
        outcome.is_choice = true;
        outcome.chosen = def->dependants.items;
        outcome.chosen_count = draw((unsigned)def->dependants.count + 1);
    }
    return outcome;
}

/* After an answer that was lost, the store tells what is held. */
static void ask_held(struct worker *self)
{
    struct err err = {0};
    struct claim *claims = NULL;
    size_t count = 0;
    enum status status = STATUS_OK;
    do
        status = store_held(self->store, self->host, self->arena, &claims, &count, &err);
    while (is_trouble(self, status, &err));
    if (status != STATUS_OK)
        complain("held: %s", err.text);
    self->held_count = MIN(count, (size_t)HELD_MAX);
    for (size_t i = 0; i < self->held_count; i++)
        self->held[i] = claims[i];
}

struct delivery {
    struct outcome outcomes[HELD_MAX + 2];
    size_t count;  /* with those that must not be accepted */
    size_t honest; /* without */
};

static void choose_outcomes(struct worker *self, struct delivery *out)
{
    *out = (struct delivery){0};
    while (self->held_count > 0 && out->count < HELD_MAX && !one_in(4)) {
        size_t pick = draw((unsigned)self->held_count);
        out->outcomes[out->count++] = play(self, &self->held[pick]);
        self->held[pick] = self->held[--self->held_count];
    }
    out->honest = out->count;
    if (self->stale_count > 0 && one_in(3))
        out->outcomes[out->count++] = self->stale[draw((unsigned)self->stale_count)];
    if (self->held_count > 0 && one_in(8)) {
        struct outcome wrong = bench_outcome(&self->held[0], 0);
        wrong.nonce.bytes[draw(sizeof wrong.nonce.bytes)] ^= 1;
        out->outcomes[out->count++] = wrong;
    }
}

static void advance(struct worker *self)
{
    struct err err = {0};
    struct advance_result result = {0};
    struct delivery delivery;
    choose_outcomes(self, &delivery);
    int64_t room = HELD_MAX - (int64_t)self->held_count;
    struct advance_request request = {
        .host = self->host,
        .process_slots = MIN((int64_t)draw(7), room / 2),
        .inline_slots = MIN((int64_t)draw(4), room / 2),
        .outcomes = delivery.outcomes,
        .outcomes_count = delivery.count,
    };
    bool unknown = false;
    enum status status = STATUS_OK;
    do {
        status = store_advance(self->store, &request, self->arena, &result, &err);
        unknown |= status == STATUS_UNKNOWN;
    } while (is_trouble(self, status, &err));
    if (status != STATUS_OK)
        complain("advance: %s", err.text);
    for (size_t i = 0; i < delivery.count; i++) {
        if (i >= delivery.honest && result.accepted[i])
            complain("an outcome of task %lld attempt %lld was accepted though it is not current",
                     (long long)delivery.outcomes[i].task, (long long)delivery.outcomes[i].attempt);
        if (i < delivery.honest)
            keep_stale(self, &delivery.outcomes[i]);
    }
    for (size_t i = 0; i < result.claims_count; i++)
        self->held[self->held_count++] = result.claims[i];
    if (unknown)
        ask_held(self);
}

static void renew(struct worker *self)
{
    struct err err = {0};
    struct host_pulse pulse;
    enum status status = store_host_renew(self->store, self->host, &pulse, &err);
    if (status == STATUS_NOT_FOUND) {
        self->held_count = 0;
        join_fleet(self);
    } else if (status != STATUS_OK && !is_trouble(self, status, &err)) {
        complain("renew: %s", err.text);
    }
}

static void sweep(struct worker *self)
{
    struct err err = {0};
    struct sweep_result result;
    enum status status = store_sweep(self->store, self->host, self->arena, &result, &err);
    if (status != STATUS_OK && !is_trouble(self, status, &err))
        complain("sweep: %s", err.text);
}

/* --- producers ------------------------------------------------------------------------------- */

static void make_job(struct job_request *out, int *out_key, char key[static 16])
{
    *out_key = one_in(2) ? (int)draw(KEYS) : -1;
    (void)snprintf(key, 16, "key-%d", *out_key);
    *out = (struct job_request){
        .queue = QUEUES[*out_key >= 0 ? (size_t)*out_key % ARRAY_LEN(QUEUES) : draw(3)].name,
        .handler = "work",
        .dedupe = *out_key >= 0 ? key : NULL,
        .delay_ms = one_in(4) ? 50 : 0,
        .retries = 1,
        .retry_delay_ms = 20,
        .actor = "test",
    };
}

static void note_job(int64_t id, int key)
{
    int i = atomic_fetch_add(&world->jobs_count, 1);
    if (i >= JOBS_MAX)
        return;
    world->jobs[i].key = key;
    atomic_store(&world->jobs[i].id, id);
}

static void enqueue(struct worker *self)
{
    struct err err = {0};
    struct job_request requests[BATCH_MAX];
    struct job_created created[BATCH_MAX];
    int keys[BATCH_MAX];
    char names[BATCH_MAX][16];
    size_t count = 1 + draw(BATCH_MAX);
    if (atomic_load(&world->jobs_count) + BATCH_MAX > JOBS_MAX)
        return;
    for (size_t i = 0; i < count; i++)
        make_job(&requests[i], &keys[i], names[i]);
    enum status status = store_jobs_enqueue(self->store, requests, count, created, NULL, &err);
    if (status != STATUS_OK && !is_trouble(self, status, &err))
        complain("enqueue: %s", err.text);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        note_job(created[i].id, keys[i]);
}

static void create_run(struct worker *self)
{
    struct err err = {0};
    struct run_created created;
    if (atomic_load(&world->runs_count) >= RUNS_MAX)
        return;
    /* Dates meet, so that ids made of them do. */
    struct run_request request = {.version = versions[draw(ARRAY_LEN(SUBJECTS))],
                                  .kind = "manual",
                                  .logical_at_us = 1700000000000000,
                                  .params = "{}",
                                  .conf = "{}",
                                  .note = "",
                                  .actor = "test"};
    enum status status = store_run_create(self->store, &request, &created, &err);
    if (status != STATUS_OK && !is_trouble(self, status, &err))
        complain("create a run: %s (%s)", status_text(status), err.text);
    int i = status == STATUS_OK ? atomic_fetch_add(&world->runs_count, 1) : RUNS_MAX;
    if (i < RUNS_MAX)
        atomic_store(&world->runs[i], created.id);
}

/* --- people ---------------------------------------------------------------------------------- */

static int64_t any_run(void)
{
    int count = MIN(atomic_load(&world->runs_count), RUNS_MAX);
    return count > 0 ? atomic_load(&world->runs[draw((unsigned)count)]) : 0;
}

static void change_run(struct worker *self)
{
    struct err err = {0};
    int64_t run = any_run();
    struct clear_result cleared;
    enum status status = STATUS_OK;
    bool chosen[NODES_MAX] = {0};
    if (run == 0)
        return;
    chosen[draw(3)] = true;
    switch (draw(4)) {
    case 0:
        status = store_run_cancel(
            self->store,
            &(struct cancel_request){
                .run = run, .cause = CANCEL_ASKED, .finally_too = one_in(2), .actor = "test"},
            &err);
        break;
    case 1:
        status = store_clear(self->store,
                             &(struct clear_request){.run = run,
                                                     .nodes = one_in(2) ? chosen : NULL,
                                                     .map_index = -1,
                                                     .whole = one_in(2),
                                                     .stops_running = one_in(2),
                                                     .actor = "test"},
                             self->arena, &cleared, &err);
        break;
    case 2:
        status = store_mark(self->store,
                            &(struct mark_request){.run = run,
                                                   .node = draw(3),
                                                   .map_index = -1,
                                                   .state = one_in(2) ? TASK_SUCCESS : TASK_FAILED,
                                                   .actor = "test"},
                            &err);
        break;
    default:
        status =
            store_task_cancel(self->store,
                              &(struct task_cancel_request){
                                  .run = run, .node = draw(3), .map_index = -1, .actor = "test"},
                              &err);
    }
    expect_answer(self, "change a run", status, &err);
}

static void change_job(struct worker *self)
{
    struct err err = {0};
    int count = MIN(atomic_load(&world->jobs_count), JOBS_MAX);
    int64_t job = count > 0 ? atomic_load(&world->jobs[draw((unsigned)count)].id) : 0;
    if (job == 0)
        return;
    unsigned what = draw(3);
    enum status status =
        what == 0   ? store_job_cancel(self->store, job, "test", &err)
        : what == 1 ? store_job_retry(self->store, job, "test", &err)
                    : store_job_reschedule(self->store, job, shared_clock() + (int64_t)draw(100000),
                                           "test", &err);
    expect_answer(self, "change a job", status, &err);
}

static void set_queue(struct worker *self)
{
    struct err err = {0};
    size_t i = 1 + draw(ARRAY_LEN(QUEUES) - 1);
    int64_t bound = QUEUES[i].least + draw((unsigned)(QUEUES[i].most - QUEUES[i].least) + 1);
    bool paused = one_in(3);
    struct queue_change change = {
        .name = QUEUES[i].name, .max_running = &bound, .paused = &paused, .actor = "test"};
    expect_answer(self, "change a queue", store_queue_set(self->store, &change, false, &err), &err);
}

static void set_pool(struct worker *self)
{
    struct err err = {0};
    size_t i = draw(ARRAY_LEN(POOLS));
    int64_t slots = POOLS[i].least + draw((unsigned)(POOLS[i].most - POOLS[i].least) + 1);
    struct pool_change change = {
        .namespace_ = "default", .name = POOLS[i].name, .slots = &slots, .actor = "test"};
    expect_answer(self, "change a pool", store_pool_set(self->store, &change, &err), &err);
}

static void set_limit(struct worker *self)
{
    struct err err = {0};
    struct limit_change change = {.kind = LIMIT_OF_NAMESPACE,
                                  .name = "capped",
                                  .max_running = CAP_LEAST + draw(CAP_MOST - CAP_LEAST + 1),
                                  .actor = "test"};
    expect_answer(self, "change a limit", store_limit_set(self->store, &change, &err), &err);
}

static void look_at_wishes(struct worker *self)
{
    struct err err = {0};
    struct stop_wish *wishes = NULL;
    size_t count = 0;
    expect_answer(self, "look at wishes",
                  store_stop_wishes(self->store, self->host, self->arena, &wishes, &count, &err),
                  &err);
}

static const struct {
    void (*act)(struct worker *self);
    unsigned weight;
} ACTS[] = {
    {advance, 50},       {renew, 10},     {sweep, 4},      {enqueue, 8},
    {create_run, 6},     {change_run, 6}, {change_job, 6}, {set_queue, 4},
    {look_at_wishes, 2}, {set_pool, 2},   {set_limit, 1},
};

static void act(struct worker *self)
{
    unsigned all = 0;
    for (size_t i = 0; i < ARRAY_LEN(ACTS); i++)
        all += ACTS[i].weight;
    unsigned pick = draw(all);
    size_t i = 0;
    for (; pick >= ACTS[i].weight; i++)
        pick -= ACTS[i].weight;
    ACTS[i].act(self);
}

static _Noreturn void work(int index, int life)
{
    static struct worker self;
    chance = seed * 1000003 + (uint64_t)index * 1009 + (uint64_t)life;
    self = (struct worker){.store = open_store(worker_url), .index = index};
    join_fleet(&self);
    while (!atomic_load(&world->is_over)) {
        self.arena = arena_new();
        /* Now and then one sleeps through its lease. */
        atomic_fetch_add(&world->now_us, one_in(300) ? 2 * LEASE_MS * 1000 : draw(5000));
        act(&self);
        atomic_fetch_add(&world->calls, 1);
        for (size_t i = 0; i < self.held_count; i++)
            self.held[i].job = NULL;
        arena_free(self.arena);
    }
    _exit(0);
}

/* --- the observer ---------------------------------------------------------------------------- */

static const char IN_QUEUE[] = "SELECT count(*) FROM running r JOIN lane l ON l.id = r.lane"
                               " JOIN queue q ON q.id = l.queue WHERE q.name = $1";
static const char IN_RUN[] =
    "SELECT coalesce(max(c), 0) FROM (SELECT count(*) AS c FROM running r JOIN task t"
    " ON t.id = r.task JOIN run u ON u.id = t.run WHERE u.version = $1 GROUP BY t.run) x";
static const char IN_TASK[] =
    "SELECT coalesce(max(c), 0) FROM (SELECT count(*) AS c FROM running r JOIN task t"
    " ON t.id = r.task JOIN run u ON u.id = t.run WHERE u.version = $1 AND t.map_index >= 0"
    " GROUP BY t.run, t.node) x";

static const char IN_POOL[] = "SELECT count(*) FROM pool_slot s JOIN pool p ON p.id = s.pool"
                              " WHERE p.name = $1";
static const char IN_NAMESPACE[] =
    "SELECT count(*) FROM running r JOIN task t ON t.id = r.task JOIN run u ON u.id = t.run"
    " WHERE u.namespace = $1";
/* The mapped task itself needs none for its list. */
static const char WITHOUT_SLOTS[] =
    "SELECT count(*) FROM running r JOIN task t ON t.id = r.task JOIN run u ON u.id = t.run"
    " JOIN dag d ON d.id = u.dag WHERE d.dag_id = $1"
    " AND (SELECT count(*) FROM pool_slot s WHERE s.task = t.id AND s.attempt = t.attempt) <>"
    " CASE WHEN t.node = 0 THEN 2 WHEN t.node = 1 OR t.map_index >= 0 THEN 1 ELSE 0 END";

static void observe_pools(struct db *db)
{
    struct err err = {0};
    int64_t found = 0;
    for (size_t i = 0; i < ARRAY_LEN(POOLS); i++) {
        if (db_get_int(db, 0, &found, &err, IN_POOL, "t", POOLS[i].name) != STATUS_OK)
            complain("observe: %s", err.text);
        if (found > POOLS[i].most)
            complain("%lld slots of pool '%s' are held, more than %lld", (long long)found,
                     POOLS[i].name, (long long)POOLS[i].most);
    }
    if (db_get_int(db, 0, &found, &err, IN_NAMESPACE, "t", "capped") != STATUS_OK)
        complain("observe: %s", err.text);
    if (found > CAP_MOST)
        complain("%lld tasks of a namespace run, more than %d", (long long)found, CAP_MOST);
    if (db_get_int(db, 0, &found, &err, WITHOUT_SLOTS, "t", "pooled") != STATUS_OK)
        complain("observe: %s", err.text);
    if (found > 0)
        complain("%lld tasks run without the slots that they need", (long long)found);
}

static void expect_at_most(struct db *db, const char *sql, int64_t version, int64_t most,
                           const char *what)
{
    struct err err = {0};
    int64_t found = 0;
    if (most == 0)
        return;
    if (db_get_int(db, 0, &found, &err, sql, "i", version) != STATUS_OK)
        complain("observe: %s", err.text);
    if (found > most)
        complain("%lld %s run at once, more than %lld", (long long)found, what, (long long)most);
}

static void observe_limits(struct db *db)
{
    struct err err = {0};
    CLEANUP(db_endp) struct db *reading = db;
    if (db_begin_read(db, &err) != STATUS_OK)
        complain("observe: %s", err.text);
    for (size_t i = 0; i < ARRAY_LEN(SUBJECTS); i++) {
        expect_at_most(db, IN_RUN, versions[i], SUBJECTS[i].most_active, "tasks of a run");
        expect_at_most(db, IN_TASK, versions[i], SUBJECTS[i].most_parallel, "instances of a task");
    }
    observe_pools(db);
    for (size_t i = 0; i < ARRAY_LEN(QUEUES); i++) {
        int64_t found = 0;
        if (db_get_int(db, 0, &found, &err, IN_QUEUE, "t", QUEUES[i].name) != STATUS_OK)
            complain("observe: %s", err.text);
        if (QUEUES[i].most > 0 && found > QUEUES[i].most)
            complain("%lld tasks of queue '%s' run at once, more than %lld", (long long)found,
                     QUEUES[i].name, (long long)QUEUES[i].most);
    }
}

static _Noreturn void observe(void)
{
    struct err err = {0};
    struct db *db = NULL;
    struct store *store = open_store(place.url);
    if (db_open(place.url, DB_READ_ONLY, &db, &err) != STATUS_OK)
        complain("observe: %s", err.text);
    while (!atomic_load(&world->is_over)) {
        struct check_report report;
        observe_limits(db);
        if (store_check(store, &report, &err) != STATUS_OK)
            complain("check: %s", err.text);
        if (report.count > 0)
            complain("%s: %lld", report.findings[0].rule, (long long)report.findings[0].count);
        atomic_fetch_add(&world->looks, 1);
    }
    _exit(0);
}

/* --- the parent ------------------------------------------------------------------------------ */

#define STRESS_ASSERT(condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char said_[1200];                                                                      \
            (void)snprintf(said_, sizeof said_, __VA_ARGS__);                                      \
            cr_assert(false, "EIDER_STRESS_SEED=%llu: %s", (unsigned long long)seed, said_);       \
        }                                                                                          \
    } while (0)

static pid_t start(int index, int life)
{
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0 && index < 0)
        observe();
    if (pid == 0)
        work(index, life);
    return pid;
}

static void expect_end(pid_t pid, const char *who)
{
    int64_t until_us = clock_mono_us() + (int64_t)GRACE_MS * 1000;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_mono_us() > until_us) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, &status, 0);
            STRESS_ASSERT(false, "a call of %s does not come back", who);
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    STRESS_ASSERT(!atomic_load(&world->is_broken), "%s", world->why);
    STRESS_ASSERT(WIFEXITED(status), "%s died of signal %d", who, WTERMSIG(status));
}

static const char KILL_ANY[] =
    "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity"
    " WHERE application_name = $1 ORDER BY random() LIMIT 1) x";

static void break_connection(void)
{
    struct err err = {0};
    int64_t count = 0;
    CLEANUP(db_closep) struct db *db = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_get_int(db, 0, &count, &err, KILL_ANY, "t", place.schema), &err);
}

static void make_trouble(pid_t *workers, int count)
{
    int64_t until_us = clock_mono_us() + (int64_t)LASTS_MS * 1000;
    for (int life = 1; clock_mono_us() < until_us && !atomic_load(&world->is_over); life++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 40000000 + (long)draw(80000000)}, NULL);
        if (db_bench_is_postgres() && one_in(2)) {
            break_connection();
            continue;
        }
        unsigned victim = draw((unsigned)count);
        int status = 0;
        (void)kill(workers[victim], SIGKILL);
        (void)waitpid(workers[victim], &status, 0);
        STRESS_ASSERT(WIFSIGNALED(status) || !atomic_load(&world->is_broken), "%s", world->why);
        STRESS_ASSERT(!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL,
                      "worker %u died of signal %d", victim, WTERMSIG(status));
        workers[victim] = start((int)victim, life);
    }
}

static void run_processes(void)
{
    pid_t workers[WORKERS_MAX];
    int count = db_bench_is_postgres() ? WORKERS_MAX : WORKERS_MAX / 2;
    chance = seed;
    for (int i = 0; i < count; i++)
        workers[i] = start(i, 0);
    pid_t observer = start(-1, 0);
    make_trouble(workers, count);
    atomic_store(&world->is_over, true);
    for (int i = 0; i < count; i++)
        expect_end(workers[i], "a worker");
    expect_end(observer, "the observer");
}

/* --- before and after ------------------------------------------------------------------------ */

static void save_version(struct store *store, size_t i)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    const char *text = SUBJECTS[i].json;
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    struct version_ref ref;
    EXPECT_OK(store_version_save(store, dag, &(struct version_source){.path = "", .text = text},
                                 &ref, &err),
              &err);
    versions[i] = ref.version;
    dag_free(dag);
}

static void set_queues(struct store *store)
{
    struct err err = {0};
    bool paused = false;
    for (size_t i = 0; i < ARRAY_LEN(QUEUES); i++) {
        struct queue_change change = {.name = QUEUES[i].name,
                                      .max_running = &QUEUES[i].most,
                                      .paused = &paused,
                                      .actor = "test"};
        EXPECT_OK(store_queue_set(store, &change, true, &err), &err);
    }
}

/* Once, not at the end again: nobody else may let in what waits. */
static void set_pools(struct store *store)
{
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(POOLS); i++) {
        struct pool_change change = {.namespace_ = "default",
                                     .name = POOLS[i].name,
                                     .slots = &POOLS[i].most,
                                     .actor = "test"};
        EXPECT_OK(store_pool_set(store, &change, &err), &err);
    }
    struct limit_change limit = {
        .kind = LIMIT_OF_NAMESPACE, .name = "capped", .max_running = CAP_MOST, .actor = "test"};
    EXPECT_OK(store_limit_set(store, &limit, &err), &err);
}

static void prepare(void)
{
    db_bench_make(&place);
    char name[128];
    (void)snprintf(name, sizeof name, "application_name=%s", place.schema);
    if (db_bench_is_postgres())
        db_bench_url(place.url, name, worker_url, sizeof worker_url);
    else
        (void)snprintf(worker_url, sizeof worker_url, "%s", place.url);
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq((void *)world, MAP_FAILED);
    /* After the epoch of ids made of the time, so that jobs do not have the ids of tasks. */
    atomic_store(&world->now_us, 1768435205250000);
    struct store *store = open_store(place.url);
    for (size_t i = 0; i < ARRAY_LEN(SUBJECTS); i++)
        save_version(store, i);
    set_queues(store);
    set_pools(store);
    store_close(store);
}

/* All leases have run out; one host does what is left. */
static void heal(struct worker *self)
{
    struct err err = {0};
    struct sweep_result swept = {.more = true};
    atomic_fetch_add(&world->now_us, (int64_t)LEASE_MS * 10000);
    set_queues(self->store);
    join_fleet(self);
    while (swept.more)
        EXPECT_OK(store_sweep(self->store, self->host, self->arena, &swept, &err), &err);
    size_t count = 0;
    struct outcome outcomes[HELD_MAX];
    for (int round = 0; round < ROUNDS_MAX; round++) {
        struct advance_result result = {0};
        struct advance_request request = {.host = self->host,
                                          .process_slots = HELD_MAX / 2,
                                          .inline_slots = HELD_MAX / 2,
                                          .outcomes = outcomes,
                                          .outcomes_count = count};
        EXPECT_OK(store_advance(self->store, &request, self->arena, &result, &err), &err);
        for (size_t i = 0; i < count; i++)
            STRESS_ASSERT(result.accepted[i], "the only host is refused");
        if (result.claims_count == 0 && result.next_due_us == 0)
            return;
        if (result.claims_count == 0)
            atomic_store(&world->now_us, MAX(atomic_load(&world->now_us), result.next_due_us));
        count = result.claims_count;
        for (size_t i = 0; i < count; i++) {
            outcomes[i] = play(self, &result.claims[i]);
            /* Handed back to others, of whom there are none. */
            if (outcomes[i].kind == OUTCOME_RETURN)
                outcomes[i].kind = OUTCOME_LOST;
        }
    }
    STRESS_ASSERT(false, "the work never ends");
}

static const struct {
    const char *what;
    const char *sql;
} LEFTOVERS[] = {
    {"runs did not end", "SELECT count(*) FROM run WHERE state IN (0, 1)"},
    {"jobs did not end",
     "SELECT count(*) FROM task WHERE run = 0 AND state NOT IN (4, 5, 6, 7, 12, 13)"},
    {"tasks ended twice in a generation",
     "SELECT count(*) FROM (SELECT task FROM event WHERE kind = 6 AND task IS NOT NULL"
     " GROUP BY task, generation HAVING count(*) > 1) x"},
    {"finished tasks have no end in their generation",
     "SELECT count(*) FROM task t WHERE t.state IN (4, 5, 6, 7, 12, 13) AND NOT EXISTS"
     " (SELECT 1 FROM event e WHERE e.kind = 6 AND e.task = t.id AND e.run = t.run"
     " AND e.generation = t.generation)"},
    {"nonces were used twice",
     "SELECT count(*) FROM (SELECT nonce FROM (SELECT id AS task, attempt, nonce FROM task"
     " UNION SELECT task, attempt, nonce FROM attempt) a WHERE nonce IS NOT NULL"
     " GROUP BY nonce HAVING count(*) > 1) x"},
    {"runs hold places", "SELECT count(*) FROM run WHERE active <> 0"},
    {"gates are closed", "SELECT count(*) FROM gate"},
    {"something waits for a pool", "SELECT count(*) FROM pool_wait"},
    {"slots are held", "SELECT count(*) FROM pool_slot"},
};
_Static_assert(EVENT_TASK_ENDED == 6, "as in the SQL");

static void expect_jobs(struct db *db)
{
    struct err err = {0};
    int64_t ids[KEYS] = {0};
    int count = MIN(atomic_load(&world->jobs_count), JOBS_MAX);
    for (int i = 0; i < count; i++) {
        int64_t id = atomic_load(&world->jobs[i].id);
        int key = world->jobs[i].key;
        int64_t found = 0;
        if (id == 0)
            continue; /* its producer was killed before it could tell */
        EXPECT_OK(db_get_int(db, 0, &found, &err,
                             "SELECT count(*) FROM job j JOIN task t ON t.id = j.id"
                             " WHERE j.id = $1",
                             "i", id),
                  &err);
        STRESS_ASSERT(found == 1, "job %lld was acknowledged and is there %lld times",
                      (long long)id, (long long)found);
        STRESS_ASSERT(key < 0 || ids[key] == 0 || ids[key] == id, "key %d has two jobs", key);
        if (key >= 0)
            ids[key] = id;
    }
}

/* What is left, for who looks into a failure. */
static const char UNFINISHED[] =
    "SELECT t.run, r.version, t.node, t.map_index, t.state, t.parents, t.inserted, r.active,"
    " r.cancel_asked, r.open_main, r.open_finally FROM task t JOIN run r ON r.id = t.run"
    " WHERE t.state NOT IN (4, 5, 6, 7, 12, 13) LIMIT 8";

static void tell_unfinished(struct db *db)
{
    struct err err = {0};
    struct db_stmt *stmt = NULL;
    enum status status = db_query(db, &stmt, &err, UNFINISHED, "");
    while (status == STATUS_OK && db_next(stmt, &status, &err))
        cr_log_warn(
            "run %lld (version %lld): node %lld[%lld] is in state %lld, parents %lld,"
            " inserted %lld; the run has active %lld, cancel %lld, open %lld + %lld",
            (long long)db_int(stmt, 0), (long long)db_int(stmt, 1), (long long)db_int(stmt, 2),
            (long long)db_int(stmt, 3), (long long)db_int(stmt, 4), (long long)db_int(stmt, 5),
            (long long)db_int(stmt, 6), (long long)db_int(stmt, 7), (long long)db_int(stmt, 8),
            (long long)db_int(stmt, 9), (long long)db_int(stmt, 10));
}

static void expect_sound(struct store *store)
{
    struct err err = {0};
    struct check_report report;
    EXPECT_OK(store_check(store, &report, &err), &err);
    STRESS_ASSERT(report.count == 0, "%s: %lld", report.findings[0].rule,
                  (long long)report.findings[0].count);
    CLEANUP(db_closep) struct db *db = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_ONLY, &db, &err), &err);
    tell_unfinished(db);
    for (size_t i = 0; i < ARRAY_LEN(LEFTOVERS); i++) {
        int64_t count = 0;
        EXPECT_OK(db_get_int(db, 0, &count, &err, LEFTOVERS[i].sql, ""), &err);
        STRESS_ASSERT(count == 0, "%s: %lld", LEFTOVERS[i].what, (long long)count);
    }
    expect_jobs(db);
}

static void stress(uint64_t wanted_seed)
{
    seed = wanted_seed;
    prepare();
    run_processes();
    static struct worker healer;
    healer =
        (struct worker){.store = open_store(place.url), .arena = arena_new(), .index = WORKERS_MAX};
    chance = seed;
    heal(&healer);
    expect_sound(healer.store);
    cr_log_info("EIDER_STRESS_SEED=%llu: %d calls, %d looks, %d runs, %d jobs",
                (unsigned long long)seed, atomic_load(&world->calls), atomic_load(&world->looks),
                atomic_load(&world->runs_count), atomic_load(&world->jobs_count));
    store_close(healer.store);
    arena_free(healer.arena);
    (void)munmap(world, sizeof *world);
    db_bench_remove(&place);
}

Test(concurrent, nothing_is_lost_doubled_or_stuck, .timeout = 600)
{
    const char *one = getenv("EIDER_STRESS_SEED");
    const char *more = getenv("EIDER_STRESS_SEEDS");
    uint64_t seeds = more != NULL ? strtoull(more, NULL, 10) : SEEDS;
    if (one != NULL)
        stress(strtoull(one, NULL, 10));
    for (uint64_t i = 1; one == NULL && i <= seeds; i++)
        stress(i);
}
