/*
 * schedule_loop: the scheduler's own code over many DAGs, in a store that is there already.
 *
 *   schedule_loop URL keep-idle DAGS             DAGs of one task that are due once a year
 *   schedule_loop URL tick ROUNDS                ask every duty, as the scheduler does
 *   schedule_loop URL keep-day DAGS TASKS        DAGs that are due 50 times a day
 *   schedule_loop URL play RUNS                  play them until each had so many runs
 *
 * What is kept for a day is due from whole minutes on. Its tasks take no time on the virtual clock,
 * so what is measured is the store and the scheduler. Prints JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/dag_read.h"
#include "os/zone_file.h"
#include "sched/duty.h"
#include "sched/file_watcher.h"
#include "sched/player.h"
#include "store/dag_file.h"

enum { BATCH = 500, DAG_BYTES_MAX = 100000, RUNS_PER_DAY = 50, MINUTES = 28, SLOTS = 500 };

static const int64_t DAY_BEGIN_US = 1700000040000000; /* a whole minute */
static const int64_t EVERY_S = 86400 / RUNS_PER_DAY;
static const int64_t MONTH_MS = (int64_t)30 * 24 * 3600 * 1000;

static void die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "schedule_loop: %s: %s\n", what, err->text);
    exit(1);
}

static struct store *open_store(const char *url, int64_t (*now_us)(void))
{
    struct store *store = NULL;
    struct err err = {0};
    const struct store_options options = {.url = url, .mode = DB_READ_WRITE, .now_us = now_us};
    if (store_open(&options, &store, &err) != STATUS_OK)
        die("open", &err);
    return store;
}

/* --- DAGs ------------------------------------------------------------------------------------ */

static void describe_schedule(struct strbuf *json, bool is_daily, int64_t index)
{
    char start[INSTANT_TEXT_MAX];
    if (!is_daily) {
        strbuf_addf(json, "\"%lld %lld 30 6 *\"", (long long)(index % 60),
                    (long long)(index / 60 % 24));
        return;
    }
    int64_t minute = 1 + index % MINUTES; /* all of them have begun before the second tick */
    strbuf_addf(json, "{\"every\": \"%llds\", \"start\": \"%s\"}", (long long)EVERY_S,
                instant_format(DAY_BEGIN_US + minute * 60000000, start));
}

static struct dag *make_dag(bool is_daily, int64_t index, int64_t tasks)
{
    struct err err = {0};
    struct strbuf json;
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    strbuf_init(&json, DAG_BYTES_MAX);
    strbuf_addf(&json, "{\"dag\": \"d%lld\", \"schedule\": ", (long long)index);
    describe_schedule(&json, is_daily, index);
    strbuf_add(&json, ", \"tasks\": {\"t0\": {\"noop\": null}");
    for (int64_t i = 1; i < tasks; i++)
        strbuf_addf(&json, ", \"t%lld\": {\"noop\": null, \"needs\": [\"t%lld\"]}", (long long)i,
                    (long long)((i - 1) / 2));
    strbuf_add(&json, "}}");
    if (json_parse(json.text, json.length, &tree, &err) != STATUS_OK)
        die(json.text, &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.zones = zone_file_read}, &diags);
    if (dag == NULL) {
        (void)err_set(&err, STATUS_BAD_DAG, "%s", diags.items[0].text);
        die(json.text, &err);
    }
    strbuf_fini(&json);
    return dag;
}

/* As a host that found them in its folder. */
static void save_batch(struct store *store, struct dag **dags, size_t count)
{
    static const int FIRST_LINE = 1;
    struct err err = {0};
    CLEANUP(mem_freep) struct dag_file_result *results = mem_zalloc(count, sizeof *results);
    CLEANUP(mem_freep) struct dag_file_change *changes = mem_zalloc(count, sizeof *changes);
    for (size_t i = 0; i < count; i++)
        changes[i] = (struct dag_file_change){.path = dags[i]->id,
                                              .hash = dags[i]->id,
                                              .parts = "[]",
                                              .text = "",
                                              .dags = &dags[i],
                                              .lines = &FIRST_LINE,
                                              .dags_count = 1};
    const struct dag_file_batch batch = {
        .host = "bench", .actor = "bench", .changes = changes, .count = count};
    if (store_dag_files_save(store, &batch, results, &err) != STATUS_OK)
        die("save", &err);
}

static void keep(const char *url, bool is_daily, int64_t count, int64_t tasks)
{
    struct dag *dags[BATCH];
    player_clock_set(DAY_BEGIN_US);
    struct store *store = open_store(url, is_daily ? player_clock : NULL);
    for (int64_t done = 0; done < count;) {
        size_t batch = (size_t)MIN(count - done, (int64_t)BATCH);
        for (size_t i = 0; i < batch; i++)
            dags[i] = make_dag(is_daily, done + (int64_t)i, tasks);
        save_batch(store, dags, batch);
        for (size_t i = 0; i < batch; i++)
            dag_free(dags[i]);
        done += (int64_t)batch;
    }
    store_close(store);
    (void)printf("{\"dags\": %lld}\n", (long long)count);
}

/* --- a tick ---------------------------------------------------------------------------------- */

static void watcher_heard(void *context)
{
    (void)context;
}

