#include "serve/row_answer.h"

#include "base/check.h"
#include "base/json_write.h"

static void begin(void *context)
{
    struct row_answer *answer = context;
    struct strbuf *body = &answer->out->body;
    answer->has_rows = false;
    strbuf_clear(body);
    strbuf_addf(body, "{\"%s\":[", answer->route->rows);
}

static void take(void *context, struct json_row *row)
{
    struct row_answer *answer = context;
    answer->route->row(row);
    if (answer->has_rows)
        strbuf_add_char(&answer->out->body, ',');
    json_row_write(&answer->out->body, row);
    answer->has_rows = true;
}

void row_answer_init(struct row_answer *answer, const struct route *route,
                     struct http_response *out)
{
    *answer = (struct row_answer){
        .out = out, .route = route, .taker = {.context = answer, .begin = begin, .take = take}};
}

void row_answer_end(struct row_answer *answer, int status, json_t *taken)
{
    struct strbuf *body = &answer->out->body;
    answer->out->status = status;
    answer->out->content_type = "application/json";
    (void)json_object_del(taken, answer->route->rows);
    CHECK(json_object_size(taken) > 0);
    strbuf_add_char(body, ']');
    size_t brace = body->length;
    json_write(body, taken, JSON_AS_SET);
    json_decref(taken);
    /* The members of an object, which go on with what stands there already. */
    if (!body->overflow)
        body->text[brace] = ',';
}
