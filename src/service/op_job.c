/*
 * Plain jobs: put them in a queue, look at them, change them.
 */
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "blob/blob.h"
#include "model/duration.h"
#include "service/job_request.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "store/job.h"
#include "store/overview.h"

enum { LIST_DEFAULT = 100, ENQUEUE_MAX = 10000 };

/* --- a job as JSON --------------------------------------------------------------------------- */

static void put_attempt(json_t *object, const struct service *service, const struct job_info *job)
{
    bool is_signal = job->reason == REASON_SIGNAL;
    json_put_string(object, "reason", job->reason == REASON_NONE ? NULL : reason_name(job->reason));
    json_put_string(object, "message", job->detail);
    if (job->exit_code >= 0)
        json_put_int(object, is_signal ? "signal" : "exit_code", job->exit_code);
    json_put_instant(object, "start_date", job->started_at_us);
    json_put_instant(object, "end_date", job->ended_at_us);
    run_json_put_duration(object, "duration", job->started_at_us,
                          task_state_is_final(job->state) ? job->ended_at_us
                                                          : service_now_us(service));
}

static void put_policy(json_t *object, const struct job_info *job)
{
    json_put_int(object, "retries", job->retries);
    json_put(object, "retry_delay",
             job->retry_delay_ms < 0 ? json_null()
                                     : json_real((double)job->retry_delay_ms / 1000.0));
    json_put(object, "timeout",
             job->timeout_ms == 0 ? json_null() : json_real((double)job->timeout_ms / 1000.0));
    json_put_string(object, "on_lost_lease", job->finish_on_lost_lease ? "finish" : "stop");
}

static json_t *job_json(const struct service *service, const struct job_info *job)
{
    json_t *object = json_build_object();
    json_put_id(object, "id", job->id);
    json_put_string(object, "status", job_status_name(job->state));
    json_put_string(object, "queue", job->queue);
    json_put_string(object, "handler", job->handler);
    json_put_int(object, "priority", job->priority);
    json_build_put_parsed(object, "payload", job->payload);
    json_put_string(object, "claimed_by", NULL);
    json_put_int(object, "attempts", job->attempt);
    json_put_int(object, "retry_count", job->failures);
    json_put_instant(object, "created_at", job->created_at_us);
    json_put_instant(object, "run_after",
                     job->run_after_us != 0 ? job->run_after_us : job->created_at_us);
    json_put_instant(object, "last_update", job->updated_at_us);
    json_build_put_parsed(object, "result", job->result);
    json_put_string(object, "error", job->error);
    json_put_string(object, "dedupe", job->dedupe);
    json_put_string(object, "namespace", job->namespace_);
    json_put_string(object, "actor", job->actor);
    json_put_bool(object, "cancel_asked", job->cancel_asked);
    json_put_bool(object, "dead", job->is_dead);
    put_attempt(object, service, job);
    put_policy(object, job);
    return object;
}

