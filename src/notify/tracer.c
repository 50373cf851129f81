#include "notify/tracer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "notify/otlp.h"
#include "os/file.h"
#include "os/http_client.h"
#include "os/knock.h"
#include "os/thread.h"
#include "store/run_trace.h"

enum {
    WAITING_MAX = 4096,
    BATCH_MAX = 256,
    GATHER_MS = 1000, /* so long spans gather */
    TRIES_MAX = 3,
    RETRY_MS = 1000,
    REQUEST_MS = 10000,
    LAST_REQUEST_MS = 2000, /* when the process ends */
    ANSWER_MAX = 4096,
    HEADERS_MAX = 16,
};

struct tracer {
    struct tracer_options options;
    struct span_sink sink;
    int knock_fd;
    struct thread *thread;
    pthread_mutex_t lock;
    /* With the lock. */
    struct span *waiting[WAITING_MAX];
    size_t first;
    size_t count;
    bool is_over;
    /* Of the thread. */
    struct spare *spare;
    char *store_uuid;
    char *url;
    char *header_texts;
    struct http_header headers[HEADERS_MAX + 1];
    size_t headers_count;
    bool is_complaining;
};

/* --- from the stores ------------------------------------------------------------------------- */

static void take_span(void *context, struct span *taken)
{
    struct tracer *self = context;
    CHECK(pthread_mutex_lock(&self->lock) == 0);
    bool has_room = self->count < WAITING_MAX && !self->is_over;
    if (has_room)
        self->waiting[(self->first + self->count++) % WAITING_MAX] = taken;
    bool is_batch = self->count == BATCH_MAX;
    CHECK(pthread_mutex_unlock(&self->lock) == 0);
    if (is_batch && self->knock_fd >= 0)
        knock_send(self->knock_fd);
    if (has_room)
        return;
    meters_count(self->options.meters, METRIC_SPANS_DROPPED, 1);
    span_free(taken);
}

