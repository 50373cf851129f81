/*
 * A libuv handle lives on until its close callback, so every handle here is the first
 * member of a heap object that this callback frees.
 */
#include "os/loop.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/mailbox.h"

struct call {
    loop_fn fn;
    void *context;
};

struct loop {
    uv_loop_t uv;
    uv_async_t posted;
    uv_prepare_t before_wait;
    struct mailbox *mailbox;
    struct call *deferred;
    size_t deferred_count;
    size_t deferred_capacity;
};

struct loop_timer {
    uv_timer_t uv;
    loop_fn fn;
    void *context;
};

struct loop_watch {
    uv_poll_t uv;
    loop_watch_fn fn;
    void *context;
};

struct loop_signal {
    uv_signal_t uv;
    loop_signal_fn fn;
    void *context;
};

struct loop_file {
    uv_fs_event_t uv;
    loop_fn fn;
    void *context;
    char *name;
};

static enum status uv_failure(int code, const char *what, struct err *err)
{
    return err_errno(err, -code, "%s", what);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static void run_posted(uv_async_t *handle)
{
    struct loop *loop = handle->data;
    struct mailbox_batch batch = mailbox_take_now(loop->mailbox);
    for (size_t i = 0; i < batch.count; i++) {
        struct call *call = batch.items[i];
        call->fn(call->context);
        free(call);
    }
    free(batch.items);
}

static void run_deferred(uv_prepare_t *handle)
{
    struct loop *loop = handle->data;
    /* A call may defer again: that one belongs to this round too, so count anew each time. */
    for (size_t i = 0; i < loop->deferred_count; i++) {
        struct call call = loop->deferred[i];
        if (call.fn != NULL)
            call.fn(call.context);
    }
    loop->deferred_count = 0;
    (void)uv_prepare_stop(handle);
}

enum status loop_new(struct loop **out_loop, struct err *err)
{
    struct loop *loop = mem_zalloc(1, sizeof *loop);
    int failure = uv_loop_init(&loop->uv);
    if (failure != 0) {
        free(loop);
        return uv_failure(failure, "make event loop", err);
    }
    failure = uv_async_init(&loop->uv, &loop->posted, run_posted);
    if (failure != 0) {
        (void)uv_loop_close(&loop->uv);
        free(loop);
        return uv_failure(failure, "make event loop", err);
    }
    CHECK(uv_prepare_init(&loop->uv, &loop->before_wait) == 0);
    loop->posted.data = loop;
    loop->before_wait.data = loop;
    loop->mailbox = mailbox_new();
    *out_loop = loop;
    return STATUS_OK;
}

void loop_free(struct loop *loop)
{
    if (loop == NULL)
        return;
    mailbox_close(loop->mailbox);
    struct mailbox_batch batch = mailbox_take_now(loop->mailbox);
    for (size_t i = 0; i < batch.count; i++)
        free(batch.items[i]);
    free(batch.items);
    uv_close((uv_handle_t *)&loop->posted, NULL);
    uv_close((uv_handle_t *)&loop->before_wait, NULL);
    while (uv_run(&loop->uv, UV_RUN_NOWAIT) != 0)
        ;
    CHECK(uv_loop_close(&loop->uv) == 0);
    mailbox_free(loop->mailbox);
    free(loop->deferred);
    free(loop);
}

void loop_run(struct loop *loop)
{
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
    uv_stop(&loop->uv);
}

void loop_post(struct loop *loop, loop_fn fn, void *context)
{
    struct call *call = mem_alloc(sizeof *call);
    *call = (struct call){.fn = fn, .context = context};
    if (!mailbox_push(loop->mailbox, call)) {
        free(call);
        return;
    }
    CHECK(uv_async_send(&loop->posted) == 0);
}

void loop_before_wait(struct loop *loop, loop_fn fn, void *context)
{
    loop->deferred = mem_grow(loop->deferred, &loop->deferred_capacity, loop->deferred_count,
                              sizeof *loop->deferred);
    loop->deferred[loop->deferred_count++] = (struct call){.fn = fn, .context = context};
    CHECK(uv_prepare_start(&loop->before_wait, run_deferred) == 0);
}

void loop_before_wait_cancel(struct loop *loop, const void *context)
{
    for (size_t i = 0; i < loop->deferred_count; i++)
        if (loop->deferred[i].context == context)
            loop->deferred[i].fn = NULL;
}

static void timer_fired(uv_timer_t *handle)
{
    struct loop_timer *timer = (struct loop_timer *)handle;
    timer->fn(timer->context);
}

struct loop_timer *loop_timer_new(struct loop *loop, loop_fn fn, void *context)
{
    struct loop_timer *timer = mem_zalloc(1, sizeof *timer);
    CHECK(uv_timer_init(&loop->uv, &timer->uv) == 0);
    timer->fn = fn;
    timer->context = context;
    return timer;
}

void loop_timer_start(struct loop_timer *timer, int64_t delay_ms, int64_t repeat_ms)
{
    /* The loop's idea of now is as old as the callback at hand; a timer counts from the call. */
    uv_update_time(timer->uv.loop);
    CHECK(uv_timer_start(&timer->uv, timer_fired, (uint64_t)MAX(delay_ms, 0),
                         (uint64_t)MAX(repeat_ms, 0)) == 0);
}

void loop_timer_stop(struct loop_timer *timer)
{
    (void)uv_timer_stop(&timer->uv);
}

void loop_timer_free(struct loop_timer *timer)
{
    if (timer != NULL)
        uv_close((uv_handle_t *)&timer->uv, free_handle);
}

static void watch_fired(uv_poll_t *handle, int failure, int events)
{
    struct loop_watch *watch = (struct loop_watch *)handle;
    unsigned seen =
        (events & UV_READABLE ? LOOP_READABLE : 0u) | (events & UV_WRITABLE ? LOOP_WRITABLE : 0u);
    watch->fn(watch->context, failure < 0 ? LOOP_READABLE : seen);
}

enum status loop_watch_new(struct loop *loop, int fd, loop_watch_fn fn, void *context,
                           struct loop_watch **out_watch, struct err *err)
{
    struct loop_watch *watch = mem_zalloc(1, sizeof *watch);
    int failure = uv_poll_init(&loop->uv, &watch->uv, fd);
    if (failure != 0) {
        free(watch);
        return uv_failure(failure, "watch descriptor", err);
    }
    watch->fn = fn;
    watch->context = context;
    *out_watch = watch;
    return STATUS_OK;
}

void loop_watch_set(struct loop_watch *watch, unsigned events)
{
    int wanted =
        (events & LOOP_READABLE ? UV_READABLE : 0) | (events & LOOP_WRITABLE ? UV_WRITABLE : 0);
    if (wanted == 0)
        (void)uv_poll_stop(&watch->uv);
    else
        CHECK(uv_poll_start(&watch->uv, wanted, watch_fired) == 0);
}

void loop_watch_free(struct loop_watch *watch)
{
    if (watch != NULL)
        uv_close((uv_handle_t *)&watch->uv, free_handle);
}

static void signal_fired(uv_signal_t *handle, int signo)
{
    struct loop_signal *signal = (struct loop_signal *)handle;
    signal->fn(signal->context, signo);
}

enum status loop_signal_new(struct loop *loop, int signo, loop_signal_fn fn, void *context,
                            struct loop_signal **out_signal, struct err *err)
{
    struct loop_signal *signal = mem_zalloc(1, sizeof *signal);
    CHECK(uv_signal_init(&loop->uv, &signal->uv) == 0);
    signal->fn = fn;
    signal->context = context;
    int failure = uv_signal_start(&signal->uv, signal_fired, signo);
    if (failure != 0) {
        loop_signal_free(signal);
        return uv_failure(failure, "listen for signal", err);
    }
    *out_signal = signal;
    return STATUS_OK;
}

void loop_signal_free(struct loop_signal *signal)
{
    if (signal != NULL)
        uv_close((uv_handle_t *)&signal->uv, free_handle);
}

static void file_fired(uv_fs_event_t *handle, const char *name, int events, int failure)
{
    struct loop_file *file = (struct loop_file *)handle;
    (void)events;
    if (failure == 0 && name != NULL && strcmp(name, file->name) == 0)
        file->fn(file->context);
}

static void free_file(uv_handle_t *handle)
{
    struct loop_file *file = (struct loop_file *)handle;
    free(file->name);
    free(file);
}

enum status loop_file_new(struct loop *loop, const char *path, loop_fn fn, void *context,
                          struct loop_file **out_file, struct err *err)
{
    /* The directory is watched, since the file may come, go and be replaced. */
    const char *slash = strrchr(path, '/');
    CLEANUP(mem_freep) char *dir = NULL;
    if (slash == NULL)
        dir = mem_strdup(".");
    else
        dir = mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    struct loop_file *file = mem_zalloc(1, sizeof *file);
    CHECK(uv_fs_event_init(&loop->uv, &file->uv) == 0);
    file->fn = fn;
    file->context = context;
    file->name = mem_strdup(slash == NULL ? path : slash + 1);
    int failure = uv_fs_event_start(&file->uv, file_fired, dir, 0);
    if (failure != 0) {
        loop_file_free(file);
        return uv_failure(failure, "watch directory", err);
    }
    *out_file = file;
    return STATUS_OK;
}

void loop_file_free(struct loop_file *file)
{
    if (file != NULL)
        uv_close((uv_handle_t *)&file->uv, free_file);
}
