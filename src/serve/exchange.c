#include "serve/exchange.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/guests.h"
#include "serve/problem.h"
#include "serve/upload.h"

enum { STREAM_BLOCK = 16 * 1024, LAST_WORDS_S = 2 };

/* What the library takes for a parameter, and what a line may take with all of its own. */
enum { PARAMETER_BYTES = 64, LINE_BYTES = EXCHANGE_CONNECTION_BYTES - 4 * 1024 };

enum phase { PHASE_READING, PHASE_WORKING, PHASE_ANSWERED, PHASE_SENT };

struct exchange {
    struct crew_job job; /* first: the crew gives it back */
    struct exchange_hall *hall;
    struct MHD_Connection *connection;
    struct arena *arena;
    struct http_request request;
    struct http_response response;
    struct upload upload;
    _Atomic enum phase phase;
    bool is_owed; /* an answer, counted in the hall; of the library's thread */
    /* Of a stream, under the lock: */
    pthread_mutex_t lock;
    bool is_asleep;
    bool is_woken; /* since it was last read */
    bool is_over;
    int fd;
    struct exchange *before, *after; /* in the hall's list of streams */
};

struct exchange_hall {
    struct server_options options;
    struct crew *crew;
    struct guests *guests;
    bool is_secure;
    struct upload_room room;
    pthread_mutex_t lock;
    struct exchange *streams;
    size_t owed; /* answers to what has arrived */
    pthread_cond_t is_even;
    bool is_closed;
};

/* --- streams --------------------------------------------------------------------------------- */

static void wake_stream(void *context)
{
    struct exchange *exchange = context;
    CHECK(pthread_mutex_lock(&exchange->lock) == 0);
    exchange->is_woken = true;
    if (exchange->is_asleep) {
        exchange->is_asleep = false;
        MHD_resume_connection(exchange->connection);
    }
    CHECK(pthread_mutex_unlock(&exchange->lock) == 0);
}

/*
 * What is read is read without the lock: whoever wakes us may hold a lock that reading takes. A
 * wake in between is seen afterwards, so that none is lost.
 */
static ssize_t read_stream(void *context, uint64_t position, char *to, size_t most)
{
    (void)position;
    struct exchange *exchange = context;
    for (;;) {
        CHECK(pthread_mutex_lock(&exchange->lock) == 0);
        bool is_over = exchange->is_over;
        exchange->is_woken = false;
        CHECK(pthread_mutex_unlock(&exchange->lock) == 0);
        const struct http_stream *stream = &exchange->response.stream;
        ssize_t got =
            is_over && !stream->has_last_word ? -1 : stream->read(stream->context, to, most);
        if (got == 0 && is_over)
            got = -1;
        if (got != 0)
            return got < 0 ? MHD_CONTENT_READER_END_OF_STREAM : got;
        CHECK(pthread_mutex_lock(&exchange->lock) == 0);
        exchange->is_asleep = !exchange->is_woken;
        if (exchange->is_asleep)
            MHD_suspend_connection(exchange->connection);
        bool is_asleep = exchange->is_asleep;
        CHECK(pthread_mutex_unlock(&exchange->lock) == 0);
        if (is_asleep)
            return 0;
    }
}

static void list_stream(struct exchange *exchange)
{
    struct exchange_hall *hall = exchange->hall;
    exchange->fd = MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                       ->connect_fd;
    CHECK(pthread_mutex_lock(&hall->lock) == 0);
    exchange->is_over = hall->is_closed;
    exchange->after = hall->streams;
    if (hall->streams != NULL)
        hall->streams->before = exchange;
    hall->streams = exchange;
    CHECK(pthread_mutex_unlock(&hall->lock) == 0);
}

static void unlist_stream(struct exchange *exchange)
{
    struct exchange_hall *hall = exchange->hall;
    CHECK(pthread_mutex_lock(&hall->lock) == 0);
    if (exchange->after != NULL)
        exchange->after->before = exchange->before;
    if (exchange->before != NULL)
        exchange->before->after = exchange->after;
    else
        hall->streams = exchange->after;
    CHECK(pthread_mutex_unlock(&hall->lock) == 0);
}

static struct MHD_Response *begin_stream(struct exchange *exchange)
{
    const struct http_stream *stream = &exchange->response.stream;
    list_stream(exchange);
    stream->attach(stream->context, wake_stream, exchange);
    return MHD_create_response_from_callback(stream->has_length ? stream->length : MHD_SIZE_UNKNOWN,
                                             STREAM_BLOCK, read_stream, exchange, NULL);
}

static void end_stream(struct exchange *exchange)
{
    CHECK(pthread_mutex_lock(&exchange->lock) == 0);
    exchange->is_over = true;
    CHECK(pthread_mutex_unlock(&exchange->lock) == 0);
    wake_stream(exchange);
}

