#include "serve/airflow.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/ask.h"
#include "service/json_build.h"

/* --- queries and bodies ---------------------------------------------------------------------- */

static const struct operation_field *find(const struct operation_schema *schema, const char *name)
{
    for (size_t i = 0; schema != NULL && i < schema->count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return &schema->fields[i];
    return NULL;
}

static const char *field_at(const void *context, size_t i)
{
    return ((const struct operation_schema *)context)->fields[i].name;
}

static enum status unknown(const struct operation_schema *schema, const char *what,
                           const char *name, struct err *err)
{
    const char *near = schema != NULL ? str_nearest(name, schema->count, field_at, schema) : NULL;
    return err_set(err, STATUS_INVALID, "unknown %s '%.60s'%s%s%s", what, name,
                   near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : "");
}

static enum status add_pair(const struct operation_field *field, const struct http_pair *pair,
                            json_t *query, struct err *err)
{
    json_t *before = json_object_get(query, pair->name);
    json_t *value = NULL;
    if (before != NULL && field->type != FIELD_STRINGS)
        return err_set(err, STATUS_INVALID, "'%.60s' is given twice", pair->name);
    /* Programs in Python write them so. */
    const char *text = pair->value;
    if (field->type == FIELD_BOOLEAN)
        text = strcmp(text, "True") == 0 ? "true" : strcmp(text, "False") == 0 ? "false" : text;
    if (ask_value(field, text, &value, err) != STATUS_OK)
        return err->code;
    if (before != NULL) {
        CHECK(json_array_extend(before, value) == 0);
        json_decref(value);
    } else {
        json_put(query, pair->name, value);
    }
    return STATUS_OK;
}

enum status airflow_query(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = json_build_object();
    const struct http_pairs *pairs = &call->request->query;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct operation_field *field = find(call->route->query, pairs->items[i].name);
        if (field == NULL)
            return unknown(call->route->query, "query parameter", pairs->items[i].name, err);
        if (add_pair(field, &pairs->items[i], query, err) != STATUS_OK)
            return err->code;
    }
    const struct operation checked = {.name = "query",
                                      .request = call->route->query != NULL
                                                     ? *call->route->query
                                                     : (struct operation_schema){NULL, 0}};
    if (operation_check_request(&checked, query, err) != STATUS_OK)
        return err->code;
    *out = TAKE(query);
    return STATUS_OK;
}

/* Who sends back what an answer held means only what can be set. */
static enum status drop_shown(const struct route *route, json_t *body, struct err *err)
{
    const char *key;
    void *next;
    json_t *value;
    json_object_foreach_safe(body, next, key, value)
    {
        const struct operation_field *shown = find(route->response, key);
        if (shown == NULL || find(route->body, key) != NULL)
            continue;
        struct operation_field field = *shown;
        field.required = false;
        const struct operation checked = {.name = "body", .request = {&field, 1}};
        CLEANUP(json_decrefp) json_t *alone = json_build_object();
        json_put(alone, key, json_incref(value));
        if (operation_check_request(&checked, alone, err) != STATUS_OK)
            return err->code;
        (void)json_object_del(body, key);
    }
    return STATUS_OK;
}

/* The path says what is meant; a body that names another is a mistake, not a wish. */
static enum status check_path(const struct route_call *call, const json_t *body, struct err *err)
{
    size_t index = 0;
    for (const char *at = call->route->pattern; *at == '/'; index++) {
        size_t length = strcspn(++at, "/");
        const char *name = at + 1;
        at += length;
        if (length <= 2 || name[-1] != '{')
            continue;
        const json_t *said = json_object_getn(body, name, length - 2);
        if (json_is_string(said) && !str_equal(json_string_value(said), call->path.segments[index]))
            return err_set(err, STATUS_INVALID,
                           "'%.*s' is '%.60s' in the path and '%.60s' beside it", (int)length - 2,
                           name, call->path.segments[index], json_string_value(said));
    }
    return STATUS_OK;
}

