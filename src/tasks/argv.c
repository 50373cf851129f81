#include "tasks/argv.h"

#include "base/check.h"

void argv_init(struct argv *argv, const struct plan_request *request, size_t capacity)
{
    *argv = (struct argv){
        .items = arena_array(request->arena, capacity + 1, sizeof(const char *)),
        .capacity = capacity,
    };
}

void argv_add(struct argv *argv, const char *word)
{
    CHECK(argv->count < argv->capacity);
    argv->items[argv->count++] = word;
}

enum status argv_add_list(struct argv *argv, const struct plan_request *request, const char *field,
                          const json_t *list, struct err *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        const char *word = NULL;
        if (text == NULL)
            return err_set(err, STATUS_INVALID, "%s: word %zu is not a text", field, i + 1);
        const char *place = arena_format(request->arena, "%s.%zu", field, i);
        if (request->renderer->text(request->renderer->context, place, text, &word, err) !=
            STATUS_OK)
            return err->code;
        argv_add(argv, word);
    }
    return STATUS_OK;
}
