#pragma once
/*
 * metric_statsd: samples as the lines of a StatsD server. Pure.
 *
 * Counters are sent as what was added since the last time, gauges as they are. Of a histogram each
 * bucket that grew is one timing at its upper bound, with the rate that makes it count as often as
 * it grew. Labels are parts of the name, as in eider.task_duration.DAG.TASK.success.
 */
#include "model/metric.h"

struct metric_statsd;

NODISCARD struct metric_statsd *metric_statsd_new(const char *prefix);
void metric_statsd_free(struct metric_statsd *statsd); /* NULL is allowed */

/* Calls `line` with each, without its line break. What this process counts is sent only once. */
void metric_statsd_write(struct metric_statsd *statsd, const struct metric_samples *samples,
                         void (*line)(void *context, const char *text), void *context);
