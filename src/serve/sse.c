#include "serve/sse.h"

#include <string.h>

#include "base/mem.h"

/* Whether a list such as "text/html, text/event-stream;q=0.9" names the type. */
bool sse_is_wanted(const struct http_request *request)
{
    static const char TYPE[] = "text/event-stream";
    const char *accept = http_header(request, "Accept");
    if (accept == NULL)
        return false;
    for (const char *at = accept; *at != '\0'; at += *at == ',' ? 1 : 0) {
        at += strspn(at, " \t");
        if (strncasecmp(at, TYPE, sizeof TYPE - 1) == 0 &&
            strchr(" \t;,", at[sizeof TYPE - 1]) != NULL)
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

/* JSON has no line breaks, so that it is one line of data. */
void sse_add(struct strbuf *out, const char *id, const char *event, const json_t *data)
{
    CLEANUP(mem_freep) char *text = json_format(data);
    if (id != NULL)
        strbuf_addf(out, "id: %s\n", id);
    if (event != NULL)
        strbuf_addf(out, "event: %s\n", event);
    strbuf_add(out, "data: ");
    strbuf_add(out, text);
    strbuf_add(out, "\n\n");
}

void sse_add_beat(struct strbuf *out, const char *id)
{
    strbuf_add(out, ": still there\n");
    if (id != NULL)
        strbuf_addf(out, "id: %s\n", id);
    strbuf_add_char(out, '\n');
}

void sse_add_start(struct strbuf *out)
{
    strbuf_addf(out, "retry: %d\n\n", (int)SSE_RETRY_MS);
}

void sse_answer(struct http_response *out)
{
    out->status = 200;
    out->content_type = SSE_CONTENT_TYPE;
    /* Proxies that gather answers would hold events back. */
    http_response_add_header(out, "X-Accel-Buffering", "no");
}