/*
 * The library does not look at connections that sleep, and so does not see when the other side
 * goes. Who has closed its way to us wants nothing more.
 */
static void end_deserted(void *context)
{
    struct exchange_hall *hall = context;
    CHECK(pthread_mutex_lock(&hall->lock) == 0);
    for (struct exchange *at = hall->streams; at != NULL; at = at->after) {
        char byte;
        ssize_t got = recv(at->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            end_stream(at);
    }
    CHECK(pthread_mutex_unlock(&hall->lock) == 0);
}

/* --- answers --------------------------------------------------------------------------------- */

static struct MHD_Response *library_response(struct exchange *exchange)
{
    struct http_response *response = &exchange->response;
    if (response->stream.read != NULL)
        return begin_stream(exchange);
    if (response->lasting.bytes != NULL)
        return MHD_create_response_from_buffer(response->lasting.length,
                                               (void *)(uintptr_t)response->lasting.bytes,
                                               MHD_RESPMEM_PERSISTENT);
    size_t length = response->body.length;
    return MHD_create_response_from_buffer(length, strbuf_take(&response->body),
                                           MHD_RESPMEM_MUST_FREE);
}

static void add_headers(struct MHD_Response *to, const struct exchange *exchange)
{
    /* Of every answer: nothing is guessed, framed, kept or told to others; of a page, only what it
       names in files of this server runs. */
    static const struct http_pair ALWAYS[] = {
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
         "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'"},
    };
    const struct http_response *response = &exchange->response;
    bool is_cached = false;
    for (size_t i = 0; i < ARRAY_LEN(ALWAYS); i++)
        (void)MHD_add_response_header(to, ALWAYS[i].name, ALWAYS[i].value);
    if (exchange->request.is_secure)
        (void)MHD_add_response_header(to, "Strict-Transport-Security", "max-age=31536000");
    for (size_t i = 0; i < response->headers_count; i++) {
        is_cached |= strcasecmp(response->headers[i].name, "Cache-Control") == 0;
        (void)MHD_add_response_header(to, response->headers[i].name, response->headers[i].value);
    }
    if (!is_cached)
        (void)MHD_add_response_header(to, "Cache-Control", "no-store");
    if (response->content_type != NULL)
        (void)MHD_add_response_header(to, "Content-Type", response->content_type);
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
    struct MHD_Response *response = library_response(exchange);
    CHECK(response != NULL);
    add_headers(response, exchange);
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, (unsigned)exchange->response.status, response);
    MHD_destroy_response(response);
    atomic_store(&exchange->phase, PHASE_SENT);
    return result;
}

/* --- requests -------------------------------------------------------------------------------- */

struct gathering {
    struct arena *arena;
    struct http_pairs *pairs;
    bool is_query;
    bool is_bad;
};

static enum MHD_Result count_pair(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    (void)name;
    (void)value;
    (*(size_t *)context)++;
    return MHD_YES;
}

static enum MHD_Result gather_pair(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    (void)kind;
    struct gathering *gathering = context;
    struct http_pair pair = {.name = name, .value = value != NULL ? value : ""};
    if (gathering->is_query) {
        pair.name = url_decode_query(gathering->arena, pair.name);
        pair.value = url_decode_query(gathering->arena, pair.value);
    }
    gathering->is_bad |= pair.name == NULL || pair.value == NULL;
    gathering->pairs->items[gathering->pairs->count++] = pair;
    return MHD_YES;
}

/* False: a query with escapes that are none. */
static bool gather(struct exchange *exchange, enum MHD_ValueKind kind, struct http_pairs *out)
{
    struct gathering gathering = {
        .arena = exchange->arena, .pairs = out, .is_query = kind == MHD_GET_ARGUMENT_KIND};
    size_t count = 0;
    (void)MHD_get_connection_values(exchange->connection, kind, count_pair, &count);
    out->items = arena_array(exchange->arena, count, sizeof *out->items);
    (void)MHD_get_connection_values(exchange->connection, kind, gather_pair, &gathering);
    return !gathering.is_bad;
}

static const char *peer_of(struct exchange *exchange)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char name[64] = "";
    if (info == NULL || info->client_addr == NULL)
        return "";
    socklen_t length = info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                                : sizeof(struct sockaddr_in);
    (void)getnameinfo(info->client_addr, length, name, sizeof name, NULL, 0, NI_NUMERICHOST);
    return arena_strdup(exchange->arena, name);
}

static void done(struct crew_job *job)
{
    struct exchange *exchange = (struct exchange *)job;
    atomic_store(&exchange->phase, PHASE_ANSWERED);
    MHD_resume_connection(exchange->connection);
}

