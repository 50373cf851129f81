/*
 * Updates of datasets: whatever is asked for is what a walk over all of them finds.
 */
#include "store/asset_event.h"
#include "store/sight.h"
#include "store_bench.h"

static struct bench_store bench;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(asset_event, .init = setup, .fini = teardown);

enum { UPDATES = 60, RUNS = 6, ANY_INDEX = -2 };

struct update {
    int64_t asset;
    int run; /* of the runs below; -1: of none */
    const char *task_id;
    int64_t map_index;
};

static struct update updates[UPDATES];
static char run_ids[RUNS][80];
static const char *const DAGS[] = {"d", "other"};
static const char *const TASKS[] = {"a", "b", "c"};

static void make_runs(int64_t ids[RUNS])
{
    static const char OTHER[] = "{\"dag\": \"other\", \"tasks\": {\"a\": {\"run\": \"x\"}}}";
    static const char ONE[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}}}";
    struct err err = {0};
    struct run_info info;
    for (int i = 0; i < RUNS; i++) {
        bench_start(&bench, i % 2 == 0 ? ONE : OTHER);
        ids[i] = bench.run.id;
        EXPECT_OK(store_run_load(bench.store, bench.arena, ids[i], &info, &err), &err);
        (void)snprintf(run_ids[i], sizeof run_ids[i], "%s", info.run_id);
    }
}

static void make_updates(void)
{
    int64_t ids[RUNS];
    make_runs(ids);
    bench_sql(&bench, "INSERT INTO asset (id, uri, created_at_us) VALUES (1, 'x:1', 1),"
                      " (2, 'x:2', 1), (3, 'x:3', 1)");
    for (int i = 0; i < UPDATES; i++) {
        char sql[256];
        updates[i] = (struct update){1 + i % 3, i % 7 < RUNS ? i % 7 : -1, TASKS[i / 5 % 3],
                                     i % 4 == 0 ? i % 3 : -1};
        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO asset_event (id, asset, at_us, run, task_id, map_index) VALUES"
                       " (%d, %lld, %d, %lld, '%s', %lld)",
                       i + 1, (long long)updates[i].asset, i,
                       (long long)(updates[i].run < 0 ? 0 : ids[updates[i].run]),
                       updates[i].task_id, (long long)updates[i].map_index);
        bench_sql(&bench, sql);
    }
}

static bool is_meant(const struct update *update, const struct asset_event_page *page)
{
    const char *dag_id = update->run < 0 ? "" : DAGS[update->run % 2];
    const char *run_id = update->run < 0 ? "" : run_ids[update->run];
    return (page->asset == 0 || page->asset == update->asset) &&
           (page->dag_id == NULL || strcmp(page->dag_id, dag_id) == 0) &&
           (page->run_id == NULL || strcmp(page->run_id, run_id) == 0) &&
           (page->task_id == NULL || strcmp(page->task_id, update->task_id) == 0) &&
           (page->map_index < -1 || page->map_index == update->map_index);
}

struct shown {
    char text[1024]; /* id and run of each */
};

static void add(struct shown *shown, int64_t id, const char *run_id)
{
    size_t length = strlen(shown->text);
    (void)snprintf(shown->text + length, sizeof shown->text - length, "%lld %.12s, ", (long long)id,
                   run_id != NULL ? run_id : "-");
}

static enum status note(void *context, const struct asset_event_row *row, struct err *err)
{
    (void)err;
    add(context, row->update.id, row->update.run_id);
    return STATUS_OK;
}

static void expect_walked(const struct asset_event_page *page)
{
    struct err err = {0};
    struct shown walked = {0};
    struct shown found = {0};
    int64_t matched = 0;
    int64_t counted = 0;
    for (int k = 0; k < UPDATES; k++) {
        int i = page->is_descending ? UPDATES - 1 - k : k;
        if (!is_meant(&updates[i], page))
            continue;
        if (matched >= page->offset && matched < page->offset + page->limit)
            add(&walked, i + 1, updates[i].run < 0 ? NULL : run_ids[updates[i].run]);
        matched++;
    }
    EXPECT_OK(store_asset_event_page(bench.store, page, note, &found, &err), &err);
    EXPECT_OK(store_asset_event_count(bench.store, page, 1000, &counted, &err), &err);
    EXPECT_STR(walked.text, found.text);
    cr_assert_eq(counted, matched);
}

static void ask_of(const char *dag_id, const char *run_id)
{
    static const char *const ASKED_TASKS[] = {NULL, "b", "none"};
    static const int64_t INDEXES[] = {ANY_INDEX, -1, 2};
    for (int64_t asset = 0; asset < 3; asset += 2)
        for (size_t t = 0; t < ARRAY_LEN(ASKED_TASKS); t++)
            for (size_t m = 0; m < ARRAY_LEN(INDEXES); m++)
                for (int64_t offset = 0; offset < 80; offset += 13)
                    for (int back = 0; back < 2; back++)
                        expect_walked(&(struct asset_event_page){.asset = asset,
                                                                 .dag_id = dag_id,
                                                                 .run_id = run_id,
                                                                 .task_id = ASKED_TASKS[t],
                                                                 .map_index = INDEXES[m],
                                                                 .is_descending = back != 0,
                                                                 .limit = 10,
                                                                 .offset = offset});
}

Test(asset_event, pages_and_counts_are_what_a_walk_finds)
{
    make_updates();
    ask_of(NULL, NULL);
    ask_of("d", NULL);
    ask_of("none", NULL);
    ask_of(NULL, run_ids[3]);
    ask_of("other", run_ids[3]);
    ask_of("d", run_ids[3]);
    ask_of(NULL, "none");
    store_set_sight(bench.store, " default ");
    ask_of(NULL, NULL);
    store_set_sight(bench.store, "");
}
