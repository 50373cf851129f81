/*
 * Dead letters: look at them, let them run again, forget them.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/duration.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/dead.h"

enum { LIST_DEFAULT = 100, REQUEUE_PORTION = 1000 };

static json_t *dead_json(const struct dead_info *letter)
{
    json_t *object = json_build_object();
    json_put_id(object, "id", letter->task);
    json_put_string(object, "kind", letter->run == 0 ? "job" : "task");
    json_put_string(object, "name", letter->name);
    json_put_string(object, "queue", letter->queue);
    json_put_instant(object, "died_at", letter->at_us);
    json_put_string(object, "reason", reason_name(letter->reason));
    json_put_int(object, "attempts", letter->attempt);
    json_put_string(object, "message", letter->detail);
    json_build_put_parsed(object, "payload", letter->payload);
    if (letter->run == 0)
        return object;
    json_put_id(object, "run", letter->run);
    json_put_string(object, "task_id", letter->task_id);
    json_put_int(object, "map_index", letter->map_index);
    return object;
}

static enum status read_filter(const struct service *service, const json_t *request, int64_t limit,
                               struct dead_filter *out, struct err *err)
{
    const char *older = json_get_string(request, "older", NULL);
    int64_t older_ms = 0;
    *out = (struct dead_filter){
        .queue = json_get_string(request, "queue", NULL),
        .limit = json_get_int(request, "limit", limit),
    };
    if (out->limit < 0)
        return err_set(err, STATUS_INVALID, "'limit' must not be negative");
    if (older != NULL && !duration_parse(older, &older_ms))
        return err_set(err, STATUS_INVALID, "'%.60s' is no duration; write 12h, 7d", older);
    if (older != NULL)
        out->before_us = service_now_us(service) - older_ms * 1000;
    return STATUS_OK;
}

static enum status list_letter(void *context, const struct dead_info *letter, struct err *err)
{
    (void)err;
    json_build_append(context, dead_json(letter));
    return STATUS_OK;
}

/* Letters come by time, so a cursor has the time of the last one and its id: TIME.ID */
static enum status read_cursor(const json_t *request, struct dead_filter *filter, struct err *err)
{
    const char *text = json_get_string(request, "cursor", NULL);
    const char *dot = text != NULL ? strchr(text, '.') : NULL;
    if (text == NULL)
        return STATUS_OK;
    CLEANUP(mem_freep) char *time = mem_strndup(text, dot != NULL ? (size_t)(dot - text) : 0);
    if (dot == NULL || !str_parse_i64(time, 1, INT64_MAX, &filter->after_us) ||
        !str_parse_i64(dot + 1, 1, INT64_MAX, &filter->after_task))
        return err_set(err, STATUS_INVALID, "'%.60s' is no cursor that an answer gave", text);
    return STATUS_OK;
}

struct letter_page {
    json_t *letters;
    int64_t limit;
    int64_t last_us; /* of the last one that is on the page */
    int64_t last;
    bool has_more;
};

static enum status list_on_page(void *context, const struct dead_info *letter, struct err *err)
{
    struct letter_page *page = context;
    page->has_more = (int64_t)json_array_size(page->letters) == page->limit;
    if (page->has_more)
        return STATUS_OK;
    page->last_us = letter->at_us;
    page->last = letter->task;
    return list_letter(page->letters, letter, err);
}

static enum status read_page(struct store *store, const struct dead_filter *filter,
                             struct letter_page *page, struct err *err)
{
    struct dead_filter asked = *filter;
    asked.limit = listing_ask(filter->limit);
    page->limit = filter->limit;
    if (store == NULL)
        return STATUS_OK;
    if (lookup_queue(store, filter->queue, err) != STATUS_OK)
        return err->code;
    return store_dead_each(store, &asked, list_on_page, page, err);
}

static enum status count_letters(struct store *store, const void *filter, int64_t most,
                                 int64_t *out, struct err *err)
{
    return store_dead_count(store, filter, most, out, err);
}

