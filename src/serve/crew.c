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
#include "service/operations.h"

enum { REST_S = 30 };

struct worker {
    struct crew *crew;
    struct thread *thread;
};

struct crew {
    struct server_options options;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct crew_job *first;
    struct crew_job **last;
    struct crew_job *later; /* what is due first comes first */
    struct worker *workers;
    size_t count;
    size_t idle;
    size_t waiting; /* jobs */
    bool is_over;
};

static void answer(struct crew *crew, struct service *service, struct crew_job *job)
{
    if (job->work != NULL) {
        job->work(job, service);
        return;
    }
    struct operation_local local = {.table = &OPERATIONS, .service = service};
    struct desk desk = {
        .world = crew->options.world,
        .service = service,
        .operations = {.context = &local, .call = operation_local_call},
        .crew = crew,
    };
    dispatch(&desk, job->request, job->response);
    job->done(job);
}

/* With the lock. */
static void append(struct crew *crew, struct crew_job *job)
{
    job->next = NULL;
    *crew->last = job;
    crew->last = &job->next;
    crew->waiting++;
}

static void append_due(struct crew *crew, int64_t now_us)
{
    while (crew->later != NULL && crew->later->due_us <= now_us) {
        struct crew_job *job = crew->later;
        crew->later = job->next;
        append(crew, job);
        CHECK(pthread_cond_signal(&crew->has_work) == 0);
    }
}

static void wait_until(struct crew *crew, int64_t until_us)
{
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
    for (;;) {
        append_due(crew, now_us);
        int64_t until_us = MIN(rest_us, crew->later != NULL ? crew->later->due_us : INT64_MAX);
        if (crew->first != NULL || crew->is_over || now_us >= rest_us)
            break;
        if (until_us == INT64_MAX)
            CHECK(pthread_cond_wait(&crew->has_work, &crew->lock) == 0);
        else
            wait_until(crew, until_us);
        now_us = clock_wait_us();
    }
    crew->idle--;
    return crew->first != NULL || crew->is_over;
}

static struct crew_job *take(struct crew *crew)
{
    struct crew_job *job = crew->first;
    if (job != NULL) {
        crew->waiting--;
        crew->first = job->next;
        if (crew->first == NULL)
            crew->last = &crew->first;
    }
    return job;
}

static void work(void *context)
{
    struct crew *crew = ((struct worker *)context)->crew;
    struct service *service = NULL;
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    for (;;) {
        bool rests = !wait_for_work(crew, service != NULL);
        struct crew_job *job = take(crew);
        if (job == NULL && !rests)
            break;
        CHECK(pthread_mutex_unlock(&crew->lock) == 0);
        if (rests) {
            crew->options.close_service(crew->options.context, service);
            service = NULL;
        } else {
            if (service == NULL)
                service = crew->options.open_service(crew->options.context);
            answer(crew, service, job);
        }
        CHECK(pthread_mutex_lock(&crew->lock) == 0);
    }
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
    crew->options.close_service(crew->options.context, service);
}

struct crew *crew_new(const struct server_options *options)
{
    struct crew *crew = mem_zalloc(1, sizeof *crew);
    pthread_condattr_t steady;
    crew->options = *options;
    crew->last = &crew->first;
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
    if (crew->waiting > crew->idle && crew->count < (size_t)crew->options.workers)
        add_worker(crew);
    CHECK(pthread_cond_signal(&crew->has_work) == 0);
}

void crew_hand(struct crew *crew, struct crew_job *job)
{
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    CHECK(!crew->is_over);
    append(crew, job);
    call_somebody(crew);
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
}

bool crew_hand_at(struct crew *crew, struct crew_job *job, int64_t due_us)
{
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    bool is_open = !crew->is_over;
    if (is_open && due_us <= clock_wait_us()) {
        append(crew, job);
    } else if (is_open) {
        struct crew_job **place = &crew->later;
        while (*place != NULL && (*place)->due_us <= due_us)
            place = &(*place)->next;
        job->due_us = due_us;
        job->next = *place;
        *place = job;
    }
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
    bool was_waiting = !was_later && take_out(&crew->first, job);
    if (was_waiting) {
        crew->waiting--;
        for (crew->last = &crew->first; *crew->last != NULL;)
            crew->last = &(*crew->last)->next;
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
