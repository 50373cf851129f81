/*
 * audit.list: what people changed, when, and why.
 *
 * One change may be many events: a clear writes one for every task. Those of one instant, kind, run
 * and actor are one entry.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/task_state.h"
#include "service/audit_text.h"
#include "service/event_json.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/audit.h"

enum { LIST_DEFAULT = 20, LIST_MAX = 100000, TASKS_SHOWN = 20 };

struct trail {
    struct event_names names;
    const char *dag_id; /* only of this DAG; NULL: any */
    int64_t limit;
    bool is_counting; /* entries are only counted: the last is kept for comparison */
    int64_t count;
    json_t *entries;
    json_t *last; /* of `entries`; NULL: none yet */
    int64_t last_at_us;
    int64_t last_run;
    enum event_kind last_kind;
};

/* --- entries --------------------------------------------------------------------------------- */

static bool is_same_change(const struct trail *trail, const struct event_row *row)
{
    return trail->last != NULL && row->task != 0 && trail->last_at_us == row->at_us &&
           trail->last_kind == row->kind && trail->last_run == row->run &&
           str_equal(json_get_string(trail->last, "actor", ""), row->actor);
}

/* Rows come newest first, tasks are shown in the order in which they were changed. */
static void add_to_entry(struct trail *trail, const char *object, const struct event_row *row)
{
    json_t *entry = trail->last;
    json_t *tasks = json_object_get(entry, "objects");
    json_put_int(entry, "count", json_get_int(entry, "count", 0) + 1);
    json_put_string(entry, "object", object);
    json_put_id(entry, "id", row->id);
    if (json_array_size(tasks) == TASKS_SHOWN)
        (void)json_array_remove(tasks, TASKS_SHOWN - 1);
    (void)json_array_insert_new(tasks, 0, json_string(object));
}

/* The first row of a clear says what was asked for; the others are what followed from that. */
static void add_asked(struct trail *trail, const struct event_row *row, const json_t *data)
{
    json_t *asked = json_object_get(data, "asked");
    json_t *details = json_object_get(trail->last, "details");
    if (asked != NULL) {
        json_put(details, "asked", json_incref(asked));
        json_put_string(trail->last, "object", audit_asked_text(trail->names.arena, row, asked));
    }
    json_put_string(trail->last, "change", audit_change_text(trail->names.arena, details));
}

static json_t *new_entry(const struct event_row *row, const json_t *data, const char *dag_id)
{
    json_t *entry = json_build_object();
    CLEANUP(json_decrefp) json_t *details = json_copy((json_t *)(uintptr_t)data);
    CHECK(details != NULL);
    json_put_instant(entry, "at", row->at_us);
    json_put_string(entry, "actor", row->actor);
    json_put_string(entry, "action", event_kind_name(row->kind));
    json_put_string(entry, "dag_id", dag_id);
    if (row->run != 0)
        json_put_id(entry, "number", row->run);
    /* What a scheduler could not do has its reason in itself. */
    json_put_string(entry, "reason",
                    json_get_string(data, "reason", json_get_string(data, "why", NULL)));
    (void)json_object_del(details, "reason");
    if (row->kind == EVENT_TASK_MARKED) {
        json_t *was = json_build_object();
        json_put_string(was, "state", task_state_name((enum task_state)row->old_state));
        json_put_string(details, "state", task_state_name((enum task_state)row->new_state));
        json_put(details, "was", was);
    }
    json_put(entry, "details", TAKE(details));
    json_put(entry, "objects", json_build_array());
    return entry;
}

