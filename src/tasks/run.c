/*
 * run: a shell command, or a program with arguments.
 */
#include "tasks/argv.h"
#include "tasks/kinds.h"

enum status run_plan(const struct plan_request *request, struct task_plan *out, struct err *err)
{
    const json_t *settings = request->task->settings;
    out->is_process = true;
    struct argv argv;
    if (json_is_array(settings)) {
        argv_init(&argv, request, json_array_size(settings));
        out->argv = argv.items;
        return argv_add_list(&argv, request, "run", settings, err);
    }
    const char *command = NULL;
    if (request->renderer->text(request->renderer->context, "run", json_string_value(settings),
                                &command, err) != STATUS_OK)
        return err->code;
    argv_init(&argv, request, 3);
    argv_add(&argv, "/bin/sh");
    argv_add(&argv, "-c");
    argv_add(&argv, command);
    out->argv = argv.items;
    return STATUS_OK;
}
