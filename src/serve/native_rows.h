#pragma once
/*
 * native_rows: how the rows below /api/v1/x are written. Private to this layer.
 */
#include "serve/routes.h"

/* Members of the operation's request come from the path, the query and the body, by their names. */
#define NATIVE(name, path, behind)                                                                 \
    HTTP_##name, "/api/v1/x/" path, ROUTE_PERMISSION, .operation = (behind)
