#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "expect.h"
#include "os/file.h"
#include "os/loop.h"
#include "os/mailbox.h"
#include "os/thread.h"

struct state {
    struct loop *loop;
    struct loop_timer *timer;
    int calls;
    int wanted;
    int order[300];
};

static void count_call(void *context)
{
    struct state *state = context;
    if (++state->calls == state->wanted)
        loop_stop(state->loop);
}

static struct loop *new_loop(void)
{
    struct loop *loop = NULL;
    struct err err = {0};
    EXPECT_OK(loop_new(&loop, &err), &err);
    return loop;
}

Test(loop, timers_fire_once_or_again_and_can_be_stopped)
{
    struct state state = {.loop = new_loop(), .wanted = 3};
    struct state once = {.loop = state.loop, .wanted = -1};
    struct state never = {.loop = state.loop, .wanted = -1};
    struct loop_timer *repeating = loop_timer_new(state.loop, count_call, &state);
    struct loop_timer *single = loop_timer_new(state.loop, count_call, &once);
    struct loop_timer *stopped = loop_timer_new(state.loop, count_call, &never);
    int64_t start_us = clock_mono_us();
    loop_timer_start(repeating, 20, 10);
    loop_timer_start(single, 1, 0);
    loop_timer_start(stopped, 1, 0);
    loop_timer_stop(stopped);

    loop_run(state.loop);

    cr_assert_eq(state.calls, 3);
    cr_assert_eq(once.calls, 1);
    cr_assert_eq(never.calls, 0);
    cr_assert_geq(clock_mono_us() - start_us, 39000);
    loop_timer_free(repeating);
    loop_timer_free(single);
    loop_timer_free(stopped);
    loop_free(state.loop);
}

struct post {
    struct state *state;
    int number;
};

static void run_post(void *context)
{
    struct post *post = context;
    post->state->order[post->state->calls] = post->number;
    count_call(post->state);
    free(post);
}

static void post_many(void *context)
{
    struct state *state = context;
    sigset_t mask;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    cr_assert(sigismember(&mask, SIGTERM));
    for (int i = 0; i < 300; i++) {
        struct post *post = mem_alloc(sizeof *post);
        *post = (struct post){.state = state, .number = i};
        loop_post(state->loop, run_post, post);
    }
}

Test(loop, posts_from_another_thread_arrive_in_order)
{
    struct state state = {.loop = new_loop(), .wanted = 300};
    struct thread *thread = NULL;
    struct err err = {0};
    EXPECT_OK(thread_start("poster", post_many, &state, &thread, &err), &err);

    loop_run(state.loop);
    thread_join(thread);

    for (int i = 0; i < 300; i++)
        cr_assert_eq(state.order[i], i);
    loop_free(state.loop);
}

static void on_readable(void *context, unsigned events)
{
    cr_assert_eq(events, LOOP_READABLE);
    count_call(context);
}

Test(loop, descriptors_and_calls_before_waiting_are_served)
{
    struct state state = {.loop = new_loop(), .wanted = 1};
    struct state before = {.loop = state.loop, .wanted = -1};
    struct state cancelled = {.loop = state.loop, .wanted = -1};
    int fds[2];
    cr_assert_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    struct loop_watch *watch = NULL;
    struct err err = {0};
    EXPECT_OK(loop_watch_new(state.loop, fds[0], on_readable, &state, &watch, &err), &err);
    loop_watch_set(watch, LOOP_READABLE);
    loop_before_wait(state.loop, count_call, &before);
    loop_before_wait(state.loop, count_call, &cancelled);
    loop_before_wait_cancel(state.loop, &cancelled);
    cr_assert_eq(write(fds[1], "x", 1), 1);

    loop_run(state.loop);

    cr_assert_eq(state.calls, 1);
    cr_assert_eq(before.calls, 1);
    cr_assert_eq(cancelled.calls, 0);
    loop_watch_free(watch);
    loop_free(state.loop);
}

static void on_signal(void *context, int signo)
{
    cr_assert_eq(signo, SIGUSR2);
    count_call(context);
}

Test(loop, signals_become_calls)
{
    struct state state = {.loop = new_loop(), .wanted = 1};
    struct loop_signal *listener = NULL;
    struct err err = {0};
    EXPECT_OK(loop_signal_new(state.loop, SIGUSR2, on_signal, &state, &listener, &err), &err);
    (void)raise(SIGUSR2);

    loop_run(state.loop);

    cr_assert_eq(state.calls, 1);
    loop_signal_free(listener);
    loop_free(state.loop);
}

Test(loop, a_file_that_is_made_later_is_noticed_and_others_are_not)
{
    char dir[] = "/tmp/eider-loop-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    struct state state = {.loop = new_loop(), .wanted = 1};
    struct loop_file *watch = NULL;
    struct err err = {0};
    char other[64], wake[64];
    (void)snprintf(other, sizeof other, "%s/other", dir);
    (void)snprintf(wake, sizeof wake, "%s/wake", dir);
    EXPECT_OK(loop_file_new(state.loop, wake, count_call, &state, &watch, &err), &err);
    (void)close(open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    (void)close(open(wake, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));

    loop_run(state.loop);

    cr_assert_eq(state.calls, 1);
    loop_file_free(watch);
    EXPECT_STATUS(STATUS_NOT_FOUND,
                  loop_file_new(state.loop, "/no/such/x", count_call, &state, &watch, &err), &err);
    loop_free(state.loop);
    (void)unlink(other);
    (void)unlink(wake);
    (void)rmdir(dir);
}

static void push_numbers(void *context)
{
    for (intptr_t i = 1; i <= 1000; i++)
        cr_assert(mailbox_push(context, (void *)i));
    mailbox_close(context);
}

Test(loop, a_mailbox_gives_everything_in_order_and_then_says_that_it_is_closed)
{
    struct mailbox *mailbox = mailbox_new();
    cr_assert_eq(mailbox_take_now(mailbox).count, 0);
    cr_assert_eq(mailbox_take_within(mailbox, 1).count, 0);
    struct thread *thread = NULL;
    struct err err = {0};
    EXPECT_OK(thread_start("pusher", push_numbers, mailbox, &thread, &err), &err);

    intptr_t next = 1;
    for (;;) {
        struct mailbox_batch batch =
            next % 2 == 0 ? mailbox_take(mailbox) : mailbox_take_within(mailbox, 60000);
        if (batch.count == 0)
            break;
        for (size_t i = 0; i < batch.count; i++)
            cr_assert_eq((intptr_t)batch.items[i], next++);
        free(batch.items);
    }

    cr_assert_eq(next, 1001);
    thread_join(thread);
    cr_assert_not(mailbox_push(mailbox, &next));
    mailbox_free(mailbox);
}
