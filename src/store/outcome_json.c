#include "store/outcome_json.h"

#include <string.h>

#include "base/check.h"

static const struct {
    const char *key;
    size_t offset;
} NUMBERS[] = {
    {"run", offsetof(struct outcome, run)},
    {"started_at_us", offsetof(struct outcome, started_at_us)},
    {"ended_at_us", offsetof(struct outcome, ended_at_us)},
    {"log_bytes", offsetof(struct outcome, log_bytes)},
    {"cpu_ms", offsetof(struct outcome, cpu_ms)},
    {"rss_kb", offsetof(struct outcome, rss_kb)},
    {"instances", offsetof(struct outcome, instances)},
};

/* --- out ------------------------------------------------------------------------------------- */

static void append(json_t *array, json_t *taken)
{
    CHECK(json_array_append_new(array, taken) == 0);
}

static json_t *format_wait(const struct wait_plan *wait)
{
    json_t *object = json_object();
    json_put_int(object, "kind", (int64_t)wait->kind);
    json_put_string(object, "subject", wait->subject);
    json_put_int(object, "target_us", wait->target_us);
    json_put_int(object, "after_ms", wait->after_ms);
    json_put_string(object, "dag", wait->dag);
    json_put_string(object, "dag_task", wait->dag_task);
    json_put_int(object, "date_us", wait->date_us);
    return object;
}

static json_t *format_value(const struct outcome_value *value)
{
    json_t *object = json_object();
    json_put_string(object, "key", value->key);
    json_put_string(object, "json", value->json);
    json_put_int(object, "bytes", value->bytes);
    return object;
}

static json_t *format_datasets(const struct outcome *outcome)
{
    json_t *list = json_array();
    for (size_t i = 0; i < outcome->datasets_count; i++)
        append(list, json_text(outcome->datasets[i], strlen(outcome->datasets[i])));
    return list;
}

char *outcome_format(const struct outcome *outcome)
{
    CLEANUP(json_decrefp) json_t *object = json_object();
    for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++) {
        int64_t number = 0;
        memcpy(&number, (const char *)outcome + NUMBERS[i].offset, sizeof number);
        json_put_int(object, NUMBERS[i].key, number);
    }
    json_put_int(object, "kind", (int64_t)outcome->kind);
    json_put_int(object, "reason", (int64_t)outcome->end.reason);
    json_put_int(object, "exit_code", outcome->end.exit_code);
    json_put_int(object, "result", (int64_t)outcome->end.result);
    json_put_bool(object, "for_good", outcome->end.for_good);
    json_put_string(object, "detail", outcome->detail);
    if (outcome->log_end != NULL)
        json_put_string(object, "log_end", outcome->log_end);
    json_put_string(object, "label", outcome->label);
    json_put_bool(object, "is_choice", outcome->is_choice);
    json_t *values = json_array();
    for (size_t i = 0; i < outcome->values_count; i++)
        append(values, format_value(&outcome->values[i]));
    json_put(object, "values", values);
    json_t *chosen = json_array();
    for (size_t i = 0; i < outcome->chosen_count; i++)
        append(chosen, json_integer(outcome->chosen[i]));
    json_put(object, "chosen", chosen);
    if (outcome->datasets_count > 0)
        json_put(object, "datasets", format_datasets(outcome));
    if (outcome->wait != NULL)
        json_put(object, "wait", format_wait(outcome->wait));
    return json_format(object);
}

/* --- in -------------------------------------------------------------------------------------- */

static enum status refuse(const char *key, struct err *err)
{
    return err_set(err, STATUS_CORRUPT, "'%s' is missing or not what it should be", key);
}

static enum status parse_number(const json_t *object, const char *key, int64_t least, int64_t most,
                                int64_t *out, struct err *err)
{
    const json_t *member = json_object_get(object, key);
    if (!json_is_integer(member) || json_integer_value(member) < least ||
        json_integer_value(member) > most)
        return refuse(key, err);
    *out = json_integer_value(member);
    return STATUS_OK;
}

static enum status parse_text(const json_t *object, const char *key, struct arena *arena,
                              const char **out, struct err *err)
{
    const json_t *member = json_object_get(object, key);
    if (!json_is_string(member) && !json_is_null(member))
        return refuse(key, err);
    *out = json_is_string(member) ? arena_strdup(arena, json_string_value(member)) : NULL;
    return STATUS_OK;
}

static enum status parse_end(const json_t *object, struct outcome *out, struct err *err)
{
    int64_t kind = 0;
    int64_t reason = 0;
    int64_t code = 0;
    int64_t result = 0;
    if (parse_number(object, "kind", 0, OUTCOME_MET, &kind, err) != STATUS_OK ||
        parse_number(object, "reason", 0, REASON_COUNT - 1, &reason, err) != STATUS_OK ||
        parse_number(object, "exit_code", INT32_MIN, INT32_MAX, &code, err) != STATUS_OK ||
        parse_number(object, "result", 0, TASK_STATE_COUNT - 1, &result, err) != STATUS_OK)
        return err->code;
    out->kind = (enum outcome_kind)kind;
    out->end = (struct attempt_end){
        .reason = (enum reason)reason,
        .exit_code = (int)code,
        .result = (enum task_state)result,
        .for_good = json_get_bool(object, "for_good", false),
    };
    return STATUS_OK;
}

