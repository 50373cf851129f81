/*
 * A fleet on a virtual clock, with schedules, and everything that goes wrong drawn by chance: hosts
 * die and come back, answers are lost, two schedulers do the same, the clock jumps, DAGs are
 * paused.
 *
 * Meanwhile no more runs of a DAG go than may; afterwards every tick has one run or is known as
 * missed, every run is over, and the tables fit together. A failure names its seed:
 * EIDER_SIM_SEED=n runs that one alone, and EIDER_SIM_SEEDS=n runs more of them.
 */
#include "base/strbuf.h"
#include "os/zone_file.h"
#include "sched/player.h"
#include "store/admission.h"
#include "store/schedule.h"
#include "store_bench.h"

enum { SEEDS = 200, DAGS_MAX = 4, HOSTS = 3, STEPS_MAX = 20000, MISSED_MAX = 1000 };

static const int64_t BEGIN_US = 1700000000000000;
static const int64_t MINUTE_US = 60000000;

struct sim_dag {
    char id[32];
    int64_t key;
    int64_t most_runs;
    struct timetable *timetable;
};

struct sim {
    struct bench_store bench;
    struct store *store;
    struct store *twin;
    struct db *looking; /* past the store's calls */
    struct player *player;
    uint64_t seed;
    uint64_t chance;
    struct sim_dag dags[DAGS_MAX];
    size_t dags_count;
    size_t living;
    bool is_calm; /* nothing goes wrong any more */
    int64_t runs_ended;
};

static struct sim sim;

static unsigned draw(unsigned bound)
{
    sim.chance += 0x9E3779B97F4A7C15U;
    uint64_t x = sim.chance;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return (unsigned)((x ^ (x >> 31)) >> 16) % bound;
}

static bool one_in(unsigned bound)
{
    return draw(bound) == 0;
}

#define SIM_CHECK(condition, what)                                                                 \
    cr_assert(condition, "EIDER_SIM_SEED=%llu: %s", (unsigned long long)sim.seed, what)

static void expect(enum status status, const struct err *err, const char *what)
{
    cr_assert(status == STATUS_OK, "EIDER_SIM_SEED=%llu: %s: %s", (unsigned long long)sim.seed,
              what, err->text);
}

/* --- the world ------------------------------------------------------------------------------- */

static void describe_dag(struct strbuf *json, size_t index, int64_t most_runs)
{
    static const char *const CATCHUP[] = {"none", "latest", "all", "20m"};
    static const char *const OVERLAP[] = {"queue", "skip", "replace", "allow"};
    unsigned tasks = 1 + draw(5);
    strbuf_addf(json,
                "{\"dag\": \"d%zu\", \"max_active_runs\": %lld, \"schedule\": {\"every\": \"%um\","
                " \"catchup\": \"%s\", \"overlap\": \"%s\"}, \"tasks\": {",
                index, (long long)most_runs, 2 + draw(15), CATCHUP[draw(4)], OVERLAP[draw(4)]);
    for (unsigned i = 0; i < tasks; i++) {
        strbuf_addf(json, "%s\"t%u\": {%s", i > 0 ? ", " : "", i,
                    one_in(3) ? "\"noop\": null" : "\"run\": \"x\"");
        if (i > 0 && one_in(2))
            strbuf_addf(json, ", \"needs\": [\"t%u\"]", draw(i));
        if (one_in(3))
            strbuf_addf(json, ", \"retries\": %u, \"retry_delay\": \"%us\"", 1 + draw(2),
                        1 + draw(90));
        strbuf_add(json, "}");
    }
    strbuf_add(json, "}}");
}

