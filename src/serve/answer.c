#include "serve/answer.h"

#include "base/check.h"

static int append(const char *bytes, size_t length, void *body)
{
    strbuf_add_bytes(body, bytes, length);
    return 0;
}

void answer_json(struct http_response *response, int status, json_t *taken)
{
    response->status = status;
    response->content_type = "application/json";
    strbuf_clear(&response->body);
    CHECK(json_dump_callback(taken, append, &response->body, JSON_COMPACT | JSON_ENCODE_ANY) == 0);
    json_decref(taken);
}

void answer_text(struct http_response *response, int status, const char *content_type,
                 const char *text)
{
    response->status = status;
    response->content_type = content_type;
    strbuf_clear(&response->body);
    strbuf_add(&response->body, text);
}
