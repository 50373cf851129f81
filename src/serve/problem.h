#pragma once
/*
 * problem: failures as answers (application/problem+json), with Airflow's members and `code`, the
 * word of our status (model/problem_code.h).
 */
#include "base/err.h"
#include "serve/http.h"

/* Whatever the response held is replaced. */
void problem_answer(struct http_response *response, const struct err *err);
/* The same with a status code of HTTP that none of ours stands for. */
void problem_put(struct http_response *response, int status, const char *detail);
/* The same with the word of a status that usually has another code. */
void problem_put_as(struct http_response *response, int status, enum status word,
                    const char *detail);
/* "Not Found" of 404. */
const char *problem_title(int status);

/* 429: too often; what to wait goes along as Retry-After. */
void problem_wait(struct http_response *response, int64_t wait_s, const char *detail);
