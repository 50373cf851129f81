#include "app/opening.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/actor.h"
#include "app/run_owner.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/params.h"
#include "model/timetable.h"
#include "model/word_set.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/zone_file.h"
#include "spec/diag_render.h"
#include "spec/spec_find.h"
#include "store/control.h"
#include "store/pool.h"
#include "store/run_store.h"
#include "store/version.h"

enum { DIAGNOSTICS_BYTES_MAX = 1 << 20 };

/* --- the DAG --------------------------------------------------------------------------------- */

static void print_problems(const struct spec_file *file)
{
    struct strbuf text;
    strbuf_init(&text, DIAGNOSTICS_BYTES_MAX);
    struct diag_source source = {
        .path = file->path,
        .text = file->text,
        .colour = isatty(STDERR_FILENO) == 1 && getenv("NO_COLOR") == NULL,
    };
    diag_render_list(&file->diags, &source, &text);
    (void)fputs(text.text, stderr);
    strbuf_fini(&text);
}

static const char *nth_dag(const void *context, size_t i)
{
    const struct spec_file *file = context;
    return file->dags[i]->id;
}

static enum status choose_dag(const struct spec_file *file, const char *dag_id,
                              const struct dag **out, struct err *err)
{
    if (dag_id == NULL && file->dags_count == 1) {
        *out = file->dags[0];
        return STATUS_OK;
    }
    if (dag_id == NULL)
        return err_set(err, STATUS_INVALID, "'%s' holds %zu DAGs; say which with --dag", file->path,
                       file->dags_count);
    for (size_t i = 0; i < file->dags_count; i++) {
        if (str_equal(file->dags[i]->id, dag_id)) {
            *out = file->dags[i];
            return STATUS_OK;
        }
    }
    const char *near = str_nearest(dag_id, file->dags_count, nth_dag, file);
    return err_set(err, STATUS_NOT_FOUND, "'%s' has no DAG '%s'%s%s%s", file->path, dag_id,
                   near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : "");
}

/* Only this process runs the tasks of a run in the foreground. */
static void print_missing_labels(const struct session *session, const struct dag *dag,
                                 struct arena *arena)
{
    for (size_t i = 0; i < dag->tasks_count && session->labels != NULL; i++) {
        const char *wanted = task_def_labels(&dag->tasks[i], arena);
        if (!word_set_is_part(wanted, session->labels))
            (void)fprintf(stderr,
                          "eider: warning: task '%s' waits for ever: it asks for a host with '%s', "
                          "and this one has '%s'; see EIDER_LABELS, or `eider dags trigger`\n",
                          dag->tasks[i].id, wanted, session->labels);
    }
}

