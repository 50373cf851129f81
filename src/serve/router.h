#pragma once
/*
 * router: from a method and a path to the row of the table.
 *
 * Decisions about who may do what are made on the row that was found, never on the text of a path.
 * Fixed segments win over names: /dags/errors is not the DAG "errors".
 */
#include "serve/route.h"

struct router;

/* Rows are borrowed; they must outlive it. */
NODISCARD struct router *router_new(const struct route_table *table);
void router_free(struct router *router);

struct router_match {
    const struct route *route; /* NULL: no such path, or no such method on it */
    unsigned allowed;          /* methods of the path, as bits (1 << method); 0: no such path */
};

/* Whether rows begin with the path's first segment: such paths are theirs, also those that lead
   nowhere. */
bool router_begins(const struct router *router, const struct url_path *path);

struct router_match router_find(const struct router *router, enum http_method method,
                                const struct url_path *path);
