#include "service/job_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/duration.h"
#include "model/limits.h"

struct reading {
    struct arena *arena;
    struct job_request *out;
};

typedef enum status (*read_fn)(struct reading *reading, const json_t *value, struct err *err);

struct member {
    const char *name;
    read_fn read;
};

static enum status read_text(const json_t *value, const char *name, const char **out,
                             struct err *err)
{
    if (!json_is_string(value) || json_string_length(value) == 0)
        return err_set(err, STATUS_INVALID, "'%s' must be a text that is not empty", name);
    if (strlen(json_string_value(value)) != json_string_length(value))
        return err_set(err, STATUS_INVALID, "'%s' has a NUL character in it", name);
    *out = json_string_value(value);
    return STATUS_OK;
}

static enum status read_integer(const json_t *value, const char *name, int64_t least, int64_t most,
                                int64_t *out, struct err *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > most)
        return err_set(err, STATUS_INVALID, "'%s' must be a whole number from %lld to %lld", name,
                       (long long)least, (long long)most);
    *out = json_integer_value(value);
    return STATUS_OK;
}

static enum status read_duration(const json_t *value, const char *name, int64_t *out,
                                 struct err *err)
{
    bool is_fine = json_is_integer(value)
                       ? duration_from_seconds(json_integer_value(value), out)
                       : json_is_string(value) && duration_parse(json_string_value(value), out);
    if (!is_fine)
        return err_set(err, STATUS_INVALID,
                       "'%s' must be a duration such as 500ms, 30s, 5m, 2h, or whole seconds",
                       name);
    return STATUS_OK;
}

/* --- members --------------------------------------------------------------------------------- */

static enum status read_handler(struct reading *reading, const json_t *value, struct err *err)
{
    if (read_text(value, "handler", &reading->out->handler, err) != STATUS_OK)
        return err->code;
    /* A command may be long, a name may not. */
    if (!job_handler_is_command(reading->out->handler) &&
        strlen(reading->out->handler) > LIMIT_ID_BYTES)
        return err_set(err, STATUS_LIMIT, "'handler' has more than %d bytes", LIMIT_ID_BYTES);
    if (strlen(reading->out->handler) > LIMIT_PAYLOAD_BYTES)
        return err_set(err, STATUS_LIMIT, "the command has more than %d bytes",
                       LIMIT_PAYLOAD_BYTES);
    return STATUS_OK;
}

static enum status read_payload(struct reading *reading, const json_t *value, struct err *err)
{
    char *text = json_format(value);
    size_t length = strlen(text);
    enum status status = STATUS_OK;
    if (length > LIMIT_PAYLOAD_BYTES)
        status = err_set(err, STATUS_LIMIT,
                         "the payload has %zu bytes, and at most %d are taken; keep the data "
                         "elsewhere and send where it is",
                         length, LIMIT_PAYLOAD_BYTES);
    else
        reading->out->payload = arena_strndup(reading->arena, text, length);
    free(text);
    return status;
}

static enum status read_queue(struct reading *reading, const json_t *value, struct err *err)
{
    return read_text(value, "queue", &reading->out->queue, err);
}

static enum status read_namespace(struct reading *reading, const json_t *value, struct err *err)
{
    if (read_text(value, "namespace", &reading->out->namespace_, err) != STATUS_OK)
        return err->code;
    if (!dag_name_is_valid(reading->out->namespace_))
        return err_set(err, STATUS_INVALID, "'%.100s' is no namespace: %s",
                       reading->out->namespace_, DAG_NAME_RULE);
    return STATUS_OK;
}

static enum status read_dedupe(struct reading *reading, const json_t *value, struct err *err)
{
    if (read_text(value, "dedupe", &reading->out->dedupe, err) != STATUS_OK)
        return err->code;
    if (strlen(reading->out->dedupe) > LIMIT_ID_BYTES)
        return err_set(err, STATUS_LIMIT, "'dedupe' has more than %d bytes", LIMIT_ID_BYTES);
    return STATUS_OK;
}

