#pragma once
/*
 * openapi: the routes as an OpenAPI 3.1 document. Pure.
 */
#include "serve/route.h"

/* A new reference. */
NODISCARD json_t *openapi_document(const struct route_table *table);
