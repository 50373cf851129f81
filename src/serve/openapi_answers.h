#pragma once
/*
 * openapi_answers: every status that a route may answer with, and what comes along. Pure.
 *
 * Most of them follow from the row: who is asked who he is may be unknown, what takes input may be
 * given a wrong one, what reads the store may find it busy. A row names the others itself. Private
 * to openapi.
 */
#include "serve/route.h"

/*
 * The answers of a route for its entry; a new reference. The schema of success is taken; NULL: it
 * has none.
 */
NODISCARD json_t *openapi_answers(const struct route *route, json_t *taken_schema);

/* What the answers of all routes refer to: for the document's components. */
void openapi_add_problems(json_t *components);
