/*
 * DAG files with all their problems at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "model/duration.h"
#include "model/limits.h"
#include "model/sensor.h"
#include "model/settings.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/name_check.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/service.h"
#include "spec/diag_render.h"
#include "spec/spec.h"
#include "spec/spec_find.h"
#include "store/pool.h"
#include "store/sight.h"
#include "store/vault.h"

struct validation {
    int64_t poke_max_ms; /* the setting; 0: no bound */
    struct name_check names;
    struct store *store; /* whose pools are known; NULL: there is none */
    bool is_local;       /* names are those of files here */
    struct arena *arena;
    struct strmap *homes; /* id of a DAG to the number of its file in `files` */
    json_t *files;
    int64_t errors;
    int64_t warnings;
};

/* The start of each line of a text, so that many problems of a long file stay cheap. */
struct line_finder {
    const char *at;
    int line;
};

static const char *find_line(struct line_finder *finder, int line, size_t *out_length)
{
    while (finder->line < line) {
        const char *end = strchr(finder->at, '\n');
        if (end == NULL)
            return NULL;
        finder->at = end + 1;
        finder->line++;
    }
    *out_length = strcspn(finder->at, "\r\n");
    return finder->at;
}

/* Problems are sorted by place, so one pass over the text finds all their lines. */
static json_t *describe_problems(const struct spec_file *file)
{
    enum { SOURCE_BYTES_MAX = 2000 };
    struct line_finder finder = {.at = file->text, .line = 1};
    json_t *problems = diag_render_json(&file->diags, file->path);
    for (size_t i = 0; i < file->diags.count; i++) {
        int line = file->diags.items[i].line;
        size_t length = 0;
        const char *source = line > 0 ? find_line(&finder, line, &length) : NULL;
        if (source != NULL)
            json_put(json_array_get(problems, i), "source",
                     json_text(source, MIN(length, (size_t)SOURCE_BYTES_MAX)));
    }
    return problems;
}

/* Tasks that would wait, as things are now; the pools may come later, so these are warnings. */
static enum status add_doubts(const struct validation *validation, struct spec_file *file,
                              struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; validation->store != NULL && i < file->dags_count; i++) {
        const struct dag *dag = file->dags[i];
        struct pool_doubt *doubts = NULL;
        size_t count = 0;
        /* Of pools that are not shown nothing is told either. */
        if (dag == NULL || !store_sees(validation->store, dag->namespace_))
            continue;
        if (store_pool_doubts(validation->store, arena, dag, &doubts, &count, err) != STATUS_OK)
            return err->code;
        for (size_t k = 0; k < count; k++)
            diag_add(&file->diags, DIAG_WARNING, 0, 0, 0, "%s",
                     pool_doubt_text(arena, dag->namespace_, &doubts[k]));
    }
    diag_list_sort(&file->diags);
    return STATUS_OK;
}

/* What the platform refuses, which the file cannot know. */
static void check_poke(const struct validation *validation, const struct dag *dag,
                       const struct task_def *task, struct diag_list *diags)
{
    char wanted[DURATION_TEXT_MAX];
    char most[DURATION_TEXT_MAX];
    int64_t hold_ms = sensor_hold_ms(task);
    if (validation->poke_max_ms == 0 || hold_ms <= validation->poke_max_ms)
        return;
    struct sensor sensor;
    sensor_load(task->settings, &sensor);
    CLEANUP(mem_freep)
    char *path = mem_format("tasks.%s.sensor.%s", task->id, sensor_kind_key(sensor.kind));
    const struct source_place *place = dag_find_place(dag, path);
    diag_add(
        diags, DIAG_ERROR, place != NULL ? place->line : 0, place != NULL ? place->column : 0, 1,
        "sensor '%s' may keep its slot for %s, and this platform allows %s (setting "
        "poke_max): leave out 'mode: poke', or set a shorter 'timeout'",
        task->id, duration_format(hold_ms, wanted), duration_format(validation->poke_max_ms, most));
}

static void check_platform(const struct validation *validation, struct spec_file *file)
{
    for (size_t i = 0; i < file->dags_count; i++)
        for (size_t k = 0; file->dags[i] != NULL && k < file->dags[i]->tasks_count; k++)
            check_poke(validation, file->dags[i], &file->dags[i]->tasks[k], &file->diags);
    diag_list_sort(&file->diags);
}

