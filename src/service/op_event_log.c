/*
 * event.log: events that match, in pages, by their ids.
 *
 * Events have no index of what people ask for, except of runs; a page ends after SCAN_MAX of them
 * were looked at, however many match, and how many there are is counted up to a bound.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "service/event_json.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_filter.h"
#include "service/service.h"
#include "store/event_scan.h"

enum {
    SCAN_MAX = 50000,
    SCAN_PART = 1000,
    COUNT_MAX = 5000, /* are looked at when the page is full already */
};

struct event_log {
    const json_t *request;
    struct event_names names;
    struct run_range when;
    int64_t limit;
    int64_t skip;
    int64_t matched;
    int64_t scanned;
    int64_t full_at; /* how many were looked at when the page was full; 0: it is not yet */
    int64_t last;    /* id of the row before */
    json_t *events;
};

static bool has(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (str_equal(json_string_value(json_array_get(names, i)), name))
            return true;
    return false;
}

static bool differs(const json_t *request, const char *key, const char *own)
{
    const char *wanted = json_get_string(request, key, NULL);
    return wanted != NULL && !str_equal(wanted, own);
}

static bool differs_in(const json_t *request, const char *key, int64_t own)
{
    const json_t *wanted = json_object_get(request, key);
    return json_is_integer(wanted) && json_integer_value(wanted) != own;
}

/* As far as the row tells: of most that are not meant, that is enough. */
static bool may_be_meant(const struct event_log *log, const struct event_row *row)
{
    const json_t *request = log->request;
    const json_t *included = json_object_get(request, "kinds");
    if (row->kind >= EVENT_KIND_COUNT || row->kind == EVENT_NONE)
        return false;
    const char *kind = event_kind_name(row->kind);
    bool is_of_task = row->task != 0 && row->run != 0;
    return row->at_us >= log->when.from_us &&
           (log->when.to_us == 0 || row->at_us <= log->when.to_us) &&
           (!json_is_array(included) || has(included, kind)) &&
           !has(json_object_get(request, "without"), kind) &&
           (row->dag_id == NULL || !differs(request, "dag", row->dag_id)) &&
           !differs(request, "run_id", row->run_id) && !differs(request, "actor", row->actor) &&
           !differs_in(request, "map_index", is_of_task ? row->map_index : INT64_MIN) &&
           !differs_in(request, "try_number", row->attempt > 0 ? row->attempt : INT64_MIN);
}

/* What the row alone does not tell. */
static bool is_of_names(const struct event_log *log, const json_t *event)
{
    return !differs(log->request, "dag", json_get_string(event, "dag_id", NULL)) &&
           !differs(log->request, "task", json_get_string(event, "task_id", NULL));
}

static bool has_names(const struct event_log *log)
{
    return json_get_string(log->request, "dag", NULL) != NULL ||
           json_get_string(log->request, "task", NULL) != NULL;
}

static bool is_full(const struct event_log *log)
{
    return (int64_t)json_array_size(log->events) >= log->limit;
}

static void take(struct event_log *log, json_t *event)
{
    log->matched++;
    if (log->skip > 0) {
        log->skip--;
        return;
    }
    if (!is_full(log))
        json_build_append(log->events, json_incref(event));
    if (is_full(log) && log->full_at == 0)
        log->full_at = log->scanned;
}

static enum status look(void *context, const struct event_row *row, struct err *err)
{
    struct event_log *log = context;
    CLEANUP(json_decrefp) json_t *event = NULL;
    bool is_seen = false;
    log->scanned++;
    log->last = row->id;
    if (!may_be_meant(log, row))
        return STATUS_OK;
    if (event_json_is_seen(&log->names, row, &is_seen, err) != STATUS_OK)
        return err->code;
    if (!is_seen)
        return STATUS_OK;
    bool is_shown = log->skip == 0 && !is_full(log);
    if ((is_shown || has_names(log)) && event_json(&log->names, row, &event, err) != STATUS_OK)
        return err->code;
    if (event == NULL || is_of_names(log, event))
        take(log, event);
    return STATUS_OK;
}

/* Where to begin and to end; a run that has a name in a DAG has an index. */
static enum status set_bounds(struct event_log *log, struct event_scan *scan, struct err *err)
{
    const json_t *request = log->request;
    const char *dag = json_get_string(request, "dag", NULL);
    const char *run_id = json_get_string(request, "run_id", NULL);
    int64_t id = 0;
    CHECK(str_parse_i64(json_get_string(request, "id", "0"), 0, INT64_MAX, &id));
    if (id > 0)
        *scan = (struct event_scan){.after = id - 1, .before = id + 1, .limit = 1};
    else if (log->when.from_us != 0 &&
             store_event_find(log->names.store, log->when.from_us, &scan->after, err) != STATUS_OK)
        return err->code;
    if (dag == NULL || run_id == NULL || id > 0)
        return STATUS_OK;
    const char *text = arena_format(log->names.arena, "%s/%s", dag, run_id);
    struct err problem = {0};
    enum status status = store_run_find(log->names.store, text, &scan->run, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    return STATUS_OK;
}

static bool is_enough(const struct event_log *log)
{
    return log->scanned >= SCAN_MAX ||
           (log->full_at > 0 && log->scanned - log->full_at >= COUNT_MAX);
}

static enum status scan_all(struct event_log *log, struct event_scan *scan, struct err *err)
{
    int64_t before;
    scan->limit = SCAN_PART;
    do {
        before = log->scanned;
        if (store_event_scan(log->names.store, scan, look, log, err) != STATUS_OK)
            return err->code;
        if (scan->is_descending)
            scan->before = log->last;
        else
            scan->after = log->last;
    } while (log->scanned - before == SCAN_PART && !is_enough(log));
    return STATUS_OK;
}

enum status op_event_log(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *events = json_build_array();
    struct event_log log = {.request = request, .names.arena = arena, .events = events};
    const char *order = json_get_string(request, "order_by", "-id");
    struct event_scan scan = {.is_descending = order[0] == '-'};
    run_filter_read_range(request, "when", &log.when);
    if (!str_equal(order + (scan.is_descending ? 1 : 0), "id"))
        return err_set(err, STATUS_INVALID, "events have no order by '%.60s': write id or -id",
                       order);
    if (run_filter_read_page(request, &log.limit, &log.skip, err) != STATUS_OK ||
        service_store_if_any(service, &log.names.store, err) != STATUS_OK)
        return err->code;
    if (log.names.store != NULL &&
        (set_bounds(&log, &scan, err) != STATUS_OK || scan_all(&log, &scan, err) != STATUS_OK))
        return err_wrap(err, "list events");
    *out = json_build_list("events", TAKE(events));
    json_put_int(*out, "total_entries", log.matched);
    if (is_enough(&log))
        json_put_bool(*out, "total_is_more", true);
    return STATUS_OK;
}
