#include "os/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

enum { NAME_MAX_BYTES = 16 };

struct thread {
    pthread_t handle;
    void (*body)(void *context);
    void *context;
    char name[NAME_MAX_BYTES];
};

static void *thread_main(void *argument)
{
    struct thread *thread = argument;
    (void)pthread_setname_np(pthread_self(), thread->name);
    thread->body(thread->context);
    return NULL;
}

enum status thread_start(const char *name, void (*body)(void *context), void *context,
                         struct thread **out_thread, struct err *err)
{
    struct thread *thread = mem_zalloc(1, sizeof *thread);
    thread->body = body;
    thread->context = context;
    (void)snprintf(thread->name, sizeof thread->name, "%.15s", name);

    /* The mask is inherited: blocked before, there is no moment in which the thread listens. */
    sigset_t all, before;
    (void)sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    int failure = pthread_create(&thread->handle, NULL, thread_main, thread);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    if (failure != 0) {
        free(thread);
        return err_errno(err, failure, "start thread '%s'", name);
    }
    *out_thread = thread;
    return STATUS_OK;
}

void thread_join(struct thread *thread)
{
    if (thread == NULL)
        return;
    CHECK(pthread_join(thread->handle, NULL) == 0);
    free(thread);
}

void thread_deafen(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
}
