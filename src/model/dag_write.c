#include "model/dag_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "model/attempt.h"
#include "model/dag_fields.h"
#include "model/duration.h"

static void append_string(json_t *list, const char *text)
{
    CHECK(json_array_append_new(list, json_string(text)) == 0);
}

static json_t *texts_value(const struct string_list *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++)
        append_string(list, texts->items[i]);
    return list;
}

static json_t *codes_value(const struct exit_codes *codes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < codes->count; i++)
        CHECK(json_array_append_new(list, json_integer(codes->items[i])) == 0);
    return list;
}

/* NULL when there are none. */
static json_t *causes_value(const struct retry_causes *causes)
{
    if (causes->codes.count == 0 && causes->reasons == 0)
        return NULL;
    json_t *list = codes_value(&causes->codes);
    for (enum reason reason = 0; reason < REASON_COUNT; reason++)
        if (causes->reasons & 1u << reason)
            append_string(list, reason_name(reason));
    return list;
}

static bool codes_equal(const struct exit_codes *a, const struct exit_codes *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static json_t *ids_value(const struct dag *dag, const struct node_list *nodes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < nodes->count; i++)
        append_string(list, dag->tasks[nodes->items[i]].id);
    return list;
}

static json_t *env_value(const struct task_def *task)
{
    json_t *env = json_object();
    for (size_t i = 0; i < task->env_count; i++)
        json_put_string(env, task->env[i].name, task->env[i].value);
    return env;
}

static json_t *duration_value(int64_t ms)
{
    char text[DURATION_TEXT_MAX];
    return json_string(duration_format(ms, text));
}

static json_t *text_value(const char *text, const char *otherwise)
{
    return text == NULL || str_equal(text, otherwise) ? NULL : json_string(text);
}

static json_t *amount_value(enum field_type type, int64_t amount, int64_t otherwise)
{
    if (amount == otherwise)
        return NULL;
    return type == FIELD_DURATION ? duration_value(amount) : json_integer(amount);
}

/* The value of a row, or NULL when it equals the default's. */
static json_t *field_value(const struct dag_field *field, const void *at, const void *otherwise)
{
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_TEMPLATE:
    case FIELD_CONDITION:
    case FIELD_NAME:
        return text_value(*(const char *const *)at, *(const char *const *)otherwise);
    case FIELD_FLAG:
        return *(const bool *)at == *(const bool *)otherwise ? NULL
                                                             : json_boolean(*(const bool *)at);
    case FIELD_INTEGER:
    case FIELD_SIZE:
    case FIELD_DURATION:
        return amount_value(field->type, *(const int64_t *)at, *(const int64_t *)otherwise);
    case FIELD_NUMBER: {
        double number = *(const double *)at;
        double usual = *(const double *)otherwise;
        return number <= usual && number >= usual ? NULL : json_real(number);
    }
    case FIELD_TEXTS: {
        const struct string_list *texts = at;
        return texts->count == 0 ? NULL : texts_value(texts);
    }
    case FIELD_CODES:
        return codes_equal(at, otherwise) ? NULL : codes_value(at);
    case FIELD_CAUSES:
        return causes_value(at);
    case FIELD_CHOICE: {
        unsigned choice = *(const unsigned *)at;
        return choice == *(const unsigned *)otherwise ? NULL
                                                      : json_string(field->choices->names[choice]);
    }
    case FIELD_GROUP:
    case FIELD_ENV:
    case FIELD_OWN:
    case FIELD_KEPT:
    case FIELD_MISSING:
        break;
    }
    return NULL;
}

static void put_plain_fields(json_t *object, const struct field_table *table, const void *base,
                             const void *otherwise)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct dag_field *field = &table->fields[i];
        json_t *value = field_value(field, (const char *)base + field->offset,
                                    (const char *)otherwise + field->offset);
        if (value != NULL)
            json_put(object, field->key, value);
    }
}

/* Plain rows, and groups of them, which do not nest. */
static void put_fields(json_t *object, const struct field_table *table, const void *base,
                       const void *otherwise)
{
    put_plain_fields(object, table, base, otherwise);
    for (size_t i = 0; i < table->count; i++) {
        const struct dag_field *field = &table->fields[i];
        if (field->type != FIELD_GROUP)
            continue;
        json_t *members = json_object();
        put_plain_fields(members, field->members, (const char *)base + field->offset,
                         (const char *)otherwise + field->offset);
        if (json_object_size(members) > 0)
            json_put(object, field->key, json_incref(members));
        json_decref(members);
    }
}

static json_t *task_value(const struct dag *dag, const struct task_def *task)
{
    json_t *object = json_object();
    struct task_def usual = *task_def_default();
    if (task->teardown_of.count > 0)
        usual.rule = RULE_ALL_DONE_SETUP_SUCCESS;
    if (task->rest != NULL)
        CHECK(json_object_update(object, task->rest) == 0);
    put_fields(object, &TASK_FIELDS, task, &usual);
    json_put(object, task_kind_key(task->kind),
             task->settings != NULL ? json_incref(task->settings) : json_null());
    if (task->needs.count > 0)
        json_put(object, "needs", ids_value(dag, &task->needs));
    if (task->teardown_of.count > 0)
        json_put(object, "teardown", ids_value(dag, &task->teardown_of));
    if (task->group[0] != '\0')
        json_put_string(object, "group", task->group);
    if (task->foreach != NULL)
        json_put(object, "foreach", json_incref(task->foreach));
    if (task->matrix != NULL)
        json_put(object, "matrix", json_incref(task->matrix));
    if (task->env_count > 0)
        json_put(object, "env", env_value(task));
    return object;
}

static void put_params(json_t *object, const struct dag *dag)
{
    if (dag->params_count == 0)
        return;
    json_t *params = json_object();
    for (size_t i = 0; i < dag->params_count; i++)
        json_put(params, dag->params[i].name, json_incref(dag->params[i].schema));
    json_put(object, "params", params);
}

static void put_files(json_t *object, const struct dag *dag)
{
    if (dag->files_count == 0)
        return;
    json_t *files = json_object();
    for (size_t i = 0; i < dag->files_count; i++)
        json_put_string(files, dag->files[i].name, dag->files[i].hash);
    json_put(object, "files", files);
}

json_t *dag_write(const struct dag *dag)
{
    static const struct dag USUAL = {
        .namespace_ = "default", .tier = "default", .max_active_runs = 1};
    json_t *object = json_object();
    if (dag->rest != NULL)
        CHECK(json_object_update(object, dag->rest) == 0);
    put_fields(object, &DAG_FIELDS, dag, &USUAL);
    put_params(object, dag);
    put_files(object, dag);
    json_t *tasks = json_object();
    json_t *finally = json_object();
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct task_def *task = &dag->tasks[i];
        json_put(task->is_finally ? finally : tasks, task->id, task_value(dag, task));
    }
    json_put(object, "tasks", tasks);
    if (dag->finally_count > 0)
        json_put(object, "finally", json_incref(finally));
    json_decref(finally);
    return object;
}

const char *dag_hash(const struct dag *dag, char out[SHA256_HEX_MAX])
{
    json_t *object = dag_write(dag);
    char *text = json_format(object);
    json_decref(object);
    sha256_hex(text, strlen(text), out);
    free(text);
    return out;
}
