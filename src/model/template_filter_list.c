#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/template_filter_priv.h"

json_t *filter_default(struct call *call)
{
    bool falsy = call_flag(call, 1, false);
    if (call->self != NULL && !(falsy && !template_truth(call->self)))
        return json_incref(call->self);
    return call->args[0] != NULL ? json_incref(call->args[0]) : json_string("");
}

json_t *filter_d(struct call *call)
{
    return filter_default(call);
}

json_t *filter_length(struct call *call)
{
    const json_t *self = call->self;
    if (json_is_string(self))
        return json_integer(
            (json_int_t)utf8_count(json_string_value(self), json_string_length(self)));
    if (json_is_array(self))
        return json_integer((json_int_t)json_array_size(self));
    if (json_is_object(self))
        return json_integer((json_int_t)json_object_size(self));
    return call_wrong_self(call, "a list, a map or a text");
}

json_t *filter_count(struct call *call)
{
    return filter_length(call);
}

json_t *filter_list(struct call *call)
{
    return value_items(call->eval, call->self);
}

static json_t *end_item(struct call *call, bool last)
{
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    if (items == NULL)
        return NULL;
    size_t count = json_array_size(items);
    if (count == 0)
        return eval_missing(call->eval, call->guarded, "'%s' of something empty",
                            call->callable->name);
    return json_incref(json_array_get(items, last ? count - 1 : 0));
}

json_t *filter_first(struct call *call)
{
    return end_item(call, false);
}

json_t *filter_last(struct call *call)
{
    return end_item(call, true);
}

json_t *filter_reverse(struct call *call)
{
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    if (items == NULL)
        return NULL;
    json_t *reversed = json_array();
    for (size_t i = json_array_size(items); i > 0; i--)
        CHECK(json_array_append(reversed, json_array_get(items, i - 1)) == 0);
    if (!json_is_string(call->self))
        return eval_container(call->eval, reversed);
    struct strbuf text;
    strbuf_init(&text, LIMIT_RENDERED_BYTES);
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach(reversed, i, item) value_add_text(&text, item);
    json_decref(reversed);
    return eval_take_text(call->eval, &text);
}

/* ---- Attributes of items ---- */

/* item.a.0.b for the attribute "a.0.b"; the item itself without one. New reference. */
static json_t *item_attribute(struct call *call, json_t *item, const json_t *attribute,
                              bool guarded)
{
    if (attribute == NULL || json_is_null(attribute))
        return json_incref(item);
    if (!json_is_string(attribute))
        return value_access(call->eval, item, attribute, guarded);
    json_t *value = json_incref(item);
    const char *cursor = json_string_value(attribute);
    while (value != NULL) {
        size_t length = strcspn(cursor, ".");
        bool number = length > 0 && length < 10 && strspn(cursor, "0123456789") == length;
        int64_t index = 0;
        for (size_t i = 0; number && i < length; i++)
            index = index * 10 + (cursor[i] - '0');
        CLEANUP(json_decrefp)
        json_t *key = number ? json_integer(index) : json_text(cursor, length);
        json_t *member = value_access(call->eval, value, key, guarded);
        json_decref(value);
        value = member;
        if (cursor[length] == '\0')
            break;
        cursor += length + 1;
    }
    return value;
}

json_t *filter_join(struct call *call)
{
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    if (items == NULL)
        return NULL;
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    for (size_t i = 0; i < json_array_size(items) && !out.overflow; i++) {
        if (i > 0 && call->args[0] != NULL)
            value_add_text(&out, call->args[0]);
        CLEANUP(json_decrefp)
        json_t *part = item_attribute(call, json_array_get(items, i), call->args[1], false);
        if (part == NULL)
            return NULL;
        value_add_text(&out, part);
    }
    return eval_take_text(call->eval, &out);
}

/* One item of map('filter') or map(attribute=..). */
static json_t *map_item(struct call *call, json_t *item, const struct callable *filter)
{
    if (filter != NULL) {
        CLEANUP(json_decrefp) json_t *args = json_array();
        CLEANUP(json_decrefp) json_t *named = json_object();
        return callable_run(call->eval, filter, item, args, named, false);
    }
    json_t *value = item_attribute(call, item, call->args[1], call->args[2] != NULL);
    if (value == NULL && call->args[2] != NULL && eval_forgive(call->eval))
        return json_incref(call->args[2]);
    return value;
}

