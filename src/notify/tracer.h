#pragma once
/*
 * tracer: sends spans of runs and tasks to a collector (OTLP over HTTP, in JSON), in batches, from
 * a thread of its own.
 *
 * Nothing ever waits for it: so many spans may wait to be sent, and others are dropped and counted.
 * A batch that the collector does not take is tried a few times and then dropped as well.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "model/meters.h"
#include "model/span.h"
#include "store/spare.h"

struct tracer;

struct tracer_options {
    const char *endpoint; /* URL; /v1/traces is added where it has no path */
    const char *headers;  /* name=value, separated by commas */
    const char *host;     /* name of this one */
    struct meters *meters;
};

/* Texts are borrowed. */
NODISCARD struct tracer *tracer_new(const struct tracer_options *options);
/* Begin to send what stores tell. STATUS_INVALID: the endpoint or a header is none. */
NODISCARD enum status tracer_start(struct tracer *tracer, struct spare *spare,
                                   const char *store_uuid, struct err *err);
/* What waits is sent, once; what comes afterwards is dropped. NULL is allowed. */
void tracer_stop(struct tracer *tracer);
void tracer_free(struct tracer *tracer); /* NULL is allowed */

/* Where stores put spans; lives as long as the tracer. */
const struct span_sink *tracer_sink(const struct tracer *tracer);
