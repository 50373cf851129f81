#pragma once
/*
 * otlp: spans as a request of the OpenTelemetry protocol, in JSON. Pure.
 */
#include "base/json.h"
#include "model/span.h"

/* With the ids of each; a new reference. `host` is what names this process. */
NODISCARD json_t *otlp_request(const char *host, struct span *const *spans,
                               const struct span_ids *ids, size_t count);
