/*
 * event.list: what happens, as it happens.
 */
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "service/event_filter.h"
#include "service/event_json.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/service.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 10000 };

struct telling {
    struct event_names names;
    struct event_filter filter;
    int64_t most; /* of the newest, when more are looked at */
    bool has_cursors;
    json_t *events;
    char kinds[EVENT_KIND_COUNT + 1]; /* as the store wants them */
};

static enum status add_event(void *context, const struct event_row *row, struct err *err)
{
    struct telling *telling = context;
    json_t *event = NULL;
    /* A newer program may tell of what this one does not know. */
    if (row->kind >= EVENT_KIND_COUNT)
        return STATUS_OK;
    bool is_seen = false;
    if (event_json_is_seen(&telling->names, row, &is_seen, err) != STATUS_OK)
        return err->code;
    if (!is_seen)
        return STATUS_OK;
    if (event_json(&telling->names, row, &event, err) != STATUS_OK)
        return err->code;
    struct event_facts facts = event_facts_of(event);
    if (!event_filter_passes(&telling->filter, &facts)) {
        json_decref(event);
        return STATUS_OK;
    }
    if (telling->has_cursors) {
        char text[EVENT_CURSOR_TEXT_MAX];
        json_put_string(event, "cursor", event_cursor_format(row->after, text));
    }
    json_build_append(telling->events, event);
    if ((int64_t)json_array_size(telling->events) > telling->most)
        (void)json_array_remove(telling->events, 0);
    return STATUS_OK;
}

/* A run that is over has nothing more to tell, unless somebody changes it. */
static enum status find_run(struct service *service, struct arena *arena, const json_t *request,
                            int64_t *out, bool *out_over, struct err *err)
{
    struct found_run run;
    const char *name = json_get_string(request, "run", NULL);
    *out = 0;
    *out_over = false;
    if (name == NULL)
        return STATUS_OK;
    if (lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK)
        return err->code;
    *out = run.info.id;
    *out_over = run_state_is_final(run.info.state);
    return STATUS_OK;
}

static enum status read_cursor(const json_t *request, const char *member, struct event_cursor *out,
                               struct err *err)
{
    const char *text = json_get_string(request, member, NULL);
    if (text != NULL && !event_cursor_parse(text, out))
        return err_set(err, STATUS_INVALID, "'%.60s' is no cursor: give one that an answer had",
                       text);
    return STATUS_OK;
}

static enum status read_page(const json_t *request, struct event_page *page,
                             struct event_cursor *cursor, struct err *err)
{
    page->dag_id = json_get_string(request, "dag", NULL);
    page->limit = json_get_int(request, "limit", LIST_DEFAULT);
    if (page->limit < 1 || page->limit > LIST_MAX)
        return err_set(err, STATUS_INVALID, "limit is a number from 1 to %d", LIST_MAX);
    return read_cursor(request, "cursor", cursor, err);
}

/* A name that is in JSON what it is. */
static bool is_plain(const char *name)
{
    return name[strspn(
               name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

/* As much of a filter as the store can look at by itself. */
static void tell_store(struct telling *telling, struct event_page *page)
{
    const struct event_filter *filter = &telling->filter;
    for (unsigned kind = 0; kind < EVENT_KIND_COUNT; kind++)
        telling->kinds[kind] = (filter->kinds[kind / 64] >> (kind % 64) & 1) != 0 ? '1' : '0';
    if (filter->has_kinds)
        page->kinds = telling->kinds;
    if (filter->host != NULL && is_plain(filter->host))
        page->word = filter->host;
}

/* What the store cannot pick is picked here: of the newest, more are looked at than are told. */
static enum status read_filter(const struct service *service, const json_t *request,
                               struct telling *telling, struct event_page *page, struct err *err)
{
    struct event_filter *filter = &telling->filter;
    if (event_filter_read(request, filter, err) != STATUS_OK)
        return err->code;
    filter->dag_id = NULL; /* the store does */
    tell_store(telling, page);
    telling->most = page->limit;
    telling->has_cursors = json_get_bool(request, "cursors", false);
    bool is_narrow = filter->has_kinds || filter->task_id != NULL || filter->host != NULL ||
                     !principal_sees_all(service->principal);
    if (is_narrow && json_get_string(request, "cursor", NULL) == NULL)
        page->limit = LIST_MAX;
    return STATUS_OK;
}

enum status op_event_list(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *events = json_build_array();
    struct telling telling = {.names.arena = arena, .events = events};
    struct event_page page = {.each = add_event, .context = &telling};
    struct event_cursor cursor = {0};
    struct event_cursor until = {0};
    char text[EVENT_CURSOR_TEXT_MAX];
    struct event_turn turn = {0};
    bool is_over = false;
    if (read_page(request, &page, &cursor, err) != STATUS_OK ||
        read_cursor(request, "until", &until, err) != STATUS_OK ||
        read_filter(service, request, &telling, &page, err) != STATUS_OK ||
        service_store_if_any(service, &telling.names.store, err) != STATUS_OK ||
        find_run(service, arena, request, &page.run, &is_over, err) != STATUS_OK)
        return err->code;
    page.until = until.is_set ? &until : NULL;
    if (telling.names.store != NULL &&
        store_event_page(telling.names.store, &page, &cursor, &turn, err) != STATUS_OK)
        return err->code;
    /* Of a DAG that is gone there may be events; one that never was is a mistake. */
    bool is_empty =
        json_array_size(events) == 0 && json_get_string(request, "cursor", NULL) == NULL;
    if (is_empty &&
        lookup_dag_name(service, json_get_string(request, "dag", NULL), err) != STATUS_OK)
        return err->code;
    *out = json_build_list("events", TAKE(events));
    json_put_string(*out, "cursor", cursor.is_set ? event_cursor_format(&cursor, text) : NULL);
    json_put_bool(*out, "more", turn.is_more);
    json_put_bool(*out, "live", !is_over);
    if (turn.gap != EVENT_GAP_NONE) {
        json_put_string(*out, "gap", event_gap_name(turn.gap));
        json_put_string(*out, "gap_text", event_gap_words(turn.gap));
    }
    return STATUS_OK;
}