/* What would wait without a word for a pool or a host that is not there. */
static enum status print_doubts(struct session *session, const struct dag *dag, struct err *err)
{
    CHECK(dag != NULL);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    print_missing_labels(session, dag, arena);
    struct pool_doubt *doubts = NULL;
    size_t count = 0;
    if (store_pool_doubts(session->store, arena, dag, &doubts, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        (void)fprintf(stderr, "eider: warning: %s\n",
                      pool_doubt_text(arena, dag->namespace_, &doubts[i]));
    return STATUS_OK;
}

/* Read the file and keep its DAG as a version. */
static enum status version_of_file(struct session *session, const char *path, const char *dag_id,
                                   struct opened *opened, int64_t *out_version, struct err *err)
{
    enum status status = spec_load_file(path, &opened->file, err);
    if (status == STATUS_LIMIT)
        return err->code = STATUS_BAD_DAG;
    if (status != STATUS_OK)
        return status;
    const struct spec_file *file = opened->file;
    if (file->diags.errors == 0)
        spec_add_files(opened->file);
    if (file->diags.count > 0)
        print_problems(file);
    if (file->diags.errors > 0)
        return err_set(err, STATUS_BAD_DAG, "'%s' has %zu problem%s", path, file->diags.errors,
                       file->diags.errors == 1 ? "" : "s");
    for (size_t i = 0; i < file->dags_count; i++)
        house_hooks_add(session->config->hooks, file->dags[i]);
    const struct dag *dag = NULL;
    if (choose_dag(file, dag_id, &dag, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *absolute = realpath(path, NULL);
    if (absolute == NULL)
        return err_errno(err, errno, "find '%s'", path);
    struct version_ref ref;
    struct version_source source = {
        .path = absolute,
        .text = file->text,
        .actor = actor_name(),
        .is_foreground = true,
    };
    if (store_version_save(session->store, dag, &source, &ref, err) != STATUS_OK)
        return err->code;
    if (print_doubts(session, dag, err) != STATUS_OK)
        return err->code;
    session_lend(session, ref.version, dag);
    *out_version = ref.version;
    return STATUS_OK;
}

/* Whether a file has the DAG, or would have it by its name if it were valid. */
static bool has_dag(const struct spec_file *file, const char *dag_id)
{
    for (size_t i = 0; i < file->dags_count; i++)
        if (file->dags[i] != NULL && str_equal(file->dags[i]->id, dag_id))
            return true;
    const char *slash = strrchr(file->path, '/');
    const char *name = slash != NULL ? slash + 1 : file->path;
    const char *rest = name + strlen(dag_id);
    return file->diags.errors > 0 && str_starts_with(name, dag_id) &&
           (str_equal(rest, ".yaml") || str_equal(rest, ".yml"));
}

/* A DAG that never ran lives only in the folder of DAG files. NULL: it is not there either. */
static char *find_in_folder(const struct session *session, const char *dag_id)
{
    const char *folder = settings_text(&session->config->settings, SETTING_DAGS);
    struct spec_paths paths = {0};
    struct err ignored = {0};
    char *found = NULL;
    if (spec_find_files(folder, &paths, &ignored) == STATUS_OK) {
        for (size_t i = 0; i < paths.count && found == NULL; i++) {
            CLEANUP(spec_file_freep) struct spec_file *file = NULL;
            if (spec_load_file(paths.items[i], &file, &ignored) == STATUS_OK &&
                has_dag(file, dag_id))
                found = mem_strdup(paths.items[i]);
        }
    }
    spec_paths_fini(&paths);
    return found;
}

static enum status version_of_dag(struct session *session, const char *dag_id,
                                  struct opened *opened, int64_t *out_version, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct version_info info;
    enum status status = store_version_newest(session->store, arena, dag_id, &info, err);
    if (status == STATUS_NOT_FOUND) {
        CLEANUP(mem_freep) char *path = find_in_folder(session, dag_id);
        if (path != NULL)
            return version_of_file(session, path, dag_id, opened, out_version, err);
    }
    if (status != STATUS_OK)
        return status;
    /*
     * The file is the author's word, unless somebody has gone back behind it; the store has the
     * last one that was run.
     */
    bool has_file = info.path[0] != '\0' && access(info.path, R_OK) == 0;
    if (has_file && info.is_filed)
        return version_of_file(session, info.path, dag_id, opened, out_version, err);
    if (!info.is_active)
        return err_set(err, STATUS_CONFLICT, "DAG '%s' is inactive: its file %s is gone", dag_id,
                       info.path);
    *out_version = info.version;
    return STATUS_OK;
}

/* --- a new run ------------------------------------------------------------------------------- */

static const char *nth_task(const void *context, size_t i)
{
    return ((const struct dag *)context)->tasks[i].id;
}

static enum status select_tasks(const struct dag *dag, const struct engine_request *request,
                                bool *selected, struct err *err)
{
    for (size_t i = 0; i < request->tasks_count; i++) {
        int64_t node = dag_find_task(dag, request->tasks[i]);
        if (node < 0) {
            const char *near = str_nearest(request->tasks[i], dag->tasks_count, nth_task, dag);
            return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no task '%s'%s%s%s", dag->id,
                           request->tasks[i], near != NULL ? "; did you mean '" : "",
                           near != NULL ? near : "", near != NULL ? "'?" : "");
        }
        selected[node] = true;
    }
    return STATUS_OK;
}

static enum status create_run(struct session *session, const struct engine_request *request,
                              int64_t version, struct opened *opened, struct err *err)
{
    CLEANUP(json_decrefp) json_t *params = NULL;
    if (store_version_dag(session->store, version, &opened->dag, err) != STATUS_OK ||
        params_resolve_typed(opened->dag, request->conf, request->params, &params, err) !=
            STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *params_text = json_format(params);
    CLEANUP(mem_freep)
    char *conf_text = request->conf != NULL ? json_format(request->conf) : mem_strdup("{}");
    CLEANUP(mem_freep) bool *selected = mem_zalloc(opened->dag->tasks_count, sizeof(bool));
    if (select_tasks(opened->dag, request, selected, err) != STATUS_OK)
        return err->code;
    int64_t date_us =
        request->has_logical_date ? request->logical_date_us : store_now_us(session->store);
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    if (timetable_of_dag(opened->dag, zone_file_read, &timetable, err) != STATUS_OK)
        return err->code;
    struct tick_dates dates = timetable_dates_by_hand(timetable, date_us);
    struct run_request run = {
        .version = version,
        .run_id = request->run_id,
        .kind = "manual",
        .logical_at_us = dates.logical_at_us,
        .interval_start_us = dates.interval_start_us,
        .interval_end_us = dates.interval_end_us,
        .params = params_text,
        .conf = conf_text,
        .note = request->note != NULL ? request->note : "",
        .actor = actor_name(),
        .scope = session->is_onlooker ? 0 : -1,
        .selected = request->tasks_count > 0 ? selected : NULL,
    };
    struct run_created created;
    if (store_run_create(session->store, &run, &created, err) != STATUS_OK)
        return err->code;
    opened->run = created.id;
    opened->scope = created.scope;
    return STATUS_OK;
}

/* --- an old one ------------------------------------------------------------------------------ */

static enum status known_run(struct session *session, const char *name, struct opened *opened,
                             struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct run_info info;
    if (store_run_find(session->store, name, &opened->run, err) != STATUS_OK ||
        store_run_load(session->store, arena, opened->run, &info, err) != STATUS_OK)
        return err->code;
    opened->scope = info.scope;
    return store_version_dag(session->store, info.version, &opened->dag, err);
}

static enum status reopen_run(struct session *session, const struct engine_request *request,
                              const struct opened *opened, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(mem_freep) bool *nodes = mem_zalloc(opened->dag->tasks_count, sizeof(bool));
    struct run_info info;
    struct clear_result cleared;
    if (run_owner_take_back(session, opened->run, err) != STATUS_OK ||
        store_run_load(session->store, arena, opened->run, &info, err) != STATUS_OK ||
        select_tasks(opened->dag, request, nodes, err) != STATUS_OK)
        return err->code;
    if (info.state == RUN_SUCCESS && request->tasks_count == 0)
        return err_set(err, STATUS_CONFLICT,
                       "run %lld succeeded; name the tasks that should run again",
                       (long long)opened->run);
    struct clear_request clear = {
        .run = opened->run,
        .nodes = request->tasks_count > 0 ? nodes : NULL,
        .map_index = -1,
        .actor = actor_name(),
    };
    store_set_reason(session->store, request->reason);
    enum status status = store_clear(session->store, &clear, arena, &cleared, err);
    store_set_reason(session->store, NULL);
    return status;
}

/* --- the two steps --------------------------------------------------------------------------- */

enum status opening_begin(struct session *session, const struct engine_request *request,
                          struct opened *out, struct err *err)
{
    int64_t version = 0;
    enum status status = STATUS_OK;
    switch (request->source) {
    case ENGINE_RETRY:
        return known_run(session, request->name, out, err);
    case ENGINE_FILE:
        status = version_of_file(session, request->name, request->dag_id, out, &version, err);
        break;
    case ENGINE_DAG:
        status = version_of_dag(session, request->name, out, &version, err);
        break;
    }
    return status == STATUS_OK ? create_run(session, request, version, out, err) : status;
}

enum status opening_finish(struct session *session, const struct engine_request *request,
                           struct opened *opened, struct err *err)
{
    if (request->source != ENGINE_RETRY)
        return STATUS_OK;
    return reopen_run(session, request, opened, err);
}

void opened_fini(struct opened *opened)
{
    spec_file_free(opened->file);
    *opened = (struct opened){0};
}

/* --- without a record ------------------------------------------------------------------------ */

enum status opening_scratch_make(const struct settings *settings, struct opening_scratch *out,
                                 struct err *err)
{
    const char *parent = getenv("TMPDIR");
    char *dir = mem_format("%s/eider-test-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(dir) == NULL) {
        enum status status = err_errno(err, errno, "make a temporary folder '%s'", dir);
        free(dir);
        return status;
    }
    out->dir = dir;
    return home_init(settings, dir, &out->home, err);
}

void opening_scratch_fini(struct opening_scratch *scratch)
{
    home_fini(&scratch->home);
    if (scratch->dir == NULL)
        return;
    struct err err = {0};
    char *slash = strrchr(scratch->dir, '/');
    CLEANUP(file_closep) int parent = -1;
    *slash = '\0';
    if (file_open_directory(scratch->dir, &parent, &err) != STATUS_OK ||
        file_tree_remove(parent, slash + 1, &err) != STATUS_OK)
        log_warn("remove the temporary folder", LOG_STR("error", err.text));
    free(scratch->dir);
    *scratch = (struct opening_scratch){0};
}
