#include "service/operation.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "model/limits.h"
#include "service/access.h"
#include "service/principal.h"
#include "service/service.h"

static const char *const SCOPES[] = {
#define X(name, text) [SCOPE_##name] = (text),
    OPERATION_SCOPE_MAP(X)
#undef X
};

static const char *const FIELD_TYPES[] = {
#define X(name, text) [FIELD_##name] = (text),
    FIELD_TYPE_MAP(X)
#undef X
};

const char *operation_scope_name(enum operation_scope scope)
{
    CHECK(scope < SCOPE_COUNT);
    return SCOPES[scope];
}

const char *field_type_text(enum field_type type)
{
    CHECK(type < FIELD_TYPE_COUNT);
    return FIELD_TYPES[type];
}

const struct operation *operation_find(const struct operation_table *table, const char *name)
{
    for (; table != NULL; table = table->more)
        for (size_t i = 0; i < table->count; i++)
            if (strcmp(table->rows[i].name, name) == 0)
                return &table->rows[i];
    return NULL;
}

static bool all_strings(const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) if (!json_is_string(item)) return false;
    return true;
}

static bool is_instant(const json_t *value)
{
    int64_t at_us;
    return json_is_string(value) && instant_parse(json_string_value(value), &at_us);
}

static bool is_id(const json_t *value)
{
    int64_t id;
    return json_is_string(value) && str_parse_i64(json_string_value(value), 0, INT64_MAX, &id);
}

static bool value_matches(enum field_type type, const json_t *value)
{
    switch (type) {
    case FIELD_ANY:
        return true;
    case FIELD_STRING:
    case FIELD_PATH:
        return json_is_string(value);
    case FIELD_INTEGER:
        return json_is_integer(value);
    case FIELD_NUMBER:
        return json_is_number(value);
    case FIELD_BOOLEAN:
        return json_is_boolean(value);
    case FIELD_OBJECT:
        return json_is_object(value);
    case FIELD_ARRAY:
        return json_is_array(value);
    case FIELD_STRINGS:
    case FIELD_PATHS:
        return json_is_array(value) && all_strings(value);
    case FIELD_INSTANT:
        return is_instant(value);
    case FIELD_ID:
        return is_id(value);
    case FIELD_TYPE_COUNT:
        break;
    }
    UNREACHABLE("a known field type");
}

static const struct operation_field *find_field(const struct operation_schema *schema,
                                                const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return &schema->fields[i];
    return NULL;
}

/* By a token anybody may start the DAG that it is for, and everybody has things of their own. */
static const char *const CHANGES_OF_VIEWERS[] = {
    "token.add",
    "token.remove",
    "user.set",
    "webhook.fire",
};

/*
 * They change nothing but the store, each in a moment. Not among them is what works on files or on
 * other machines, what goes on for long, and whatever has a secret in its request or its answer,
 * since a hash of the one and the text of the other are kept.
 */
static const char *const WITH_KEY[] = {
    "asset.emit",      "backfill.approve", "backfill.cancel", "backfill.create", "backfill.pause",
    "backfill.resume", "dag.pause",        "dag.post",        "dag.rollback",    "dag.trigger",
    "dag.unpause",     "host.drain",       "job.cancel",      "job.enqueue",     "job.reschedule",
    "job.retry",       "limit.delete",     "limit.set",       "namespace.add",   "namespace.remove",
    "notify.retry",    "pool.delete",      "pool.set",        "queue.delete",    "queue.set",
    "run.cancel",      "run.note",         "run.rerun",       "run.retry",       "task.clear",
    "task.mark",       "task.note",
};

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool operation_changes(const struct operation *operation)
{
    return operation->permission > PERMISSION_VIEWER ||
           is_among(CHANGES_OF_VIEWERS, ARRAY_LEN(CHANGES_OF_VIEWERS), operation->name);
}

bool operation_takes_key(const struct operation *operation)
{
    return is_among(WITH_KEY, ARRAY_LEN(WITH_KEY), operation->name);
}

bool operation_takes(const struct operation *operation, const char *field)
{
    return find_field(&operation->request, field) != NULL;
}

static const char *field_name_at(const void *context, size_t i)
{
    return ((const struct operation_schema *)context)->fields[i].name;
}

static enum status check_members(const struct operation_schema *schema, const json_t *object,
                                 struct err *err)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct operation_field *field = &schema->fields[i];
        const json_t *value = json_object_get(object, field->name);
        bool absent = value == NULL || (json_is_null(value) && field->type != FIELD_ANY);
        if (absent && field->required)
            return err_set(err, STATUS_INVALID, "'%s' is missing: it must be %s", field->name,
                           field_type_text(field->type));
        if (absent || value_matches(field->type, value))
            continue;
        const char *text = json_string_value(value);
        return err_set(err, STATUS_INVALID, "'%s' must be %s%s%.60s%s", field->name,
                       field_type_text(field->type), text != NULL ? ", not '" : "",
                       text != NULL ? text : "", text != NULL ? "'" : "");
    }
    return STATUS_OK;
}

