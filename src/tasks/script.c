/*
 * script: a text given to an interpreter, from the DAG file or from a file beside it.
 *
 * The text is rendered and written to a private file for the attempt, so the interpreter
 * reads it as it would any program and its standard input stays free.
 */
#include <stdlib.h>

#include "model/limits.h"
#include "os/file.h"
#include "tasks/argv.h"
#include "tasks/kinds.h"

static const char DEFAULT_INTERPRETER[] = "/bin/sh";

/* A name with a template is known only now: no version has that file. */
static enum status read_beside(const struct plan_request *request, const char *name,
                               const char **out, struct err *err)
{
    char *path = file_path_join(request->dag_dir, name);
    char *bytes = NULL;
    size_t length = 0;
    enum status status = file_read(path, LIMIT_NAMED_FILE_BYTES, &bytes, &length, err);
    free(path);
    if (status != STATUS_OK)
        return err_wrap(err, "script file");
    *out = arena_strndup(request->arena, bytes, length);
    free(bytes);
    return STATUS_OK;
}

/* A file is a program of its own: it is run as it is. */
static enum status file_text(const struct plan_request *request, const char *name, const char **out,
                             struct err *err)
{
    struct err missing = {0};
    enum status status = STATUS_NOT_FOUND;
    if (request->files != NULL)
        status = request->files->read(request->files->context, name, out, &missing);
    if (status == STATUS_NOT_FOUND)
        return read_beside(request, name, out, err);
    if (status != STATUS_OK)
        *err = missing;
    return status;
}

static enum status script_text(const struct plan_request *request, const json_t *settings,
                               const char **out, struct err *err)
{
    const struct renderer *renderer = request->renderer;
    const char *text = json_get_string(settings, "text", NULL);
    if (text != NULL)
        return renderer->text(renderer->context, "script.text", text, out, err);
    const char *name = NULL;
    if (renderer->text(renderer->context, "script.file", json_get_string(settings, "file", ""),
                       &name, err) != STATUS_OK)
        return err->code;
    return file_text(request, name, out, err);
}

/* The interpreter with its own arguments, the script, then the script's arguments. */
static enum status script_argv(const struct plan_request *request, const json_t *settings,
                               const char *const **out, struct err *err)
{
    const json_t *interpreter = json_object_get(settings, "interpreter");
    const json_t *args = json_object_get(settings, "args");
    struct argv argv;
    argv_init(&argv, request, json_array_size(interpreter) + json_array_size(args) + 2);
    *out = argv.items;
    if (!json_is_array(interpreter))
        argv_add(&argv, json_is_string(interpreter) ? json_string_value(interpreter)
                                                    : DEFAULT_INTERPRETER);
    if (argv_add_list(&argv, request, "script.interpreter", interpreter, err) != STATUS_OK)
        return err->code;
    argv_add(&argv, request->script_path);
    return argv_add_list(&argv, request, "script.args", args, err);
}

enum status script_plan(const struct plan_request *request, struct task_plan *out, struct err *err)
{
    const json_t *settings = request->task->settings;
    out->is_process = true;
    if (script_text(request, settings, &out->script, err) != STATUS_OK)
        return err->code;
    return script_argv(request, settings, &out->argv, err);
}
