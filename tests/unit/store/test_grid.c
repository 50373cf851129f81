/*
 * Views over many runs: states of tasks, runs over time, what ended lately, things by their names.
 */
#include "base/strbuf.h"
#include "store/grid.h"
#include "store/recent.h"
#include "store/search.h"
#include "store_bench.h"

static struct bench_store bench;

static const char CHAIN[] = "{\"dag\":\"chain\",\"title\":\"Money_talks\",\"tasks\":{"
                            "\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\",\"needs\":[\"a\"]}}}";
static const char MAPPED[] = "{\"dag\":\"mapped\",\"title\":\"\u00dcbung\",\"tasks\":{"
                             "\"each\":{\"run\":\"x\",\"foreach\":[1,2,3]}}}";

static const struct bench_script THREE[] = {{.task = "each", .expand = 3}, {NULL}};

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(grid, .init = setup, .fini = teardown);

struct cells {
    size_t count;
    size_t spans[16];
    struct grid_cell items[16];
};

static void note_cell(void *context, size_t span, const struct grid_cell *cell)
{
    struct cells *cells = context;
    cr_assert_lt(cells->count, ARRAY_LEN(cells->items));
    cells->spans[cells->count] = span;
    cells->items[cells->count++] = *cell;
}

static struct run_info *runs_of(const char *dag_id, int64_t before_us, int64_t limit,
                                size_t *out_count)
{
    struct err err = {0};
    struct run_info *runs = NULL;
    const struct grid_page page = {dag_id, before_us, limit};
    EXPECT_OK(store_grid_runs(bench.store, bench.arena, &page, &runs, out_count, &err), &err);
    return runs;
}

STORE_TEST(grid, runs_come_by_date_the_latest_first)
{
    int64_t ids[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        bench_start(&bench, CHAIN);
        ids[i] = bench.run.id;
    }
    bench_start(&bench, MAPPED);

    struct run_info *runs = runs_of("chain", INT64_MAX, 10, &count);
    cr_assert_eq(count, 3);
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(runs[i].id, ids[2 - i]);
    EXPECT_STR("chain", runs[0].dag_id);

    (void)runs_of("chain", runs[0].logical_at_us, 1, &count);
    cr_expect_eq(count, 1);
    cr_expect_eq(runs_of("chain", runs[0].logical_at_us, 1, &count)[0].id, ids[1]);
    (void)runs_of("nobody", INT64_MAX, 10, &count);
    cr_expect_eq(count, 0);
}

STORE_TEST(grid, cells_tell_states_and_counts_of_instances)
{
    struct err err = {0};
    struct cells cells = {0};
    struct grid_span spans[2];
    bench_start(&bench, CHAIN);
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
    spans[1] = (struct grid_span){bench.run.first_task, 2};
    bench_start(&bench, MAPPED);
    cr_assert_eq(bench_drain(&bench, THREE, 4), RUN_SUCCESS);
    spans[0] = (struct grid_span){bench.run.first_task, 1};

    EXPECT_OK(store_grid_each(bench.store, spans, 2, note_cell, &cells, &err), &err);
    cr_assert_eq(cells.count, 3);
    cr_expect_eq(cells.spans[0], 0);
    cr_expect(cells.items[0].is_expanded);
    cr_expect_eq(cells.items[0].total, 3);
    cr_expect_eq(cells.items[0].success, 3);
    for (size_t i = 1; i < 3; i++) {
        cr_expect_eq(cells.spans[i], 1);
        cr_expect_eq(cells.items[i].node, (int64_t)i - 1);
        cr_expect_eq(cells.items[i].state, TASK_SUCCESS);
        cr_expect(!cells.items[i].is_expanded);
    }
}

struct slots {
    int64_t at_us[8];
    int64_t counts[8];
    size_t count;
};

static void note_slot(void *context, int64_t slot_us, enum run_state state, int64_t count)
{
    struct slots *slots = context;
    cr_assert_lt(slots->count, ARRAY_LEN(slots->at_us));
    cr_expect_eq(state, RUN_QUEUED);
    slots->at_us[slots->count] = slot_us;
    slots->counts[slots->count++] = count;
}