static void add_dag(size_t index)
{
    struct err err = {0};
    struct sim_dag *out = &sim.dags[index];
    out->most_runs = 1 + draw(3);
    CLEANUP(strbuf_fini) struct strbuf json;
    strbuf_init(&json, 1 << 16);
    describe_dag(&json, index, out->most_runs);
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    expect(json_parse(json.text, strlen(json.text), &tree, &err), &err, json.text);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.zones = zone_file_read}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    struct version_ref ref;
    const struct version_source source = {.path = "", .text = ""};
    expect(store_version_save(sim.store, dag, &source, &ref, &err), &err, "save a DAG");
    expect(timetable_of_dag(dag, zone_file_read, &out->timetable, &err), &err, "its timetable");
    (void)snprintf(out->id, sizeof out->id, "d%zu", index);
    out->key = ref.dag_key;
    dag_free(dag);
}

/* --- what happens ---------------------------------------------------------------------------- */

static struct player_fate fate_of(void *context, const struct claim *claim)
{
    (void)context, (void)claim;
    return (struct player_fate){
        .takes_us = one_in(4) ? 0 : (int64_t)draw(600) * 1000000,
        .end = {.reason = REASON_EXIT, .exit_code = one_in(6) ? 1 : 0},
    };
}

static bool lose_some(void *context, size_t host)
{
    (void)context, (void)host;
    return !sim.is_calm && one_in(12);
}

static void count_run(void *context, const struct run_change *run)
{
    (void)context, (void)run;
    sim.runs_ended++;
}

static void open_world(uint64_t seed)
{
    struct err err = {0};
    sim = (struct sim){.seed = seed, .chance = seed * 7919 + 1};
    bench_open(&sim.bench);
    struct store_options options = {
        .url = sim.bench.url, .mode = DB_READ_WRITE, .now_us = player_clock};
    player_clock_set(BEGIN_US);
    expect(store_open(&options, &sim.store, &err), &err, "open");
    if (one_in(2))
        expect(store_open(&options, &sim.twin, &err), &err, "open a second time");
    expect(db_open(sim.bench.url, DB_READ_ONLY, &sim.looking, &err), &err, "open to look");
    sim.dags_count = 1 + draw(DAGS_MAX);
    for (size_t i = 0; i < sim.dags_count; i++)
        add_dag(i);
    const struct player_options play = {
        .store = sim.store,
        .twin = sim.twin,
        .hosts = HOSTS,
        .slots = 1 + draw(4),
        .lease_ms = 180000,
        .renew_ms = 60000,
        .sweep_ms = 60000,
        .grain_us = 15000000,
        .events = {.started = fate_of, .run_ended = count_run, .loses_answer = lose_some},
    };
    expect(player_new(&play, &sim.player, &err), &err, "begin");
    sim.living = (1U << HOSTS) - 1;
}

static void close_world(void)
{
    player_free(sim.player);
    for (size_t i = 0; i < sim.dags_count; i++)
        timetable_free(sim.dags[i].timetable);
    db_close(sim.looking);
    store_close(sim.twin);
    store_close(sim.store);
    bench_close(&sim.bench);
}

/* --- what goes wrong ------------------------------------------------------------------------- */

static void kill_or_start(size_t host)
{
    struct err err = {0};
    if ((sim.living >> host & 1) != 0)
        player_kill_host(sim.player, host);
    else
        expect(player_start_host(sim.player, host, &err), &err, "start a host");
    sim.living ^= (size_t)1 << host;
}

static void pause_one(bool is_paused)
{
    struct err err = {0};
    bool changed = false;
    const struct pause_request request = {
        .dag_id = sim.dags[draw((unsigned)sim.dags_count)].id,
        .is_paused = is_paused,
        .actor = "sim",
    };
    expect(store_schedule_pause(sim.store, &request, &changed, &err), &err, "pause");
}

static void disturb(void)
{
    if (one_in(40))
        kill_or_start(draw(HOSTS));
    if (one_in(60))
        player_clock_set(player_clock() + (int64_t)draw(1200) * 1000000);
    if (one_in(60))
        player_clock_set(player_clock() - (int64_t)draw(20) * 1000000);
    if (one_in(80))
        pause_one(one_in(2));
}

