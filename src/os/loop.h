#pragma once
/*
 * loop: the event loop of the main thread: timers, descriptors, signals, posted calls.
 *
 * Callbacks run one at a time in the thread of loop_run. Timers count monotonic time.
 *
 * Ownership  Whoever makes a timer, watch or signal frees it, before the loop and
 *            also from inside its own callback if need be.
 * Threads    Everything belongs to the loop's thread, except loop_post.
 */
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct loop;
struct loop_timer;
struct loop_watch;
struct loop_signal;
struct loop_file;

typedef void (*loop_fn)(void *context);

enum { LOOP_READABLE = 1, LOOP_WRITABLE = 2 };
typedef void (*loop_watch_fn)(void *context, unsigned events);
typedef void (*loop_signal_fn)(void *context, int signo);

NODISCARD enum status loop_new(struct loop **out_loop, struct err *err);
/* Everything made on the loop must be freed already; posted calls that never ran are dropped. */
void loop_free(struct loop *loop);

/* Serve events until loop_stop. It may be run again afterwards. */
void loop_run(struct loop *loop);
/* Let loop_run return after the callbacks at hand. */
void loop_stop(struct loop *loop);

/* Call `fn(context)` in the loop's thread, in the order of the posts. From any thread. */
void loop_post(struct loop *loop, loop_fn fn, void *context);

/*
 * Call `fn(context)` once when the loop is about to wait for events: the place to send
 * what was collected during the callbacks before. In the loop's thread.
 */
void loop_before_wait(struct loop *loop, loop_fn fn, void *context);
/* Forget those calls of `context` that did not happen yet. */
void loop_before_wait_cancel(struct loop *loop, const void *context);

NODISCARD struct loop_timer *loop_timer_new(struct loop *loop, loop_fn fn, void *context);
/* Fire after `delay_ms` and, with `repeat_ms` > 0, every so often. Starts over if it runs. */
void loop_timer_start(struct loop_timer *timer, int64_t delay_ms, int64_t repeat_ms);
void loop_timer_stop(struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer);

/* Watch `fd`, which stays the caller's and must stay open until the watch is freed. */
NODISCARD enum status loop_watch_new(struct loop *loop, int fd, loop_watch_fn fn, void *context,
                                     struct loop_watch **out_watch, struct err *err);
/* LOOP_READABLE, LOOP_WRITABLE, both or none; none at first. Errors count as readable. */
void loop_watch_set(struct loop_watch *watch, unsigned events);
void loop_watch_free(struct loop_watch *watch);

NODISCARD enum status loop_signal_new(struct loop *loop, int signo, loop_signal_fn fn,
                                      void *context, struct loop_signal **out_signal,
                                      struct err *err);
void loop_signal_free(struct loop_signal *signal);

/*
 * Call `fn` when the file `path` is made, written, touched or replaced. It need not exist, but
 * its directory must.
 */
NODISCARD enum status loop_file_new(struct loop *loop, const char *path, loop_fn fn, void *context,
                                    struct loop_file **out_file, struct err *err);
void loop_file_free(struct loop_file *file);
