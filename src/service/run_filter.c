#include "service/run_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"

enum { PAGE_DEFAULT = 100, PAGE_MAX = 100000, KEY_MAX = 32 };

static int64_t instant_of(const json_t *request, const char *key, const char *end)
{
    char name[KEY_MAX];
    int64_t at_us = 0;
    CHECK(snprintf(name, sizeof name, "%s_%s", key, end) < (int)sizeof name);
    const char *text = json_get_string(request, name, NULL);
    if (text != NULL)
        CHECK(instant_parse(text, &at_us));
    return at_us;
}

void run_filter_read_range(const json_t *request, const char *key, struct run_range *out)
{
    out->from_us = instant_of(request, key, "from");
    out->to_us = instant_of(request, key, "to");
}

const char *run_filter_names(const json_t *request, const char *key, struct arena *arena)
{
    const json_t *names = json_object_get(request, key);
    if (!json_is_array(names))
        return NULL;
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 1 << 20);
    strbuf_add_char(&text, ',');
    for (size_t i = 0; i < json_array_size(names); i++)
        strbuf_addf(&text, "%s,", json_string_value(json_array_get(names, i)));
    return arena_strdup(arena, text.text);
}

static const char *run_state_at(const void *context, size_t i)
{
    (void)context;
    return run_state_name((enum run_state)i);
}

static enum status add_state(const char *name, unsigned *states, struct err *err)
{
    enum run_state state = RUN_QUEUED;
    if (!run_state_parse(name, &state)) {
        const char *near = str_nearest(name, RUN_STATE_COUNT, run_state_at, NULL);
        return err_set(err, STATUS_INVALID, "no run is ever '%.60s'%s%s%s", name,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
    }
    *states |= 1U << state;
    return STATUS_OK;
}

static enum status read_states(const json_t *request, unsigned *out, struct err *err)
{
    const json_t *names = json_object_get(request, "states");
    const char *one = json_get_string(request, "state", NULL);
    if (one != NULL && add_state(one, out, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(names); i++)
        if (add_state(json_string_value(json_array_get(names, i)), out, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status read_order(const json_t *request, struct run_page *out, struct err *err)
{
    const char *text = json_get_string(request, "order_by", "-id");
    out->is_descending = text[0] == '-';
    if (!run_order_parse(text + (out->is_descending ? 1 : 0), &out->order))
        return err_set(err, STATUS_INVALID,
                       "runs have no order by '%.60s': write id, logical_date, start_date, "
                       "end_date or duration, with - in front for the other way round",
                       text);
    return STATUS_OK;
}

enum status run_filter_read(const json_t *request, struct arena *arena, struct run_page *out,
                            struct err *err)
{
    *out = (struct run_page){
        .dag_id = json_get_string(request, "dag", NULL),
        .dags = run_filter_names(request, "dags", arena),
    };
    run_filter_read_range(request, "logical", &out->logical);
    run_filter_read_range(request, "start", &out->started);
    run_filter_read_range(request, "end", &out->ended);
    run_filter_read_range(request, "updated", &out->updated);
    if (read_states(request, &out->states, err) != STATUS_OK)
        return err->code;
    return read_order(request, out, err);
}

enum status run_filter_read_page(const json_t *request, int64_t *out_limit, int64_t *out_offset,
                                 struct err *err)
{
    int64_t limit = json_get_int(request, "limit", PAGE_DEFAULT);
    int64_t offset = json_get_int(request, "offset", 0);
    if (limit < 0 || limit > PAGE_MAX)
        return err_set(err, STATUS_INVALID, "'limit' must be from 0 to %d", PAGE_MAX);
    if (offset < 0 || offset > RUN_PAGE_OFFSET_MAX)
        return err_set(err, STATUS_INVALID,
                       "'offset' must be from 0 to %d: narrow the list down by dates to see more",
                       RUN_PAGE_OFFSET_MAX);
    *out_limit = limit;
    *out_offset = offset;
    return STATUS_OK;
}