enum status airflow_body(const struct route_call *call, json_t **out, struct err *err)
{
    const struct http_request *request = call->request;
    CLEANUP(json_decrefp) json_t *body = json_incref(call->body);
    if (body == NULL && request->body_length > 0 &&
        json_parse(request->body, request->body_length, &body, err) != STATUS_OK)
        return err_wrap(err, "cannot read the body");
    if (body == NULL)
        body = json_build_object();
    if (!json_is_object(body))
        return err_set(err, STATUS_INVALID, "the body must be a JSON object");
    CHECK(call->route->body != NULL);
    if (check_path(call, body, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *copy = json_copy(body);
    CHECK(copy != NULL);
    const struct operation checked = {.name = "body", .request = *call->route->body};
    if (drop_shown(call->route, copy, err) != STATUS_OK ||
        operation_check_request(&checked, copy, err) != STATUS_OK)
        return err->code;
    *out = TAKE(copy);
    return STATUS_OK;
}

bool airflow_has_text(const json_t *texts, const char *text)
{
    for (size_t i = 0; i < json_array_size(texts); i++)
        if (str_equal(json_string_value(json_array_get(texts, i)), text))
            return true;
    return false;
}

enum status airflow_mask(const json_t *query, json_t *body, struct err *err)
{
    const json_t *mask = json_object_get(query, "update_mask");
    const char *key;
    void *next;
    json_t *value;
    if (!json_is_array(mask))
        return STATUS_OK;
    for (size_t i = 0; i < json_array_size(mask); i++) {
        const char *name = json_string_value(json_array_get(mask, i));
        if (json_object_get(body, name) == NULL)
            return err_set(err, STATUS_INVALID,
                           "'update_mask' names '%.60s', which the body does not have", name);
    }
    json_object_foreach_safe(body, next, key, value)
    {
        (void)value;
        if (!airflow_has_text(mask, key))
            (void)json_object_del(body, key);
    }
    return STATUS_OK;
}

void airflow_copy(const json_t *from, const char *key, json_t *to, const char *as)
{
    json_t *value = json_object_get(from, key);
    if (value != NULL && !json_is_null(value))
        json_put(to, as, json_incref(value));
}

void airflow_copy_words(const json_t *from, const struct airflow_word *words, size_t count,
                        json_t *to)
{
    for (size_t i = 0; i < count; i++)
        airflow_copy(from, words[i].theirs, to, words[i].ours);
}

void airflow_put_number(json_t *to, const char *as, const json_t *from, const char *key)
{
    int64_t number = 0;
    bool is_id = str_parse_i64(json_get_string(from, key, "0"), 0, INT64_MAX, &number);
    CHECK(is_id);
    json_put_int(to, as, number);
}

json_t *airflow_duration(const json_t *seconds)
{
    if (!json_is_number(seconds))
        return json_null();
    json_t *duration = json_build_object();
    int64_t us = (int64_t)(json_number_value(seconds) * 1e6);
    json_put_string(duration, "__type", "TimeDelta");
    json_put_int(duration, "days", us / 86400000000);
    json_put_int(duration, "seconds", us / 1000000 % 86400);
    json_put_int(duration, "microseconds", us % 1000000);
    return duration;
}

void airflow_choose(const json_t *query, json_t *object)
{
    const json_t *fields = json_object_get(query, "fields");
    const char *key;
    void *next;
    json_t *value;
    if (!json_is_array(fields))
        return;
    json_object_foreach_safe(object, next, key, value)
    {
        (void)value;
        if (!airflow_has_text(fields, key))
            (void)json_object_del(object, key);
    }
}

/* --- pages ----------------------------------------------------------------------------------- */

static enum status read_page(const json_t *query, int64_t *out_limit, int64_t *out_offset,
                             struct err *err)
{
    int64_t limit = json_get_int(query, "limit", AIRFLOW_PAGE_DEFAULT);
    int64_t offset = json_get_int(query, "offset", 0);
    if (limit < 0 || offset < 0)
        return err_set(err, STATUS_INVALID, "'limit' and 'offset' are not below 0");
    *out_limit = limit == 0 ? AIRFLOW_PAGE_DEFAULT : MIN(limit, (int64_t)AIRFLOW_PAGE_MAX);
    *out_offset = offset;
    return STATUS_OK;
}

enum status airflow_page(const json_t *query, json_t *request, struct err *err)
{
    int64_t limit = 0;
    int64_t offset = 0;
    if (read_page(query, &limit, &offset, err) != STATUS_OK)
        return err->code;
    json_put_int(request, "limit", limit);
    json_put_int(request, "offset", offset);
    json_put_bool(request, "with_total", true);
    return STATUS_OK;
}

static enum status no_order(const char *order, struct err *err)
{
    return err_set(err, STATUS_INVALID, "there is no order by '%.60s' here", order);
}

enum status airflow_put_order(const json_t *query, const struct airflow_word *orders, size_t count,
                              json_t *request, struct err *err)
{
    const char *order = json_get_string(query, "order_by", orders[0].theirs);
    bool is_back = order[0] == '-';
    for (size_t i = 0; i < count; i++) {
        if (strcmp(orders[i].theirs, order + (is_back ? 1 : 0)) != 0)
            continue;
        CLEANUP(mem_freep) char *text = mem_format("%s%s", is_back ? "-" : "", orders[i].ours);
        json_put_string(request, "order_by", text);
        return STATUS_OK;
    }
    return no_order(order, err);
}

enum status airflow_list(const struct route_call *call, const struct airflow_word *orders,
                         size_t count, json_t *request, json_t **out_query, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_page(query, request, err) != STATUS_OK ||
        airflow_put_order(query, orders, count, request, err) != STATUS_OK)
        return err->code;
    *out_query = TAKE(query);
    return STATUS_OK;
}

enum status airflow_form(const struct route_call *call, json_t *request, json_t **out_form,
                         struct err *err)
{
    CLEANUP(json_decrefp) json_t *form = NULL;
    if (airflow_body(call, &form, err) != STATUS_OK)
        return err->code;
    airflow_copy(form, "page_limit", form, "limit");
    airflow_copy(form, "page_offset", form, "offset");
    if (airflow_page(form, request, err) != STATUS_OK)
        return err->code;
    *out_form = TAKE(form);
    return STATUS_OK;
}

json_t *airflow_shape_all(const json_t *list, airflow_shape_fn shape)
{
    json_t *shaped = json_build_array();
    for (size_t i = 0; i < json_array_size(list); i++)
        json_build_append(shaped, shape(json_array_get(list, i)));
    return shaped;
}

json_t *airflow_shape_page(json_t *taken, const struct airflow_word *list, airflow_shape_fn shape)
{
    CLEANUP(json_decrefp) json_t *ours = taken;
    json_t *page = json_build_object();
    json_put(page, list->theirs, airflow_shape_all(json_object_get(ours, list->ours), shape));
    json_put_int(page, "total_entries", json_get_int(ours, "total_entries", 0));
    return page;
}

static int compare_values(const json_t *one, const json_t *other)
{
    if (json_is_string(one) && json_is_string(other))
        return strcmp(json_string_value(one), json_string_value(other));
    double a = json_is_true(one) ? 1 : json_number_value(one);
    double b = json_is_true(other) ? 1 : json_number_value(other);
    return a < b ? -1 : a > b;
}

struct sorting {
    const char *key;
    bool is_back;
};

struct row {
    json_t *value;
};

static void merge(const struct sorting *by, const struct row *one, size_t middle, size_t count,
                  struct row *out)
{
    size_t a = 0;
    size_t b = middle;
    for (size_t to = 0; to < count; to++) {
        int order = a < middle && b < count ? compare_values(json_object_get(one[a].value, by->key),
                                                             json_object_get(one[b].value, by->key))
                                            : 0;
        bool takes_first = b >= count || (a < middle && (by->is_back ? -order : order) <= 0);
        out[to] = one[takes_first ? a++ : b++];
    }
}

/* Equal rows stay as they are. */
static void sort_rows(struct arena *arena, json_t *rows, const struct sorting *by)
{
    size_t count = json_array_size(rows);
    struct row *sorted = arena_array(arena, count + 1, sizeof *sorted);
    struct row *merged = arena_array(arena, count + 1, sizeof *merged);
    for (size_t i = 0; i < count; i++)
        sorted[i].value = json_incref(json_array_get(rows, i));
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width)
            merge(by, sorted + low, MIN(width, count - low), MIN(2 * width, count - low),
                  merged + low);
        struct row *swap = sorted;
        sorted = merged;
        merged = swap;
    }
    (void)json_array_clear(rows);
    for (size_t i = 0; i < count; i++)
        json_build_append(rows, sorted[i].value);
}

