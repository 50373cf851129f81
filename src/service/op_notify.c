/*
 * Messages: those on their way and those that arrived, and a message to try a target with.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/strmap.h"
#include "model/settings.h"
#include "model/watch.h"
#include "notify/parcel.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/host.h"
#include "store/notice.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 100000 };

/* --- notify.list ----------------------------------------------------------------------------- */

static void put_subject(json_t *object, const char *text)
{
    struct err ignored = {0};
    CLEANUP(json_decrefp) json_t *document = NULL;
    if (json_parse(text, strlen(text), &document, &ignored) != STATUS_OK)
        return;
    json_put_string(object, "dag_run_id", json_get_string(document, "run_id", NULL));
    json_put_string(object, "task_id", json_get_string(document, "task", NULL));
    json_put_int(object, "map_index", json_get_int(document, "map_index", -1));
}

static json_t *notice_json(const struct notice_info *notice)
{
    json_t *object = json_build_object();
    bool waits = notice->state == NOTICE_PENDING;
    json_put_id(object, "id", notice->id);
    json_put_string(object, "delivery", notice->delivery);
    json_put_string(object, "state", notice_state_name(notice->state));
    json_put_string(object, "event", hook_event_name(notice->kind));
    json_put_string(object, "target", hook_target_name(notice->target));
    json_put_string(object, "dag_id", notice->dag_id);
    json_put_id(object, "number", notice->run);
    put_subject(object, notice->document);
    json_put_instant(object, "happened_at", notice->at_us);
    json_put_instant(object, "next_try", waits ? notice->due_at_us : 0);
    json_put_instant(object, "ended_at", notice->ended_at_us);
    json_put_int(object, "attempts", notice->attempts);
    if (notice->head != 0)
        json_put_id(object, "folded_into", notice->head);
    json_put_string(object, "answer", notice->answer);
    return object;
}

struct notice_listing {
    json_t *notices;
    int64_t limit;
    int64_t last; /* that is on the page */
    bool has_more;
};

static enum status list_notice(void *context, const struct notice_info *notice, struct err *err)
{
    (void)err;
    struct notice_listing *listing = context;
    listing->has_more = (int64_t)json_array_size(listing->notices) == listing->limit;
    if (listing->has_more)
        return STATUS_OK;
    listing->last = notice->id;
    json_build_append(listing->notices, notice_json(notice));
    return STATUS_OK;
}

static const char *state_at(const void *context, size_t i)
{
    (void)context;
    return notice_state_name((enum notice_state)i);
}

