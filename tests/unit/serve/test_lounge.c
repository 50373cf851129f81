/* Claims that wait: who is served when, and what becomes of what nobody is there to take. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "expect.h"
#include "serve/lounge.h"
#include "serve/pass.h"
#include "service/service.h"

enum { LONG_MS = 60000, BEATS = 3 };

/* Jobs that there are, and what was asked. */
static atomic_int jobs;
static atomic_int asked;
static atomic_int released;
static atomic_bool is_broken;
static atomic_bool is_taken_back; /* the token of those who wait */
static struct lounge *lounge;
static struct http_stream *_Atomic leaves; /* closes while it is claimed for */

static struct service *open_service(void *context)
{
    (void)context;
    return mem_zalloc(1, sizeof(struct service));
}

static void close_service(void *context, struct service *service)
{
    (void)context;
    free(service);
}

static enum status admit(void *context, struct service *service, const struct http_request *request,
                         struct arena *arena, struct dispatch_visitor *out, struct err *err)
{
    (void)context;
    (void)service;
    if (atomic_load(&is_taken_back))
        return err_set(err, STATUS_DENIED, "no such token");
    EXPECT_STR("Bearer x", http_header(request, "Authorization"));
    *out = (struct dispatch_visitor){
        .is_known = true,
        .principal = {.name = arena_strdup(arena, "token x"), .queues = arena_strdup(arena, "*")},
    };
    return STATUS_OK;
}

static const struct serve_world WORLD = {.admit = admit};

static json_t *response_of(const json_t *request, bool has_job)
{
    json_t *response = json_object();
    json_t *list = json_array();
    if (has_job)
        CHECK(json_array_append_new(list, json_object()) == 0);
    json_put(response, "jobs", list);
    json_put_string(response, "worker", json_get_string(request, "worker", ""));
    return response;
}

static enum status claim(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    cr_assert_not_null(service->principal);
    atomic_fetch_add(&asked, 1);
    struct http_stream *leaver = atomic_exchange(&leaves, NULL);
    if (leaver != NULL)
        leaver->close(leaver->context);
    if (atomic_load(&is_broken))
        return err_set(err, STATUS_IO, "no store");
    bool has_job = atomic_load(&jobs) > 0;
    if (has_job)
        atomic_fetch_sub(&jobs, 1);
    *out = response_of(request, has_job);
    return STATUS_OK;
}

static void release(struct service *service, const json_t *job)
{
    (void)service;
    (void)job;
    atomic_fetch_add(&released, 1);
}

static void setup(void)
{
    struct err err = {0};
    const struct lounge_options options = {
        .open_service = open_service,
        .close_service = close_service,
        .claim = claim,
        .release = release,
        .poll_ms = LONG_MS,
    };
    EXPECT_OK(lounge_new(&options, &lounge, &err), &err);
}

static void teardown(void)
{
    lounge_close(lounge);
    lounge_free(lounge);
}

TestSuite(lounge, .init = setup, .fini = teardown, .timeout = 60);

/* --- somebody who waits ---------------------------------------------------------------------- */

struct waiting {
    struct http_stream stream;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool is_woken;
};

static void note_wake(void *waker)
{
    struct waiting *waiting = waker;
    CHECK(pthread_mutex_lock(&waiting->lock) == 0);
    waiting->is_woken = true;
    CHECK(pthread_cond_signal(&waiting->woken) == 0);
    CHECK(pthread_mutex_unlock(&waiting->lock) == 0);
}

struct wish {
    const char *worker;
    const char *queue;
    const char *request_id;
    int64_t wait_ms;
    int64_t beat_ms;
};

static struct waiting *wait_for(struct wish wish)
{
    static const struct principal PRINCIPAL = {.name = "token x", .queues = "*"};
    struct http_pair sent = {"authorization", "Bearer x"};
    const struct http_request came = {.headers = {&sent, 1}, .peer = "127.0.0.1"};
    struct waiting *waiting = mem_zalloc(1, sizeof *waiting);
    CLEANUP(json_decrefp) json_t *request = json_object();
    CLEANUP(json_decrefp) json_t *nothing = response_of(request, false);
    json_put_string(request, "worker", wish.worker);
    json_put_string(request, "queues", wish.queue);
    if (wish.request_id != NULL)
        json_put_string(request, "request_id", wish.request_id);
    CHECK(pthread_mutex_init(&waiting->lock, NULL) == 0);
    CHECK(pthread_cond_init(&waiting->woken, NULL) == 0);
    const struct lounge_guest_request guest = {
        .pass = pass_new(&WORLD, &came, &PRINCIPAL),
        .claim = request,
        .nothing = nothing,
        .wait_ms = wish.wait_ms,
        .beat_ms = wish.beat_ms,
    };
    lounge_wait(lounge, &guest, &waiting->stream);
    waiting->stream.attach(waiting->stream.context, note_wake, waiting);
    return waiting;
}