STORE_TEST(grid, runs_are_counted_by_quarters_of_an_hour)
{
    struct err err = {0};
    struct slots slots = {0};
    bench_now_us = 1700000000000000 / GRID_SLOT_US * GRID_SLOT_US;
    int64_t first_us = bench_now_us;
    bench_start(&bench, CHAIN);
    bench_start(&bench, CHAIN);
    bench_now_us = first_us + GRID_SLOT_US;
    bench_start(&bench, CHAIN);
    bench_now_us = first_us + 3 * GRID_SLOT_US;
    bench_start(&bench, CHAIN);
    const struct grid_stretch stretch = {
        .dag_key = bench_number(&bench, "SELECT id FROM dag WHERE id >= $1", 0),
        .from_us = first_us,
        .to_us = first_us + 3 * GRID_SLOT_US,
    };

    EXPECT_OK(store_grid_count(bench.store, &stretch, note_slot, &slots, &err), &err);
    cr_assert_eq(slots.count, 2);
    cr_expect_eq(slots.at_us[0], first_us);
    cr_expect_eq(slots.counts[0], 2);
    cr_expect_eq(slots.at_us[1], first_us + GRID_SLOT_US);
    cr_expect_eq(slots.counts[1], 1);
}

/* --- recent ---------------------------------------------------------------------------------- */

struct recent {
    int64_t ids[8];
    enum run_state states[8];
    size_t count;
};

static void note_recent(void *context, const struct recent_run *run)
{
    struct recent *recent = context;
    cr_assert_lt(recent->count, ARRAY_LEN(recent->ids));
    EXPECT_STR("default", run->space);
    recent->ids[recent->count] = run->id;
    recent->states[recent->count++] = run->state;
}

STORE_TEST(grid, what_ended_since_and_what_goes_on)
{
    struct err err = {0};
    struct recent ended = {0};
    struct recent active = {0};
    struct tally tally = {0};
    bench_start(&bench, CHAIN);
    (void)bench_drain(&bench, NULL, 4);
    bench_now_us += 1000000;
    int64_t since_us = bench_now_us;
    bench_start(&bench, MAPPED);
    (void)bench_drain(&bench, THREE, 4);
    int64_t mapped = bench.run.id;
    bench_start(&bench, CHAIN);

    EXPECT_OK(store_recent_ended(bench.store, since_us, 10, note_recent, &ended, &err), &err);
    cr_assert_eq(ended.count, 1);
    cr_expect_eq(ended.ids[0], mapped);
    cr_expect_eq(ended.states[0], RUN_SUCCESS);
    EXPECT_OK(store_recent_active(bench.store, 10, note_recent, &active, &err), &err);
    cr_assert_eq(active.count, 1);
    cr_expect_eq(active.ids[0], bench.run.id);

    int64_t runs[] = {mapped, bench.run.id};
    EXPECT_OK(store_recent_tally(bench.store, runs, 2, &tally, &err), &err);
    cr_expect_eq(tally.states[TASK_SUCCESS], 3, "instances count one by one");
    cr_expect_eq(tally.total, 5);
}

/* --- search ---------------------------------------------------------------------------------- */

static enum status note_hit(void *context, const struct search_hit *hit, struct err *err)
{
    (void)err;
    struct strbuf *names = context;
    strbuf_addf(names, "%s%s", names->length > 0 ? " " : "", hit->name);
    return STATUS_OK;
}

typedef enum status (*finder)(struct store *store, const char *part, int64_t limit, search_fn each,
                              void *context, struct err *err);

static void expect_found(finder find, const char *part, const char *wanted)
{
    struct err err = {0};
    CLEANUP(strbuf_fini) struct strbuf names;
    strbuf_init(&names, 1000);
    EXPECT_OK(find(bench.store, part, 10, note_hit, &names, &err), &err);
    EXPECT_STR(wanted, names.text);
}

STORE_TEST(grid, things_are_found_by_a_part_of_their_name)
{
    bench_start(&bench, CHAIN);
    const char *run_id = arena_strdup(bench.arena, bench.run.run_id);
    bench_start(&bench, MAPPED);

    expect_found(store_search_dags, "HAI", "chain");
    expect_found(store_search_dags, "money_", "chain");
    expect_found(store_search_dags, "money%", "");
    expect_found(store_search_dags, "c_ain", "");
    expect_found(store_search_dags, "a", "chain mapped");
    expect_found(store_search_dags, "\u00dcBU", "mapped");
    expect_found(store_search_dags, "\u00fcbu", "");
    expect_found(store_search_texts, "\u00dcBUNG", "mapped");
    expect_found(store_search_texts, "\"each\"", "mapped");
    expect_found(store_search_runs, run_id, run_id);
    expect_found(store_search_runs, "nothing like it", "");
    expect_found(store_search_jobs, "send", "");
}