static enum status read_filter(const json_t *request, struct notice_filter *out, struct err *err)
{
    const char *name = json_get_string(request, "state", NULL);
    enum notice_state state = NOTICE_PENDING;
    *out = (struct notice_filter){
        .dag_id = json_get_string(request, "dag", NULL),
        .state = -1,
        .limit = json_get_int(request, "limit", LIST_DEFAULT),
    };
    if (out->limit < 1 || out->limit > LIST_MAX)
        return err_set(err, STATUS_INVALID, "'limit' must be from 1 to %d", LIST_MAX);
    if (listing_read_cursor(request, &out->before, err) != STATUS_OK)
        return err->code;
    if (name == NULL)
        return STATUS_OK;
    if (!notice_state_parse(name, &state)) {
        const char *near = str_nearest(name, NOTICE_STATE_COUNT, state_at, NULL);
        return err_set(err, STATUS_INVALID, "no message is ever '%.60s'%s%s%s", name,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
    }
    out->state = (int64_t)state;
    return STATUS_OK;
}

static enum status count_notices(struct store *store, const void *filter, int64_t most,
                                 int64_t *out, struct err *err)
{
    return store_notice_count(store, filter, most, out, err);
}

enum status op_notify_list(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *notices = json_build_array();
    struct notice_listing listing = {.notices = notices};
    struct notice_filter filter;
    struct store *store = NULL;
    if (read_filter(request, &filter, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    struct notice_filter asked = filter;
    listing.limit = filter.limit;
    asked.limit = listing_ask(filter.limit);
    if (store != NULL && store_notice_each(store, &asked, list_notice, &listing, err) != STATUS_OK)
        return err->code;
    if (json_array_size(notices) == 0 && lookup_dag_name(service, filter.dag_id, err) != STATUS_OK)
        return err->code;
    const struct listing_page page = {
        .request = request,
        .name = "notices",
        .store = store,
        .limit = filter.limit,
        .is_later = filter.before > 0,
        .count = count_notices,
        .filter = &filter,
    };
    if (listing_answer(&page, TAKE(notices), out, err) != STATUS_OK)
        return err->code;
    listing_put_cursor(*out, listing.has_more, listing.last);
    return STATUS_OK;
}

/* --- notify.retry ---------------------------------------------------------------------------- */

struct sender_search {
    const struct service *service;
    bool has_any;
};

static enum status look_for_sender(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct sender_search *search = context;
    search->has_any |= str_equal(host->kind, "daemon") &&
                       strstr(host->roles, "scheduler") != NULL &&
                       service_host_lives(search->service, host);
    return STATUS_OK;
}

enum status op_notify_retry(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *notices = json_build_array();
    struct store *store = NULL;
    int64_t id = 0;
    if (!str_parse_i64(json_get_string(request, "id", ""), 1, INT64_MAX, &id))
        return err_set(err, STATUS_INVALID, "'id' is the number of a message");
    struct notice_filter filter = {.state = -1, .id = id, .limit = 1};
    struct notice_listing listing = {.notices = notices, .limit = 1};
    struct sender_search search = {.service = service};
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_notice_retry(store, id, service->actor, err) != STATUS_OK ||
        store_notice_each(store, &filter, list_notice, &listing, err) != STATUS_OK ||
        store_host_each(store, false, look_for_sender, &search, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    CHECK(json_array_size(notices) == 1);
    *out = json_incref(json_array_get(notices, 0));
    json_put_bool(*out, "has_sender", search.has_any);
    return STATUS_OK;
}

/* --- notify.test ----------------------------------------------------------------------------- */

struct trial {
    const struct service *service;
    struct vault *vault;
    const char *space;
    enum hook_event kind;
    const char *dag_id;
    const char *task; /* NULL: about the run */
    json_t *results;
    bool is_ok;
    struct strmap *seen;
};

/* A document such as a run would leave. */
static char *describe(const struct trial *trial, enum hook_event kind, int64_t at_us)
{
    static const char *const STATES[] = {
        [HOOK_SUCCESS] = "success", [HOOK_FAILURE] = "failed",   [HOOK_RETRY] = "up_for_retry",
        [HOOK_SKIP] = "skipped",    [HOOK_SLA_MISS] = "running",
    };
    const struct alert_event event = {
        .kind = kind,
        .dag = trial->dag_id,
        .run_id = "test",
        .task = trial->task,
        .map_index = -1,
        .try_number = trial->task != NULL ? 1 : 0,
        .state = STATES[kind],
        .reason = "test",
        .logical_at_us = at_us,
        .happened_at_us = at_us,
        .error = "This is a test: nothing has happened.",
        .note = "sent by eider notify test",
    };
    CLEANUP(json_decrefp) json_t *document = alert_event_write(&event);
    return json_format(document);
}

static void put_result(struct trial *trial, const struct hook *hook, const char *state,
                       const char *answer)
{
    json_t *result = json_build_object();
    json_put_string(result, "dag_id", trial->dag_id);
    json_put_string(result, "task_id", trial->task);
    json_put_string(result, "event", hook_event_name(trial->kind));
    json_put_string(result, "target", hook_target_name(hook->target));
    json_put_string(result, "connection", hook->connection);
    json_put_string(result, "state", state);
    json_put_string(result, "answer", answer);
    json_build_append(trial->results, result);
}

/* Send one message; false: it is not wanted. */
static bool send_one(const struct trial *trial, const struct hook *hook, const char *document,
                     struct deliver_outcome *out)
{
    struct err err = {0};
    struct parcel *parcel = NULL;
    uint64_t number = 0;
    rng_bytes(&number, sizeof number);
    CLEANUP(mem_freep) char *delivery = mem_format("test-%016llx", (unsigned long long)number);
    const struct parcel_request request = {
        .vault = trial->vault,
        .space = trial->space,
        .public_only = settings_number(trial->service->settings, SETTING_HOOKS_PUBLIC_ONLY) != 0,
        .hook = hook,
        .delivery = delivery,
        .at_us = service_now_us(trial->service),
        .documents = &document,
        .count = 1,
        .total = 1,
    };
    *out = (struct deliver_outcome){.verdict = DELIVER_FAILED};
    if (parcel_new(&request, &parcel, &err) != STATUS_OK) {
        (void)snprintf(out->text, sizeof out->text, "%s", err.text);
        return true;
    }
    if (parcel == NULL)
        return false;
    parcel_send(parcel, out);
    parcel_free(parcel);
    return true;
}

/* Nobody is to be woken by a test: the incident is closed as soon as it was opened. */
static void close_incident(const struct trial *trial, const struct hook *hook, int64_t at_us,
                           struct deliver_outcome *outcome)
{
    struct hook closing = *hook;
    struct deliver_outcome end;
    CLEANUP(mem_freep) char *document = describe(trial, HOOK_SUCCESS, at_us);
    CLEANUP(mem_freep) char *opened = mem_strdup(outcome->text);
    closing.condition = NULL;
    (void)send_one(trial, &closing, document, &end);
    bool is_closed = end.verdict == DELIVER_DONE;
    outcome->verdict = end.verdict;
    (void)snprintf(outcome->text, sizeof outcome->text, "%.400s; %s: %.400s", opened,
                   is_closed ? "closed again" : "the incident could not be closed", end.text);
}

static void try_hook(struct trial *trial, const struct hook *hook)
{
    struct deliver_outcome outcome;
    int64_t at_us = service_now_us(trial->service);
    CLEANUP(mem_freep) char *document = describe(trial, trial->kind, at_us);
    if (!send_one(trial, hook, document, &outcome)) {
        put_result(trial, hook, "dropped", "its 'if' is not true for a test");
        return;
    }
    if (outcome.verdict == DELIVER_DONE && hook_is_resolvable(hook))
        close_incident(trial, hook, at_us, &outcome);
    bool is_done = outcome.verdict == DELIVER_DONE;
    trial->is_ok &= is_done;
    put_result(trial, hook, is_done ? "sent" : "failed", outcome.text);
}

/* One hook out of {"on_failure": entry}. */
static enum status try_text(struct trial *trial, const char *text, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *rest = NULL;
    if (json_parse(text, strlen(text), &rest, err) != STATUS_OK)
        return err->code;
    struct hook_list list = hook_list_of(rest, trial->kind, arena);
    for (size_t i = 0; i < list.count; i++)
        try_hook(trial, &list.items[i]);
    return STATUS_OK;
}

/* "slack:data-alerts", or an entry as JSON; NULL: it is neither. A new reference. */
static json_t *entry_of_text(const char *text)
{
    struct err ignored = {0};
    json_t *entry = NULL;
    if (text[0] == '{' && json_parse(text, strlen(text), &entry, &ignored) == STATUS_OK)
        return entry;
    for (enum hook_target target = 0; target < HOOK_TARGET_COUNT; target++) {
        const char *name = hook_target_name(target);
        size_t length = strlen(name);
        if (!str_starts_with(text, name) || text[length] != ':')
            continue;
        entry = json_build_object();
        json_put_string(entry, name, text + length + 1);
        return entry;
    }
    return NULL;
}

static enum status try_target(struct trial *trial, json_t *taken_entry, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rest = json_build_object();
    CLEANUP(mem_freep) char *key = mem_format("on_%s", hook_event_name(trial->kind));
    json_put(rest, key, taken_entry);
    CLEANUP(mem_freep) char *text = json_format(rest);
    trial->dag_id = "test";
    if (hook_list_check(rest, trial->kind, err) != STATUS_OK)
        return err_wrap(err, "the target cannot be read");
    if (try_text(trial, text, err) != STATUS_OK)
        return err->code;
    if (json_array_size(trial->results) == 0)
        return err_set(err, STATUS_INVALID,
                       "the target cannot be read; write slack:NAME, webhook:URL, "
                       "pagerduty:NAME, email:ADDRESS, command:TEXT, or an entry as JSON");
    return STATUS_OK;
}

static enum status try_hooks(struct trial *trial, const struct watch_hooks *hooks, struct err *err)
{
    for (size_t i = 0; i < hooks->count; i++)
        if (strmap_add(trial->seen, hooks->items[i].key, 0) &&
            try_text(trial, hooks->items[i].json, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* Every hook once, wherever it stands. */
static enum status try_dag(struct trial *trial, const struct dag *dag, struct err *err)
{
    const struct dag_watch *watch = dag->watch;
    trial->dag_id = dag->id;
    trial->space = dag->namespace_;
    if (watch != NULL && try_hooks(trial, &watch->run.hooks[trial->kind], err) != STATUS_OK)
        return err->code;
    for (size_t node = 0; watch != NULL && node < dag->tasks_count; node++) {
        trial->task = dag->tasks[node].id;
        if (watch->tasks[node] != NULL &&
            try_hooks(trial, &watch->tasks[node]->hooks[trial->kind], err) != STATUS_OK)
            return err->code;
    }
    if (json_array_size(trial->results) == 0)
        return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no hook on_%s", dag->id,
                       hook_event_name(trial->kind));
    return STATUS_OK;
}

static enum status try_named(struct service *service, struct trial *trial, const json_t *asked,
                             struct err *err)
{
    const char *name = json_get_string(asked, "target", "");
    const char *text = json_get_string(asked, "text", NULL);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    bool is_file =
        strchr(name, '/') != NULL || str_ends_with(name, ".yaml") || str_ends_with(name, ".yml");
    if (is_file && text == NULL && !service_is_local(service))
        return err_set(err, STATUS_DENIED,
                       "'%.100s' leads to a file of the server, which cannot be reached from "
                       "elsewhere; send its `text`",
                       name);
    json_put_string(request, is_file || text != NULL ? "file" : "dag", name);
    if (text != NULL)
        json_put_string(request, "text", text);
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK ||
        lookup_check_author(service, &found, err) != STATUS_OK)
        return err->code;
    return try_dag(trial, found.dag, err);
}

/* Where there is a store, it keeps that somebody did. */
static enum status keep_record(struct service *service, const char *target, struct err *err)
{
    struct store *store = NULL;
    enum status status = service_store(service, DB_READ_WRITE, &store, err);
    if (status == STATUS_NOT_FOUND) {
        *err = (struct err){0};
        return STATUS_OK;
    }
    CLEANUP(json_decrefp) json_t *data = json_build_object();
    /* A URL may hold a secret: only what kind of target it was. */
    CLEANUP(json_decrefp) json_t *entry = entry_of_text(target);
    json_put_string(data, "target",
                    entry != NULL ? json_object_iter_key(json_object_iter(entry)) : target);
    CLEANUP(mem_freep) char *text = json_format(data);
    return status == STATUS_OK ? store_notice_tested(store, service->actor, text, err) : status;
}

enum status op_notify_test(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *results = json_build_array();
    CLEANUP(strmap_freep) struct strmap *seen = strmap_new();
    const char *target = json_get_string(request, "target", "");
    const char *kind = json_get_string(request, "kind", "failure");
    CLEANUP(vault_freep) struct vault *vault = NULL;
    if (service_vault(service, &vault, err) != STATUS_OK)
        return err->code;
    struct trial trial = {
        .service = service,
        .vault = vault,
        .space = VAULT_DEFAULT_SPACE,
        .results = results,
        .is_ok = true,
        .seen = seen,
    };
    if (!hook_event_parse(kind, &trial.kind))
        return err_set(err, STATUS_INVALID,
                       "'%.60s' is none of success, failure, retry, skip, sla_miss", kind);
    json_t *entry = entry_of_text(target);
    enum status status =
        entry != NULL ? try_target(&trial, entry, err) : try_named(service, &trial, request, err);
    vault_free(TAKE(vault)); /* another store may be opened now */
    if (status != STATUS_OK || keep_record(service, target, err) != STATUS_OK)
        return err->code;
    *out = json_build_list("results", TAKE(results));
    json_put_bool(*out, "ok", trial.is_ok);
    return STATUS_OK;
}