static enum status parse_values(const json_t *object, struct arena *arena, struct outcome *out,
                                struct err *err)
{
    const json_t *list = json_object_get(object, "values");
    if (!json_is_array(list))
        return refuse("values", err);
    size_t count = json_array_size(list);
    struct outcome_value *values = arena_array(arena, count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (parse_text(item, "key", arena, &values[i].key, err) != STATUS_OK ||
            parse_text(item, "json", arena, &values[i].json, err) != STATUS_OK ||
            parse_number(item, "bytes", 0, INT64_MAX, &values[i].bytes, err) != STATUS_OK)
            return err->code;
        if (values[i].key == NULL)
            return refuse("key", err);
    }
    out->values = values;
    out->values_count = count;
    return STATUS_OK;
}

static enum status parse_choice(const json_t *object, struct arena *arena, struct outcome *out,
                                struct err *err)
{
    const json_t *flag = json_object_get(object, "is_choice");
    const json_t *list = json_object_get(object, "chosen");
    if (!json_is_boolean(flag))
        return refuse("is_choice", err);
    if (!json_is_array(list))
        return refuse("chosen", err);
    size_t count = json_array_size(list);
    uint32_t *chosen = arena_array(arena, count + 1, sizeof *chosen);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_integer(item) || json_integer_value(item) < 0 ||
            json_integer_value(item) > UINT32_MAX)
            return refuse("chosen", err);
        chosen[i] = (uint32_t)json_integer_value(item);
    }
    out->is_choice = json_is_true(flag);
    out->chosen = chosen;
    out->chosen_count = count;
    return STATUS_OK;
}

/* Most tasks write none, and programs of before told none. */
static enum status parse_datasets(const json_t *object, struct arena *arena, struct outcome *out,
                                  struct err *err)
{
    const json_t *list = json_object_get(object, "datasets");
    size_t count = json_array_size(list);
    if (list != NULL && !json_is_array(list))
        return refuse("datasets", err);
    const char **uris = arena_array(arena, count + 1, sizeof *uris);
    for (size_t i = 0; i < count; i++) {
        if (!json_is_string(json_array_get(list, i)))
            return refuse("datasets", err);
        uris[i] = arena_strdup(arena, json_string_value(json_array_get(list, i)));
    }
    out->datasets = uris;
    out->datasets_count = count;
    return STATUS_OK;
}

/* There is one with an outcome that begins a wait, and with no other. */
static enum status parse_wait(const json_t *object, struct arena *arena, struct outcome *out,
                              struct err *err)
{
    const json_t *member = json_object_get(object, "wait");
    struct wait_plan *wait = arena_alloc(arena, sizeof *wait);
    int64_t kind = 0;
    *wait = (struct wait_plan){0};
    if ((out->kind == OUTCOME_DEFER) != json_is_object(member))
        return refuse("wait", err);
    if (member == NULL)
        return STATUS_OK;
    if (parse_number(member, "kind", 0, SENSOR_KIND_COUNT - 1, &kind, err) != STATUS_OK ||
        parse_text(member, "subject", arena, &wait->subject, err) != STATUS_OK ||
        parse_number(member, "target_us", 0, INT64_MAX, &wait->target_us, err) != STATUS_OK ||
        parse_number(member, "after_ms", 0, INT64_MAX, &wait->after_ms, err) != STATUS_OK ||
        parse_text(member, "dag", arena, &wait->dag, err) != STATUS_OK ||
        parse_text(member, "dag_task", arena, &wait->dag_task, err) != STATUS_OK ||
        parse_number(member, "date_us", INT64_MIN, INT64_MAX, &wait->date_us, err) != STATUS_OK)
        return err->code;
    if (wait->subject == NULL)
        return refuse("subject", err);
    wait->kind = (enum sensor_kind)kind;
    out->wait = wait;
    return STATUS_OK;
}

enum status outcome_parse(const char *text, struct arena *arena, struct outcome *out,
                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct outcome outcome = *out;
    if (json_parse(text, strlen(text), &object, err) != STATUS_OK)
        return err_set(err, STATUS_CORRUPT, "not JSON");
    for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++) {
        int64_t number = 0;
        if (parse_number(object, NUMBERS[i].key, INT64_MIN, INT64_MAX, &number, err) != STATUS_OK)
            return err->code;
        memcpy((char *)&outcome + NUMBERS[i].offset, &number, sizeof number);
    }
    if (parse_end(object, &outcome, err) != STATUS_OK ||
        parse_text(object, "detail", arena, &outcome.detail, err) != STATUS_OK ||
        parse_text(object, "label", arena, &outcome.label, err) != STATUS_OK ||
        parse_values(object, arena, &outcome, err) != STATUS_OK ||
        parse_choice(object, arena, &outcome, err) != STATUS_OK ||
        parse_datasets(object, arena, &outcome, err) != STATUS_OK ||
        parse_wait(object, arena, &outcome, err) != STATUS_OK)
        return err->code;
    outcome.log_end = arena_strdup_null(arena, json_get_string(object, "log_end", NULL));
    *out = outcome;
    return STATUS_OK;
}