json_t *filter_map(struct call *call)
{
    const char *name = NULL;
    if (!call_text(call, 0, NULL, &name))
        return NULL;
    if ((name == NULL) == (call->args[1] == NULL))
        return eval_fail(call->eval, STATUS_INVALID, "'map' needs a filter or an attribute");
    const struct callable *filter = name != NULL ? filter_find(name) : NULL;
    if (name != NULL && (filter == NULL || filter->least > 0 || filter->run == filter_map))
        return eval_fail(call->eval, STATUS_INVALID, "'map' cannot use '%.60s'", name);
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    if (items == NULL)
        return NULL;
    CLEANUP(json_decrefp) json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *value =
            eval_charge(call->eval, 1) ? map_item(call, json_array_get(items, i), filter) : NULL;
        if (value == NULL)
            return NULL;
        CHECK(json_array_append_new(out, value) == 0);
    }
    return eval_container(call->eval, TAKE(out));
}

/* Items for which a test of them, or of an attribute, gives `wanted`. */
static json_t *choose_items(struct call *call, const json_t *attribute, size_t first, bool wanted)
{
    const char *name = NULL;
    if (!call_text(call, first, NULL, &name))
        return NULL;
    const struct test *test = name != NULL ? test_find(name) : NULL;
    if (name != NULL && (test == NULL || (test_args(test) > 0) != (call->args[first + 1] != NULL)))
        return eval_fail(call->eval, STATUS_INVALID, "'%s' cannot use the test '%.60s' like this",
                         call->callable->name, name);
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    if (items == NULL)
        return NULL;
    CLEANUP(json_decrefp) json_t *out = json_array();
    bool guarded = test != NULL && test_takes_undefined(test);
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i);
        CLEANUP(json_decrefp) json_t *value = item_attribute(call, item, attribute, guarded);
        if (value == NULL && !eval_forgive(call->eval))
            return NULL;
        bool holds = value != NULL && template_truth(value);
        if (test != NULL && !test_run(call->eval, test, value, call->args[first + 1], &holds))
            return NULL;
        if (holds == wanted)
            CHECK(json_array_append(out, item) == 0);
    }
    return eval_container(call->eval, TAKE(out));
}

json_t *filter_select(struct call *call)
{
    return choose_items(call, NULL, 0, true);
}

json_t *filter_reject(struct call *call)
{
    return choose_items(call, NULL, 0, false);
}

json_t *filter_selectattr(struct call *call)
{
    return choose_items(call, call->args[0], 1, true);
}

json_t *filter_rejectattr(struct call *call)
{
    return choose_items(call, call->args[0], 1, false);
}

/* ---- Order ---- */

struct sort_item {
    json_t *key; /* owned */
    json_t *item;
    size_t place;
};

struct sort_list {
    struct eval *eval;
    struct sort_item *items;
    size_t count;
    int direction;
};

static void sort_list_fini(struct sort_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        json_decref(list->items[i].key);
    mem_freep(&list->items);
}

/* What an item is ordered by: its attribute, texts without case unless asked. */
static json_t *sort_key(struct call *call, json_t *item, const json_t *attribute, bool cased)
{
    CLEANUP(json_decrefp) json_t *key = item_attribute(call, item, attribute, false);
    if (key == NULL || cased || !json_is_string(key))
        return TAKE(key);
    struct call lower = {.eval = call->eval, .callable = filter_find("lower"), .self = key};
    return filter_lower(&lower);
}

/* Keys of all items of `self`, which `items` keeps alive. */
static bool sort_list_fill(struct sort_list *list, struct call *call, json_t *items,
                           const json_t *attribute, bool cased)
{
    size_t count = json_array_size(items);
    list->items = mem_zalloc(count, sizeof *list->items);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(items, i);
        json_t *key = sort_key(call, item, attribute, cased);
        if (key == NULL)
            return false;
        list->items[list->count++] = (struct sort_item){key, item, i};
    }
    return true;
}

/* Equal keys keep their order, in reverse too, as in Python. */
static int sort_compare(const void *a, const void *b, void *context)
{
    const struct sort_list *list = context;
    const struct sort_item *x = a;
    const struct sort_item *y = b;
    int order = 0;
    if (list->eval->status == STATUS_OK)
        (void)op_order(list->eval, x->key, y->key, &order);
    if (order != 0)
        return order * list->direction;
    return (x->place > y->place) - (x->place < y->place);
}

