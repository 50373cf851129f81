#pragma once
/*
 * sse: events as a browser reads them (text/event-stream). Pure.
 */
#include "base/json.h"
#include "base/strbuf.h"
#include "serve/http.h"

#define SSE_CONTENT_TYPE "text/event-stream; charset=utf-8"

/* After how long a reader who lost its connection comes back. */
enum { SSE_RETRY_MS = 1000 };

/* Whether the request wants events rather than a page. */
bool sse_is_wanted(const struct http_request *request);

/* One event. `id` and `event` may be NULL: none; a reader who comes back gives the last id. */
void sse_add(struct strbuf *out, const char *id, const char *event, const json_t *data);
/* Nothing happened; with an id: up to there. */
void sse_add_beat(struct strbuf *out, const char *id);
/* What every stream begins with. */
void sse_add_start(struct strbuf *out);

/* The headers of an answer that is a stream of events. */
void sse_answer(struct http_response *out);
