#pragma once
/*
 * ask: the request of an operation out of a path, a query and a body, by the names of its members.
 */
#include "serve/route.h"

/*
 * STATUS_INVALID for a query that the operation does not have, a text that is no value of its type,
 * a body that is no object or says something else than the path.
 */
NODISCARD enum status ask_by_name(const struct route_call *call, json_t **out, struct err *err);

/* The same with members of another schema than the operation's. */
NODISCARD enum status ask_by_schema(const struct route_call *call,
                                    const struct operation_schema *schema, json_t **out,
                                    struct err *err);

/* A text of a query as a value of the member's type; a new reference. */
NODISCARD enum status ask_value(const struct operation_field *field, const char *text, json_t **out,
                                struct err *err);
