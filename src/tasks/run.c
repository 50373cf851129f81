/*
 * run: a shell command, or a program with arguments.
 */
#include "tasks/argv.h"
#include "tasks/kinds.h"

enum status run_plan(const struct plan_request *request, struct task_plan *out, struct err *err)
{
    const json_t *settings = request->task->settings;
    out->is_process = true;
    if (json_is_array(settings))
        return argv_render(request, "run", settings, NULL, &out->argv, err);
    const char *command = NULL;
    if (request->renderer->text(request->renderer->context, "run", json_string_value(settings),
                                &command, err) != STATUS_OK)
        return err->code;
    const char **argv = arena_array(request->arena, 4, sizeof *argv);
    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = command;
    out->argv = argv;
    return STATUS_OK;
}
