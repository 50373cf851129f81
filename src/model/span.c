#include "model/span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/sha256.h"

enum { TRACE_DIGITS = TRACE_ID_MAX - 1, SPAN_DIGITS = SPAN_ID_MAX - 1 };

void span_free(struct span *span)
{
    if (span == NULL)
        return;
    free(span->dag_id);
    free(span->task_id);
    free(span);
}

/* Lower case, and not all zeros. */
static bool is_id(const char *text, size_t digits)
{
    return strspn(text, "0123456789abcdef") >= digits && strspn(text, "0") < digits;
}

bool traceparent_parse(const char *text, struct span_ids *out)
{
    static const size_t TRACE_AT = 3;
    static const size_t SPAN_AT = 3 + TRACE_DIGITS + 1;
    static const size_t FLAGS_AT = 3 + TRACE_DIGITS + 1 + SPAN_DIGITS + 1;
    size_t length = strlen(text);
    bool is_first = strncmp(text, "00-", 3) == 0;
    if (length < FLAGS_AT + 2 || (is_first && length != FLAGS_AT + 2) ||
        strspn(text, "0123456789abcdef") != 2 || strncmp(text, "ff", 2) == 0)
        return false;
    if (text[2] != '-' || text[SPAN_AT - 1] != '-' || text[FLAGS_AT - 1] != '-' ||
        (text[FLAGS_AT + 2] != '\0' && text[FLAGS_AT + 2] != '-'))
        return false;
    if (!is_id(text + TRACE_AT, TRACE_DIGITS) || !is_id(text + SPAN_AT, SPAN_DIGITS) ||
        strspn(text + FLAGS_AT, "0123456789abcdef") < 2)
        return false;
    *out = (struct span_ids){0};
    memcpy(out->trace, text + TRACE_AT, TRACE_DIGITS);
    memcpy(out->span, text + SPAN_AT, SPAN_DIGITS);
    return true;
}

/* The first digits of a hash; all zeros, which would be none, do not happen. */
static void derive(char *out, size_t digits, const char *store_uuid, int64_t run, const char *what)
{
    char hex[SHA256_HEX_MAX];
    CLEANUP(mem_freep) char *text = mem_format("%s/%lld/%s", store_uuid, (long long)run, what);
    (void)sha256_hex(text, strlen(text), hex);
    memcpy(out, hex, digits);
    out[digits] = '\0';
}

void span_ids_make(const char *store_uuid, const struct span *span, const char *above,
                   struct span_ids *out)
{
    struct span_ids caller;
    bool is_called = above != NULL && traceparent_parse(above, &caller);
    char of_run[SPAN_ID_MAX];
    derive(of_run, SPAN_DIGITS, store_uuid, span->run, "run");
    *out = (struct span_ids){0};
    if (is_called)
        memcpy(out->trace, caller.trace, sizeof out->trace);
    else
        derive(out->trace, TRACE_DIGITS, store_uuid, span->run, "trace");
    if (span->task == 0) {
        memcpy(out->span, of_run, sizeof out->span);
        if (is_called)
            memcpy(out->parent, caller.span, sizeof out->parent);
        return;
    }
    CLEANUP(mem_freep)
    char *what = mem_format("%lld/%lld", (long long)span->task, (long long)span->attempt);
    derive(out->span, SPAN_DIGITS, store_uuid, span->run, what);
    memcpy(out->parent, of_run, sizeof out->parent);
}

const char *traceparent_format(const struct span_ids *ids, char out[static TRACEPARENT_MAX])
{
    int length = snprintf(out, TRACEPARENT_MAX, "00-%s-%s-01", ids->trace, ids->span);
    CHECK(length > 0 && length < TRACEPARENT_MAX);
    return out;
}
