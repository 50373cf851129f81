#include "service/lookup.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/limits.h"
#include "service/principal.h"
#include "spec/spec_find.h"
#include "store/queue.h"
#include "store/sight.h"
#include "store/version.h"

enum status lookup_run(struct service *service, enum db_mode mode, struct arena *arena,
                       const json_t *request, struct found_run *out, struct err *err)
{
    const char *text = json_get_string(request, "run", "");
    struct found_run found = {0};
    if (text[0] == '\0')
        return err_set(err, STATUS_INVALID, "'run' is empty: name a run or a DAG");
    if (service_store(service, mode, &found.store, err) != STATUS_OK)
        return err_wrap(err, "no run '%.100s'", text);
    if (store_run_load_by(found.store, arena, text, &found.info, err) != STATUS_OK ||
        store_version_dag(found.store, found.info.version, &found.dag, err) != STATUS_OK)
        return err->code;
    *out = found;
    return STATUS_OK;
}

enum status lookup_queue(struct store *store, const char *name, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct queue_info queue;
    return name == NULL ? STATUS_OK : store_queue_load(store, arena, name, &queue, err);
}

static const char *task_id_at(const void *context, size_t i)
{
    return ((const struct dag *)context)->tasks[i].id;
}

enum status lookup_node(const struct dag *dag, const char *task_id, int64_t *out_node,
                        struct err *err)
{
    int64_t node = dag_find_task(dag, task_id);
    if (node < 0) {
        const char *near = str_nearest(task_id, dag->tasks_count, task_id_at, dag);
        if (near != NULL)
            return err_set(err, STATUS_NOT_FOUND,
                           "DAG '%s' has no task '%.100s', did you mean '%s'?", dag->id, task_id,
                           near);
        return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no task '%.100s'", dag->id, task_id);
    }
    *out_node = node;
    return STATUS_OK;
}

enum status lookup_task(const struct found_run *run, struct arena *arena, int64_t node,
                        int64_t map_index, struct task_row *out, struct err *err)
{
    struct task_row task;
    if (store_task_load(run->store, arena, run->info.first_task + node, &task, err) != STATUS_OK)
        return err->code;
    if (map_index >= 0) {
        const char *id = run->dag->tasks[node].id;
        if (!task_def_is_mapped(&run->dag->tasks[node]))
            return err_set(err, STATUS_INVALID, "task '%s' is not mapped", id);
        if (task.instance_base == 0)
            return err_set(err, STATUS_NOT_FOUND, "task '%s' has no instances yet", id);
        if (map_index >= task.inserted && map_index < task.counts.total)
            return err_set(
                err, STATUS_NOT_FOUND,
                "instance %lld of '%s' has not started yet; `eider explain %lld %s` says "
                "what it waits for",
                (long long)map_index, id, (long long)run->info.id, id);
        if (map_index >= task.inserted)
            return err_set(err, STATUS_NOT_FOUND, "task '%s' has no instance %lld; they go to %lld",
                           id, (long long)map_index, (long long)task.inserted - 1);
        if (store_task_load(run->store, arena, task.instance_base + map_index, &task, err) !=
            STATUS_OK)
            return err_wrap(err, "instance %lld of '%s'", (long long)map_index, id);
    }
    *out = task;
    return STATUS_OK;
}

/* --- DAGs ------------------------------------------------------------------------------------ */

void lookup_dag_fini(struct found_dag *found)
{
    spec_file_free(found->file);
    found->file = NULL;
}

static const char *dag_id_at(const void *context, size_t i)
{
    const struct dag *dag = ((const struct spec_file *)context)->dags[i];
    return dag != NULL ? dag->id : "";
}

static enum status several_dags(const struct spec_file *file, struct err *err)
{
    struct strbuf names;
    strbuf_init(&names, 200);
    for (size_t i = 0; i < file->dags_count; i++)
        strbuf_addf(&names, "%s%s", i > 0 ? ", " : "", dag_id_at(file, i));
    (void)err_set(err, STATUS_INVALID, "'%s' has %zu DAGs; say which: %s", file->path,
                  file->dags_count, names.text);
    strbuf_fini(&names);
    return err->code;
}

