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

static enum status script_text(const struct plan_request *request, const json_t *settings,
                               const char **out, struct err *err)
{
    const struct renderer *renderer = request->renderer;
    const char *text = json_get_string(settings, "text", NULL);
    if (text != NULL)
        return renderer->text(renderer->context, "script", text, out, err);
    const char *name = NULL;
    if (renderer->text(renderer->context, "script.file", json_get_string(settings, "file", ""),
                       &name, err) != STATUS_OK)
        return err->code;
    char *path = file_path_join(request->dag_dir, name);
    char *bytes = NULL;
    size_t length = 0;
    enum status status = file_read(path, LIMIT_TEMPLATE_BYTES, &bytes, &length, err);
    free(path);
    if (status != STATUS_OK)
        return err_wrap(err, "script file");
    /* A file is a program of its own: it is run as it is. */
    *out = arena_strndup(request->arena, bytes, length);
    free(bytes);
    return STATUS_OK;
}

/* The interpreter with its own arguments, the script, then the script's arguments. */
static enum status script_argv(const struct plan_request *request, const json_t *settings,
                               const char *const **out, struct err *err)
{
    const json_t *interpreter = json_object_get(settings, "interpreter");
    const json_t *args = json_object_get(settings, "args");
    CLEANUP(json_decrefp) json_t *list = json_array();
    if (json_is_array(interpreter))
        for (size_t i = 0; i < json_array_size(interpreter); i++)
            (void)json_array_append(list, json_array_get(interpreter, i));
    else
        (void)json_array_append_new(list, json_string(json_is_string(interpreter)
                                                          ? json_string_value(interpreter)
                                                          : DEFAULT_INTERPRETER));
    (void)json_array_append_new(list, json_string(request->script_path));
    for (size_t i = 0; i < json_array_size(args); i++)
        (void)json_array_append(list, json_array_get(args, i));
    return argv_render(request, "script", list, NULL, out, err);
}

enum status script_plan(const struct plan_request *request, struct task_plan *out, struct err *err)
{
    const json_t *settings = request->task->settings;
    out->is_process = true;
    if (script_text(request, settings, &out->script, err) != STATUS_OK)
        return err->code;
    return script_argv(request, settings, &out->argv, err);
}
