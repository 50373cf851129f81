/*
 * template_method: methods of values and functions, with the names Python and Airflow give them.
 */
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "model/template_filter_priv.h"

enum { RANGE_MAX = 100000 };

static json_t *method_get(struct call *call)
{
    const char *key = NULL;
    if (!call_text(call, 0, NULL, &key))
        return NULL;
    json_t *member = key != NULL ? json_object_get(call->self, key) : NULL;
    if (member != NULL)
        return json_incref(member);
    return call->args[1] != NULL ? json_incref(call->args[1]) : json_null();
}

static json_t *method_values(struct call *call)
{
    json_t *values = json_array();
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach(call->self, key, member)
    {
        CHECK(json_array_append(values, member) == 0);
    }
    return eval_container(call->eval, values);
}

/* 'sep'.join(list) is the filter the other way round. */
static json_t *method_join(struct call *call)
{
    struct call join = {.eval = call->eval, .callable = call->callable, .self = call->args[0]};
    join.args[0] = call->self;
    return filter_join(&join);
}

static json_t *method_startswith(struct call *call)
{
    const char *part = NULL;
    if (!call_text(call, 0, "", &part))
        return NULL;
    return json_boolean(str_starts_with(json_string_value(call->self), part));
}

static json_t *method_endswith(struct call *call)
{
    const char *part = NULL;
    if (!call_text(call, 0, "", &part))
        return NULL;
    return json_boolean(str_ends_with(json_string_value(call->self), part));
}

static json_t *strip(struct call *call, bool left, bool right)
{
    const char *chars = NULL;
    if (!call_text(call, 0, " \t\n\r\f\v", &chars))
        return NULL;
    const char *start = json_string_value(call->self);
    const char *end = start + json_string_length(call->self);
    while (left && start < end && strchr(chars, *start) != NULL)
        start++;
    while (right && end > start && strchr(chars, end[-1]) != NULL)
        end--;
    return eval_text(call->eval, start, (size_t)(end - start));
}

static json_t *method_lstrip(struct call *call)
{
    return strip(call, true, false);
}

static json_t *method_rstrip(struct call *call)
{
    return strip(call, false, true);
}

/* Numbers first, first + step, .. up to but not including `end`. */
static json_t *function_range(struct call *call)
{
    int64_t start = 0;
    int64_t end = 0;
    int64_t step = 1;
    bool both = call->args[1] != NULL;
    if (!call_integer(call, 0, 0, both ? &start : &end) ||
        (both && !call_integer(call, 1, 0, &end)) || !call_integer(call, 2, 1, &step))
        return NULL;
    if (step == 0)
        return eval_fail(call->eval, STATUS_INVALID, "'range' needs a step that is not 0");
    json_t *numbers = json_array();
    for (int64_t i = start; step > 0 ? i < end : i > end;) {
        if (json_array_size(numbers) == RANGE_MAX) {
            json_decref(numbers);
            return eval_fail(call->eval, STATUS_LIMIT, "'range' gives at most %d numbers",
                             RANGE_MAX);
        }
        CHECK(json_array_append_new(numbers, json_integer(i)) == 0);
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    return eval_container(call->eval, numbers);
}

/* macros.ds_add(ds, 7): the filter with its subject as first argument. */
static json_t *function_ds_add(struct call *call)
{
    struct call add = {.eval = call->eval, .callable = call->callable, .self = call->args[0]};
    add.args[0] = call->args[1];
    return filter_date_add(&add);
}

enum self_type { SELF_TEXT, SELF_MAP, SELF_ANY };

static const struct {
    enum self_type type;
    struct callable callable;
} METHODS[] = {
    {SELF_TEXT, {.name = "upper", .run = filter_upper}},
    {SELF_TEXT, {.name = "lower", .run = filter_lower}},
    {SELF_TEXT, {.name = "title", .run = filter_title}},
    {SELF_TEXT, {.name = "capitalize", .run = filter_capitalize}},
    {SELF_TEXT, {.name = "strip", .params = {"chars"}, .run = filter_trim}},
    {SELF_TEXT, {.name = "lstrip", .params = {"chars"}, .run = method_lstrip}},
    {SELF_TEXT, {.name = "rstrip", .params = {"chars"}, .run = method_rstrip}},
    {SELF_TEXT, {.name = "replace", .params = {"old", "new", "count"}, 2, filter_replace, ""}},
    {SELF_TEXT, {.name = "split", .params = {"sep", "maxsplit"}, .run = filter_split}},
    {SELF_TEXT, {.name = "join", .params = {"items"}, 1, method_join, ""}},
    {SELF_TEXT, {.name = "startswith", .params = {"prefix"}, 1, method_startswith, ""}},
    {SELF_TEXT, {.name = "endswith", .params = {"suffix"}, 1, method_endswith, ""}},
    {SELF_TEXT, {.name = "strftime", .params = {"format"}, 1, filter_strftime, ""}},
    {SELF_TEXT, {.name = "isoformat", .run = filter_ts}},
    {SELF_TEXT, {.name = "to_date_string", .run = filter_ds}},
    {SELF_TEXT,
     {.name = "add",
      .params = {"days", "hours", "minutes", "seconds", "weeks"},
      .run = method_date_add}},
    {SELF_TEXT,
     {.name = "subtract",
      .params = {"days", "hours", "minutes", "seconds", "weeks"},
      .run = method_date_subtract}},
    {SELF_MAP, {.name = "get", .params = {"key", "default"}, 1, method_get, ""}},
    {SELF_MAP, {.name = "items", .run = filter_items}},
    {SELF_MAP, {.name = "keys", .run = filter_list}},
    {SELF_MAP, {.name = "values", .run = method_values}},
};

const struct callable *method_find(const json_t *self, const char *name)
{
    enum self_type type = json_is_string(self)   ? SELF_TEXT
                          : json_is_object(self) ? SELF_MAP
                                                 : SELF_ANY;
    for (size_t i = 0; i < ARRAY_LEN(METHODS); i++)
        if (METHODS[i].type == type && strcmp(METHODS[i].callable.name, name) == 0)
            return &METHODS[i].callable;
    return NULL;
}

const struct callable *function_find(const char *const *path, size_t count)
{
    static const struct callable RANGE = {
        .name = "range", .params = {"start", "stop", "step"}, 1, function_range, ""};
    static const struct callable DS_ADD = {
        .name = "ds_add", .params = {"ds", "days"}, 2, function_ds_add, ""};
    if (count == 1 && strcmp(path[0], "range") == 0)
        return &RANGE;
    if (count == 2 && strcmp(path[0], "macros") == 0 && strcmp(path[1], "ds_add") == 0)
        return &DS_ADD;
    return NULL;
}