static enum status choose_dag(const struct spec_file *file, const char *dag_id,
                              const struct dag **out, struct err *err)
{
    if (dag_id == NULL && file->dags_count == 1) {
        *out = file->dags[0];
        return STATUS_OK;
    }
    if (dag_id == NULL)
        return several_dags(file, err);
    for (size_t i = 0; i < file->dags_count; i++) {
        if (str_equal(dag_id_at(file, i), dag_id)) {
            *out = file->dags[i];
            return STATUS_OK;
        }
    }
    const char *near = str_nearest(dag_id, file->dags_count, dag_id_at, file);
    return err_set(err, STATUS_NOT_FOUND, "'%s' has no DAG '%.100s'%s%s%s", file->path, dag_id,
                   near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : "");
}

enum status lookup_check_file(const struct spec_file *file, struct err *err)
{
    for (size_t i = 0; i < file->diags.count; i++) {
        const struct diag *diag = &file->diags.items[i];
        if (diag->severity == DIAG_ERROR)
            return err_set(err, STATUS_BAD_DAG, "%s:%d:%d: %s%s", file->path, diag->line,
                           diag->column, diag->text,
                           file->diags.errors > 1 ? " (`eider validate` shows all problems)" : "");
    }
    if (file->dags_count == 0)
        return err_set(err, STATUS_BAD_DAG, "'%s' has no DAG", file->path);
    return STATUS_OK;
}

/* The file is taken, whatever becomes of it. */
static enum status dag_of_spec(struct spec_file *taken, const char *dag_id, struct found_dag *out,
                               struct err *err)
{
    CLEANUP(spec_file_freep) struct spec_file *file = taken;
    const struct dag *dag = NULL;
    if (lookup_check_file(file, err) != STATUS_OK ||
        choose_dag(file, dag_id, &dag, err) != STATUS_OK)
        return err->code;
    *out = (struct found_dag){.dag = dag, .path = file->path, .text = file->text};
    out->file = TAKE(file);
    return STATUS_OK;
}

static enum status dag_of_file(const char *path, const char *dag_id, struct found_dag *out,
                               struct err *err)
{
    struct spec_file *file = NULL;
    if (spec_load_file(path, &file, err) != STATUS_OK)
        return err->code;
    return dag_of_spec(file, dag_id, out, err);
}

/*
 * What is known of a DAG is found by its id. So whoever sends one along with the id of another that
 * is not shown would be shown that one.
 */
static enum status check_id(struct service *service, const char *dag_id, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct err problem = {0};
    const char *space = NULL;
    if (principal_sees_all(service->principal))
        return STATUS_OK;
    if (service_store_if_any(service, &store, err) != STATUS_OK || store == NULL)
        return err->code;
    enum status status = store_space_of_dag(store, arena, dag_id, &space, &problem);
    if (status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && principal_sees(service->principal, space)))
        return STATUS_OK;
    if (status == STATUS_OK)
        return err_set(err, STATUS_DENIED,
                       "there is a DAG '%.100s' that you may not see: give yours another id",
                       dag_id);
    *err = problem;
    return status;
}

static enum status dag_of_text(struct service *service, const json_t *request,
                               struct found_dag *out, struct err *err)
{
    const char *name = json_get_string(request, "file", "dag.yaml");
    const char *dag_id = json_get_string(request, "dag", NULL);
    const json_t *text = json_object_get(request, "text");
    size_t length = json_string_length(text);
    if (length > LIMIT_FILE_BYTES)
        return err_set(err, STATUS_LIMIT, "'%.100s' has more than %d bytes", name,
                       LIMIT_FILE_BYTES);
    struct spec_file *file = spec_load_text(name, json_string_value(text), length);
    if (dag_of_spec(file, dag_id, out, err) != STATUS_OK)
        return err->code;
    CHECK(out->dag != NULL);
    if (check_id(service, out->dag->id, err) != STATUS_OK)
        return err->code;
    out->is_sent = true;
    return STATUS_OK;
}

