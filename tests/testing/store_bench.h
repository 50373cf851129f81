#pragma once
/*
 * store_bench: a real store of its own, with a clock that moves when told and a worker
 * that does what a test says.
 *
 * Header-only, so that every test program of the store layer can have its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "db_bench.h"
#include "expect.h"
#include "model/dag_read.h"
#include "store/advance.h"
#include "store/control.h"
#include "store/run_store.h"
#include "store/store.h"
#include "store/upkeep.h"
#include "store/version.h"

static int64_t bench_now_us = 1700000000000000;

static inline int64_t bench_clock(void)
{
    return bench_now_us;
}

struct bench_store {
    struct db_bench db;
    char dir[64];
    char url[512];
    struct store *store;
    struct arena *arena;
    struct run_created run;
    const struct dag *dag;
};

static inline void bench_open(struct bench_store *bench)
{
    struct err err = {0};
    db_bench_make(&bench->db);
    (void)snprintf(bench->dir, sizeof bench->dir, "%s", bench->db.dir);
    (void)snprintf(bench->url, sizeof bench->url, "%s", bench->db.url);
    struct store_options options = {
        .url = bench->url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &bench->store, &err), &err);
    bench->arena = arena_new();
}

static inline void bench_close(struct bench_store *bench)
{
    store_close(bench->store);
    arena_free(bench->arena);
    db_bench_remove(&bench->db);
}

/* A DAG from its JSON form, kept as a version, with one run of it. */
static inline void bench_start(struct bench_store *bench, const char *dag_json)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    EXPECT_OK(json_parse(dag_json, strlen(dag_json), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    struct version_ref ref;
    EXPECT_OK(store_version_save(bench->store, dag,
                                 &(struct version_source){.path = "", .text = dag_json}, &ref,
                                 &err),
              &err);
    dag_free(dag);
    struct run_request request = {.version = ref.version,
                                  .kind = "manual",
                                  .logical_at_us = bench_now_us++,
                                  .params = "{}",
                                  .conf = "{}",
                                  .note = "",
                                  .actor = "test",
                                  .scope = -1};
    EXPECT_OK(store_run_create(bench->store, &request, &bench->run, &err), &err);
    EXPECT_OK(store_version_dag(bench->store, ref.version, &bench->dag, &err), &err);
}

static inline struct advance_result bench_advance(struct bench_store *bench,
                                                  const struct outcome *outcomes, size_t count,
                                                  int64_t slots)
{
    struct err err = {0};
    struct advance_result result = {0};
    struct advance_request request = {.host = 7,
                                      .scope = bench->run.scope,
                                      .process_slots = slots,
                                      .inline_slots = slots,
                                      .outcomes = outcomes,
                                      .outcomes_count = count};
    EXPECT_OK(store_advance(bench->store, &request, bench->arena, &result, &err), &err);
    return result;
}

static inline struct outcome bench_outcome(const struct claim *claim, int exit_code)
{
    return (struct outcome){.task = claim->task,
                            .run = claim->run,
                            .attempt = claim->attempt,
                            .nonce = claim->nonce,
                            .end = {.reason = REASON_EXIT, .exit_code = exit_code}};
}

/* What a task of the script should do. */
struct bench_script {
    const char *task; /* id; NULL closes the list */
    int exit_code;
    int64_t expand;        /* mapped: number of instances; 0: empty */
    const char *chosen;    /* choices: one id to go on with, "" for none */
    int64_t fails_first;   /* fail that many attempts before */
    int64_t failing_index; /* 1-based map index that fails; 0: none */
};

static inline struct outcome
bench_play(struct bench_store *bench, const struct bench_script *script, const struct claim *claim)
{
    const struct task_def *def = &bench->dag->tasks[claim->node];
    struct outcome outcome = bench_outcome(claim, 0);
    for (; script != NULL && script->task != NULL; script++) {
        if (strcmp(script->task, def->id) != 0)
            continue;
        outcome.end.exit_code = script->exit_code;
        if (claim->attempt <= script->fails_first)
            outcome.end.exit_code = 1;
        if (script->failing_index != 0)
            outcome.end.exit_code = claim->map_index == script->failing_index - 1;
        if (claim->map_index < 0 && task_def_is_mapped(def)) {
            outcome.kind = script->expand > 0 ? OUTCOME_EXPAND : OUTCOME_END;
            outcome.instances = script->expand;
            outcome.end = script->expand > 0 ? outcome.end
                                             : (struct attempt_end){.reason = REASON_EMPTY,
                                                                    .result = TASK_SKIPPED};
        }
        if (script->chosen != NULL) {
            uint32_t *nodes = arena_alloc(bench->arena, sizeof *nodes);
            outcome.is_choice = true;
            outcome.chosen = nodes;
            outcome.chosen_count = script->chosen[0] != '\0';
            if (outcome.chosen_count > 0)
                *nodes = (uint32_t)dag_find_task(bench->dag, script->chosen);
        }
    }
    return outcome;
}

/* Run everything that can run, in rounds; time jumps to the next retry. Returns the run's state. */
static inline enum run_state bench_drain(struct bench_store *bench,
                                         const struct bench_script *script, int64_t slots)
{
    struct advance_result result = bench_advance(bench, NULL, 0, slots);
    for (int round = 0; round < 100000; round++) {
        if (result.runs_count > 0)
            return result.runs[0].state;
        if (result.claims_count == 0) {
            if (result.next_due_us == 0)
                return RUN_RUNNING;
            bench_now_us = MAX(bench_now_us, result.next_due_us);
        }
        struct outcome *outcomes =
            arena_array(bench->arena, result.claims_count + 1, sizeof *outcomes);
        for (size_t i = 0; i < result.claims_count; i++)
            outcomes[i] = bench_play(bench, script, &result.claims[i]);
        bench_now_us += 1000;
        result = bench_advance(bench, outcomes, result.claims_count, slots);
    }
    cr_assert(false, "the run never ends");
    return RUN_RUNNING;
}

struct bench_lookup {
    const char *task;
    int64_t map_index;
    struct task_row row;
    bool found;
};

static inline enum status bench_match(void *context, const struct run_row *run,
                                      const struct task_row *row, struct err *err)
{
    (void)err;
    struct bench_lookup *lookup = context;
    if (strcmp(task_row_def(run, row)->id, lookup->task) == 0 &&
        row->map_index == lookup->map_index) {
        lookup->row = *row;
        lookup->row.detail = NULL;
        lookup->found = true;
    }
    return STATUS_OK;
}

static inline struct task_row bench_row(struct bench_store *bench, const char *task,
                                        int64_t map_index)
{
    struct err err = {0};
    struct bench_lookup lookup = {.task = task, .map_index = map_index};
    EXPECT_OK(store_task_each(bench->store, bench->run.id, bench_match, &lookup, &err), &err);
    cr_assert(lookup.found, "%s[%lld]", task, (long long)map_index);
    return lookup.row;
}

#define EXPECT_STATE(bench, task_id, wanted)                                                       \
    do {                                                                                           \
        struct task_row row_ = bench_row(bench, task_id, -1);                                      \
        cr_assert_str_eq(task_state_name(row_.state), wanted, "%s is %s, not %s", task_id,         \
                         task_state_name(row_.state), wanted);                                     \
    } while (0)

/* A look past the store's calls, or a change behind its back. */
static inline int64_t bench_number(struct bench_store *bench, const char *sql, int64_t id)
{
    struct err err = {0};
    struct db *db = NULL;
    int64_t number = 0;
    EXPECT_OK(db_open(bench->url, DB_READ_ONLY, &db, &err), &err);
    EXPECT_OK(db_get_int(db, 0, &number, &err, sql, "i", id), &err);
    db_close(db);
    return number;
}

static inline void bench_sql(struct bench_store *bench, const char *sql)
{
    struct err err = {0};
    struct db *db = NULL;
    EXPECT_OK(db_open(bench->url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_script(db, sql, &err), &err);
    db_close(db);
}

/* Every rule between the tables holds. */
static inline void bench_check(struct bench_store *bench)
{
    struct err err = {0};
    struct check_report report;
    EXPECT_OK(store_check(bench->store, &report, &err), &err);
    cr_assert_eq(report.count, 0, "%s: %lld", report.count > 0 ? report.findings[0].rule : "",
                 report.count > 0 ? (long long)report.findings[0].count : 0);
}

/* A test after which every rule between the tables must hold; the program has a global `bench`. */
#define STORE_TEST(suite, name)                                                                    \
    static void name(void);                                                                        \
    Test(suite, name)                                                                              \
    {                                                                                              \
        name();                                                                                    \
        bench_check(&bench);                                                                       \
    }                                                                                              \
    static void name(void)
