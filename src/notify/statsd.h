#pragma once
/*
 * statsd: sends what is measured to a StatsD server, from a thread of its own.
 *
 * What is lost on the way is lost; nobody waits for an answer.
 */
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/metric.h"

struct statsd;

struct statsd_options {
    const char *address; /* HOST:PORT */
    const char *prefix;
    int64_t period_ms;
    /* In the thread: everything that is measured. What was added before a failure is sent. */
    enum status (*collect)(void *context, struct metric_samples *out, struct err *err);
    void *context;
};

/* Texts are borrowed. STATUS_INVALID: the address is none. A name that is not there yet is tried
 * again with every period. */
NODISCARD enum status statsd_start(const struct statsd_options *options, struct statsd **out,
                                   struct err *err);
/* What was counted until now is sent. NULL is allowed. */
void statsd_stop(struct statsd *statsd);