static enum status check_unknown(const struct operation_schema *schema, const json_t *object,
                                 struct err *err)
{
    /* jansson's iteration does not change the object, its signature merely predates const. */
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (find_field(schema, key) != NULL)
            continue;
        const char *near = str_nearest(key, schema->count, field_name_at, schema);
        if (near != NULL)
            return err_set(err, STATUS_INVALID, "unknown field '%s', did you mean '%s'?", key,
                           near);
        return err_set(err, STATUS_INVALID, "unknown field '%s'", key);
    }
    return STATUS_OK;
}

enum status operation_check_request(const struct operation *operation, const json_t *request,
                                    struct err *err)
{
    if (!json_is_object(request))
        return err_set(err, STATUS_INVALID, "%s: the request must be an object", operation->name);
    if (check_unknown(&operation->request, request, err) != STATUS_OK ||
        check_members(&operation->request, request, err) != STATUS_OK)
        return err_wrap(err, "%s", operation->name);
    return STATUS_OK;
}

enum status operation_check_response(const struct operation *operation, const json_t *response,
                                     struct err *err)
{
    if (!json_is_object(response))
        return err_set(err, STATUS_INVALID, "%s: the response must be an object", operation->name);
    if (check_members(&operation->response, response, err) != STATUS_OK)
        return err_wrap(err, "response of %s", operation->name);
    return STATUS_OK;
}

static const char *operation_name_at(const void *context, size_t i)
{
    return ((const struct operation_table *)context)->rows[i].name;
}

/* Whatever is changed is changed for the reason that the request gives. */
static enum status do_with_reason(const struct operation *operation, struct service *service,
                                  const json_t *request, operation_handler_fn handler,
                                  void *context, struct err *err)
{
    const char *reason =
        operation_takes(operation, "reason") ? json_get_string(request, "reason", NULL) : NULL;
    if (reason != NULL && strlen(reason) > LIMIT_REASON_BYTES)
        return err_set(err, STATUS_LIMIT, "%s: a reason has at most %d bytes", operation->name,
                       LIMIT_REASON_BYTES);
    service_set_reason(service, reason);
    enum status status = handler(service, request, context, err);
    service_set_reason(service, NULL);
    return status;
}

enum status operation_local_do(const struct operation_local *local,
                               const struct operation *operation, const json_t *request,
                               operation_handler_fn handler, void *context, struct err *err)
{
    struct service *service = local->service;
    if (operation_check_request(operation, request, err) != STATUS_OK ||
        access_check(service, operation, request, err) != STATUS_OK)
        return err->code;
    CLEANUP(arena_freep) struct arena *arena = NULL;
    const char *sight = "";
    if (!principal_sees_all(service->principal)) {
        arena = arena_new();
        sight = principal_spaces(arena, service->principal);
    }
    service_set_sight(service, sight);
    enum status status = do_with_reason(operation, service, request, handler, context, err);
    service_set_sight(service, NULL);
    return status;
}

struct plain_call {
    const struct operation *operation;
    json_t **out;
};

static enum status call_handler(struct service *service, const json_t *request, void *context,
                                struct err *err)
{
    const struct plain_call *call = context;
    return call->operation->handler(service, request, call->out, err);
}

enum status operation_local_call(void *local, const char *name, const json_t *request,
                                 json_t **out_response, struct err *err)
{
    const struct operation_local *here = local;
    const struct operation *operation = operation_find(here->table, name);
    if (operation == NULL) {
        const char *near = str_nearest(name, here->table->count, operation_name_at, here->table);
        if (near != NULL)
            return err_set(err, STATUS_NOT_FOUND, "no operation '%s', did you mean '%s'?", name,
                           near);
        return err_set(err, STATUS_NOT_FOUND, "no operation '%s'", name);
    }
    struct plain_call call = {operation, out_response};
    return operation_local_do(here, operation, request, call_handler, &call, err);
}

enum status operation_call(const struct operation_caller *caller, const char *name,
                           const json_t *request, json_t **out_response, struct err *err)
{
    if (request != NULL)
        return caller->call(caller->context, name, request, out_response, err);
    json_t *empty = json_object();
    CHECK(empty != NULL);
    enum status status = caller->call(caller->context, name, empty, out_response, err);
    json_decref(empty);
    return status;
}
