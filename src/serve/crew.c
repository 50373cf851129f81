#include "serve/crew.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "os/thread.h"
#include "serve/live.h"
#include "serve/problem.h"
#include "service/operation_many.h"
#include "service/operations.h"
#include "service/together.h"

enum {
    REST_S = 30,
    GROUP_MAX = 64,
    SLOW_US = 20000, /* what takes longer keeps nobody else from working */
};

struct worker {
    struct crew *crew;
    struct thread *thread;
    int64_t began_us; /* with what it is at; 0: with nothing */
};

struct queue {
    struct crew_job *first;
    struct crew_job **last;
    size_t count;
};

struct crew {
    struct server_options options;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct queue single;
    struct queue grouped;
    struct crew_job *later; /* what is due first comes first */
    bool is_grouping;       /* one worker at a time, so that the others' requests gather */
    struct worker *workers;
    size_t count;
    size_t idle;
    size_t lookouts; /* of the idle, who look again when one of the others has become slow */
    bool is_over;
};

/* --- queues, with the lock ------------------------------------------------------------------- */

static void add(struct queue *queue, struct crew_job *job)
{
    job->next = NULL;
    *queue->last = job;
    queue->last = &job->next;
    queue->count++;
}

/* The first of them, at most so many; the last of these has no next. */
static struct crew_job *take(struct queue *queue, size_t most)
{
    struct crew_job *first = queue->first;
    struct crew_job **end = &queue->first;
    for (size_t i = 0; i < most && *end != NULL; i++, queue->count--)
        end = &(*end)->next;
    if (first == NULL)
        return NULL;
    struct crew_job *rest = *end;
    *end = NULL;
    queue->first = rest;
    if (rest == NULL)
        queue->last = &queue->first;
    return first;
}

static bool has_group(const struct crew *crew)
{
    return crew->grouped.count > 0 && !crew->is_grouping;
}

static bool has_work(const struct crew *crew)
{
    return crew->single.count > 0 || has_group(crew);
}

/*
 * More workers than processors only take them from each other, unless some are slow. *out_us: when
 * the next of them has become so.
 */
static bool may_begin(const struct crew *crew, int64_t now_us, int64_t *out_us)
{
    size_t brisk = 0;
    *out_us = INT64_MAX;
    for (size_t i = 0; i < crew->count; i++) {
        int64_t slow_us = crew->workers[i].began_us + SLOW_US;
        if (crew->workers[i].began_us == 0 || slow_us <= now_us)
            continue;
        brisk++;
        *out_us = MIN(*out_us, slow_us);
    }
    return brisk < (size_t)crew->options.brisk;
}

/* Changes first: whoever has to gather them lets the others go on with the rest. */
static struct crew_job *take_work(struct crew *crew, bool *out_is_group)
{
    *out_is_group = has_group(crew);
    if (!*out_is_group)
        return take(&crew->single, 1);
    crew->is_grouping = true;
    return take(&crew->grouped, GROUP_MAX);
}

static void end_group(struct crew *crew)
{
    crew->is_grouping = false;
    if (crew->grouped.count > 0)
        CHECK(pthread_cond_signal(&crew->has_work) == 0);
}

static void add_due(struct crew *crew, int64_t now_us)
{
    while (crew->later != NULL && crew->later->due_us <= now_us) {
        struct crew_job *job = crew->later;
        crew->later = job->next;
        add(&crew->single, job);
        CHECK(pthread_cond_signal(&crew->has_work) == 0);
    }
}

/* --- answers --------------------------------------------------------------------------------- */

static void tell_all(struct crew_job *jobs)
{
    while (jobs != NULL) {
        struct crew_job *job = jobs;
        jobs = jobs->next;
        job->done(job); /* which may be its end */
    }
}

/* What was said so far is not so. */
static void unsay(struct crew_job *job)
{
    http_response_fini(job->response);
    http_response_init(job->response);
}

static void answer_one_by_one(const struct desk *desk, struct crew_job *jobs)
{
    for (struct crew_job *job = jobs; job != NULL; job = job->next) {
        unsay(job);
        dispatch(desk, job->request, job->response);
    }
}

