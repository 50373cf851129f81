#include "serve/problem.h"

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/problem_code.h"
#include "serve/answer.h"

static const struct {
    int status;
    const char *title;
} TITLES[] = {
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {507, "Insufficient Storage"},
};

const char *problem_title(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(TITLES); i++)
        if (TITLES[i].status == status)
            return TITLES[i].title;
    return "Error";
}

static void put(struct http_response *response, int status, const char *code, const char *detail)
{
    json_t *problem = json_object();
    CHECK(problem != NULL);
    json_put_string(problem, "type", "about:blank");
    json_put_string(problem, "title", problem_title(status));
    json_put_int(problem, "status", status);
    json_put_string(problem, "detail", detail);
    json_put_string(problem, "code", code);
    if (response->stream.read != NULL)
        response->stream.close(response->stream.context);
    http_response_fini(response);
    http_response_init(response);
    answer_json(response, status, problem);
    response->content_type = "application/problem+json";
    if (status == 401)
        http_response_add_header(response, "WWW-Authenticate", "Bearer realm=\"eider\"");
    if (status == 503)
        http_response_add_header(response, "Retry-After", "1");
}

void problem_put(struct http_response *response, int status, const char *detail)
{
    put(response, status, problem_code_word(problem_code_status(status, NULL)), detail);
}

void problem_put_as(struct http_response *response, int status, enum status word,
                    const char *detail)
{
    put(response, status, problem_code_word(word), detail);
}

void problem_answer(struct http_response *response, const struct err *err)
{
    put(response, problem_code_of(err->code), problem_code_word(err->code), err->text);
}

void problem_wait(struct http_response *response, int64_t wait_s, const char *detail)
{
    CLEANUP(mem_freep) char *text = mem_format("%lld", (long long)wait_s);
    problem_put(response, 429, detail);
    http_response_add_header(response, "Retry-After", text);
}
