#include "app/dag_folder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "spec/spec.h"
#include "spec/spec_find.h"
#include "store/version.h"

static void log_problem(const struct spec_file *file)
{
    for (size_t i = 0; i < file->diags.count; i++) {
        const struct diag *diag = &file->diags.items[i];
        if (diag->severity != DIAG_ERROR)
            continue;
        log_warn("a DAG file has problems", LOG_STR("file", file->path),
                 LOG_INT("line", diag->line), LOG_STR("problem", diag->text));
        return;
    }
}

static enum status save_file(struct store *store, const struct dag_folder *folder, const char *path,
                             struct dag_folder_result *result, struct err *err)
{
    CLEANUP(spec_file_freep) struct spec_file *file = NULL;
    CLEANUP(mem_freep) char *absolute = realpath(path, NULL);
    struct err problem = {0};
    if (absolute == NULL || spec_load_file(path, &file, &problem) != STATUS_OK) {
        log_warn("a DAG file cannot be read", LOG_STR("file", path),
                 LOG_STR("error", problem.text));
        result->broken++;
        return STATUS_OK;
    }
    if (file->diags.errors > 0) {
        log_problem(file);
        result->broken++;
        return STATUS_OK;
    }
    struct version_source source = {
        .path = absolute, .text = file->text, .starts_paused = folder->starts_paused};
    for (size_t i = 0; i < file->dags_count; i++) {
        struct version_ref ref;
        if (store_version_save(store, file->dags[i], &source, &ref, err) != STATUS_OK)
            return err_wrap(err, "save DAG '%s'", file->dags[i]->id);
        result->dags++;
        result->changed += ref.is_new;
    }
    return STATUS_OK;
}

enum status dag_folder_save(struct store *store, const struct dag_folder *folder,
                            struct dag_folder_result *out, struct err *err)
{
    struct spec_paths paths = {0};
    struct dag_folder_result result = {0};
    struct err missing = {0};
    enum status status = STATUS_OK;
    if (spec_find_files(folder->path, &paths, &missing) != STATUS_OK)
        log_debug("no folder of DAG files", LOG_STR("error", missing.text));
    for (size_t i = 0; i < paths.count && status == STATUS_OK; i++)
        status = save_file(store, folder, paths.items[i], &result, err);
    spec_paths_fini(&paths);
    if (status == STATUS_OK)
        *out = result;
    return status;
}
