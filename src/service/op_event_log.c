/*
 * event.log: events that match, in pages, by their ids.
 *
 * Events have no index of what people ask for, except of runs; a page ends after SCAN_MAX of them
 * were looked at, however many match, and how many there are is counted up to a bound. The store
 * leaves out what its rows tell not to be meant; what is only to be counted it counts, where
 * nothing else decides. Where the DAG of each tells whether it is meant, it ends after READ_MAX.
 * The cursor says where to go on.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "service/event_json.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_filter.h"
#include "service/service.h"
#include "store/event_scan.h"
#include "store/sight.h"

enum {
    SCAN_MAX = 50000,
    SCAN_FIRST = 1000, /* are looked at; then times as many while the page is not full */
    SCAN_MORE = 4,
    ROWS_MAX = 1000,   /* that may be meant are read at once */
    READ_MAX = 4000,   /* in all, of which some were not meant */
    COUNT_MAX = 5000,  /* are looked at when the page is full already */
    COUNT_PART = 1000, /* up to a multiple of this */
};

struct event_log {
    const json_t *request;
    struct event_names names;
    struct event_scan scan;
    char kinds[EVENT_KIND_COUNT + 1];
    int64_t limit;
    int64_t skip;
    int64_t matched;
    int64_t scanned;
    bool is_full;
    int64_t full_at; /* how many were looked at when the page was full; 0: it is not yet */
    int64_t read;    /* rows that may have been meant */
    int64_t shown;   /* id of the last one on the page */
    bool is_more;    /* there are others that were not looked at */
    json_t *events;

    /* Of the stretch that is read. */
    int64_t count; /* to be looked at */
    int64_t rows;
    int64_t last; /* id of the row before */
};

/* --- what is meant --------------------------------------------------------------------------- */

static bool has(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (str_equal(json_string_value(json_array_get(names, i)), name))
            return true;
    return false;
}

static void read_kinds(struct event_log *log)
{
    const json_t *included = json_object_get(log->request, "kinds");
    const json_t *without = json_object_get(log->request, "without");
    for (enum event_kind kind = EVENT_NONE; kind < EVENT_KIND_COUNT; kind++) {
        const char *name = event_kind_name(kind);
        bool is_meant = kind != EVENT_NONE && (!json_is_array(included) || has(included, name)) &&
                        !has(without, name);
        log->kinds[kind] = is_meant ? '1' : '0';
    }
}

static void read_wish(struct event_log *log)
{
    struct event_wish *wish = &log->scan.wish;
    const json_t *attempt = json_object_get(log->request, "try_number");
    struct run_range when;
    run_filter_read_range(log->request, "when", &when);
    read_kinds(log);
    *wish = (struct event_wish){
        .kinds = log->kinds,
        .from_us = when.from_us,
        .to_us = when.to_us,
        .actor = json_get_string(log->request, "actor", NULL),
        .dag_id = json_get_string(log->request, "dag", NULL),
        .run_id = json_get_string(log->request, "run_id", NULL),
        .is_of_task = json_get_string(log->request, "task", NULL) != NULL ||
                      json_is_integer(json_object_get(log->request, "map_index")),
    };
    if (json_is_integer(attempt)) /* the first is 1; what is asked for before that has none */
        wish->attempt = json_integer_value(attempt) > 0 ? json_integer_value(attempt) : -1;
}

static bool differs(const json_t *request, const char *key, const char *own)
{
    const char *wanted = json_get_string(request, key, NULL);
    return wanted != NULL && !str_equal(wanted, own);
}

static bool is_of_index(const struct event_log *log, const struct event_row *row)
{
    const json_t *wanted = json_object_get(log->request, "map_index");
    bool is_of_task = row->task != 0 && row->run != 0;
    return !json_is_integer(wanted) || (is_of_task && json_integer_value(wanted) == row->map_index);
}

static bool has_names(const struct event_log *log)
{
    return json_get_string(log->request, "dag", NULL) != NULL ||
           json_get_string(log->request, "task", NULL) != NULL;
}

/* What the row alone does not tell. */
static enum status is_of_names(const struct event_log *log, const struct event_row *row, bool *out,
                               struct err *err)
{
    const char *task_id = NULL;
    const char *dag_id = NULL;
    *out = true;
    if (!has_names(log))
        return STATUS_OK;
    CLEANUP(json_decrefp) json_t *data = event_json_data(row);
    if (event_json_task_id(log->names.store, row, &task_id, err) != STATUS_OK ||
        event_json_dag_id(&log->names, row, data, &dag_id, err) != STATUS_OK)
        return err->code;
    *out = !differs(log->request, "dag", dag_id) && !differs(log->request, "task", task_id);
    return STATUS_OK;
}