/* Who has it, by name; a host that the store has forgotten by its number. */
static enum status put_owner(struct store *store, struct arena *arena, int64_t host, json_t *object,
                             struct err *err)
{
    struct host_info info;
    struct err problem = {0};
    if (host == 0)
        return STATUS_OK;
    enum status status = store_host_load(store, arena, host, &info, &problem);
    if (status == STATUS_OK)
        json_put_string(object, "claimed_by", info.name);
    else if (status == STATUS_NOT_FOUND)
        json_put_id(object, "claimed_by", host);
    else
        *err = problem;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status answer_job(struct service *service, struct store *store, int64_t id,
                              json_t **out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct job_info job;
    if (store_job_load(store, arena, id, &job, err) != STATUS_OK)
        return err->code;
    object = job_json(service, &job);
    if (put_owner(store, arena, job.host, object, err) != STATUS_OK)
        return err->code;
    *out = TAKE(object);
    return STATUS_OK;
}

static int64_t id_of(const json_t *request)
{
    int64_t id = 0;
    /* The table has checked that it is a number. */
    (void)!str_parse_i64(json_get_string(request, "job", ""), 0, INT64_MAX, &id);
    return id;
}

/* --- job.enqueue ----------------------------------------------------------------------------- */

static enum status read_jobs(const json_t *request, struct arena *arena, struct job_request *out,
                             const char *actor, struct err *err)
{
    const char *queue = json_get_string(request, "queue", NULL);
    size_t i;
    json_t *job;
    json_array_foreach(json_object_get(request, "jobs"), i, job)
    {
        int64_t line = json_get_int(job, "line", 0);
        if (job_request_read(job, queue, arena, &out[i], err) != STATUS_OK)
            return line > 0 ? err_wrap(err, "line %lld", (long long)line)
                            : err_wrap(err, "job %zu", i + 1);
        out[i].actor = actor;
    }
    return STATUS_OK;
}

/* Which queue is not there, and what else could have been meant. */
static enum status say_queue(struct store *store, const struct job_request *requests, size_t count,
                             struct err *err)
{
    struct err problem = {0};
    for (size_t i = 0; i < count; i++)
        if (lookup_queue(store, requests[i].queue, &problem) == STATUS_NOT_FOUND)
            *err = problem;
    return err->code;
}

enum status op_job_enqueue(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    size_t count = json_array_size(json_object_get(request, "jobs"));
    struct store *store = NULL;
    bool warning = false;
    if (count == 0 || count > ENQUEUE_MAX)
        return err_set(err, STATUS_INVALID, "'jobs' must have 1 to %d members", ENQUEUE_MAX);
    struct job_request *requests = arena_array(arena, count, sizeof *requests);
    struct job_created *created = arena_array(arena, count, sizeof *created);
    if (read_jobs(request, arena, requests, service->actor, err) != STATUS_OK ||
        service_store_new(service, &store, err) != STATUS_OK)
        return err->code;
    if (store_jobs_enqueue(store, requests, count, created, &warning, err) != STATUS_OK)
        return err->code == STATUS_NOT_FOUND ? say_queue(store, requests, count, err) : err->code;
    service_wake(service);
    json_t *jobs = json_build_array();
    for (size_t i = 0; i < count; i++) {
        json_t *job = json_build_object();
        json_put_id(job, "id", created[i].id);
        json_put_bool(job, "existed", created[i].existed);
        json_build_append(jobs, job);
    }
    *out = json_build_list("jobs", jobs);
    json_put_bool(*out, "crowded", warning);
    return STATUS_OK;
}

/* --- job.list, job.show ---------------------------------------------------------------------- */

static const char *status_at(const void *context, size_t i)
{
    (void)context;
    return job_status_at(i);
}

static enum status read_filter(const json_t *request, struct job_filter *out, struct err *err)
{
    const char *before = json_get_string(request, "before", NULL);
    int64_t last = 0;
    *out = (struct job_filter){
        .queue = json_get_string(request, "queue", NULL),
        .status = json_get_string(request, "status", NULL),
        .limit = json_get_int(request, "limit", LIST_DEFAULT),
    };
    if (before != NULL && !str_parse_i64(before, 1, INT64_MAX, &out->before))
        return err_set(err, STATUS_INVALID, "'before' must be the id of a job");
    if (listing_read_cursor(request, &last, err) != STATUS_OK)
        return err->code;
    if (last != 0 && (out->before == 0 || last < out->before))
        out->before = last;
    if (out->limit < 0)
        return err_set(err, STATUS_INVALID, "'limit' must not be negative");
    if (out->status == NULL || job_status_is_known(out->status))
        return STATUS_OK;
    size_t count = 0;
    while (job_status_at(count) != NULL)
        count++;
    const char *near = str_nearest(out->status, count, status_at, NULL);
    return err_set(err, STATUS_INVALID, "no job is ever '%.60s'%s%s%s", out->status,
                   near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : "");
}

struct job_listing {
    const struct service *service;
    struct store *store;
    struct arena *arena;
    json_t *jobs;
    int64_t limit;
    int64_t last; /* that is on the page */
    bool has_more;
};

static enum status list_job(void *context, const struct job_info *job, struct err *err)
{
    struct job_listing *listing = context;
    listing->has_more = (int64_t)json_array_size(listing->jobs) == listing->limit;
    if (listing->has_more)
        return STATUS_OK;
    listing->last = job->id;
    json_t *object = job_json(listing->service, job);
    json_build_append(listing->jobs, object);
    return put_owner(listing->store, listing->arena, job->host, object, err);
}

static enum status count_jobs(struct store *store, const void *filter, int64_t most, int64_t *out,
                              struct err *err)
{
    return store_job_count(store, filter, most, out, err);
}

static enum status read_jobs_page(struct job_listing *listing, const struct job_filter *filter,
                                  struct err *err)
{
    struct job_filter page = *filter;
    listing->limit = page.limit;
    page.limit = listing_ask(page.limit);
    if (listing->store == NULL)
        return STATUS_OK;
    if (lookup_queue(listing->store, page.queue, err) != STATUS_OK)
        return err->code;
    return store_job_each(listing->store, &page, list_job, listing, err);
}

enum status op_job_list(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *jobs = json_build_array();
    struct job_listing listing = {.service = service, .arena = arena, .jobs = jobs};
    struct job_filter filter;
    if (read_filter(request, &filter, err) != STATUS_OK ||
        service_store_if_any(service, &listing.store, err) != STATUS_OK ||
        read_jobs_page(&listing, &filter, err) != STATUS_OK)
        return err->code;
    const struct listing_page page = {
        .request = request,
        .name = "jobs",
        .store = listing.store,
        .limit = filter.limit,
        .is_later = filter.before > 0,
        .count = count_jobs,
        .filter = &filter,
    };
    if (listing_answer(&page, TAKE(jobs), out, err) != STATUS_OK)
        return err->code;
    listing_put_cursor(*out, listing.has_more, listing.last);
    return STATUS_OK;
}

enum status op_job_show(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    struct store *store = NULL;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK)
        return err->code;
    return answer_job(service, store, id_of(request), out, err);
}