/* Names that come from elsewhere are not looked up here: that would tell which files there are. */
static bool is_same_file(const struct validation *validation, const char *a, const char *b)
{
    if (!validation->is_local)
        return str_equal(a, b);
    CLEANUP(mem_freep) char *real_a = realpath(a, NULL);
    CLEANUP(mem_freep) char *real_b = realpath(b, NULL);
    return str_equal(real_a != NULL ? real_a : a, real_b != NULL ? real_b : b);
}

/* A daemon takes the first and refuses the others. */
static void check_ids(struct validation *validation, struct spec_file *file)
{
    for (size_t i = 0; i < file->dags_count; i++) {
        int64_t home = 0;
        if (file->dags[i] == NULL)
            continue;
        const char *id = arena_strdup(validation->arena, file->dags[i]->id);
        if (!strmap_find(validation->homes, id, &home)) {
            (void)strmap_add(validation->homes, id, (int64_t)json_array_size(validation->files));
            continue;
        }
        const json_t *other = json_array_get(validation->files, (size_t)home);
        const char *path = json_get_string(other, "path", file->path);
        if (!is_same_file(validation, path, file->path))
            diag_add(&file->diags, DIAG_ERROR, file->lines[i], 1, 1,
                     "the DAG '%s' is in %s already: give one of them another id", id, path);
    }
    diag_list_sort(&file->diags);
}

static void add_file(struct validation *validation, struct spec_file *file)
{
    check_platform(validation, file);
    check_ids(validation, file);
    json_t *object = json_build_object();
    json_t *dags = json_build_array();
    int64_t tasks = 0;
    for (size_t i = 0; i < file->dags_count; i++) {
        if (file->dags[i] == NULL)
            continue;
        json_build_append(dags, json_string(file->dags[i]->id));
        tasks += (int64_t)file->dags[i]->tasks_count;
    }
    json_build_append(validation->files, object);
    json_put_string(object, "path", file->path);
    json_put_bool(object, "ok", file->diags.errors == 0);
    json_put(object, "dags", dags);
    json_put_int(object, "tasks_total", tasks);
    json_t *problems = describe_problems(file);
    for (size_t i = 0; i < file->dags_count; i++)
        if (file->dags[i] != NULL)
            validation->warnings +=
                (int64_t)name_check_dag(&validation->names, file->dags[i], file->path, problems);
    json_put(object, "problems", problems);
    json_put_bool(object, "truncated", file->diags.truncated);
    validation->errors += (int64_t)file->diags.errors;
    for (size_t i = 0; i < file->diags.count; i++)
        validation->warnings += file->diags.items[i].severity == DIAG_WARNING;
}

/* A file that cannot be read at all is a problem of the file as a whole. */
static void add_unreadable(struct validation *validation, const char *path, const struct err *err)
{
    json_t *object = json_build_object();
    json_t *problems = json_build_array();
    json_t *problem = json_build_object();
    json_put_string(problem, "file", path);
    json_put_int(problem, "line", 0);
    json_put_int(problem, "column", 0);
    json_put_int(problem, "length", 0);
    json_put_string(problem, "severity", "error");
    json_put_string(problem, "message", err->text);
    json_build_append(problems, problem);
    json_build_append(validation->files, object);
    json_put(object, "path", json_text(path, strlen(path)));
    json_put_bool(object, "ok", false);
    json_put(object, "dags", json_build_array());
    json_put_int(object, "tasks_total", 0);
    json_put(object, "problems", problems);
    json_put_bool(object, "truncated", false);
    validation->errors++;
}

static enum status validate_file(struct validation *validation, const char *path, struct err *err)
{
    CLEANUP(spec_file_freep) struct spec_file *file = NULL;
    struct err problem = {0};
    if (spec_load_file(path, &file, &problem) != STATUS_OK) {
        add_unreadable(validation, path, &problem);
        return STATUS_OK;
    }
    if (add_doubts(validation, file, err) != STATUS_OK)
        return err->code;
    add_file(validation, file);
    return STATUS_OK;
}