static json_t *sort_items(struct call *call, json_t *items, const json_t *attribute, bool cased,
                          bool reverse)
{
    CLEANUP(sort_list_fini)
    struct sort_list list = {.eval = call->eval, .direction = reverse ? -1 : 1};
    if (!sort_list_fill(&list, call, items, attribute, cased))
        return NULL;
    qsort_r(list.items, list.count, sizeof *list.items, sort_compare, &list);
    if (call->eval->status != STATUS_OK)
        return NULL;
    json_t *sorted = json_array();
    for (size_t i = 0; i < list.count; i++)
        CHECK(json_array_append(sorted, list.items[i].item) == 0);
    return eval_container(call->eval, sorted);
}

json_t *filter_sort(struct call *call)
{
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    if (items == NULL)
        return NULL;
    return sort_items(call, items, call->args[2], call_flag(call, 1, false),
                      call_flag(call, 0, false));
}

json_t *filter_items(struct call *call)
{
    if (!json_is_object(call->self))
        return call_wrong_self(call, "a map");
    json_t *pairs = json_array();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(call->self, key, value)
    {
        json_t *pair = json_array();
        CHECK(json_array_append_new(pair, json_string(key)) == 0);
        CHECK(json_array_append(pair, value) == 0);
        CHECK(json_array_append_new(pairs, pair) == 0);
    }
    return eval_container(call->eval, pairs);
}

json_t *filter_dictsort(struct call *call)
{
    const char *by = NULL;
    if (!call_text(call, 1, "key", &by))
        return NULL;
    CLEANUP(json_decrefp) json_t *pairs = filter_items(call);
    if (pairs == NULL)
        return NULL;
    CLEANUP(json_decrefp) json_t *attribute = json_integer(strcmp(by, "value") == 0);
    return sort_items(call, pairs, attribute, call_flag(call, 0, false), call_flag(call, 2, false));
}

static json_t *extreme(struct call *call, int direction)
{
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    CLEANUP(sort_list_fini) struct sort_list list = {.eval = call->eval};
    if (items == NULL ||
        !sort_list_fill(&list, call, items, call->args[1], call_flag(call, 0, false)))
        return NULL;
    if (list.count == 0)
        return eval_missing(call->eval, call->guarded, "'%s' of something empty",
                            call->callable->name);
    size_t best = 0;
    for (size_t i = 1; i < list.count; i++) {
        int order = 0;
        if (!op_order(call->eval, list.items[i].key, list.items[best].key, &order))
            return NULL;
        if (order * direction > 0)
            best = i;
    }
    return json_incref(list.items[best].item);
}

json_t *filter_min(struct call *call)
{
    return extreme(call, -1);
}

json_t *filter_max(struct call *call)
{
    return extreme(call, 1);
}

json_t *filter_unique(struct call *call)
{
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    CLEANUP(sort_list_fini) struct sort_list list = {.eval = call->eval};
    if (items == NULL ||
        !sort_list_fill(&list, call, items, call->args[1], call_flag(call, 0, false)))
        return NULL;
    /* Equal values have equal texts, except numbers of both kinds, which op_equal would join. */
    CLEANUP(json_decrefp) json_t *seen = json_object();
    CLEANUP(json_decrefp) json_t *out = json_array();
    for (size_t i = 0; i < list.count; i++) {
        CLEANUP(strbuf_fini) struct strbuf text;
        strbuf_init(&text, LIMIT_RENDERED_BYTES);
        const json_t *key = list.items[i].key;
        int64_t whole = 0;
        double number = json_is_real(key) ? json_real_value(key) : 0.5;
        if (value_to_integer(key, &whole))
            strbuf_addf(&text, "%lld", (long long)whole);
        else if (number <= floor(number) && fabs(number) < 9e15)
            strbuf_addf(&text, "%.0f", number);
        else
            value_add_json(&text, key, 0);
        if (!eval_charge(call->eval, 1 + text.length / 16))
            return NULL;
        if (json_object_get(seen, text.text) != NULL)
            continue;
        json_put_bool(seen, text.text, true);
        CHECK(json_array_append(out, list.items[i].item) == 0);
    }
    return eval_container(call->eval, TAKE(out));
}

json_t *filter_sum(struct call *call)
{
    CLEANUP(json_decrefp) json_t *items = value_items(call->eval, call->self);
    if (items == NULL)
        return NULL;
    json_t *total = call->args[1] != NULL ? json_incref(call->args[1]) : json_integer(0);
    for (size_t i = 0; i < json_array_size(items) && total != NULL; i++) {
        json_t *value = item_attribute(call, json_array_get(items, i), call->args[0], false);
        json_t *next = value != NULL ? op_binary(call->eval, OP_ADD, total, value) : NULL;
        json_decref(value);
        json_decref(total);
        total = next;
    }
    return total;
}
