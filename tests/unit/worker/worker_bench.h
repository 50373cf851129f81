#pragma once
/*
 * worker_bench: a run in a real store, with what the worker needs to prepare its tasks.
 */
#include <fcntl.h>

#include "os/file_tree.h"
#include "store_bench.h"
#include "worker/prepare.h"
#include "worker/run_context.h"
#include "worker/scope.h"

struct worker_bench {
    struct bench_store store;
    struct blob *blob;
    struct run_source source;
    json_t *variables;
    json_t *connections;
    struct vault_sources sources;
    struct vault *vault;
    struct run_context *run;
};

static inline void worker_bench_open(struct worker_bench *bench)
{
    struct err err = {0};
    *bench = (struct worker_bench){0};
    bench_open(&bench->store);
    EXPECT_OK(blob_open_directory(bench->store.dir, &bench->blob, &err), &err);
    bench->variables =
        json_pack("{s:s, s:s, s:i}", "region", "eu", "list", "[1, {\"a\": 2}]", "n", 5);
    bench->connections =
        json_pack("{s:{s:s, s:s, s:i}}", "db", "type", "pg", "host", "h", "port", 5432);
    bench->sources =
        (struct vault_sources){.variables = bench->variables, .connections = bench->connections};
    bench->vault = vault_new(&bench->sources, bench->store.store);
    bench->source = (struct run_source){.store = bench->store.store,
                                        .blob = bench->blob,
                                        .vault = bench->vault,
                                        .store_uuid = "uuid"};
}

static inline void worker_bench_start(struct worker_bench *bench, const char *dag_json)
{
    struct err err = {0};
    bench_start(&bench->store, dag_json);
    EXPECT_OK(run_context_new(&bench->source, bench->store.run.id, &bench->run, &err), &err);
}

static inline void worker_bench_close(struct worker_bench *bench)
{
    struct err err = {0};
    run_context_free(bench->run);
    blob_close(bench->blob);
    vault_free(bench->vault);
    json_decref(bench->variables);
    json_decref(bench->connections);
    char dir[64];
    memcpy(dir, bench->store.dir, sizeof dir);
    bench_close(&bench->store);
    char *name = strrchr(dir, '/');
    *name++ = '\0';
    int parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_OK(file_tree_remove(parent, name, &err), &err);
    (void)close(parent);
}

/* A claim of the task, as if it had been handed out for the first time. */
static inline struct claim worker_bench_claim(const struct worker_bench *bench, const char *task)
{
    int64_t node = dag_find_task(bench->run->dag, task);
    cr_assert_geq(node, 0);
    return (struct claim){.task = bench->run->info.first_task + node,
                          .run = bench->run->info.id,
                          .node = node,
                          .map_index = -1,
                          .attempt = 1};
}
