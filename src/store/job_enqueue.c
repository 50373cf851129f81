/*
 * job_enqueue: jobs come into being, all of a request or none, in one commit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sabotage.h"
#include "base/strmap.h"
#include "model/limits.h"
#include "store/job.h"
#include "store/job_priv.h"
#include "store/lane_priv.h"
#include "store/work.h"

enum { TRIES_MAX = 20 };

static const char DEDUPE_FIND[] =
    "SELECT id, handler, payload FROM job WHERE namespace = $1 AND dedupe = $2";
static const char PENDING[] =
    "SELECT count(*) FROM (SELECT 1 FROM ready r JOIN lane l ON l.id = r.lane"
    " WHERE l.queue = $1 LIMIT $2) waiting";
static const char JOB_EXISTS[] = "SELECT count(*) FROM job WHERE id = $1";

struct enqueue {
    const struct job_request *requests;
    size_t count;
    struct job_created *out;
    bool *out_warning;
    bool keeps_ids;  /* an earlier try may yet be committed: the same ids keep it from two */
    bool is_refused; /* by what was there before; else a conflict means that somebody came first */
};

/* What one transaction knows of queues and keys. */
struct enqueuing {
    struct work work;
    struct strmap *queues; /* name to index of facts */
    struct queue_facts *facts;
    int64_t *waiting; /* of each queue, with what this request adds */
    size_t count;
    struct strmap *keys; /* "namespace key" to index of the request */
    bool is_beyond_soft;
};

static enum status check_request(const struct job_request *request, struct err *err)
{
    const char *payload = request->payload != NULL ? request->payload : "null";
    size_t length = strlen(payload);
    if (request->handler == NULL || *request->handler == '\0')
        return err_set(err, STATUS_INVALID, "a job needs a handler");
    if (length > LIMIT_PAYLOAD_BYTES)
        return err_set(
            err, STATUS_LIMIT,
            "the payload has %zu bytes, more than %d; put the data elsewhere and enqueue "
            "where it is",
            length, LIMIT_PAYLOAD_BYTES);
    CLEANUP(json_decrefp) json_t *parsed = NULL;
    struct err problem = {0};
    if (json_parse(payload, length, &parsed, &problem) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "the payload is not JSON: %s", problem.text);
    return STATUS_OK;
}

static enum status count_waiting(struct store *store, const struct queue_facts *facts, int64_t *out,
                                 struct err *err)
{
    int64_t bound = MAX(facts->soft_pending, facts->hard_pending);
    *out = 0;
    return bound > 0 ? db_get_int(store->db, 0, out, err, PENDING, "ii", facts->id, bound)
                     : STATUS_OK;
}

static enum status queue_of(struct enqueuing *self, const char *name, size_t *out, struct err *err)
{
    int64_t index = 0;
    if (!strmap_find(self->queues, name, &index)) {
        index = (int64_t)self->count;
        if (queue_find(self->work.store, name, &self->facts[index], err) != STATUS_OK ||
            count_waiting(self->work.store, &self->facts[index], &self->waiting[index], err) !=
                STATUS_OK)
            return err->code;
        (void)strmap_add(self->queues, name, index);
        self->count++;
    }
    *out = (size_t)index;
    return STATUS_OK;
}