enum status op_dead_list(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(json_decrefp) json_t *letters = json_build_array();
    struct letter_page listed = {.letters = letters};
    struct dead_filter filter;
    struct store *store = NULL;
    if (read_filter(service, request, LIST_DEFAULT, &filter, err) != STATUS_OK ||
        read_cursor(request, &filter, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK ||
        read_page(store, &filter, &listed, err) != STATUS_OK)
        return err->code;
    const struct listing_page page = {
        .request = request,
        .name = "letters",
        .store = store,
        .limit = filter.limit,
        .is_later = filter.after_us > 0,
        .count = count_letters,
        .filter = &filter,
    };
    if (listing_answer(&page, TAKE(letters), out, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep)
    char *cursor = mem_format("%lld.%lld", (long long)listed.last_us, (long long)listed.last);
    json_put_string(*out, "cursor", listed.has_more ? cursor : NULL);
    return STATUS_OK;
}

static int64_t id_of(const json_t *request)
{
    int64_t id = 0;
    (void)!str_parse_i64(json_get_string(request, "id", ""), 0, INT64_MAX, &id);
    return id;
}

enum status op_dead_show(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dead_info letter;
    struct store *store = NULL;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_dead_load(store, arena, id_of(request), &letter, err) != STATUS_OK)
        return err->code;
    *out = dead_json(&letter);
    return STATUS_OK;
}

/* --- dead.requeue ---------------------------------------------------------------------------- */

static enum status list_one(struct store *store, int64_t id, json_t *letters, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dead_info letter;
    if (store_dead_load(store, arena, id, &letter, err) != STATUS_OK)
        return err->code;
    json_build_append(letters, dead_json(&letter));
    return STATUS_OK;
}

/* One by one: each is a decision of its own, and what was done stays done. */
static enum status requeue_all(struct service *service, struct store *store, const json_t *letters,
                               struct err *err)
{
    size_t i;
    json_t *letter;
    json_array_foreach(letters, i, letter)
    {
        if (store_dead_requeue(store, id_of(letter), service->actor, err) != STATUS_OK)
            return err_wrap(err, "%zu of %zu run again", i, json_array_size(letters));
    }
    return STATUS_OK;
}

enum status op_dead_requeue(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *letters = json_build_array();
    bool all = json_get_bool(request, "all", false);
    bool dry_run = json_get_bool(request, "dry_run", false);
    bool has_id = json_get_string(request, "id", NULL) != NULL;
    struct store *store = NULL;
    struct dead_filter filter;
    if (all == has_id)
        return err_set(err, STATUS_INVALID, "name one dead letter, or say that all are meant");
    if (read_filter(service, request, REQUEUE_PORTION, &filter, err) != STATUS_OK ||
        service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        lookup_queue(store, filter.queue, err) != STATUS_OK)
        return err->code;
    enum status status = all ? store_dead_each(store, &filter, list_letter, letters, err)
                             : list_one(store, id_of(request), letters, err);
    if (status == STATUS_OK && !dry_run)
        status = requeue_all(service, store, letters, err);
    if (!dry_run)
        service_wake(service);
    if (status != STATUS_OK)
        return status;
    *out = json_build_list("letters", TAKE(letters));
    json_put_bool(*out, "dry_run", dry_run);
    return STATUS_OK;
}

/* --- dead.purge ------------------------------------------------------------------------------ */

static enum status count_letter(void *context, const struct dead_info *letter, struct err *err)
{
    (void)letter;
    (void)err;
    (*(int64_t *)context)++;
    return STATUS_OK;
}

enum status op_dead_purge(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    bool dry_run = json_get_bool(request, "dry_run", false);
    struct store *store = NULL;
    struct dead_filter filter;
    int64_t count = 0;
    if (read_filter(service, request, INT64_MAX, &filter, err) != STATUS_OK ||
        service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        lookup_queue(store, filter.queue, err) != STATUS_OK)
        return err->code;
    enum status status = dry_run ? store_dead_each(store, &filter, count_letter, &count, err)
                                 : store_dead_purge(store, &filter, service->actor, &count, err);
    if (status != STATUS_OK)
        return status;
    *out = json_build_object();
    json_put_int(*out, "purged", count);
    json_put_bool(*out, "dry_run", dry_run);
    return STATUS_OK;
}