static void dispatch_jobs(const struct desk *desk, const struct crew_job *jobs)
{
    struct dispatch_pair pairs[GROUP_MAX];
    size_t count = 0;
    for (const struct crew_job *job = jobs; job != NULL; job = job->next)
        pairs[count++] = (struct dispatch_pair){job->request, job->response};
    dispatch_all(desk, pairs, count);
}

/* Nobody hears of anything before all of it is durable. */
static void answer_together(const struct desk *desk, struct crew_job *jobs)
{
    struct err err = {0};
    if (together_begin(desk->service, &err) != STATUS_OK) {
        answer_one_by_one(desk, jobs);
        return;
    }
    dispatch_jobs(desk, jobs);
    enum status status = together_commit(desk->service, &err);
    if (status != STATUS_UNKNOWN) {
        if (status != STATUS_OK)
            answer_one_by_one(desk, jobs);
        return;
    }
    for (struct crew_job *job = jobs; job != NULL; job = job->next) {
        unsay(job);
        problem_answer(job->response, &err);
    }
}

/* Whoever listens hears of changes at once. */
static void wake_listeners(const struct crew *crew, const struct crew_job *jobs)
{
    for (; jobs != NULL; jobs = jobs->next)
        if (http_method_changes(jobs->request->method)) {
            live_wake(crew->options.world->live);
            return;
        }
}

static void answer(struct crew *crew, struct service *service, struct crew_job *jobs)
{
    if (jobs->work != NULL) {
        jobs->work(jobs, service);
        return;
    }
    struct operation_local local = {.table = &OPERATIONS, .service = service};
    struct desk desk = {
        .world = crew->options.world,
        .service = service,
        .operations = {&local, operation_local_call, operation_local_many},
        .crew = crew,
    };
    if (jobs->next != NULL)
        answer_together(&desk, jobs);
    else
        dispatch(&desk, jobs->request, jobs->response);
    wake_listeners(crew, jobs);
    tell_all(jobs);
}

/* --- workers --------------------------------------------------------------------------------- */

/* INT64_MAX: until somebody calls. */
static void wait_until(struct crew *crew, int64_t until_us)
{
    if (until_us == INT64_MAX) {
        CHECK(pthread_cond_wait(&crew->has_work, &crew->lock) == 0);
        return;
    }
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    int code = pthread_cond_timedwait(&crew->has_work, &crew->lock, &until);
    CHECK(code == 0 || code == ETIMEDOUT);
}

/* With the lock: false when nobody came for a while, and there is something to let go of. */
static bool wait_for_work(struct crew *crew, bool may_rest)
{
    int64_t now_us = clock_wait_us();
    int64_t rest_us = may_rest ? now_us + INT64_C(1000000) * REST_S : INT64_MAX;
    crew->idle++;
    for (;; now_us = clock_wait_us()) {
        int64_t slow_us = INT64_MAX;
        add_due(crew, now_us);
        if (crew->is_over || now_us >= rest_us ||
            (has_work(crew) && may_begin(crew, now_us, &slow_us)))
            break;
        int64_t until_us = MIN(rest_us, crew->later != NULL ? crew->later->due_us : INT64_MAX);
        size_t looks = slow_us != INT64_MAX ? 1 : 0;
        crew->lookouts += looks;
        wait_until(crew, MIN(until_us, slow_us));
        crew->lookouts -= looks;
    }
    crew->idle--;
    return has_work(crew) || crew->is_over;
}

/* Without the lock. */
static void rest(const struct crew *crew, struct service **service)
{
    crew->options.close_service(crew->options.context, *service);
    *service = NULL;
}

static void work(void *context)
{
    struct worker *worker = context;
    struct crew *crew = worker->crew;
    struct service *service = NULL;
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    for (;;) {
        bool is_group = false;
        bool rests = !wait_for_work(crew, service != NULL);
        struct crew_job *jobs = take_work(crew, &is_group);
        if (jobs == NULL && !rests)
            break;
        worker->began_us = clock_wait_us();
        CHECK(pthread_mutex_unlock(&crew->lock) == 0);
        if (rests) {
            rest(crew, &service);
        } else {
            if (service == NULL)
                service = crew->options.open_service(crew->options.context);
            answer(crew, service, jobs);
        }
        CHECK(pthread_mutex_lock(&crew->lock) == 0);
        worker->began_us = 0;
        if (is_group)
            end_group(crew);
    }
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
    rest(crew, &service);
}

