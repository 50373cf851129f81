#include "service/dag_texts.h"

#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "service/json_build.h"
#include "spec/spec.h"
#include "spec/spec_find.h"

static enum status read_text(const char *path, json_t **out, struct err *err)
{
    CLEANUP(spec_file_freep) struct spec_file *file = NULL;
    if (spec_load_file(path, &file, err) != STATUS_OK)
        return err->code;
    json_t *text = json_stringn(file->text, file->length);
    if (text == NULL)
        return err_set(err, STATUS_BAD_DAG, "'%s' is not text in UTF-8", path);
    *out = text;
    return STATUS_OK;
}

static json_t *copy_of(const json_t *request)
{
    /* jansson does not change what it copies, its signature merely predates const. */
    json_t *copy = json_copy((json_t *)(uintptr_t)request);
    CHECK(copy != NULL);
    return copy;
}

/* The path of the one DAG file that a request names, or NULL. */
static const char *file_of(const struct operation *operation, const json_t *request)
{
    const char *target = json_get_string(request, "target", NULL);
    if (!operation_takes(operation, "text") || json_object_get(request, "text") != NULL)
        return NULL;
    if (target != NULL && operation_takes(operation, "target") && target[0] != '{' &&
        (strchr(target, '/') != NULL || str_ends_with(target, ".yaml") ||
         str_ends_with(target, ".yml")) &&
        strchr(target, ':') == NULL)
        return target;
    return json_get_string(request, "file", NULL);
}

static json_t *describe(const char *path)
{
    json_t *file = json_build_object();
    json_t *text = NULL;
    struct err problem = {0};
    json_put(file, "name", json_text(path, strlen(path)));
    if (read_text(path, &text, &problem) == STATUS_OK)
        json_put(file, "text", text);
    else
        json_put_string(file, "unreadable", problem.text);
    return file;
}

static enum status add_path(json_t *files, const char *path, struct err *err)
{
    struct spec_paths paths = {0};
    enum status status = spec_find_files(path, &paths, err);
    if (status == STATUS_OK && paths.count == 0)
        status = err_set(err, STATUS_NOT_FOUND, "there are no DAG files in '%s'", path);
    for (size_t i = 0; i < paths.count && status == STATUS_OK; i++)
        json_build_append(files, describe(paths.items[i]));
    spec_paths_fini(&paths);
    return status;
}

static enum status attach_all(const json_t *request, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *sent = copy_of(request);
    const json_t *paths = json_object_get(request, "paths");
    json_t *files = json_build_array();
    json_put(sent, "files", files);
    for (size_t i = 0; i < json_array_size(paths); i++)
        if (add_path(files, json_string_value(json_array_get(paths, i)), err) != STATUS_OK)
            return err->code;
    (void)json_object_del(sent, "paths");
    *out = TAKE(sent);
    return STATUS_OK;
}

enum status dag_texts_attach(const struct operation *operation, const json_t *request, json_t **out,
                             struct err *err)
{
    const char *file = file_of(operation, request);
    json_t *text = NULL;
    if (json_array_size(json_object_get(request, "paths")) > 0 &&
        operation_takes(operation, "files"))
        return attach_all(request, out, err);
    if (file == NULL) {
        *out = json_incref((json_t *)(uintptr_t)request);
        return STATUS_OK;
    }
    if (read_text(file, &text, err) != STATUS_OK)
        return err->code;
    *out = copy_of(request);
    json_put(*out, "text", text);
    return STATUS_OK;
}