static size_t take_batch(struct tracer *self, struct span **out, bool *out_is_over)
{
    CHECK(pthread_mutex_lock(&self->lock) == 0);
    size_t count = MIN(self->count, (size_t)BATCH_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = self->waiting[(self->first + i) % WAITING_MAX];
    self->first = (self->first + count) % WAITING_MAX;
    self->count -= count;
    *out_is_over = self->is_over;
    CHECK(pthread_mutex_unlock(&self->lock) == 0);
    return count;
}

/* --- sending --------------------------------------------------------------------------------- */

/* Without the store a trace is still one, only not part of its caller's. */
static void make_ids(struct tracer *self, struct span *const *spans, struct span_ids *ids,
                     size_t count)
{
    struct store *store = NULL;
    struct err ignored = {0};
    bool has_store = spare_take(self->spare, &store, &ignored) == STATUS_OK;
    char above[TRACEPARENT_MAX] = "";
    for (size_t i = 0; i < count; i++) {
        bool is_same = i > 0 && spans[i]->run == spans[i - 1]->run;
        if (!is_same &&
            (!has_store || store_run_trace(store, spans[i]->run, above, &ignored) != STATUS_OK))
            above[0] = '\0';
        span_ids_make(self->store_uuid, spans[i], above[0] != '\0' ? above : NULL, &ids[i]);
    }
    if (has_store)
        spare_give(self->spare);
}

/* True: there is no sense in trying again. */
static bool send_once(struct tracer *self, const char *body, bool is_last, bool *out_taken)
{
    struct http_answer answer = {0};
    struct err err = {0};
    const struct http_request request = {
        .method = "POST",
        .url = self->url,
        .headers = self->headers,
        .headers_count = self->headers_count,
        .body = body,
        .body_length = strlen(body),
        .way = {.timeout_ms = is_last ? LAST_REQUEST_MS : REQUEST_MS},
        .answer_max = ANSWER_MAX,
    };
    enum status status = http_perform(&request, &answer, &err);
    *out_taken = status == STATUS_OK && answer.status >= 200 && answer.status < 300;
    if (!*out_taken && !self->is_complaining)
        log_warn("a collector does not take traces",
                 LOG_STR("error", status != STATUS_OK ? err.text : "it refused them"),
                 LOG_INT("status", answer.status));
    self->is_complaining = !*out_taken;
    bool is_final = status == STATUS_OK ? !http_status_is_retryable(answer.status)
                                        : status == STATUS_INVALID || status == STATUS_DENIED;
    http_answer_fini(&answer);
    return *out_taken || is_final;
}

static bool is_ending(struct tracer *self)
{
    CHECK(pthread_mutex_lock(&self->lock) == 0);
    bool is_over = self->is_over;
    CHECK(pthread_mutex_unlock(&self->lock) == 0);
    return is_over;
}

static void send_batch(struct tracer *self, struct span **spans, size_t count)
{
    CLEANUP(mem_freep) struct span_ids *ids = mem_zalloc(count, sizeof *ids);
    bool is_taken = false;
    make_ids(self, spans, ids, count);
    CLEANUP(json_decrefp) json_t *request = otlp_request(self->options.host, spans, ids, count);
    CLEANUP(mem_freep) char *body = json_format(request);
    for (int tries = 1;; tries++) {
        bool is_last = is_ending(self);
        if (send_once(self, body, is_last, &is_taken) || is_last || tries == TRIES_MAX)
            break;
        knock_wait(self->knock_fd, RETRY_MS);
    }
    meters_count(self->options.meters, is_taken ? METRIC_SPANS_SENT : METRIC_SPANS_DROPPED,
                 (int64_t)count);
    for (size_t i = 0; i < count; i++)
        span_free(spans[i]);
}

static void body(void *context)
{
    struct tracer *self = context;
    CLEANUP(mem_freep) struct span **batch = mem_zalloc(BATCH_MAX, sizeof(struct span *));
    for (bool is_over = false; !is_over;) {
        knock_wait(self->knock_fd, GATHER_MS);
        knock_clear(self->knock_fd);
        for (size_t count; (count = take_batch(self, batch, &is_over)) > 0;)
            send_batch(self, batch, count);
    }
}

/* --- start and end --------------------------------------------------------------------------- */

struct tracer *tracer_new(const struct tracer_options *options)
{
    struct tracer *self = mem_zalloc(1, sizeof *self);
    self->options = *options;
    self->sink = (struct span_sink){self, take_span};
    self->knock_fd = -1;
    CHECK(pthread_mutex_init(&self->lock, NULL) == 0);
    return self;
}

const struct span_sink *tracer_sink(const struct tracer *tracer)
{
    return &tracer->sink;
}

/* As in the variables of OpenTelemetry, the path may be left to us. */
static enum status read_endpoint(struct tracer *self, struct err *err)
{
    const char *endpoint = self->options.endpoint;
    const char *host = strstr(endpoint, "://");
    if (host == NULL ||
        !(str_starts_with(endpoint, "http://") || str_starts_with(endpoint, "https://")))
        return err_set(err, STATUS_INVALID, "otlp_endpoint: '%.200s' is no http:// or https:// URL",
                       endpoint);
    const char *path = strchr(host + 3, '/');
    bool has_path = path != NULL && path[1] != '\0';
    self->url = mem_format("%s%s", endpoint,
                           has_path       ? ""
                           : path != NULL ? "v1/traces"
                                          : "/v1/traces");
    return STATUS_OK;
}

static enum status read_headers(struct tracer *self, struct err *err)
{
    self->headers[self->headers_count++] = (struct http_header){"Content-Type", "application/json"};
    self->header_texts = mem_strdup(self->options.headers);
    char *rest = self->header_texts;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(word, '=');
        word += strspn(word, " ");
        if (word[0] == '\0')
            continue;
        if (value == NULL || value == word || self->headers_count > HEADERS_MAX)
            return err_set(err, STATUS_INVALID,
                           "otlp_headers: not name=value, or more than %d of them", HEADERS_MAX);
        *value = '\0';
        self->headers[self->headers_count++] = (struct http_header){word, value + 1};
    }
    return STATUS_OK;
}

enum status tracer_start(struct tracer *tracer, struct spare *spare, const char *store_uuid,
                         struct err *err)
{
    tracer->spare = spare;
    tracer->store_uuid = mem_strdup(store_uuid);
    if (read_endpoint(tracer, err) != STATUS_OK || read_headers(tracer, err) != STATUS_OK ||
        knock_open(&tracer->knock_fd, err) != STATUS_OK)
        return err->code;
    return thread_start("tracer", body, tracer, &tracer->thread, err);
}

void tracer_stop(struct tracer *tracer)
{
    if (tracer == NULL)
        return;
    CHECK(pthread_mutex_lock(&tracer->lock) == 0);
    tracer->is_over = true;
    CHECK(pthread_mutex_unlock(&tracer->lock) == 0);
    if (tracer->thread == NULL)
        return;
    knock_send(tracer->knock_fd);
    thread_join(TAKE(tracer->thread));
}

void tracer_free(struct tracer *tracer)
{
    if (tracer == NULL)
        return;
    for (size_t i = 0; i < tracer->count; i++)
        span_free(tracer->waiting[(tracer->first + i) % WAITING_MAX]);
    file_closep(&tracer->knock_fd);
    CHECK(pthread_mutex_destroy(&tracer->lock) == 0);
    free(tracer->store_uuid);
    free(tracer->url);
    free(tracer->header_texts);
    free(tracer);
}