static enum status make_room(struct enqueuing *self, size_t queue, const char *name,
                             struct err *err)
{
    const struct queue_facts *facts = &self->facts[queue];
    if (facts->hard_pending > 0 && self->waiting[queue] >= facts->hard_pending)
        return err_set(err, STATUS_LIMIT,
                       "queue '%s' takes no more: %lld wait and its bound is %lld; try again later",
                       name, (long long)self->waiting[queue], (long long)facts->hard_pending);
    self->waiting[queue]++;
    self->is_beyond_soft |= facts->soft_pending > 0 && self->waiting[queue] > facts->soft_pending;
    return STATUS_OK;
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static enum status refuse_other(struct enqueue *call, const char *key, struct err *err)
{
    call->is_refused = true;
    return err_set(err, STATUS_CONFLICT,
                   "the dedupe key '%s' belongs to a job with another handler or payload", key);
}

/* A job with the same key is either this one or in its way. */
static enum status look_for_twin(struct enqueuing *self, struct enqueue *call, size_t index,
                                 bool *out_found, struct err *err)
{
    const struct job_request *request = &call->requests[index];
    const char *payload = text_or(request->payload, "null");
    const char *namespace_ = text_or(request->namespace_, "default");
    struct db_stmt *stmt = NULL;
    int64_t earlier = 0;
    *out_found = false;
    if (request->dedupe == NULL)
        return STATUS_OK;
    const char *key = arena_format(self->work.arena, "%s %s", namespace_, request->dedupe);
    if (!strmap_add(self->keys, key, (int64_t)index)) {
        CHECK(strmap_find(self->keys, key, &earlier));
        const struct job_request *twin = &call->requests[earlier];
        if (strcmp(twin->handler, request->handler) != 0 ||
            strcmp(text_or(twin->payload, "null"), payload) != 0)
            return refuse_other(call, request->dedupe, err);
        call->out[index] = (struct job_created){call->out[earlier].id, true};
        *out_found = true;
        return STATUS_OK;
    }
    if (db_query(self->work.db, &stmt, err, DEDUPE_FIND, "tt", namespace_, request->dedupe) !=
            STATUS_OK ||
        db_step(stmt, out_found, err) != STATUS_OK)
        return err->code;
    if (!*out_found)
        return STATUS_OK;
    bool is_same =
        strcmp(db_text(stmt, 1), request->handler) == 0 && strcmp(db_text(stmt, 2), payload) == 0;
    call->out[index] = (struct job_created){db_int(stmt, 0), true};
    db_reset(stmt);
    return is_same ? STATUS_OK : refuse_other(call, request->dedupe, err);
}

static void add_rows(struct enqueuing *self, const struct job_request *request,
                     const struct queue_facts *facts, int64_t id)
{
    struct work *work = &self->work;
    struct job_row *job = arena_alloc(work->arena, sizeof *job);
    *job = (struct job_row){
        .lane = facts->lane,
        .rank = -request->priority,
        .created_at_us = work->now_us,
        .class = job_class_of(request->handler),
    };
    struct task_row *task = work_add(work, &(struct task_row){
                                               .id = id,
                                               .run = RUN_OF_JOBS,
                                               .map_index = -1,
                                               .exit_code = -1,
                                               .cause = -1,
                                               .fresh = true,
                                               .dirty = true,
                                               .job = job,
                                           });
    int64_t due_us =
        request->delay_ms > 0 ? work->now_us + request->delay_ms * 1000 : request->run_after_us;
    if (due_us > work->now_us) {
        task->state = TASK_UP_FOR_RETRY;
        task->due_at_us = due_us;
    } else {
        work_queue(work, task);
    }
    counted_add(&work->store->counted, METRIC_JOBS_ENQUEUED,
                &(struct meter_labels){.first = text_or(request->queue, "default")}, 1);
    db_bulk_add(&work->saver.bulks[SAVER_JOB_NEW], id, text_or(request->namespace_, "default"),
                facts->id, facts->lane, request->handler, text_or(request->payload, "null"),
                request->dedupe, -request->priority, request->retries, request->retry_delay_ms,
                request->timeout_ms, (int64_t)request->finish_on_lost_lease,
                text_or(request->actor, ""), work->now_us);
}

static enum status add_job(struct enqueuing *self, struct enqueue *call, size_t index,
                           struct err *err)
{
    const struct job_request *request = &call->requests[index];
    size_t queue = 0;
    bool found = false;
    if (check_request(request, err) != STATUS_OK ||
        queue_of(self, request->queue, &queue, err) != STATUS_OK ||
        look_for_twin(self, call, index, &found, err) != STATUS_OK)
        return err->code;
    if (found)
        return STATUS_OK;
    if (make_room(self, queue, request->queue, err) != STATUS_OK)
        return err->code;
    const struct job_created *before = &call->out[index];
    int64_t id = call->keeps_ids && !before->existed
                     ? before->id
                     : id_next(&self->work.store->ids, self->work.now_us);
    call->out[index] = (struct job_created){.id = id};
    add_rows(self, request, &self->facts[queue], id);
    return STATUS_OK;
}

static enum status add_all(struct enqueuing *self, struct enqueue *call, struct err *err)
{
    for (size_t i = 0; i < call->count; i++)
        if (add_job(self, call, i, err) != STATUS_OK)
            return call->count == 1 ? err->code : err_wrap(err, "job %zu", i + 1);
    if (work_save(&self->work, err) != STATUS_OK)
        return err->code;
    if (call->out_warning != NULL)
        *call->out_warning = self->is_beyond_soft;
    return STATUS_OK;
}

static enum status enqueue_once(struct store *store, const void *context, struct err *err)
{
    struct enqueue *call = *(struct enqueue *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "enqueue");
    struct enqueuing self = {
        .queues = strmap_new(),
        .keys = strmap_new(),
        .facts = mem_zalloc(call->count, sizeof *self.facts),
        .waiting = mem_zalloc(call->count, sizeof *self.waiting),
    };
    work_init(&self.work, store, NULL);
    enum status status = add_all(&self, call, err);
    work_fini(&self.work);
    strmap_free(self.queues);
    strmap_free(self.keys);
    free(self.facts);
    free(self.waiting);
    if (status == STATUS_OK)
        status = db_commit(db, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "enqueue");
}

/* The id of a new job is ours alone: if it is there, everything is. */
static enum status read_back(struct store *store, const void *context, struct err *err)
{
    const struct enqueue *call = *(struct enqueue *const *)context;
    int64_t found = 0;
    size_t made = 0;
    while (made < call->count && call->out[made].existed)
        made++;
    if (made == call->count)
        return STATUS_OK;
    if (db_get_int(store->db, 0, &found, err, JOB_EXISTS, "i", call->out[made].id) != STATUS_OK)
        return err->code;
    return found > 0 ? STATUS_OK : err_set(err, STATUS_NOT_FOUND, "it is not there");
}

enum status store_jobs_enqueue(struct store *store, const struct job_request *requests,
                               size_t count, struct job_created *out, bool *out_warning,
                               struct err *err)
{
    struct enqueue *call = &(struct enqueue){
        .requests = requests, .count = count, .out = out, .out_warning = out_warning};
    for (int tries = 1;; tries++) {
        enum status status = store_repeat(store, enqueue_once, &call, err);
        /* Producers may have met at a key or, by chance, at an id: the next look tells. */
        bool is_race =
            status == STATUS_CONFLICT && !call->is_refused && db_dialect(store->db) == DB_POSTGRES;
        if (status == STATUS_UNKNOWN || (is_race && call->keeps_ids)) {
            struct err problem = {0};
            call->keeps_ids = !SABOTAGE("unknown_is_failure");
            status = call->keeps_ids ? store_repeat(store, read_back, &call, &problem)
                                     : STATUS_NOT_FOUND;
            is_race = status == STATUS_NOT_FOUND;
            if (status != STATUS_OK && !is_race)
                return err->code; /* as unknown as before */
        }
        if (!is_race || tries == TRIES_MAX)
            return status == STATUS_OK ? STATUS_OK : err->code;
        store_renew_maker(store);
    }
}