/* As a scheduler that heard something: every duty is asked, whether its time has come or not. */
static void ask_all(struct duty_call *call)
{
    struct err err = {0};
    struct store_glance room;
    call->now_us = store_now_us(call->store);
    call->glance = call->due_us > 0 ? duties_glance(call->store, &room) : NULL;
    for (size_t i = 0; i < DUTIES_COUNT; i++) {
        struct duty_result result = {.next_us = DUTY_NEVER};
        if (DUTIES[i].run(call, &result, &err) != STATUS_OK)
            die(DUTIES[i].name, &err);
        if (!result.was_idle)
            call->glance = NULL;
        if (result.changed || result.next_us <= call->now_us) {
            (void)err_set(&err, STATUS_CONFLICT, "found something to do");
            die(DUTIES[i].name, &err);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void tick(const char *url, int64_t rounds)
{
    const struct retention_policy retention = {.runs_ms = MONTH_MS, .events_ms = MONTH_MS};
    CLEANUP(mem_freep) int64_t *took_us = mem_zalloc((size_t)rounds, sizeof *took_us);
    struct store *store = open_store(url, NULL);
    struct file_watcher *files =
        file_watcher_new(&(struct file_watcher_options){.wake = watcher_heard});
    struct duty_call call = {
        .store = store, .retention = &retention, .due_us = DUTY_NEVER, .files = files};
    ask_all(&call); /* statements are prepared once */
    for (int64_t i = 0; i < rounds; i++) {
        int64_t began_us = clock_mono_us();
        ask_all(&call);
        took_us[i] = clock_mono_us() - began_us;
    }
    /* What it does every ten minutes besides. */
    call.due_us = 0;
    int64_t began_us = clock_mono_us();
    ask_all(&call);
    int64_t rare_us = clock_mono_us() - began_us;
    file_watcher_free(files);
    store_close(store);
    qsort(took_us, (size_t)rounds, sizeof *took_us, by_size);
    (void)printf("{\"rounds\": %lld, \"median_ms\": %.4f, \"p99_ms\": %.4f, \"rare_ms\": %.4f}\n",
                 (long long)rounds, (double)took_us[rounds / 2] / 1e3,
                 (double)took_us[rounds * 99 / 100] / 1e3, (double)rare_us / 1e3);
}

/* --- a day ----------------------------------------------------------------------------------- */

struct day {
    int64_t started;
    int64_t ended;
    int64_t runs;
    int64_t failed;
};

static struct player_fate at_once(void *context, const struct claim *claim)
{
    (void)claim;
    ((struct day *)context)->started++;
    return (struct player_fate){.end = {.reason = REASON_EXIT}};
}

static void count_end(void *context, const struct claim *claim, bool accepted)
{
    (void)claim;
    ((struct day *)context)->ended += accepted;
}

static void count_run(void *context, const struct run_change *run)
{
    struct day *day = context;
    day->runs++;
    day->failed += run->state != RUN_SUCCESS;
}

static int64_t memory_kb(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%*d %lld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        (void)fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static void play_until(struct player *player, int64_t until_us)
{
    struct err err = {0};
    if (player_run(player, until_us, &err) != STATUS_OK)
        die("play", &err);
}

static void play(const char *url, int64_t runs)
{
    struct err err = {0};
    struct day day = {0};
    struct player *player = NULL;
    int64_t half_us = DAY_BEGIN_US + (runs + 1) / 2 * EVERY_S * 1000000;
    int64_t end_us = DAY_BEGIN_US + runs * EVERY_S * 1000000;
    player_clock_set(DAY_BEGIN_US);
    struct store *store = open_store(url, player_clock);
    const struct player_options options = {
        .store = store,
        .hosts = 1,
        .slots = SLOTS,
        .events = {.context = &day, .started = at_once, .ended = count_end, .run_ended = count_run},
    };
    if (player_new(&options, &player, &err) != STATUS_OK)
        die("player", &err);
    int64_t began_us = clock_mono_us();
    play_until(player, half_us);
    int64_t half_tasks = day.ended;
    int64_t half_kb = memory_kb();
    int64_t halfway_us = clock_mono_us();
    play_until(player, end_us);
    int64_t ended_us = clock_mono_us();
    (void)printf("{\"tasks\": %lld, \"runs\": %lld, \"failed\": %lld, \"seconds\": %.6f,"
                 " \"half_tasks\": %lld, \"half_seconds\": %.6f, \"half_kb\": %lld,"
                 " \"end_kb\": %lld}\n",
                 (long long)day.ended, (long long)day.runs, (long long)day.failed,
                 (double)(ended_us - began_us) / 1e6, (long long)half_tasks,
                 (double)(halfway_us - began_us) / 1e6, (long long)half_kb, (long long)memory_kb());
    player_free(player);
    store_close(store);
}

static int64_t number(const char *text)
{
    int64_t value = strtoll(text, NULL, 10);
    if (value > 0)
        return value;
    (void)fprintf(stderr, "schedule_loop: '%s' is no positive number\n", text);
    exit(2);
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[2] : "";
    if (strcmp(what, "keep-idle") == 0 && argc == 4)
        keep(argv[1], false, number(argv[3]), 1);
    else if (strcmp(what, "tick") == 0 && argc == 4)
        tick(argv[1], number(argv[3]));
    else if (strcmp(what, "keep-day") == 0 && argc == 5)
        keep(argv[1], true, number(argv[3]), number(argv[4]));
    else if (strcmp(what, "play") == 0 && argc == 4)
        play(argv[1], number(argv[3]));
    else {
        (void)fprintf(stderr, "usage: schedule_loop URL keep-idle DAGS | tick ROUNDS |"
                              " keep-day DAGS TASKS | play RUNS\n");
        return 2;
    }
    return 0;
}