static void make_calm(void)
{
    struct err err = {0};
    bool changed = false;
    sim.is_calm = true;
    for (size_t i = 0; i < HOSTS; i++)
        if ((sim.living >> i & 1) == 0)
            kill_or_start(i);
    for (size_t i = 0; i < sim.dags_count; i++) {
        const struct pause_request request = {
            .dag_id = sim.dags[i].id, .is_paused = true, .actor = "sim"};
        expect(store_schedule_pause(sim.store, &request, &changed, &err), &err, "pause");
    }
}

/* --- what must hold -------------------------------------------------------------------------- */

static int64_t runs_that_go(void)
{
    struct err err = {0};
    int64_t runs = 0;
    expect(db_get_int(sim.looking, 0, &runs, &err, "SELECT count(*) FROM run WHERE state < 2", ""),
           &err, "count runs");
    return runs;
}

static int64_t runs_of_date(int64_t dag, int64_t logical_us)
{
    struct err err = {0};
    int64_t runs = 0;
    expect(db_get_int(sim.looking, 0, &runs, &err,
                      "SELECT count(*) FROM run WHERE dag = $1 AND logical_at_us = $2", "ii", dag,
                      logical_us),
           &err, "count the runs of a date");
    return runs;
}

static void check_limits(void)
{
    struct err err = {0};
    for (size_t i = 0; i < sim.dags_count; i++) {
        struct admission_count count;
        expect(store_admission_count(sim.store, sim.dags[i].key, 0, &count, &err), &err, "count");
        bool may_overlap = sim.dags[i].timetable->policy.overlap == OVERLAP_ALLOW;
        SIM_CHECK(may_overlap || count.going <= sim.dags[i].most_runs, "too many runs go at once");
    }
}

static bool is_missed(const struct missed_info *missed, size_t count, int64_t tick_us)
{
    for (size_t i = 0; i < count; i++)
        if (missed[i].first_us <= tick_us && tick_us <= missed[i].last_us)
            return true;
    return false;
}

/* Up to the cursor every tick was decided on. */
static void check_ticks(const struct sim_dag *dag)
{
    struct err err = {0};
    struct schedule_info info;
    struct missed_list missed = {0};
    expect(store_schedule_load(sim.store, dag->id, &info, &err), &err, "its schedule");
    expect(store_missed_list(sim.store, sim.bench.arena, dag->key, MISSED_MAX, &missed, &err), &err,
           "missed ticks");
    int64_t tick_us = timetable_first_cursor(dag->timetable, BEGIN_US);
    while (timetable_next(dag->timetable, tick_us, &tick_us) && tick_us <= info.cursor_us) {
        int64_t logical_us = timetable_dates(dag->timetable, tick_us).logical_at_us;
        int64_t runs = runs_of_date(dag->key, logical_us);
        SIM_CHECK(runs <= 1, "a tick has two runs");
        SIM_CHECK(runs == 1 || is_missed(missed.items, missed.count, tick_us), "a tick was lost");
    }
}

static void play_seed(uint64_t seed)
{
    struct err err = {0};
    open_world(seed);
    int64_t end_us = BEGIN_US + 30 * MINUTE_US;
    while (player_clock() < end_us) {
        expect(player_step(sim.player, end_us, &err), &err, "a step");
        check_limits();
        disturb();
    }
    make_calm();
    for (int step = 0; runs_that_go() > 0; step++) {
        SIM_CHECK(step < STEPS_MAX, "a run never ends");
        expect(player_step(sim.player, INT64_MAX, &err), &err, "a calm step");
    }
    for (size_t i = 0; i < sim.dags_count; i++)
        check_ticks(&sim.dags[i]);
    bench_check(&sim.bench);
    close_world();
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

Test(sim, whatever_goes_wrong_no_tick_is_lost_and_none_is_doubled, .timeout = 600)
{
    uint64_t only = from_environment("EIDER_SIM_SEED", 0);
    uint64_t seeds = from_environment("EIDER_SIM_SEEDS", SEEDS);
    for (uint64_t seed = only > 0 ? only : 1; seed <= (only > 0 ? only : seeds); seed++)
        play_seed(seed);
}