struct crew *crew_new(const struct server_options *options)
{
    struct crew *crew = mem_zalloc(1, sizeof *crew);
    pthread_condattr_t steady;
    crew->options = *options;
    crew->single.last = &crew->single.first;
    crew->grouped.last = &crew->grouped.first;
    crew->workers = mem_zalloc((size_t)options->workers, sizeof *crew->workers);
    CHECK(pthread_mutex_init(&crew->lock, NULL) == 0);
    CHECK(pthread_condattr_init(&steady) == 0);
    CHECK(pthread_condattr_setclock(&steady, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&crew->has_work, &steady) == 0);
    CHECK(pthread_condattr_destroy(&steady) == 0);
    return crew;
}

/* With the lock. One that cannot be had is no harm while there is another. */
static void add_worker(struct crew *crew)
{
    struct err err = {0};
    struct worker *worker = &crew->workers[crew->count];
    worker->crew = crew;
    if (thread_start("eider-api", work, worker, &worker->thread, &err) != STATUS_OK) {
        CHECK(crew->count > 0);
        log_warn("cannot start another worker for requests", LOG_STR("why", err.text));
        return;
    }
    crew->count++;
}

/* With the lock. */
static void call_somebody(struct crew *crew)
{
    int64_t ignored_us;
    size_t wanted = crew->single.count + (has_group(crew) ? 1 : 0);
    /* Whoever ends something goes on with this. */
    if (crew->lookouts > 0 && !may_begin(crew, clock_wait_us(), &ignored_us))
        return;
    if (wanted > crew->idle && crew->count < (size_t)crew->options.workers)
        add_worker(crew);
    CHECK(pthread_cond_signal(&crew->has_work) == 0);
}

void crew_hand(struct crew *crew, struct crew_job *job)
{
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    CHECK(!crew->is_over);
    add(job->is_grouped ? &crew->grouped : &crew->single, job);
    call_somebody(crew);
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
}

static void put_off(struct crew *crew, struct crew_job *job, int64_t due_us)
{
    struct crew_job **place = &crew->later;
    while (*place != NULL && (*place)->due_us <= due_us)
        place = &(*place)->next;
    job->due_us = due_us;
    job->next = *place;
    *place = job;
}

bool crew_hand_at(struct crew *crew, struct crew_job *job, int64_t due_us)
{
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    bool is_open = !crew->is_over;
    if (is_open && due_us <= clock_wait_us())
        add(&crew->single, job);
    else if (is_open)
        put_off(crew, job, due_us);
    if (is_open)
        call_somebody(crew);
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
    return is_open;
}

static bool take_out(struct crew_job **list, const struct crew_job *job)
{
    for (; *list != NULL; list = &(*list)->next)
        if (*list == job) {
            *list = job->next;
            return true;
        }
    return false;
}

bool crew_take_back(struct crew *crew, struct crew_job *job)
{
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    bool was_later = take_out(&crew->later, job);
    bool was_waiting = !was_later && take_out(&crew->single.first, job);
    if (was_waiting) {
        crew->single.count--;
        for (crew->single.last = &crew->single.first; *crew->single.last != NULL;)
            crew->single.last = &(*crew->single.last)->next;
    }
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
    return was_later || was_waiting;
}

void crew_stop(struct crew *crew)
{
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    crew->is_over = true;
    CHECK(pthread_cond_broadcast(&crew->has_work) == 0);
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
    for (size_t i = 0; i < crew->count; i++)
        thread_join(TAKE(crew->workers[i].thread));
}

void crew_free(struct crew *crew)
{
    if (crew == NULL)
        return;
    crew_stop(crew);
    CHECK(pthread_mutex_destroy(&crew->lock) == 0);
    CHECK(pthread_cond_destroy(&crew->has_work) == 0);
    free(crew->workers);
    free(crew);
}