static enum status is_meant(const struct event_log *log, const struct event_row *row, bool *out,
                            struct err *err)
{
    *out = is_of_index(log, row);
    if (*out && event_json_is_seen(&log->names, row, out, err) != STATUS_OK)
        return err->code;
    return *out ? is_of_names(log, row, out, err) : STATUS_OK;
}

/* Whether the store's rows alone tell how many are meant. */
static bool is_counted_by_store(const struct event_log *log)
{
    return store_sees_all(log->names.store) && !has_names(log) && log->scan.wish.run_id == NULL &&
           !json_is_integer(json_object_get(log->request, "map_index"));
}

/* --- a stretch ------------------------------------------------------------------------------- */

static enum status take(struct event_log *log, const struct event_row *row, struct err *err)
{
    json_t *event = NULL;
    log->matched++;
    if (log->skip > 0) {
        log->skip--;
        return STATUS_OK;
    }
    if ((int64_t)json_array_size(log->events) < log->limit) {
        if (event_json(&log->names, row, &event, err) != STATUS_OK)
            return err->code;
        json_build_append(log->events, event);
        log->shown = row->id;
    }
    log->is_full = (int64_t)json_array_size(log->events) >= log->limit;
    return STATUS_OK;
}

/* What follows the last one of the page is counted in a stretch of its own. */
static enum status look(void *context, const struct event_row *row, struct err *err)
{
    struct event_log *log = context;
    bool is_taken = false;
    if (log->is_full && log->full_at == 0)
        return STATUS_OK;
    log->rows++;
    log->last = row->id;
    if (is_meant(log, row, &is_taken, err) != STATUS_OK)
        return err->code;
    return is_taken ? take(log, row, err) : STATUS_OK;
}

/* The page begins behind the stretch, or ended before it: how many there are is all one needs. */
static enum status count_only(struct event_log *log, const struct event_stretch *stretch,
                              bool *out_done, struct err *err)
{
    int64_t count = 0;
    *out_done = false;
    if ((!log->is_full && log->skip == 0) || !is_counted_by_store(log))
        return STATUS_OK;
    if (store_event_count(log->names.store, &log->scan, stretch, &count, err) != STATUS_OK)
        return err->code;
    *out_done = log->is_full || count <= log->skip;
    if (!*out_done)
        return STATUS_OK;
    log->matched += count;
    log->skip = MAX(log->skip - count, (int64_t)0);
    return STATUS_OK;
}

/* Up to the last row that was read, where that is not the end of the stretch. */
static enum status shorten(const struct event_log *log, struct event_stretch *stretch,
                           struct err *err)
{
    struct event_scan part = log->scan;
    bool is_at_page_end = log->is_full && log->full_at == 0;
    if (log->rows < ROWS_MAX && !is_at_page_end)
        return STATUS_OK;
    if (part.is_descending)
        part.after = log->last - 1;
    else
        part.before = log->last + 1;
    return store_event_stretch(log->names.store, &part, log->count, stretch, err);
}

static enum status read_stretch(struct event_log *log, struct event_stretch *stretch,
                                struct err *err)
{
    bool is_done = false;
    if (count_only(log, stretch, &is_done, err) != STATUS_OK)
        return err->code;
    if (is_done || stretch->count == 0)
        return STATUS_OK;
    log->rows = 0;
    if (store_event_scan(log->names.store, &log->scan, stretch, look, log, err) != STATUS_OK)
        return err->code;
    log->read += log->rows;
    return shorten(log, stretch, err);
}

