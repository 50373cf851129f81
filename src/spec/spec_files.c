/*
 * spec_files: what the tasks of a DAG file name beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/dag_files.h"
#include "model/limits.h"
#include "os/file.h"
#include "spec/spec.h"

char *spec_named_path(const char *spec_path, const char *name)
{
    /* A link stands for the file it leads to, and that has its neighbours. */
    CLEANUP(mem_freep) char *real = realpath(spec_path, NULL);
    const char *path = real != NULL ? real : spec_path;
    const char *slash = strrchr(path, '/');
    CLEANUP(mem_freep)
    char *folder = slash != NULL ? mem_strndup(path, (size_t)(slash - path)) : mem_strdup(".");
    return file_path_join(folder, name);
}

static void complain(struct spec_file *file, const struct dag *dag, const struct file_name *name,
                     const struct err *err)
{
    const struct source_place *place = dag_find_place(dag, name->place);
    int line = place != NULL ? place->line : 0;
    int column = place != NULL ? place->column : 0;
    int length = (int)strlen(name->name);
    if (err->code == STATUS_LIMIT)
        diag_add(&file->diags, DIAG_ERROR, line, column, length,
                 "the file '%s' is larger than %d KiB: a DAG cannot carry it", name->name,
                 LIMIT_NAMED_FILE_BYTES >> 10);
    else
        diag_add(&file->diags, DIAG_ERROR, line, column, length, "the file '%s': %s", name->name,
                 err->text);
}

static bool add_files(struct spec_file *file, struct dag *dag)
{
    const struct file_name *names = NULL;
    size_t count = dag_file_names(dag, &names);
    bool is_complete = true;
    for (size_t i = 0; i < count; i++) {
        CLEANUP(mem_freep) char *path = spec_named_path(file->path, names[i].name);
        CLEANUP(mem_freep) char *bytes = NULL;
        struct err err = {0};
        size_t size = 0;
        if (file_read(path, LIMIT_NAMED_FILE_BYTES, &bytes, &size, &err) == STATUS_OK) {
            dag_add_file(dag, names[i].name, bytes, size);
            continue;
        }
        complain(file, dag, &names[i], &err);
        is_complete = false;
    }
    return is_complete;
}

void spec_add_files(struct spec_file *file)
{
    for (size_t i = 0; i < file->dags_count; i++)
        if (file->dags[i] != NULL && !add_files(file, file->dags[i]))
            dag_free(TAKE(file->dags[i]));
    diag_list_sort(&file->diags);
}
