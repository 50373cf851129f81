#include "serve/crew.h"

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
    struct worker *workers;
    size_t count;
    size_t idle;
    size_t waiting; /* jobs */
    bool is_over;
};

static void answer(struct crew *crew, struct service *service, struct crew_job *job)
{
    struct operation_local local = {.table = &OPERATIONS, .service = service};
    struct desk desk = {
        .world = crew->options.world,
        .service = service,
        .operations = {.context = &local, .call = operation_local_call},
    };
    dispatch(&desk, job->request, job->response);
    job->done(job);
}

/* With the lock: false when nobody came for a while, and there is something to let go of. */
static bool wait_for_work(struct crew *crew, bool may_rest)
{
    struct timespec until = {.tv_sec = clock_wait_us() / 1000000 + REST_S};
    int code = 0;
    crew->idle++;
    while (crew->first == NULL && !crew->is_over && code == 0)
        code = may_rest ? pthread_cond_timedwait(&crew->has_work, &crew->lock, &until)
                        : pthread_cond_wait(&crew->has_work, &crew->lock);
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

void crew_hand(struct crew *crew, struct crew_job *job)
{
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    CHECK(!crew->is_over);
    job->next = NULL;
    *crew->last = job;
    crew->last = &job->next;
    if (++crew->waiting > crew->idle && crew->count < (size_t)crew->options.workers)
        add_worker(crew);
    CHECK(pthread_cond_signal(&crew->has_work) == 0);
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
}

void crew_free(struct crew *crew)
{
    if (crew == NULL)
        return;
    CHECK(pthread_mutex_lock(&crew->lock) == 0);
    crew->is_over = true;
    CHECK(pthread_cond_broadcast(&crew->has_work) == 0);
    CHECK(pthread_mutex_unlock(&crew->lock) == 0);
    for (size_t i = 0; i < crew->count; i++)
        thread_join(crew->workers[i].thread);
    CHECK(pthread_mutex_destroy(&crew->lock) == 0);
    CHECK(pthread_cond_destroy(&crew->has_work) == 0);
    free(crew->workers);
    free(crew);
}
