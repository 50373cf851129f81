#pragma once
/*
 * row_answer: an answer with a list whose rows are written as they are made (service/row_list.h).
 */
#include "base/json.h"
#include "serve/http.h"
#include "serve/route.h"
#include "service/row_list.h"

struct row_answer {
    struct http_response *out;
    const struct route *route; /* with `row` and `rows` */
    struct row_taker taker;    /* for the operation */
    bool has_rows;
};

void row_answer_init(struct row_answer *answer, const struct route *route,
                     struct http_response *out);
/* All rows are there; what else is in the operation's response, which is taken, follows them. */
void row_answer_end(struct row_answer *answer, int status, json_t *taken);
