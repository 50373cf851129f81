/*
 * template_state: what a rendering carries along: its failure, its steps and its variables.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/template_eval_priv.h"

PRINTF(4, 0)
static void record(struct eval *eval, enum status code, bool forgivable, const char *fmt,
                   va_list args)
{
    if (eval->status != STATUS_OK)
        return;
    char text[ERR_TEXT_MAX];
    int length = vsnprintf(text, sizeof text, fmt, args);
    CHECK(length >= 0);
    eval->status = err_set(eval->err, code, "%s", text);
    eval->forgivable = forgivable;
}

json_t *eval_fail(struct eval *eval, enum status code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    record(eval, code, false, fmt, args);
    va_end(args);
    return NULL;
}

json_t *eval_missing(struct eval *eval, bool guarded, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    record(eval, STATUS_NOT_FOUND, guarded, fmt, args);
    va_end(args);
    return NULL;
}

bool eval_charge(struct eval *eval, size_t steps)
{
    if (steps > LIMIT_TEMPLATE_STEPS || eval->steps + (int64_t)steps > LIMIT_TEMPLATE_STEPS) {
        (void)eval_fail(eval, STATUS_LIMIT, "more than %d steps", LIMIT_TEMPLATE_STEPS);
        return false;
    }
    eval->steps += (int64_t)steps;
    return true;
}

/* The innermost failing place is the one to show; unwinding passes it first. */
json_t *eval_locate(struct eval *eval, struct template_fault place)
{
    if (!eval->located)
        eval->place = place;
    eval->located = true;
    return NULL;
}

bool eval_forgive(struct eval *eval)
{
    if (eval->status == STATUS_OK || !eval->forgivable)
        return false;
    eval->status = STATUS_OK;
    eval->forgivable = false;
    eval->located = false;
    return true;
}

struct local *local_find(struct eval *eval, const char *name)
{
    for (size_t i = eval->locals_count; i > 0; i--)
        if (strcmp(eval->locals[i - 1].name, name) == 0)
            return &eval->locals[i - 1];
    return NULL;
}

void local_push(struct eval *eval, struct local local)
{
    eval->locals =
        mem_grow(eval->locals, &eval->locals_capacity, eval->locals_count, sizeof *eval->locals);
    eval->locals[eval->locals_count++] = local;
}

void local_pop(struct eval *eval, size_t count)
{
    while (eval->locals_count > count)
        json_decref(eval->locals[--eval->locals_count].value);
}

/* Takes the value. A loop body has variables of its own. */
void local_set(struct eval *eval, const char *name, json_t *value)
{
    struct local *old = local_find(eval, name);
    if (old == NULL || (size_t)(old - eval->locals) < eval->frame) {
        local_push(eval, (struct local){.name = name, .value = value});
        return;
    }
    json_decref(old->value);
    old->value = value;
}

static json_t *loop_value(const struct loop *loop)
{
    size_t length = json_array_size(loop->items);
    json_t *value = json_object();
    json_put_int(value, "index", (int64_t)loop->index + 1);
    json_put_int(value, "index0", (int64_t)loop->index);
    json_put_int(value, "revindex", (int64_t)(length - loop->index));
    json_put_int(value, "revindex0", (int64_t)(length - loop->index - 1));
    json_put_bool(value, "first", loop->index == 0);
    json_put_bool(value, "last", loop->index + 1 == length);
    json_put_int(value, "length", (int64_t)length);
    if (loop->index > 0)
        json_put(value, "previtem", json_incref(json_array_get(loop->items, loop->index - 1)));
    if (loop->index + 1 < length)
        json_put(value, "nextitem", json_incref(json_array_get(loop->items, loop->index + 1)));
    return value;
}

json_t *local_value(const struct local *local)
{
    return local->loop != NULL ? loop_value(local->loop) : json_incref(local->value);
}