/* Where to begin and to end; a run that has a name in a DAG has an index. */
static enum status set_bounds(struct event_log *log, struct err *err)
{
    const json_t *request = log->request;
    struct event_scan *scan = &log->scan;
    const char *dag = json_get_string(request, "dag", NULL);
    const char *run_id = json_get_string(request, "run_id", NULL);
    int64_t id = 0;
    int64_t after = 0;
    int64_t newest = 0;
    CHECK(str_parse_i64(json_get_string(request, "id", "0"), 0, INT64_MAX, &id));
    if (scan->wish.from_us != 0 &&
        store_event_find(log->names.store, scan->wish.from_us, &after, err) != STATUS_OK)
        return err->code;
    if (scan->wish.to_us != 0 &&
        store_event_find(log->names.store, scan->wish.to_us, &newest, err) != STATUS_OK)
        return err->code;
    scan->after = id > 0 ? id - 1 : MAX(scan->after, after);
    if (id > 0)
        scan->before = id + 1;
    else if (scan->wish.to_us != 0)
        scan->before = MIN(scan->before != 0 ? scan->before : INT64_MAX,
                           newest + 2 * (int64_t)EVENT_FIND_SLACK);
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

/* Most that was read was not meant. */
static bool has_read_enough(const struct event_log *log)
{
    return log->read >= READ_MAX && log->matched < log->read / 2;
}

static bool is_enough(const struct event_log *log)
{
    return log->scanned >= SCAN_MAX || has_read_enough(log) ||
           (log->full_at > 0 && log->scanned - log->full_at >= COUNT_MAX);
}

/* How many are looked at in all. */
static int64_t scan_end(const struct event_log *log)
{
    int64_t parts = (log->full_at + COUNT_MAX + COUNT_PART - 1) / COUNT_PART;
    return log->full_at > 0 ? MIN(parts * COUNT_PART, (int64_t)SCAN_MAX) : SCAN_MAX;
}

static int64_t next_count(const struct event_log *log, int64_t size)
{
    int64_t left = scan_end(log) - log->scanned;
    return log->is_full ? left : MIN(MAX(size, log->skip), left);
}

static enum status scan_all(struct event_log *log, struct err *err)
{
    struct event_scan *scan = &log->scan;
    bool is_more = true;
    for (int64_t size = SCAN_FIRST;
         is_more && log->scanned < scan_end(log) && !has_read_enough(log);) {
        struct event_stretch stretch;
        log->count = next_count(log, size);
        size = MIN(size * SCAN_MORE, (int64_t)SCAN_MAX);
        if (store_event_stretch(log->names.store, scan, log->count, &stretch, err) != STATUS_OK)
            return err->code;
        is_more = stretch.count == log->count;
        int64_t whole = stretch.count;
        if (read_stretch(log, &stretch, err) != STATUS_OK)
            return err->code;
        is_more |= stretch.count < whole;
        log->scanned += stretch.count;
        if (log->is_full && log->full_at == 0)
            log->full_at = log->scanned;
        if (scan->is_descending)
            scan->before = stretch.lowest;
        else
            scan->after = stretch.highest;
    }
    log->is_more = is_more;
    return STATUS_OK;
}

/* Behind the page when it is full; else behind what was looked at. */
static void put_cursor(const struct event_log *log, int64_t skipped, json_t *out)
{
    int64_t shown = (int64_t)json_array_size(log->events);
    int64_t looked_at = log->scan.is_descending ? log->scan.before : log->scan.after;
    bool has_more = log->limit > 0 && (log->is_more || log->matched > skipped + shown);
    listing_put_cursor(out, has_more, log->is_full && shown > 0 ? log->shown : looked_at);
}

enum status op_event_log(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *events = json_build_array();
    struct event_log log = {.request = request, .names.arena = arena, .events = events};
    const char *order = json_get_string(request, "order_by", "-id");
    log.scan = (struct event_scan){.is_descending = order[0] == '-', .most = ROWS_MAX};
    read_wish(&log);
    if (!str_equal(order + (log.scan.is_descending ? 1 : 0), "id"))
        return err_set(err, STATUS_INVALID, "events have no order by '%.60s': write id or -id",
                       order);
    if (run_filter_read_page(request, &log.limit, &log.skip, err) != STATUS_OK ||
        listing_read_cursor(request, log.scan.is_descending ? &log.scan.before : &log.scan.after,
                            err) != STATUS_OK ||
        service_store_if_any(service, &log.names.store, err) != STATUS_OK)
        return err->code;
    int64_t skipped = log.skip;
    if (log.names.store != NULL &&
        (set_bounds(&log, err) != STATUS_OK || scan_all(&log, err) != STATUS_OK))
        return err_wrap(err, "list events");
    *out = json_build_list("events", json_incref(events));
    put_cursor(&log, skipped, *out);
    json_put_int(*out, "total_entries", log.matched);
    if (is_enough(&log))
        json_put_bool(*out, "total_is_more", true);
    return STATUS_OK;
}