static struct exchange *new_exchange(struct exchange_hall *hall, struct MHD_Connection *connection,
                                     const char *url)
{
    struct exchange *exchange = mem_zalloc(1, sizeof *exchange);
    exchange->hall = hall;
    exchange->connection = connection;
    exchange->arena = arena_new();
    exchange->request.path = arena_strdup(exchange->arena, url);
    exchange->request.is_secure = hall->is_secure;
    exchange->job = (struct crew_job){
        .request = &exchange->request, .response = &exchange->response, .done = done};
    upload_init(&exchange->upload, &hall->room, (size_t)hall->options.body_bytes);
    http_response_init(&exchange->response);
    CHECK(pthread_mutex_init(&exchange->lock, NULL) == 0);
    return exchange;
}

static enum MHD_Result refuse(struct exchange *exchange, int status, const char *detail)
{
    problem_put(&exchange->response, status, detail);
    return send_answer(exchange);
}

static enum MHD_Result begin(struct exchange *exchange, const char *method, bool is_crowded)
{
    int64_t length = 0;
    if (is_crowded) {
        http_response_add_header(&exchange->response, "Connection", "close");
        return refuse(
            exchange, 414,
            "the query has more than 256 parameters, or is too long for those that it has");
    }
    if (!upload_has_one_end(exchange->connection)) {
        http_response_add_header(&exchange->response, "Connection", "close");
        return refuse(exchange, 400,
                      "where the body ends must be said once: by `Content-Length`, or by "
                      "`Transfer-Encoding: chunked`");
    }
    const char *announced =
        MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, "Content-Length");
    exchange->request.method = http_method_parse(method);
    if (announced != NULL && str_parse_i64(announced, 0, INT64_MAX, &length) &&
        length > exchange->hall->options.body_bytes)
        return refuse(exchange, 413, "the body is larger than `api_body` allows");
    return MHD_YES;
}

/* Passwords take long to check; others would wait for the transaction meanwhile. */
static bool has_password(const struct http_request *request)
{
    const char *credentials = http_header(request, "Authorization");
    return credentials != NULL && strncasecmp(credentials, "Basic", 5) == 0;
}

/* We unpack nothing: what is packed would be taken for what it is not. */
static bool is_packed(const struct http_request *request)
{
    const struct http_pairs *headers = &request->headers;
    for (size_t i = 0; i < headers->count; i++)
        if (strcasecmp(headers->items[i].name, "Content-Encoding") == 0 &&
            strcasecmp(headers->items[i].value, "identity") != 0)
            return true;
    return false;
}

static bool hand_to_crew(struct exchange *exchange)
{
    struct exchange_hall *hall = exchange->hall;
    CHECK(pthread_mutex_lock(&hall->lock) == 0);
    bool is_open = !hall->is_closed;
    if (is_open) {
        atomic_store(&exchange->phase, PHASE_WORKING);
        MHD_suspend_connection(exchange->connection);
        crew_hand(hall->crew, &exchange->job);
    }
    CHECK(pthread_mutex_unlock(&hall->lock) == 0);
    return is_open;
}

/* From when a request has arrived until its answer is sent, or nobody is there to get it. */
static void note_owed(struct exchange *exchange, bool is_owed)
{
    struct exchange_hall *hall = exchange->hall;
    if (exchange->is_owed == is_owed)
        return;
    exchange->is_owed = is_owed;
    CHECK(pthread_mutex_lock(&hall->lock) == 0);
    hall->owed = is_owed ? hall->owed + 1 : hall->owed - 1;
    if (hall->owed == 0)
        CHECK(pthread_cond_signal(&hall->is_even) == 0);
    CHECK(pthread_mutex_unlock(&hall->lock) == 0);
}

static enum MHD_Result hand_over(struct exchange *exchange)
{
    struct http_request *request = &exchange->request;
    request->body = exchange->upload.body.text;
    request->body_length = exchange->upload.body.length;
    request->peer = peer_of(exchange);
    if (exchange->upload.is_crowded_out)
        return refuse(exchange, 503, "too many large requests at once; send it again");
    if (exchange->upload.body.overflow)
        return refuse(exchange, 413, "the body is larger than `api_body` allows");
    if (!gather(exchange, MHD_HEADER_KIND, &request->headers) ||
        !gather(exchange, MHD_GET_ARGUMENT_KIND, &request->query))
        return refuse(exchange, 400, "the query has escapes that are none, or is not UTF-8");
    if (is_packed(request))
        return refuse(exchange, 415, "`Content-Encoding` is not supported: send the body as it is");
    const struct route *route =
        dispatch_look(exchange->hall->options.world, request, &exchange->response);
    if (route == NULL)
        return send_answer(exchange);
    exchange->job.is_grouped = route->is_grouped && !has_password(request);
    return hand_to_crew(exchange) ? MHD_YES
                                  : refuse(exchange, 503, "the server stops; ask another one");
}

