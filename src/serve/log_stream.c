#include "serve/log_stream.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/problem_code.h"
#include "serve/problem.h"
#include "serve/sse.h"

enum {
    PIECE_BYTES = 256 << 10,
    PART_BYTES = 64 << 10,
    LOOK_MS = 200,
    LOOK_SELDOM_MS = 1000,
    SELDOM_AFTER_US = 10000000,
    BEAT_US = 15000000,
    LIFE_US = 15 * 60 * 1000000, /* of events: who comes back is asked who it is */
    ARRIVAL_US = 30000000,       /* for the end of a log that its host is about to bring */
};

/* --- bytes ----------------------------------------------------------------------------------- */

struct bytes {
    const char *operation;
    json_t *request;
    uint64_t offset;
    uint64_t left;
};

static enum status fetch_bytes(void *context, const struct operation_caller *operations,
                               struct strbuf *out, struct pull_next *next, struct err *err)
{
    struct bytes *bytes = context;
    CLEANUP(json_decrefp) json_t *response = NULL;
    uint64_t length = MIN(bytes->left, (uint64_t)PIECE_BYTES);
    json_put_int(bytes->request, "offset", (int64_t)bytes->offset);
    json_put_int(bytes->request, "length", (int64_t)length);
    if (operation_call(operations, bytes->operation, bytes->request, &response, err) != STATUS_OK)
        return err->code;
    const json_t *text = json_object_get(response, "base64");
    if (!base64_decode(out, json_string_value(text), json_string_length(text)) ||
        out->length != length)
        return err_set(err, STATUS_NOT_FOUND, "the log was removed while it was read");
    bytes->offset += length;
    bytes->left -= length;
    next->is_over = bytes->left == 0;
    return STATUS_OK;
}

static void free_bytes(void *context)
{
    struct bytes *bytes = context;
    json_decref(bytes->request);
    free(bytes);
}

struct pull_source log_stream_bytes(const char *operation, json_t *taken, uint64_t offset,
                                    uint64_t length)
{
    struct bytes *bytes = mem_zalloc(1, sizeof *bytes);
    *bytes =
        (struct bytes){.operation = operation, .request = taken, .offset = offset, .left = length};
    return (struct pull_source){.context = bytes, .fetch = fetch_bytes, .free = free_bytes};
}

/* --- parts ----------------------------------------------------------------------------------- */

struct parts {
    struct log_stream_parts options;
    json_t *request;
    bool has_begun;
    int64_t spoke_us; /* when there was something to say */
    int64_t beat_us;
    int64_t ends_us;
};

/* Bytes that are no text come in base64 as well. */
static void add_entry(const json_t *entry, struct strbuf *out)
{
    const json_t *text = json_object_get(entry, "text");
    const json_t *raw = json_object_get(entry, "base64");
    size_t before = out->length;
    if (json_is_string(raw) && base64_decode(out, json_string_value(raw), json_string_length(raw)))
        return;
    strbuf_truncate(out, before);
    strbuf_add_bytes(out, json_string_value(text), json_string_length(text));
}

static void add_text(const json_t *response, struct strbuf *out)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(response, "entries"), i, entry)
    {
        add_entry(entry, out);
    }
}

static void add_event(const json_t *response, const char *event, bool has_entries,
                      struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *data = json_copy((json_t *)(uintptr_t)response);
    CHECK(data != NULL);
    if (!has_entries)
        (void)json_object_del(data, "entries");
    sse_add(out, json_get_string(response, "cursor", NULL), event, data);
}

/* What an event's reader gets instead of the status of an answer. */
static void add_failure(const struct err *err, struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    CHECK(data != NULL);
    json_put_int(data, "status", problem_code_of(err->code));
    json_put_string(data, "title", problem_title(problem_code_of(err->code)));
    json_put_string(data, "detail", err->text);
    sse_add(out, NULL, "error", data);
}

static bool is_at_end(const struct parts *parts, const json_t *response, int64_t now_us)
{
    bool is_awaited =
        json_get_bool(response, "arriving", false) && now_us - parts->spoke_us < ARRIVAL_US;
    bool is_live = parts->options.follows && json_get_bool(response, "live", false);
    return !json_get_bool(response, "more", false) && !is_live && !is_awaited;
}

static void add_part(struct parts *parts, const json_t *response, struct strbuf *out,
                     struct pull_next *next)
{
    int64_t now_us = clock_wait_us();
    bool is_empty = json_array_size(json_object_get(response, "entries")) == 0;
    if (!is_empty)
        parts->spoke_us = parts->beat_us = now_us;
    next->is_over = is_at_end(parts, response, now_us);
    if (!parts->options.as_events)
        add_text(response, out);
    else if (!is_empty)
        add_event(response, "log", true, out);
    if (parts->options.as_events && next->is_over)
        add_event(response, "end", false, out);
    if (!json_get_bool(response, "more", false))
        next->wait_ms = now_us - parts->spoke_us < SELDOM_AFTER_US ? LOOK_MS : LOOK_SELDOM_MS;
    if (!parts->options.as_events || next->is_over)
        return;
    if (out->length == 0 && now_us - parts->beat_us >= BEAT_US) {
        sse_add_beat(out, NULL);
        parts->beat_us = now_us;
    }
    next->is_over = now_us >= parts->ends_us;
}

static enum status fetch_part(void *context, const struct operation_caller *operations,
                              struct strbuf *out, struct pull_next *next, struct err *err)
{
    struct parts *parts = context;
    CLEANUP(json_decrefp) json_t *response = NULL;
    if (parts->options.as_events && !parts->has_begun)
        sse_add_start(out);
    parts->has_begun = true;
    if (operation_call(operations, parts->options.operation, parts->request, &response, err) !=
        STATUS_OK) {
        if (parts->options.as_events)
            add_failure(err, out);
        return err->code;
    }
    json_put_string(parts->request, "cursor", json_get_string(response, "cursor", NULL));
    add_part(parts, response, out, next);
    return STATUS_OK;
}

static void free_parts(void *context)
{
    struct parts *parts = context;
    json_decref(parts->request);
    free(parts);
}

struct pull_source log_stream_parts(const struct log_stream_parts *options, json_t *taken)
{
    struct parts *parts = mem_zalloc(1, sizeof *parts);
    int64_t now_us = clock_wait_us();
    *parts = (struct parts){.options = *options,
                            .request = taken,
                            .spoke_us = now_us,
                            .beat_us = now_us,
                            .ends_us = now_us + LIFE_US};
    json_put_int(taken, "bytes", PART_BYTES);
    return (struct pull_source){.context = parts, .fetch = fetch_part, .free = free_parts};
}