enum status lookup_check_author(const struct service *service, const struct found_dag *found,
                                struct err *err)
{
    const char *space = found->dag->namespace_;
    if (!found->is_sent || principal_role(service->principal, space) >= PERMISSION_EDITOR)
        return STATUS_OK;
    return err_set(err, STATUS_DENIED,
                   "a DAG that is sent along needs the role editor in the namespace '%.100s'; name "
                   "one that the server has",
                   space);
}

static bool is_named_after(const char *path, const char *dag_id)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(dag_id);
    return strncmp(name, dag_id, length) == 0 && name[length] == '.';
}

/*
 * A DAG that never ran lives only in the folder. False when it is not there either; *out_broken is
 * a file of its name that has problems, in the arena, or NULL.
 */
static bool dag_of_folder(const struct service *service, struct arena *arena, const char *dag_id,
                          struct found_dag *out, const char **out_broken)
{
    struct spec_paths paths = {0};
    struct err ignored = {0};
    bool is_found = false;
    if (service->dags == NULL || spec_find_files(service->dags, &paths, &ignored) != STATUS_OK) {
        spec_paths_fini(&paths);
        return false;
    }
    for (size_t i = 0; i < paths.count && !is_found; i++) {
        enum status status = dag_of_file(paths.items[i], dag_id, out, &ignored);
        is_found = status == STATUS_OK;
        if (status == STATUS_BAD_DAG && is_named_after(paths.items[i], dag_id))
            *out_broken = arena_strdup(arena, paths.items[i]);
    }
    spec_paths_fini(&paths);
    return is_found;
}

static enum status dag_of_store(struct service *service, struct arena *arena, const char *dag_id,
                                int64_t number, struct found_dag *out, struct err *err)
{
    struct store *store = NULL;
    struct version_info info;
    const struct dag *dag = NULL;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err_wrap(err, "no DAG '%.100s'", dag_id);
    enum status status = number > 0
                             ? store_version_numbered(store, arena, dag_id, number, &info, err)
                             : store_version_newest(store, arena, dag_id, &info, err);
    if (status != STATUS_OK || store_version_dag(store, info.version, &dag, err) != STATUS_OK)
        return err->code;
    *out = (struct found_dag){
        .dag = dag,
        .path = info.path,
        .text = info.source,
        .version = info.number,
        .key = info.version,
        .is_active = info.is_active,
    };
    return STATUS_OK;
}

enum status lookup_dag(struct service *service, struct arena *arena, const json_t *request,
                       struct found_dag *out, struct err *err)
{
    const char *path = json_get_string(request, "file", NULL);
    const char *dag_id = json_get_string(request, "dag", NULL);
    int64_t number = json_get_int(request, "version", 0);
    bool is_sent = json_is_string(json_object_get(request, "text"));
    if ((path != NULL || is_sent) && number > 0)
        return err_set(err, STATUS_INVALID, "a file has no versions: name its DAG");
    if (is_sent)
        return dag_of_text(service, request, out, err);
    if (path != NULL)
        return dag_of_file(path, dag_id, out, err);
    if (dag_id == NULL)
        return err_set(err, STATUS_INVALID, "name a DAG or a file");
    struct err problem = {0};
    const char *broken = NULL;
    enum status status = dag_of_store(service, arena, dag_id, number, out, &problem);
    if (status == STATUS_NOT_FOUND && number == 0 &&
        dag_of_folder(service, arena, dag_id, out, &broken))
        return STATUS_OK;
    if (broken != NULL)
        return err_set(err, STATUS_NOT_FOUND,
                       "no DAG '%.100s': '%s' has problems, see `eider validate %s`", dag_id,
                       broken, broken);
    if (status != STATUS_OK)
        *err = problem;
    return status;
}

enum status lookup_dag_name(struct service *service, const char *dag_id, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    if (dag_id == NULL)
        return STATUS_OK;
    CLEANUP(json_decrefp) json_t *request = json_object();
    json_put_string(request, "dag", dag_id);
    return lookup_dag(service, arena, request, &found, err);
}
