#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/template_filter_priv.h"

static const struct callable FILTERS[] = {
#define X(name, least, doc, ...) {#name, {__VA_ARGS__}, least, filter_##name, doc},
    FILTER_MAP(X)
#undef X
};

const struct callable *filter_find(const char *name)
{
    size_t low = 0;
    size_t high = ARRAY_LEN(FILTERS);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, FILTERS[middle].name);
        if (order == 0)
            return &FILTERS[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static const char *filter_name(const void *context, size_t i)
{
    (void)context;
    return FILTERS[i].name;
}

const char *filter_nearest(const char *name)
{
    return str_nearest(name, ARRAY_LEN(FILTERS), filter_name, NULL);
}

size_t template_filter_count(void)
{
    return ARRAY_LEN(FILTERS);
}

struct template_filter template_filter_get(size_t i)
{
    CHECK(i < ARRAY_LEN(FILTERS));
    size_t count = 0;
    while (count < CALL_ARGS_MAX && FILTERS[i].params[count] != NULL)
        count++;
    return (struct template_filter){FILTERS[i].name, FILTERS[i].params, count, FILTERS[i].doc};
}

/* ---- Arguments ---- */

static json_t *bind(struct call *call, json_t *args, json_t *named)
{
    const struct callable *callable = call->callable;
    size_t given = json_array_size(args);
    size_t most = 0;
    while (most < CALL_ARGS_MAX && callable->params[most] != NULL)
        most++;
    if (given > most)
        return eval_fail(call->eval, STATUS_INVALID, "'%s' takes at most %zu arguments, not %zu",
                         callable->name, most, given);
    for (size_t i = 0; i < given; i++)
        call->args[i] = json_array_get(args, i);
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(named, key, value)
    {
        size_t i = 0;
        while (i < most && strcmp(callable->params[i], key) != 0)
            i++;
        if (i == most)
            return eval_fail(call->eval, STATUS_INVALID, "'%s' has no argument '%.60s'",
                             callable->name, key);
        if (call->args[i] != NULL)
            return eval_fail(call->eval, STATUS_INVALID, "the argument '%.60s' is given twice",
                             key);
        call->args[i] = value;
    }
    for (size_t i = 0; i < callable->least; i++)
        if (call->args[i] == NULL)
            return eval_fail(call->eval, STATUS_INVALID, "'%s' needs the argument '%s'",
                             callable->name, callable->params[i]);
    return args;
}

json_t *callable_run(struct eval *eval, const struct callable *callable, json_t *self, json_t *args,
                     json_t *named, bool guarded)
{
    struct call call = {.eval = eval, .callable = callable, .self = self, .guarded = guarded};
    return bind(&call, args, named) != NULL ? callable->run(&call) : NULL;
}

bool call_integer(struct call *call, size_t i, int64_t otherwise, int64_t *out)
{
    const json_t *arg = call->args[i];
    *out = otherwise;
    if (arg == NULL || json_is_null(arg) || value_to_integer(arg, out))
        return true;
    (void)eval_fail(call->eval, STATUS_INVALID, "'%s' needs a whole number as %s, not %s",
                    call->callable->name, call->callable->params[i], value_type_name(arg));
    return false;
}

bool call_text(struct call *call, size_t i, const char *otherwise, const char **out)
{
    const json_t *arg = call->args[i];
    *out = otherwise;
    if (arg == NULL || json_is_null(arg))
        return true;
    if (json_is_string(arg)) {
        *out = json_string_value(arg);
        return true;
    }
    (void)eval_fail(call->eval, STATUS_INVALID, "'%s' needs a text as %s, not %s",
                    call->callable->name, call->callable->params[i], value_type_name(arg));
    return false;
}

bool call_flag(const struct call *call, size_t i, bool otherwise)
{
    return call->args[i] != NULL ? template_truth(call->args[i]) : otherwise;
}

const char *call_self_text(struct call *call, struct strbuf *buf)
{
    strbuf_init(buf, LIMIT_RENDERED_BYTES);
    value_add_text(buf, call->self);
    return buf->text;
}

json_t *call_wrong_self(struct call *call, const char *wanted)
{
    return eval_fail(call->eval, STATUS_INVALID, "'%s' needs %s, not %s", call->callable->name,
                     wanted, value_type_name(call->self));
}