/* In the place of an exchange, until there is one: its query was cut off. */
static char crowded;

/*
 * The library makes a record of each parameter out of the memory that holds the line, too. Where
 * that runs out it says nothing, and waits until the connection is too old. So a query that would
 * not fit is cut off before the library reads it, in the library's own text, and the request is
 * refused once its head is there.
 */
void *exchange_line(void *context, const char *line, struct MHD_Connection *connection)
{
    (void)context;
    (void)connection;
    char *query = strchr(line, '?');
    if (query == NULL)
        return NULL;
    size_t count = 1;
    for (const char *at = query; *at != '\0'; at++)
        count += *at == '&' ? 1 : 0;
    if (count <= EXCHANGE_PARAMETERS_MAX && strlen(line) + count * PARAMETER_BYTES <= LINE_BYTES)
        return NULL;
    query[1] = '\0';
    return &crowded;
}

/* The library wants so many. NOLINTNEXTLINE(readability-function-size) */
enum MHD_Result exchange_access(void *context, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **slot)
{
    (void)version;
    struct exchange_hall *hall = context;
    bool is_crowded = *slot == &crowded;
    struct exchange *exchange = is_crowded ? NULL : *slot;
    if (exchange == NULL) {
        *slot = exchange = new_exchange(hall, connection, url);
        return begin(exchange, method, is_crowded);
    }
    if (*upload_size > 0) {
        upload_add(&exchange->upload, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    switch (atomic_load(&exchange->phase)) {
    case PHASE_READING:
        guests_serve(hall->guests, connection);
        note_owed(exchange, true);
        return hand_over(exchange);
    case PHASE_ANSWERED:
        return send_answer(exchange);
    case PHASE_WORKING:
    case PHASE_SENT:
        break;
    }
    return MHD_YES;
}

void exchange_completed(void *context, struct MHD_Connection *connection, void **slot,
                        enum MHD_RequestTerminationCode how)
{
    (void)how;
    struct exchange_hall *hall = context;
    struct exchange *exchange = *slot;
    guests_await(hall->guests, connection);
    if (exchange == NULL || *slot == &crowded)
        return;
    if (exchange->response.stream.read != NULL) {
        exchange->response.stream.close(exchange->response.stream.context);
        if (atomic_load(&exchange->phase) == PHASE_SENT)
            unlist_stream(exchange);
    }
    note_owed(exchange, false);
    CHECK(pthread_mutex_destroy(&exchange->lock) == 0);
    http_response_fini(&exchange->response);
    upload_fini(&exchange->upload);
    arena_free(exchange->arena);
    free(exchange);
    *slot = NULL;
}

void exchange_connection(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_ConnectionNotificationCode what)
{
    struct exchange_hall *hall = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *slot = guests_enter(hall->guests, connection);
    else
        guests_leave(hall->guests, TAKE(*slot));
}

/* --- the hall -------------------------------------------------------------------------------- */

struct exchange_hall *exchange_hall_new(const struct server_options *options, struct crew *crew)
{
    struct exchange_hall *hall = mem_zalloc(1, sizeof *hall);
    hall->options = *options;
    hall->crew = crew;
    hall->is_secure = options->tls_certificate != NULL;
    upload_room_init(&hall->room, (size_t)options->body_bytes);
    CHECK(pthread_mutex_init(&hall->lock, NULL) == 0);
    CHECK(pthread_cond_init(&hall->is_even, NULL) == 0);
    hall->guests = guests_new(options->request_ms, end_deserted, hall);
    return hall;
}

void exchange_hall_close(struct exchange_hall *hall)
{
    guests_dismiss(hall->guests);
    CHECK(pthread_mutex_lock(&hall->lock) == 0);
    hall->is_closed = true;
    for (struct exchange *at = hall->streams; at != NULL; at = at->after)
        end_stream(at);
    CHECK(pthread_mutex_unlock(&hall->lock) == 0);
}

void exchange_hall_settle(struct exchange_hall *hall)
{
    int64_t until_us = clock_wait_us() + INT64_C(1000000) * LAST_WORDS_S;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    int code = 0;
    CHECK(pthread_mutex_lock(&hall->lock) == 0);
    while (hall->owed > 0 && code == 0)
        code = pthread_cond_clockwait(&hall->is_even, &hall->lock, CLOCK_MONOTONIC, &until);
    CHECK(code == 0 || code == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&hall->lock) == 0);
}

void exchange_hall_free(struct exchange_hall *hall)
{
    guests_free(hall->guests);
    CHECK(pthread_cond_destroy(&hall->is_even) == 0);
    CHECK(pthread_mutex_destroy(&hall->lock) == 0);
    free(hall);
}