static enum status read_delay(struct reading *reading, const json_t *value, struct err *err)
{
    return read_duration(value, "delay", &reading->out->delay_ms, err);
}

static enum status read_run_after(struct reading *reading, const json_t *value, struct err *err)
{
    if (!json_is_string(value) ||
        !instant_parse(json_string_value(value), &reading->out->run_after_us))
        return err_set(err, STATUS_INVALID,
                       "'run_after' must be a date and time such as 2026-01-15T02:00:00Z");
    return STATUS_OK;
}

static enum status read_priority(struct reading *reading, const json_t *value, struct err *err)
{
    return read_integer(value, "priority", -LIMIT_PRIORITY, LIMIT_PRIORITY, &reading->out->priority,
                        err);
}

static enum status read_retries(struct reading *reading, const json_t *value, struct err *err)
{
    return read_integer(value, "retries", 0, LIMIT_RETRIES, &reading->out->retries, err);
}

static enum status read_retry_delay(struct reading *reading, const json_t *value, struct err *err)
{
    return read_duration(value, "retry_delay", &reading->out->retry_delay_ms, err);
}

static enum status read_timeout(struct reading *reading, const json_t *value, struct err *err)
{
    return read_duration(value, "timeout", &reading->out->timeout_ms, err);
}

static enum status read_on_lost_lease(struct reading *reading, const json_t *value, struct err *err)
{
    const char *text = json_string_value(value);
    bool is_finish = str_equal(text, "finish");
    if (!is_finish && !str_equal(text, "stop"))
        return err_set(err, STATUS_INVALID, "'on_lost_lease' must be stop or finish");
    reading->out->finish_on_lost_lease = is_finish;
    return STATUS_OK;
}

static enum status read_line(struct reading *reading, const json_t *value, struct err *err)
{
    (void)reading;
    int64_t line;
    return read_integer(value, "line", 1, INT64_MAX, &line, err);
}

static const struct member MEMBERS[] = {
    {"handler", read_handler},
    {"payload", read_payload},
    {"queue", read_queue},
    {"delay", read_delay},
    {"run_after", read_run_after},
    {"priority", read_priority},
    {"dedupe", read_dedupe},
    {"retries", read_retries},
    {"retry_delay", read_retry_delay},
    {"timeout", read_timeout},
    {"on_lost_lease", read_on_lost_lease},
    {"namespace", read_namespace},
    {"line", read_line},
};

static const char *member_at(const void *context, size_t i)
{
    (void)context;
    return MEMBERS[i].name;
}

static enum status read_member(struct reading *reading, const char *key, const json_t *value,
                               struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
        if (str_equal(MEMBERS[i].name, key))
            return MEMBERS[i].read(reading, value, err);
    const char *near = str_nearest(key, ARRAY_LEN(MEMBERS), member_at, NULL);
    return err_set(err, STATUS_INVALID, "unknown member '%.60s'%s%s%s", key,
                   near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : "");
}

enum status job_request_read(const json_t *job, const char *queue, struct arena *arena,
                             struct job_request *out, struct err *err)
{
    struct job_request request = {.queue = queue, .payload = "null", .retry_delay_ms = -1};
    struct reading reading = {.arena = arena, .out = &request};
    if (!json_is_object(job))
        return err_set(err, STATUS_INVALID, "a job must be an object such as {\"handler\": \"x\"}");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)job, key, value)
    {
        if (json_is_null(value) && !str_equal(key, "payload"))
            continue;
        if (read_member(&reading, key, value, err) != STATUS_OK)
            return err->code;
    }
    if (request.handler == NULL)
        return err_set(err, STATUS_INVALID, "'handler' is missing: what should run?");
    if (request.queue == NULL)
        return err_set(err, STATUS_INVALID, "'queue' is missing: where should it wait?");
    if (request.run_after_us != 0 && json_object_get(job, "delay") != NULL)
        return err_set(err, STATUS_INVALID, "give 'delay' or 'run_after', not both");
    *out = request;
    return STATUS_OK;
}
