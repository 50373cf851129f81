#pragma once
/*
 * answer: bodies of responses.
 */
#include "base/json.h"
#include "serve/http.h"

/* JSON, which is taken. */
void answer_json(struct http_response *response, int status, json_t *taken);
/* Text; the type is static. */
void answer_text(struct http_response *response, int status, const char *content_type,
                 const char *text);