/* The answer once it is there; the stream is over then. */
static json_t *answer_of(struct waiting *waiting)
{
    char text[1000];
    struct err err = {0};
    json_t *answer = NULL;
    ssize_t got = 0;
    while ((got = waiting->stream.read(waiting->stream.context, text, sizeof text)) == 0) {
        CHECK(pthread_mutex_lock(&waiting->lock) == 0);
        while (!waiting->is_woken)
            CHECK(pthread_cond_wait(&waiting->woken, &waiting->lock) == 0);
        waiting->is_woken = false;
        CHECK(pthread_mutex_unlock(&waiting->lock) == 0);
    }
    cr_assert_gt(got, 0);
    EXPECT_OK(json_parse(text, (size_t)got, &answer, &err), &err);
    cr_assert_eq(waiting->stream.read(waiting->stream.context, text, sizeof text), -1);
    waiting->stream.close(waiting->stream.context);
    free(waiting);
    return answer;
}

static size_t jobs_of(struct waiting *waiting)
{
    CLEANUP(json_decrefp) json_t *answer = answer_of(waiting);
    return json_array_size(json_object_get(answer, "jobs"));
}

static void wait_until(atomic_int *counter, int value)
{
    while (atomic_load(counter) < value)
        CHECK(sched_yield() == 0);
}

/* --- what holds ------------------------------------------------------------------------------ */

Test(lounge, a_claim_is_served_when_somebody_wakes)
{
    struct waiting *one = wait_for((struct wish){"a", "q", NULL, LONG_MS, LONG_MS});
    wait_until(&asked, 1);
    atomic_store(&jobs, 1);
    lounge_wake(lounge);
    cr_assert_eq(jobs_of(one), 1);
}

Test(lounge, who_came_first_is_first)
{
    struct waiting *one = wait_for((struct wish){"a", "q", NULL, LONG_MS, LONG_MS});
    wait_until(&asked, 1); /* else one round may serve both, and ask only once */
    struct waiting *two = wait_for((struct wish){"b", "q", NULL, LONG_MS, LONG_MS});
    wait_until(&asked, 2);
    atomic_store(&jobs, 1);
    lounge_wake(lounge);
    CLEANUP(json_decrefp) json_t *answer = answer_of(one);
    EXPECT_STR("a", json_get_string(answer, "worker", ""));
    lounge_close(lounge);
    cr_assert_eq(jobs_of(two), 0);
}

Test(lounge, who_wants_the_same_is_not_asked_for_in_vain)
{
    enum { MANY = 50 };
    struct waiting *all[MANY];
    for (size_t i = 0; i < MANY; i++)
        all[i] = wait_for((struct wish){"a", "q", NULL, LONG_MS, LONG_MS});
    struct waiting *other = wait_for((struct wish){"z", "other", NULL, LONG_MS, LONG_MS});
    int before = atomic_load(&asked);
    while (atomic_load(&asked) < before + 2) /* a whole round: one of each kind */
        lounge_wake(lounge);
    cr_assert_lt(atomic_load(&asked), before + MANY);
    lounge_close(lounge);
    for (size_t i = 0; i < MANY; i++)
        cr_assert_eq(jobs_of(all[i]), 0);
    cr_assert_eq(jobs_of(other), 0);
}

Test(lounge, a_wait_comes_to_its_end)
{
    cr_assert_eq(jobs_of(wait_for((struct wish){"a", "q", NULL, 20, LONG_MS})), 0);
}

Test(lounge, who_waits_is_heard_from)
{
    struct waiting *one = wait_for((struct wish){"a", "q", NULL, LONG_MS, 5});
    wait_until(&asked, 1 + BEATS);
    lounge_close(lounge);
    cr_assert_eq(jobs_of(one), 0);
}

Test(lounge, a_failure_is_nothing)
{
    atomic_store(&is_broken, true);
    cr_assert_eq(jobs_of(wait_for((struct wish){"a", "q", NULL, LONG_MS, LONG_MS})), 0);
}

Test(lounge, a_token_that_is_taken_back_gets_nothing)
{
    struct waiting *one = wait_for((struct wish){"a", "q", NULL, LONG_MS, LONG_MS});
    wait_until(&asked, 1);
    atomic_store(&is_taken_back, true);
    atomic_store(&jobs, 1);
    lounge_wake(lounge);
    cr_assert_eq(jobs_of(one), 0);
    cr_assert_eq(atomic_load(&asked), 1);
    cr_assert_eq(atomic_load(&jobs), 1);
}

Test(lounge, whoever_comes_after_the_end_is_answered_at_once)
{
    lounge_close(lounge);
    cr_assert_eq(jobs_of(wait_for((struct wish){"a", "q", NULL, LONG_MS, LONG_MS})), 0);
}

/* It goes while the thread claims for it. */
static void desert(const char *request_id)
{
    struct waiting *one = wait_for((struct wish){"a", "q", request_id, LONG_MS, LONG_MS});
    wait_until(&asked, 1);
    atomic_store(&jobs, 1);
    atomic_store(&leaves, &one->stream);
    while (atomic_load(&jobs) > 0)
        lounge_wake(lounge);
    lounge_free(TAKE(lounge)); /* its thread has ended */
    free(one);
}

Test(lounge, what_nobody_is_there_to_take_is_given_back)
{
    desert(NULL);
    cr_assert_eq(atomic_load(&released), 1);
}

Test(lounge, what_has_a_name_is_asked_for_again)
{
    desert("r1");
    cr_assert_eq(atomic_load(&released), 0);
}