/* --- changes --------------------------------------------------------------------------------- */

typedef enum status (*change_fn)(struct store *store, int64_t id, const char *actor,
                                 struct err *err);

static enum status change_job(struct service *service, const json_t *request, change_fn change,
                              json_t **out, struct err *err)
{
    struct store *store = NULL;
    int64_t id = id_of(request);
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        change(store, id, service->actor, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return answer_job(service, store, id, out, err);
}

enum status op_job_cancel(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    return change_job(service, request, store_job_cancel, out, err);
}

enum status op_job_retry(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    return change_job(service, request, store_job_retry, out, err);
}

enum status op_job_reschedule(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    const char *delay = json_get_string(request, "delay", NULL);
    const char *at = json_get_string(request, "run_after", NULL);
    struct store *store = NULL;
    int64_t at_us = 0;
    int64_t delay_ms = 0;
    if ((delay == NULL) == (at == NULL))
        return err_set(err, STATUS_INVALID, "give either a delay or a time");
    if (delay != NULL && !duration_parse(delay, &delay_ms))
        return err_set(err, STATUS_INVALID, "'%.60s' is no duration; write 30s, 5m, 2h", delay);
    if (at != NULL && !instant_parse(at, &at_us))
        return err_set(err, STATUS_INVALID,
                       "'%.60s' is no date and time; write 2026-01-15T02:00:00Z", at);
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK)
        return err->code;
    if (delay != NULL)
        at_us = store_now_us(store) + delay_ms * 1000;
    if (store_job_reschedule(store, id_of(request), at_us, service->actor, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return answer_job(service, store, id_of(request), out, err);
}

/* --- job.purge ------------------------------------------------------------------------------- */

/* Logs go with their jobs; they lie under run 0. */
static void drop_logs(void *context, int64_t job)
{
    const int64_t ids[] = {0, job};
    struct err ignored = {0};
    if (context != NULL)
        (void)!blob_delete_all(context, ids, ARRAY_LEN(ids), &ignored);
}

enum status op_job_purge(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    const char *older = json_get_string(request, "older", NULL);
    struct store *store = NULL;
    struct blob *blob = NULL;
    int64_t older_ms = 0;
    int64_t count = 0;
    struct job_purge purge = {
        .dry_run = json_get_bool(request, "dry_run", false),
        .actor = service->actor,
        .each = drop_logs,
    };
    if (read_filter(request, &purge.filter, err) != STATUS_OK)
        return err->code;
    if (json_object_get(request, "limit") == NULL)
        purge.filter.limit = INT64_MAX;
    if (older != NULL && !duration_parse(older, &older_ms))
        return err_set(err, STATUS_INVALID, "'%.60s' is no duration; write 12h, 7d", older);
    if (service_store(service, purge.dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) !=
            STATUS_OK ||
        lookup_queue(store, purge.filter.queue, err) != STATUS_OK ||
        service_blob_if_any(service, &blob, err) != STATUS_OK)
        return err->code;
    purge.context = blob;
    purge.ended_before_us = store_now_us(store) - older_ms * 1000 + 1;
    if (store_job_purge(store, &purge, &count, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_int(*out, "purged", count);
    json_put_bool(*out, "dry_run", purge.dry_run);
    return STATUS_OK;
}
