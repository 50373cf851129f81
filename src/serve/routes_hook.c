/*
 * Calls of webhooks. The table is fenced off from the formatter because it is read by column.
 */
#include "serve/routes.h"
static const struct route ROWS[] = {{0}};
const struct route_table ROUTES_HOOK = {ROWS, 0, NULL};
