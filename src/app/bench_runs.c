#include "app/bench_runs.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/session.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "spec/spec.h"
#include "store/run_store.h"
#include "store/version.h"

enum { RUNS_PER_COMMIT = 100 };

struct bench {
    struct session session;
    int64_t runs_left;
    bool failed;
};

static void on_changed(void *context, const struct task_change *changes, size_t count)
{
    (void)context;
    (void)changes;
    (void)count;
}

static void on_run_ended(void *context, int64_t run, enum run_state state)
{
    (void)run;
    struct bench *bench = context;
    bench->failed |= state != RUN_SUCCESS;
    if (--bench->runs_left == 0)
        loop_stop(bench->session.loop);
}

static void on_failed(void *context, const struct err *err)
{
    struct bench *bench = context;
    (void)fprintf(stderr, "eider: %s\n", err->text);
    bench->failed = true;
    loop_stop(bench->session.loop);
}

/* All runs share the scope of the first, which no other process claims from. */
static enum status create_runs(struct session *session, int64_t version, int64_t count,
                               int64_t *out_scope, struct err *err)
{
    CLEANUP(mem_freep)
    struct run_request *requests = mem_zalloc(RUNS_PER_COMMIT, sizeof *requests);
    CLEANUP(mem_freep) struct run_created *created = mem_zalloc(RUNS_PER_COMMIT, sizeof *created);
    int64_t scope = -1;
    for (int64_t done = 0; done < count;) {
        size_t batch = (size_t)MIN(count - done, (int64_t)RUNS_PER_COMMIT);
        batch = scope < 0 ? 1 : batch;
        for (size_t i = 0; i < batch; i++)
            requests[i] = (struct run_request){
                .version = version,
                .kind = "manual",
                .logical_at_us = clock_wall_us() + (int64_t)i,
                .params = "{}",
                .conf = "{}",
                .note = "",
                .actor = "bench",
                .scope = scope,
            };
        if (store_runs_create(session->store, requests, batch, created, err) != STATUS_OK)
            return err->code;
        scope = scope < 0 ? created[0].scope : scope;
        done += (int64_t)batch;
    }
    *out_scope = scope;
    return STATUS_OK;
}

static enum status run_all(struct bench *bench, const char *path, int64_t count, struct err *err)
{
    CLEANUP(spec_file_freep) struct spec_file *file = NULL;
    struct version_ref ref;
    int64_t scope = 0;
    if (spec_load_file(path, &file, err) != STATUS_OK)
        return err->code;
    if (file->diags.errors > 0 || file->dags_count != 1)
        return err_set(err, STATUS_BAD_DAG, "'%s' is no single valid DAG", path);
    struct version_source source = {.path = path, .text = file->text};
    if (store_version_save(bench->session.store, file->dags[0], &source, &ref, err) != STATUS_OK)
        return err->code;
    int64_t started_us = clock_mono_us();
    if (create_runs(&bench->session, ref.version, count, &scope, err) != STATUS_OK)
        return err->code;
    int64_t created_us = clock_mono_us();
    bench->runs_left = count;
    session_begin(&bench->session, scope);
    loop_run(bench->session.loop);
    int64_t tasks = count * (int64_t)file->dags[0]->tasks_count;
    (void)printf("{\"tasks\": %lld, \"seconds\": %.6f, \"create_seconds\": %.6f}\n",
                 (long long)tasks, (double)(clock_mono_us() - started_us) / 1e6,
                 (double)(created_us - started_us) / 1e6);
    return STATUS_OK;
}

int bench_runs_main(const struct config *config, const struct home *home, const char *exe,
                    const char *path, int64_t count)
{
    struct bench bench = {0};
    struct session_options options = {
        .config = config,
        .home = home,
        .exe = exe,
        .events = {.context = &bench,
                   .changed = on_changed,
                   .run_ended = on_run_ended,
                   .failed = on_failed},
    };
    struct err err = {0};
    enum status status = session_open(&bench.session, &options, &err);
    if (status == STATUS_OK)
        status = run_all(&bench, path, count, &err);
    session_close(&bench.session);
    if (status != STATUS_OK)
        (void)fprintf(stderr, "eider: %s\n", err.text);
    return status != STATUS_OK || bench.failed;
}
