#include "notify/otlp.h"

#include "base/check.h"
#include "base/mem.h"

enum { KIND_INTERNAL = 1, KIND_CONSUMER = 5, CODE_OK = 1, CODE_ERROR = 2 };

static void add_attribute(json_t *list, const char *key, json_t *value)
{
    json_t *attribute = json_object();
    CHECK(attribute != NULL);
    json_put_string(attribute, "key", key);
    json_put(attribute, "value", value);
    CHECK(json_array_append_new(list, attribute) == 0);
}

static void add_text(json_t *list, const char *key, const char *text)
{
    if (text == NULL)
        return;
    json_t *value = json_object();
    json_put_string(value, "stringValue", text);
    add_attribute(list, key, value);
}

/* 64-bit numbers are texts there, too. */
static void add_number(json_t *list, const char *key, int64_t number)
{
    json_t *value = json_object();
    CLEANUP(mem_freep) char *text = mem_format("%lld", (long long)number);
    json_put_string(value, "intValue", text);
    add_attribute(list, key, value);
}

static void put_instant(json_t *object, const char *key, int64_t at_us)
{
    CLEANUP(mem_freep) char *text = mem_format("%lld000", (long long)at_us);
    json_put_string(object, key, text);
}

static json_t *attributes_of(const struct span *span)
{
    json_t *list = json_array();
    add_text(list, "eider.dag_id", span->dag_id);
    add_number(list, "eider.run", span->run);
    add_text(list, "eider.state", span->state);
    if (span->task == 0)
        return list;
    add_text(list, "eider.task_id", span->task_id);
    add_number(list, "eider.map_index", span->map_index);
    add_number(list, "eider.try_number", span->try_number);
    add_text(list, "eider.reason", span->reason);
    if (span->exit_code >= 0)
        add_number(list, "process.exit.code", span->exit_code);
    return list;
}

static json_t *span_json(const struct span *span, const struct span_ids *ids)
{
    json_t *object = json_object();
    json_t *status = json_object();
    CLEANUP(mem_freep)
    char *name = span->task != 0 ? mem_format("%s.%s", span->dag_id, span->task_id)
                                 : mem_strdup(span->dag_id);
    json_put_string(object, "traceId", ids->trace);
    json_put_string(object, "spanId", ids->span);
    if (ids->parent[0] != '\0')
        json_put_string(object, "parentSpanId", ids->parent);
    json_put_string(object, "name", name);
    json_put_int(object, "kind", span->task != 0 ? KIND_CONSUMER : KIND_INTERNAL);
    put_instant(object, "startTimeUnixNano", span->started_at_us);
    put_instant(object, "endTimeUnixNano", MAX(span->ended_at_us, span->started_at_us));
    json_put(object, "attributes", attributes_of(span));
    json_put_int(status, "code", span->is_failure ? CODE_ERROR : CODE_OK);
    if (span->is_failure && span->reason != NULL)
        json_put_string(status, "message", span->reason);
    json_put(object, "status", status);
    return object;
}

json_t *otlp_request(const char *host, struct span *const *spans, const struct span_ids *ids,
                     size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        CHECK(json_array_append_new(list, span_json(spans[i], &ids[i])) == 0);
    json_t *about = json_array();
    add_text(about, "service.name", "eider");
    add_text(about, "service.version", EIDER_VERSION);
    add_text(about, "host.name", host);
    json_t *request = json_pack("{s:[{s:{s:o},s:[{s:{s:s,s:s},s:o}]}]}", "resourceSpans",
                                "resource", "attributes", about, "scopeSpans", "scope", "name",
                                "eider", "version", EIDER_VERSION, "spans", list);
    CHECK(request != NULL);
    return request;
}
