#include "tasks/argv.h"

enum status argv_render(const struct plan_request *request, const char *field, const json_t *list,
                        const char *last, const char *const **out_argv, struct err *err)
{
    size_t count = json_array_size(list);
    const char **argv = arena_array(request->arena, count + 2, sizeof *argv);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text == NULL)
            return err_set(err, STATUS_INVALID, "%s: argument %zu is not a text", field, i + 1);
        if (request->renderer->text(request->renderer->context, field, text, &argv[i], err) !=
            STATUS_OK)
            return err->code;
    }
    argv[count] = last;
    *out_argv = argv;
    return STATUS_OK;
}