static enum status order_rows(const json_t *query, json_t *rows, const char *const *keys,
                              struct err *err)
{
    const char *order = json_get_string(query, "order_by", keys[0]);
    bool is_back = order[0] == '-';
    for (size_t i = 0; keys[i] != NULL; i++) {
        if (strcmp(keys[i], order + (is_back ? 1 : 0)) != 0)
            continue;
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        sort_rows(arena, rows, &(struct sorting){keys[i], is_back});
        return STATUS_OK;
    }
    return no_order(order, err);
}

enum status airflow_slice(const json_t *query, const char *name, json_t *taken_rows,
                          const char *const *keys, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = taken_rows;
    int64_t limit = 0;
    int64_t offset = 0;
    if (read_page(query, &limit, &offset, err) != STATUS_OK ||
        order_rows(query, rows, keys, err) != STATUS_OK)
        return err->code;
    json_t *page = json_build_array();
    for (int64_t i = offset; i < (int64_t)json_array_size(rows) && i - offset < limit; i++)
        json_build_append(page, json_incref(json_array_get(rows, (size_t)i)));
    *out = json_build_object();
    json_put(*out, name, page);
    json_put_int(*out, "total_entries", (int64_t)json_array_size(rows));
    return STATUS_OK;
}

/* --- paths ----------------------------------------------------------------------------------- */

