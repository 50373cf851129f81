#pragma once
/*
 * log_stream: sources of a log's text for answers that are sent while they are read (pull.h).
 *
 *   bytes   a range of it as it was written
 *   text    parts of it, those that come while its task runs included if wanted
 *   events  the same as events, each with the cursor that goes on behind it
 */
#include "serve/pull.h"

/* Requests are taken. `operation` is static: log.bytes or job.bytes. */
struct pull_source log_stream_bytes(const char *operation, json_t *taken, uint64_t offset,
                                    uint64_t length);

struct log_stream_parts {
    const char *operation; /* log.read or job.log */
    bool follows;          /* until nothing can come any more */
    bool as_events;
};

struct pull_source log_stream_parts(const struct log_stream_parts *options, json_t *taken);
