/*
 * dag_read_kind: the value of a kind key, in canonical form.
 *
 *   run            text, or list of texts (no shell)
 *   script         {text | file, interpreter: [..], args: [..]}; args only when there are some
 *   noop           null
 *   short_circuit  text
 *   branch         dag_read_branch.c
 *   sensor         dag_read_sensor.c
 */
#include <string.h>

#include "base/arena.h"
#include "model/dag_read_priv.h"
#include "model/limits.h"
#include "model/template.h"

static const char DEFAULT_INTERPRETER[] = "/bin/sh";

static void use_template(struct reader *r, const char *text, struct spot spot, const char *suffix)
{
    reader_template(r, arena_strdup(r->dag->arena, text), spot, suffix);
}

/* A list of texts as a new JSON list, or NULL after a problem. */
static json_t *text_list(struct reader *r, const char *key, struct spot spot, const json_t *value,
                         const char *suffix)
{
    struct string_list texts = {0};
    reader_texts(r, key, spot, value, &texts);
    if (json_is_array(value) && texts.count != json_array_size(value))
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < texts.count; i++) {
        struct spot at = json_is_array(value) ? (struct spot){value, i} : spot;
        use_template(r, texts.items[i], at, arena_format(r->dag->arena, "%s.%zu", suffix, i));
        (void)json_array_append_new(list, json_string(texts.items[i]));
    }
    return list;
}

static json_t *read_run(struct reader *r, struct spot spot, const json_t *value)
{
    if (json_is_array(value)) {
        json_t *argv = text_list(r, "run", spot, value, "run");
        if (argv != NULL && json_array_size(argv) == 0)
            reader_problem(r, spot, "'run': the list is empty: name a program");
        return argv;
    }
    if (!json_is_string(value)) {
        reader_mismatch(r, spot, "run", "a command, or a list of a program and its arguments",
                        value);
        return NULL;
    }
    const char *text = json_string_value(value);
    if (text[strspn(text, " \t\r\n")] == '\0')
        reader_problem(r, spot, "'run': the command is empty");
    use_template(r, text, spot, "run");
    return json_string(text);
}

/* "/usr/bin/env python3" and ["/usr/bin/env", "python3"] are the same. */
static json_t *read_interpreter(struct reader *r, struct spot spot, const json_t *value)
{
    json_t *list = NULL;
    if (json_is_string(value)) {
        list = json_array();
        const char *text = json_string_value(value);
        for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
            size_t length = strcspn(text, " ");
            (void)json_array_append_new(list, json_stringn(text, length));
            text += length;
        }
    } else {
        list = text_list(r, "interpreter", spot, value, "script.interpreter");
    }
    if (list != NULL && json_array_size(list) == 0)
        reader_problem(r, spot, "'interpreter': name a program");
    return list;
}

static void read_script_text(struct reader *r, json_t *settings, const char *key, struct spot spot,
                             const json_t *value)
{
    const char *text = json_string_value(value);
    if (text == NULL) {
        reader_mismatch(r, spot, key, "a string", value);
        return;
    }
    const char *suffix = arena_format(r->dag->arena, "script.%s", key);
    use_template(r, text, spot, suffix);
    if (strcmp(key, "file") == 0 && template_is_plain(text))
        reader_place(r, spot, suffix);
    json_put(settings, key, json_string(text));
}

static json_t *read_script(struct reader *r, struct spot spot, const json_t *value)
{
    static const struct dag_field ROWS[] = {
        {.key = "text"}, {.key = "file"}, {.key = "args"}, {.key = "interpreter"}};
    static const struct field_table TABLE = {"script", ARRAY_LEN(ROWS), ROWS};
    json_t *settings = json_object();
    if (json_is_string(value)) {
        read_script_text(r, settings, "text", spot, value);
        return settings;
    }
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "script", "a text, or a map with text or file", value);
        return settings;
    }
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const json_t *member = json_object_iter_value(iter);
        json_t *list = NULL;
        if (strcmp(key, "text") == 0 || strcmp(key, "file") == 0)
            read_script_text(r, settings, key, at, member);
        else if (strcmp(key, "interpreter") == 0)
            list = read_interpreter(r, at, member);
        else if (strcmp(key, "args") == 0)
            list = text_list(r, key, at, member, "script.args");
        else
            reader_unknown_key(r, &TABLE, at, key, false);
        if (list != NULL)
            json_put(settings, key, list);
    }
    if ((json_object_get(value, "text") == NULL) == (json_object_get(value, "file") == NULL))
        reader_problem(r, spot, "'script': give either 'text' or 'file'");
    return settings;
}

