#include "serve/answer.h"

#include "base/json_write.h"

void answer_json(struct http_response *response, int status, json_t *taken)
{
    response->status = status;
    response->content_type = "application/json";
    strbuf_clear(&response->body);
    json_write(&response->body, taken, JSON_AS_SET);
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