static enum status validate_path(struct validation *validation, const char *path, struct err *err)
{
    struct spec_paths paths = {0};
    enum status status = spec_find_files(path, &paths, err);
    if (status == STATUS_OK && paths.count == 0)
        status = err_set(err, STATUS_NOT_FOUND, "there are no DAG files in '%s'", path);
    for (size_t i = 0; i < paths.count && status == STATUS_OK; i++)
        status = validate_file(validation, paths.items[i], err);
    spec_paths_fini(&paths);
    return status;
}

static enum status validate_text(struct validation *validation, const char *path,
                                 const json_t *text, struct err *err)
{
    size_t length = json_string_length(text);
    if (!json_is_string(text))
        return err_set(err, STATUS_INVALID, "the text of '%.100s' must be a string", path);
    if (length > LIMIT_FILE_BYTES)
        return err_set(err, STATUS_LIMIT, "'%.100s' has more than %d bytes", path,
                       LIMIT_FILE_BYTES);
    CLEANUP(spec_file_freep)
    struct spec_file *file = spec_load_text(path, json_string_value(text), length);
    if (add_doubts(validation, file, err) != STATUS_OK)
        return err->code;
    add_file(validation, file);
    return STATUS_OK;
}

static enum status validate_texts(struct validation *validation, const json_t *texts,
                                  struct err *err)
{
    /* jansson's iteration does not change the object, its signature merely predates const. */
    const char *path;
    json_t *text;
    json_object_foreach((json_t *)(uintptr_t)texts, path, text)
    {
        if (validate_text(validation, path, text, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* What could not be read where it is gets the words in which it was told there. */
static enum status validate_sent(struct validation *validation, const json_t *files,
                                 struct err *err)
{
    size_t i;
    json_t *file;
    json_array_foreach(files, i, file)
    {
        const char *path = json_get_string(file, "name", NULL);
        const char *unreadable = json_get_string(file, "unreadable", NULL);
        struct err problem = {0};
        if (path == NULL)
            return err_set(err, STATUS_INVALID, "'files': entry %zu has no 'name'", i);
        if (unreadable != NULL) {
            (void)err_set(&problem, STATUS_IO, "%s", unreadable);
            add_unreadable(validation, path, &problem);
        } else if (validate_text(validation, path, json_object_get(file, "text"), err) !=
                   STATUS_OK) {
            return err->code;
        }
    }
    return STATUS_OK;
}

static void validation_fini(struct validation *validation)
{
    name_check_fini(&validation->names);
    strmap_free(validation->homes);
    arena_free(validation->arena);
}

/*
 * Without a store that can be read, files can be checked all the same. Who does not see everything
 * is not told what there is by being told what was meant.
 */
static void learn_names(struct service *service, struct validation *validation)
{
    CLEANUP(vault_freep) struct vault *vault = NULL;
    struct err ignored = {0};
    if (!principal_sees_all(service->principal))
        return;
    if (service_vault(service, &vault, &ignored) == STATUS_OK &&
        name_check_init(&validation->names, vault, &ignored) != STATUS_OK)
        validation->names = (struct name_check){0};
}

enum status op_dag_validate(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *files = json_build_array();
    CLEANUP(validation_fini)
    struct validation validation = {
        .poke_max_ms =
            service->settings != NULL ? settings_number(service->settings, SETTING_POKE_MAX) : 0,
        .is_local = service_is_local(service),
        .arena = arena_new(),
        .homes = strmap_new(),
        .files = files,
    };
    struct err ignored = {0};
    /* Files can be checked without a store, and with one that cannot be reached. */
    if (service_store_if_any(service, &validation.store, &ignored) != STATUS_OK)
        validation.store = NULL;
    const json_t *paths = json_object_get(request, "paths");
    const json_t *texts = json_object_get(request, "texts");
    const json_t *sent = json_object_get(request, "files");
    if (json_array_size(paths) == 0 && json_object_size(texts) == 0 && json_array_size(sent) == 0)
        return err_set(err, STATUS_INVALID, "name files or folders in 'paths'");
    learn_names(service, &validation);
    for (size_t i = 0; i < json_array_size(paths); i++)
        if (validate_path(&validation, json_string_value(json_array_get(paths, i)), err) !=
            STATUS_OK)
            return err->code;
    if (validate_texts(&validation, texts, err) != STATUS_OK ||
        validate_sent(&validation, sent, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put(*out, "files", TAKE(files));
    json_put_int(*out, "errors", validation.errors);
    json_put_int(*out, "warnings", validation.warnings);
    return STATUS_OK;
}