bool airflow_is_all(const char *segment)
{
    return strcmp(segment, "~") == 0;
}

enum status airflow_put_dag(const struct route_call *call, bool may_be_all, json_t *request,
                            struct err *err)
{
    const char *dag_id = route_param(call, "dag_id");
    if (airflow_is_all(dag_id) && may_be_all)
        return STATUS_OK;
    /* A slash would make it the name of a run. */
    if (airflow_is_all(dag_id) || strchr(dag_id, '/') != NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no DAG '%.100s'", dag_id);
    json_put_string(request, "dag", dag_id);
    return STATUS_OK;
}

enum status airflow_put_run(const struct route_call *call, json_t *request, struct err *err)
{
    const char *dag_id = route_param(call, "dag_id");
    const char *run_id = route_param(call, "dag_run_id");
    if (strchr(dag_id, '/') != NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no DAG '%.100s'", dag_id);
    json_put_string(request, "run", arena_format(call->arena, "%s/%s", dag_id, run_id));
    return STATUS_OK;
}

enum status airflow_put_task(const struct route_call *call, json_t *request, struct err *err)
{
    int64_t index = -1;
    json_put_string(request, "task", route_param(call, "task_id"));
    if (strstr(call->route->pattern, "{map_index}") == NULL)
        return STATUS_OK;
    if (!str_parse_i64(route_param(call, "map_index"), -1, INT32_MAX, &index))
        return err_set(err, STATUS_NOT_FOUND, "'%.60s' is no map index",
                       route_param(call, "map_index"));
    json_put_int(request, "map_index", index);
    return STATUS_OK;
}

enum status airflow_call(const struct route_call *call, const char *operation,
                         json_t *taken_request, json_t **out, struct err *err)
{
    enum status status = operation_call(call->operations, operation, taken_request, out, err);
    json_decref(taken_request);
    return status;
}

/* --- states ---------------------------------------------------------------------------------- */

static const struct {
    const char *ours;
    const char *theirs;
} TASK_STATES[] = {
    {"cancelled", "failed"},
    {"awaiting_input", "deferred"},
};

const char *airflow_task_state(const char *ours)
{
    if (ours == NULL || strcmp(ours, "none") == 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(TASK_STATES); i++)
        if (strcmp(ours, TASK_STATES[i].ours) == 0)
            return TASK_STATES[i].theirs;
    return ours;
}

void airflow_add_task_states(json_t *states, const char *theirs)
{
    json_build_append(states, json_string(theirs));
    for (size_t i = 0; i < ARRAY_LEN(TASK_STATES); i++)
        if (strcmp(theirs, TASK_STATES[i].theirs) == 0)
            json_build_append(states, json_string(TASK_STATES[i].ours));
}

void airflow_add_run_states(json_t *states, const char *theirs)
{
    json_build_append(states, json_string(theirs));
    if (strcmp(theirs, "failed") == 0)
        json_build_append(states, json_string("cancelled"));
}