static json_t *read_noop(struct reader *r, struct spot spot, const json_t *value)
{
    bool is_empty = json_is_null(value) || json_is_true(value) ||
                    (json_is_object(value) && json_object_size(value) == 0);
    if (!is_empty)
        reader_mismatch(r, spot, "noop", "nothing, or {}", value);
    return json_null();
}

static json_t *read_short_circuit(struct reader *r, struct spot spot, const json_t *value)
{
    const char *text = reader_condition(r, "short_circuit", spot, value, "short_circuit");
    return text != NULL ? json_string(text) : NULL;
}

void reader_settings(struct reader *r, struct draft *draft, enum task_kind kind, struct spot spot,
                     const json_t *value)
{
    draft->def.kind = kind;
    draft->settings = spot;
    if (!task_kind_is_available(kind)) {
        reader_problem_at_key(r, spot, "kind '%s' is not available in this version",
                              task_kind_key(kind));
        return;
    }
    switch (kind) {
    case KIND_RUN:
        draft->def.settings = read_run(r, spot, value);
        break;
    case KIND_SCRIPT:
        draft->def.settings = read_script(r, spot, value);
        break;
    case KIND_NOOP:
        draft->def.settings = read_noop(r, spot, value);
        break;
    case KIND_SHORT_CIRCUIT:
        draft->def.settings = read_short_circuit(r, spot, value);
        break;
    case KIND_BRANCH:
        reader_branch(r, draft, spot, value);
        break;
    case KIND_SENSOR:
        draft->def.settings = reader_sensor(r, spot, value);
        break;
    case KIND_PYTHON:
    case KIND_SQL:
    case KIND_HTTP:
    case KIND_EXTRACT:
    case KIND_LOAD:
    case KIND_COPY:
    case KIND_CHECK:
    case KIND_DAG:
    case KIND_JOB:
    case KIND_APPROVE:
    case KIND_DBT:
    case KIND_COUNT:
        break;
    }
}

static void take_sibling(struct reader *r, struct draft *draft, struct spot spot, const char *key)
{
    if (spot.container == NULL)
        return;
    if (draft->def.kind != KIND_SCRIPT || draft->settings.container == NULL) {
        reader_problem_at_key(r, spot, "'%s' belongs to 'script'", key);
        return;
    }
    if (json_object_get(draft->def.settings, key) != NULL) {
        reader_problem_at_key(r, spot, "'%s' is given in 'script' already", key);
        return;
    }
    const json_t *value = json_object_get(spot.container, key);
    json_t *list = strcmp(key, "args") == 0 ? text_list(r, key, spot, value, "script.args")
                                            : read_interpreter(r, spot, value);
    if (list != NULL)
        json_put(draft->def.settings, key, list);
}

void reader_finish_settings(struct reader *r, struct draft *draft)
{
    take_sibling(r, draft, draft->interpreter, "interpreter");
    take_sibling(r, draft, draft->args, "args");
    json_t *settings = draft->def.settings;
    if (draft->def.kind != KIND_SCRIPT || settings == NULL)
        return;
    if (json_object_get(settings, "interpreter") == NULL)
        json_put(settings, "interpreter", json_pack("[s]", DEFAULT_INTERPRETER));
    if (json_array_size(json_object_get(settings, "args")) == 0)
        (void)json_object_del(settings, "args");
}