static enum status add_row(void *context, const struct event_row *row, bool *out_enough,
                           struct err *err)
{
    struct trail *trail = context;
    CLEANUP(json_decrefp) json_t *data = event_json_data(row);
    const char *task_id = NULL;
    const char *dag_id = NULL;
    if (event_json_task_id(trail->names.store, row, &task_id, err) != STATUS_OK ||
        event_json_dag_id(&trail->names, row, data, &dag_id, err) != STATUS_OK)
        return err->code;
    bool is_seen = false;
    if (event_json_is_seen(&trail->names, row, &is_seen, err) != STATUS_OK)
        return err->code;
    if (!is_seen)
        return STATUS_OK;
    if (trail->dag_id != NULL && (dag_id == NULL || !str_equal(dag_id, trail->dag_id)))
        return STATUS_OK;
    bool is_new = !is_same_change(trail, row);
    *out_enough = is_new && trail->count == trail->limit;
    if (*out_enough)
        return STATUS_OK;
    if (is_new && trail->is_counting)
        (void)json_array_clear(trail->entries);
    if (is_new) {
        trail->count++;
        trail->last = new_entry(row, data, dag_id);
        trail->last_at_us = row->at_us;
        trail->last_kind = row->kind;
        trail->last_run = row->run;
        json_build_append(trail->entries, trail->last);
    }
    if (!trail->is_counting) {
        add_to_entry(trail, audit_object_text(trail->names.arena, row, data, dag_id, task_id), row);
        add_asked(trail, row, data);
    }
    return STATUS_OK;
}

/* --- the request ----------------------------------------------------------------------------- */

static enum status read_filter(const json_t *request, struct audit_filter *out, struct err *err)
{
    const char *from = json_get_string(request, "from", NULL);
    const char *to = json_get_string(request, "to", NULL);
    *out = (struct audit_filter){
        .actor = json_get_string(request, "actor", NULL),
        .with_machines = json_get_bool(request, "all", false),
        .dag_id = json_get_string(request, "dag", NULL),
    };
    /* The schema has looked at them. */
    if (from != NULL)
        CHECK(instant_parse(from, &out->from_us));
    if (to != NULL)
        CHECK(instant_parse(to, &out->to_us));
    CHECK(str_parse_i64(json_get_string(request, "before", "0"), 0, INT64_MAX, &out->before));
    if (from != NULL && to != NULL && out->from_us > out->to_us)
        return err_set(err, STATUS_INVALID,
                       "the time asked for ends before it begins: from %.40s "
                       "to %.40s",
                       from, to);
    return STATUS_OK;
}

/* A run that was deleted is known by its number alone. */
static enum status find_run(struct service *service, struct arena *arena, const json_t *request,
                            int64_t *out, struct err *err)
{
    struct found_run run;
    const char *name = json_get_string(request, "run", NULL);
    if (name == NULL || str_parse_i64(name, 1, INT64_MAX, out))
        return STATUS_OK;
    if (lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK)
        return err->code;
    *out = run.info.id;
    return STATUS_OK;
}

struct audit_question {
    struct arena *arena;
    struct audit_filter filter;
    const char *dag_id;
};

static enum status count_entries(struct store *store, const void *filter, int64_t most,
                                 int64_t *out, struct err *err)
{
    const struct audit_question *question = filter;
    CLEANUP(json_decrefp) json_t *entries = json_build_array();
    struct audit_filter all = question->filter;
    struct trail trail = {
        .names = {store, question->arena},
        .dag_id = question->dag_id,
        .limit = most,
        .is_counting = true,
        .entries = entries,
    };
    all.before = 0;
    if (store_audit_each(store, &all, add_row, &trail, err) != STATUS_OK)
        return err->code;
    *out = trail.count;
    return STATUS_OK;
}

enum status op_audit_list(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *entries = json_build_array();
    struct trail trail = {
        .names.arena = arena,
        .dag_id = json_get_string(request, "dag", NULL),
        .limit = json_get_int(request, "limit", LIST_DEFAULT),
        .entries = entries,
    };
    struct audit_filter filter;
    if (trail.limit < 1 || trail.limit > LIST_MAX)
        return err_set(err, STATUS_INVALID, "limit is a number from 1 to %d", LIST_MAX);
    if (read_filter(request, &filter, err) != STATUS_OK ||
        service_store_if_any(service, &trail.names.store, err) != STATUS_OK ||
        (trail.names.store != NULL &&
         find_run(service, arena, request, &filter.run, err) != STATUS_OK) ||
        (trail.names.store != NULL &&
         store_audit_each(trail.names.store, &filter, add_row, &trail, err) != STATUS_OK))
        return err->code;
    const struct audit_question question = {arena, filter, trail.dag_id};
    const struct listing_page page = {
        .request = request,
        .name = "entries",
        .store = trail.names.store,
        .limit = trail.limit,
        .is_later = filter.before > 0,
        .count = count_entries,
        .filter = &question,
    };
    return listing_answer(&page, TAKE(entries), out, err);
}
